//! `#[stage]` and `pipeline!`: the proc-macro shell over `pipeline-graph`.
//!
//! What a graph means is decided in that library; here is only what needs rustc: the syntax of stage functions, and
//! the spans that errors are given.

mod pipeline;
mod stage;

use proc_macro::TokenStream;

/// Makes a stage implementation of a function, or of a module with the functions `start` and `finish`.
///
/// ```text
/// #[stage(spmv, backend = host, mem_heavy, ccd_pinned)]
/// pub fn spmv(
///     job: &Job,                  // the job; always first
///     witness: &Witness,          // an input port, named `witness`
///     out: Slot<'_, Evaluated>,   // where the output's memory comes from
///     permit: &MemPermit,         // pays out the tag `mem_heavy`
///     cores: &CcdPool,            // pays out the tag `ccd_pinned`
/// ) -> Result<Evaluated, StageError> { … }
/// ```
///
/// The function stays as it is. Beside it appear the type `Spmv` (the stage's name in camel case) and its
/// `impl runtime::stage::Stage`.
///
/// # The attribute
/// The stage's name, then in any order `backend = host` or `backend = cuda` and the tags of this implementation:
///
/// | tag | the stage | capability |
/// |---|---|---|
/// | `mem_heavy` | streams more memory than the caches hold | `&MemPermit` |
/// | `ccd_pinned` | computes in the pool of its placement | `&CcdPool` |
/// | `gpu` | runs on a device; exactly the `cuda` implementations do | `&GpuDevice` |
/// | `unmaps` | gives memory back to the kernel; `dealloc` alone does | `&DeallocPermit` |
///
/// A tag without its capability is an error, and so is a capability without its tag. A capability that the body only
/// holds and never calls is named with an underscore (`_permit`), else rustc's own lint reports it as unused.
///
/// # The parameters
/// They are recognised by the last segment of their type: capabilities as above; `TokenKey` is the token's key;
/// `Slot<'_, T>` is where the output's memory comes from; every other `&T` is an input port with the parameter's name.
/// The function returns `Result<T, StageError>`, where `T` is the output token.
///
/// # In two functions
/// A module with `start` and `finish` lets a worker start the next token while a device works on this one:
///
/// ```text
/// #[stage(gpu_ntt_msm, backend = cuda, gpu)]
/// pub mod gpu_ntt_msm {
///     pub fn start(job: &Job, evaluated: &Evaluated, gpu: &GpuDevice) -> Result<Pending, StageError> { … }
///     pub fn finish(pending: Pending, job: &Job, classified: &Classified) -> Result<Sums, StageError> { … }
/// }
/// ```
///
/// Its ports are those of both functions, in the order in which they first appear.
///
/// # `dealloc`
/// The stage that takes every dead slot has no job and no ports:
///
/// ```text
/// #[stage(dealloc, backend = host, unmaps)]
/// pub fn dealloc(dead: Dead, permit: &DeallocPermit) -> Result<(), StageError> { … }
/// ```
#[proc_macro_attribute]
pub fn stage(attribute: TokenStream, item: TokenStream) -> TokenStream {
    stage::expand(attribute.into(), item.into()).into()
}

/// Compiles a stage graph: checks the file, and emits a type that implements `runtime::export::Graph`.
///
/// ```text
/// pipeline_macros::pipeline!("graphs/host.ron");
/// pipeline_macros::pipeline!(
///     "graphs/host.ron",
///     env = "PROOFLINE_GRAPH",             // a variable that may name another graph at build time; default: none
///     name = Pipeline,                     // the type; this is the default
///     catalogue = "stages/catalogue.ron",  // what implementations there are; this is the default
///     stages = ::proofline_stages,         // where they are: `host::Spmv` and so on; this is the default
/// );
/// ```
///
/// Paths count from the package's folder, else from the folder of the calling file. A SKU named `x` is the file
/// `skus/x.ron` beside the graph. A build follows all of these files, and the variable.
///
/// # Errors
/// Every fault of the file is a compile error of its own on the path literal, with a picture of the place in the file
/// and a code; `proofline explain CODE` prints its page. The type is emitted all the same, so that nothing else in the
/// crate is reported. What only rustc knows (the Rust types of tokens and jobs, the tags of implementations) is checked
/// by constants in the expansion.
///
/// The expansion is written to `target/proofline/<graph>.rs` for reading.
#[proc_macro]
pub fn pipeline(input: TokenStream) -> TokenStream {
    let caller = proc_macro::Span::call_site().local_file();
    pipeline::expand(input.into(), caller.as_deref()).into()
}
