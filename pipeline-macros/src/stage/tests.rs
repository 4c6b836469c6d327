//! Every refusal, by its message; where it points is tested through rustc in `tests/ui`.

use proc_macro2::TokenStream;
use quote::quote;

use super::*;

/// The errors of an expansion, sorted, and whether the stage's type is there.
fn errors(attribute: TokenStream, item: TokenStream) -> Vec<String> {
    let file: syn::File = syn::parse2(expand(attribute, item)).expect("an expansion is a list of items");
    let mut errors = Vec::new();
    for item in &file.items {
        if let Item::Macro(call) = item {
            let text: syn::LitStr = call.mac.parse_body().expect("compile_error! takes a literal");
            errors.push(text.value());
        }
    }
    errors
}

fn function(attribute: TokenStream, signature: TokenStream) -> Vec<String> {
    errors(attribute, quote!(pub #signature { todo!() }))
}

#[test]
fn a_lawful_stage_has_no_errors() {
    let signature = quote!(
        fn spmv(
            job: &Job,
            key: TokenKey,
            witness: &Witness,
            out: Slot<'_, Evaluated>,
            permit: &MemPermit,
            cores: &CcdPool,
        ) -> Result<Evaluated, StageError>
    );
    assert_eq!(function(quote!(spmv, backend = host, mem_heavy, ccd_pinned), signature), [""; 0]);
}

#[test]
fn a_lawful_stage_becomes_a_type_with_ports_in_order() {
    let item = quote!(
        fn join(job: &Job, left: &A, _right: &crate::B) -> Result<C, StageError> {
            todo!()
        }
    );
    let text = expand(quote!(join, backend = host), item).to_string();
    assert!(text.contains("struct Join"), "{text}");
    assert!(text.contains("Shared < < A as Input > :: Token > , :: pipeline_runtime :: export :: Shared < < crate :: B as Input > :: Token >"), "{text}");
    assert!(text.contains("TakesAt < 0usize > for Join { type Takes = < A as Input > :: Token ; }"), "{text}");
    assert!(text.contains("TakesAt < 1usize > for Join { type Takes = < crate :: B as Input > :: Token ; }"), "{text}");
    assert!(text.contains("name : \"right\""), "the underscore is not part of the port's name: {text}");
}

#[test]
fn two_functions_make_the_type_inside_the_module() {
    let item = quote!(
        pub mod msm {
            pub fn start(job: &Job, evaluated: &Evaluated, gpu: &GpuDevice) -> Result<Pending, StageError> {
                todo!()
            }
            pub fn finish(pending: Pending, job: &Job, classified: &Classified) -> Result<Sums, StageError> {
                todo!()
            }
        }
    );
    let expanded = expand(quote!(gpu_ntt_msm, backend = cuda, gpu), item.clone());
    assert_eq!(errors(quote!(gpu_ntt_msm, backend = cuda, gpu), item), [""; 0]);
    let text = expanded.to_string();
    assert!(text.contains("pub use self :: msm :: GpuNttMsm ;"), "{text}");
    assert!(text.contains("start (firing . job () , & inputs . 0 , firing . gpu () ?)"), "{text}");
    assert!(text.contains("finish (pending , firing . job () , & inputs . 1)"), "{text}");
}

#[test]
fn dealloc_is_recognised() {
    let signature = quote!(fn dealloc(dead: Dead, permit: &DeallocPermit) -> Result<(), StageError>);
    assert_eq!(function(quote!(dealloc, backend = host, unmaps), signature), [""; 0]);
}

#[test]
fn a_tag_and_its_capability_come_together() {
    let signature = quote!(fn f(job: &Job, a: &A, cores: &CcdPool) -> Result<B, StageError>);
    assert_eq!(
        function(quote!(f, backend = host, mem_heavy), signature),
        [
            "the tag `mem_heavy` has no capability: take `permit: &MemPermit`, or drop the tag [PL0704]",
            "`CcdPool` is given to stages tagged `ccd_pinned`: write `#[stage(f, …, ccd_pinned)]` [PL0705]",
        ]
    );
}

#[test]
fn words_are_known_or_guessed() {
    let signature = quote!(fn f(job: &Job, a: &A) -> Result<B, StageError>);
    assert_eq!(
        function(quote!(f, backend = hots, mem_havy, red), signature.clone()),
        [
            "there is no tag `mem_havy`; did you mean `mem_heavy`? [PL0703]",
            "there is no tag `red`; there are `mem_heavy`, `gpu`, `ccd_pinned` and `unmaps` [PL0703]",
            "there is no backend `hots`; did you mean `host`? [PL0702]",
        ]
    );
    assert_eq!(
        function(quote!(backend = host, color = red), signature.clone()),
        [
            "the stage's name comes first: `#[stage(f, …)]` [PL0701]",
            "`#[stage]` has no option `color`, only `backend` [PL0701]"
        ]
    );
    assert_eq!(
        function(quote!(f), signature.clone()),
        ["say what this implementation runs on: `#[stage(f, backend = host, …)]` [PL0701]"]
    );
    assert_eq!(
        function(quote!(f, backend = host, backend = cuda), signature),
        [
            "one implementation has one backend; this is the second [PL0701]",
            "a `cuda` implementation runs on a device: add the tag `gpu` and take `gpu: &GpuDevice` [PL0708]",
        ]
    );
}

#[test]
fn signatures_are_held_to_the_rules() {
    assert_eq!(
        function(quote!(f, backend = host), quote!(fn f(a: &A) -> Result<B, StageError>)),
        ["the job is missing: the first parameter of a stage is `job: &Job` [PL0706]"]
    );
    assert_eq!(
        function(quote!(f, backend = host), quote!(fn f(job: &Job, a: &A) -> B)),
        ["a stage returns `Result<T, StageError>`, where `T` is what it puts out [PL0707]"]
    );
    assert_eq!(
        function(quote!(f, backend = host), quote!(fn f(job: &Job, out: Slot<'_, A>) -> Result<B, StageError>)),
        ["the slot is for `A`, but the stage puts out `B` [PL0706]"]
    );
    assert_eq!(
        function(quote!(f, backend = host), quote!(async fn f<T>(job: &Job, a: A, b: &mut B) -> Result<C, String>)),
        [
            "a stage is a plain function: the runtime's workers do not poll futures; block, or split it in `start` and \
             `finish` [PL0706]",
            "a stage is a plain function: it has no generic parameters, because the graph names one implementation \
             [PL0706]",
            "a stage fails with a `StageError`: one sentence for the person who must act [PL0707]",
            "tokens are shared, so a stage takes them by reference: `&A` [PL0706]",
            "a stage reads its inputs: other stages may read the same token at this moment; take `&` [PL0706]",
        ]
    );
}

#[test]
fn illegal_tag_sets() {
    assert_eq!(
        function(quote!(f, backend = host, gpu), quote!(fn f(job: &Job, gpu: &GpuDevice) -> Result<B, StageError>)),
        ["a `host` implementation has no device: write `backend = cuda`, or drop `gpu` [PL0708]"]
    );
    let signature =
        quote!(fn dealloc(dead: Dead, permit: &DeallocPermit, memory: &MemPermit) -> Result<(), StageError>);
    assert_eq!(
        function(quote!(dealloc, backend = host, unmaps, mem_heavy), signature),
        ["`dealloc` is tagged `unmaps` alone, not `mem_heavy` [PL0708]"]
    );
}

#[test]
fn the_halves_of_a_stage_fit() {
    let item = quote!(
        mod m {
            fn start(job: &Job) -> Result<P, StageError> {}
            fn finish(pending: Q, job: &Other) -> Result<T, StageError> {}
        }
    );
    assert_eq!(
        errors(quote!(m, backend = host), item),
        [
            "`start` returns `P`, but `finish` takes `Q` [PL0706]",
            "`start` reads the job `Job`, but `finish` reads `Other` [PL0706]",
        ]
    );
    let item = quote!(
        mod m {
            fn start(job: &Job) -> Result<P, StageError> {}
        }
    );
    assert_eq!(errors(quote!(m, backend = host), item), ["a stage in two functions has a function `finish` [PL0706]"]);
}

#[test]
fn whatever_is_wrong_the_function_the_type_and_the_trait_are_there() {
    for (attribute, signature) in [
        (quote!(), quote!(fn f())),
        (quote!(f, backend = host, mem_heavy), quote!(fn f(job: &Job) -> Result<B, StageError>)),
        (quote!(f g), quote!(fn f(self, a: [u8; 3], b: &TokenKey, dead: Dead) -> u8)),
        (quote!(dealloc, backend = host), quote!(fn f(job: &Job, a: &A) -> Result<B, StageError>)),
    ] {
        let text = expand(attribute, quote!(#signature { body() })).to_string();
        assert!(text.contains("compile_error"), "{text}");
        assert!(text.contains("body ()"), "{text}");
        assert!(text.contains("struct F") || text.contains("struct Dealloc"), "{text}");
        assert!(text.contains("Stage for ") || text.contains("DeallocStage for "), "{text}");
    }
}

/// The pages of the codes that `#[stage]` reports show what they say.
#[test]
fn pages() {
    use pipeline_graph::checks::{ALL, Example};

    let expand_example = |text: &str| {
        let item: syn::ItemFn = syn::parse_str(text).expect("the example is a function");
        let attribute = item.attrs.first().expect("it has the attribute");
        let words: TokenStream = attribute.parse_args().expect("the attribute has words");
        let item = syn::ItemFn { attrs: Vec::new(), ..item.clone() };
        errors(words, quote!(#item))
    };
    let mut seen = 0;
    for check in ALL.iter().filter(|check| check.code.starts_with("PL07")) {
        let (Example::Rust(bad), Example::Rust(good)) = (check.bad, check.good) else {
            panic!("{} is about Rust", check.code)
        };
        let found = expand_example(bad);
        assert!(!found.is_empty(), "{} lets its bad example pass", check.code);
        for error in &found {
            assert!(error.ends_with(&format!("[{}]", check.code)), "{}: {error}", check.code);
        }
        assert_eq!(expand_example(good), [""; 0], "{}", check.code);
        seen += 1;
    }
    assert_eq!(seen, 8);
}
