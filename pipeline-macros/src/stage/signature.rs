//! The parameters and the result of a stage function, by the last segment of their types.

use pipeline_graph::words::{TAGS, Tag};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{
    FnArg, GenericArgument, Item, ItemMod, Pat, PatType, PathArguments, PathSegment, ReturnType, Signature, Type,
};

use super::Form;
use super::attribute::Attribute;
use super::faults::Faults;

/// Which function of the implementation one reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The only one.
    Whole,
    /// `start` of two.
    Start,
    /// `finish` of two.
    Finish,
}

/// A function, understood.
pub struct Function<'a> {
    pub name: &'a Ident,
    /// Whether it takes dead slots instead of a job.
    pub is_dealloc: bool,
    /// The job's type, where there is one.
    pub job: Option<&'a Type>,
    /// What each parameter is, in order.
    pub parameters: Vec<Parameter<'a>>,
    /// The type inside the returned `Result`.
    pub output: Option<&'a Type>,
}

/// What a parameter stands for.
pub enum Parameter<'a> {
    Job,
    /// What `start` handed over.
    Pending(&'a Type),
    Key,
    Dead,
    /// The slot with the token's type where it was given, and the type's tokens.
    Slot(Option<&'a Type>, &'a Type),
    /// The capability with the identifier of its type.
    Capability(&'static Tag, &'a Ident, &'a Type),
    /// An input port: its name and its token.
    Port(Ident, &'a Type),
    /// Something that was refused.
    Unknown,
}

impl<'a> Function<'a> {
    /// Reads a signature; goes on after every fault.
    pub fn read(signature: &'a Signature, part: Part, attribute: &Attribute, faults: &mut Faults) -> Self {
        refuse_modifiers(signature, faults);
        let is_dealloc = part == Part::Whole
            && (attribute.name == "dealloc"
                || attribute.declares("unmaps")
                || signature.inputs.iter().any(|input| by_value(input).is_some_and(|segment| segment.ident == "Dead")));
        let mut read = Function {
            name: &signature.ident,
            is_dealloc,
            job: None,
            parameters: Vec::new(),
            output: output(signature, faults),
        };
        if let Some(receiver) = signature.receiver() {
            faults.at(receiver, "PL0706", "a stage is a free function: it has no `self`");
        }
        let mut inputs = signature.inputs.iter().filter_map(typed).peekable();
        if part == Part::Finish {
            match inputs.next_if(|input| !matches!(*input.ty, Type::Reference(_))) {
                Some(pending) => read.parameters.push(Parameter::Pending(&pending.ty)),
                None => {
                    let wanted = "the first parameter of `finish` is what `start` returned, by value";
                    faults.at(&signature.ident, "PL0706", wanted);
                }
            }
        }
        if !is_dealloc {
            let job = inputs.next_if(|input| is_job(input)).and_then(|input| match &*input.ty {
                Type::Reference(reference) => Some(&*reference.elem),
                _ => None,
            });
            match job {
                Some(job) => {
                    read.job = Some(job);
                    read.parameters.push(Parameter::Job);
                }
                None => faults.at(&signature.ident, "PL0706", job_wanted(part)),
            }
        }
        read.parameters.extend(inputs.map(|input| parameter(&input.pat, &input.ty, faults)));
        read
    }
}

/// Whether a parameter reads `job: &Something`; `_job` and `_` will do.
fn is_job(input: &PatType) -> bool {
    let named = match &*input.pat {
        Pat::Ident(name) => name.ident == "job" || name.ident == "_job",
        Pat::Wild(_) => true,
        _ => false,
    };
    named && matches!(*input.ty, Type::Reference(_))
}

fn job_wanted(part: Part) -> &'static str {
    match part {
        Part::Finish => "the job is missing: the second parameter of `finish` is `job: &Job`",
        Part::Whole | Part::Start => "the job is missing: the first parameter of a stage is `job: &Job`",
    }
}

/// Reads the functions `start` and `finish` of a module; `None`, with the fault noted, where one is missing.
pub fn two_functions<'a>(module: &'a ItemMod, attribute: &Attribute, faults: &mut Faults) -> Option<Form<'a>> {
    let Some((_, items)) = &module.content else {
        faults.at(&module.ident, "PL0701", "`#[stage]` reads the functions of a module written out in `{ … }`");
        return None;
    };
    let mut find = |name: &str| {
        let found = items.iter().find_map(|item| match item {
            Item::Fn(function) if function.sig.ident == name => Some(&function.sig),
            _ => None,
        });
        if found.is_none() {
            faults.at(&module.ident, "PL0706", format!("a stage in two functions has a function `{name}`"));
        }
        found
    };
    let (start, finish) = (find("start"), find("finish"));
    let (start, finish) = (start?, finish?);
    Some(Form::Two {
        start: Function::read(start, Part::Start, attribute, faults),
        finish: Function::read(finish, Part::Finish, attribute, faults),
    })
}

fn refuse_modifiers(signature: &Signature, faults: &mut Faults) {
    let mut refuse = |tokens: &dyn ToTokens, what: &str| {
        let tokens = tokens.to_token_stream();
        if !tokens.is_empty() {
            faults.at(tokens, "PL0706", format!("a stage is a plain function: {what}"));
        }
    };
    refuse(
        &signature.asyncness,
        "the runtime's workers do not poll futures; block, or split it in `start` and `finish`",
    );
    refuse(&signature.abi, "it has Rust's own calling convention");
    refuse(&signature.generics, "it has no generic parameters, because the graph names one implementation");
    refuse(
        &signature.generics.where_clause,
        "it has no generic parameters, because the graph names one implementation",
    );
}

/// What a parameter is, the job aside.
fn parameter<'a>(pat: &Pat, ty: &'a Type, faults: &mut Faults) -> Parameter<'a> {
    let (referent, by_reference) = match ty {
        Type::Reference(reference) => {
            if let Some(mutable) = &reference.mutability {
                let note = "a stage reads its inputs: other stages may read the same token at this moment; take `&`";
                faults.at(mutable, "PL0706", note);
            }
            (&*reference.elem, true)
        }
        other => (other, false),
    };
    let Some(segment) = last_segment(referent) else {
        faults.at(
            ty,
            "PL0706",
            "a stage takes the job, capabilities, its slot, and tokens by reference to a named type",
        );
        return Parameter::Unknown;
    };
    if let Some(tag) = TAGS.iter().find(|tag| segment.ident == tag.capability) {
        if !by_reference {
            let capability = tag.capability;
            faults.at(&segment.ident, "PL0706", format!("capabilities are lent for the firing: take `&{capability}`"));
        }
        return Parameter::Capability(tag, &segment.ident, ty);
    }
    match (segment.ident.to_string().as_str(), by_reference) {
        ("TokenKey", false) => Parameter::Key,
        ("Dead", false) => Parameter::Dead,
        ("Slot", false) => Parameter::Slot(type_argument(segment, 0), ty),
        (known @ ("TokenKey" | "Dead" | "Slot"), true) => {
            faults.at(&segment.ident, "PL0706", format!("`{known}` is taken by value, not by reference"));
            Parameter::Unknown
        }
        (_, true) => match pat {
            Pat::Ident(name) => Parameter::Port(unmarked(&name.ident), referent),
            _ => {
                faults.at(pat, "PL0706", "an input port is named after its parameter: give it a plain name");
                Parameter::Port(format_ident!("unnamed"), referent)
            }
        },
        (_, false) => {
            let name = segment.ident.to_string();
            faults.at(ty, "PL0706", format!("tokens are shared, so a stage takes them by reference: `&{name}`"));
            Parameter::Unknown
        }
    }
}

/// A port may be named with a leading underscore while its token is not looked at; graph files do not see it.
fn unmarked(name: &Ident) -> Ident {
    let text = name.to_string();
    match text.trim_start_matches('_') {
        "" => name.clone(),
        plain => Ident::new(plain, name.span()),
    }
}

/// `T` of `-> Result<T, StageError>`.
fn output<'a>(signature: &'a Signature, faults: &mut Faults) -> Option<&'a Type> {
    let wanted = "a stage returns `Result<T, StageError>`, where `T` is what it puts out";
    let ReturnType::Type(_, ty) = &signature.output else {
        faults.at(&signature.ident, "PL0707", wanted);
        return None;
    };
    let segment = last_segment(ty).filter(|segment| segment.ident == "Result");
    let Some(segment) = segment else {
        faults.at(ty, "PL0707", wanted);
        return None;
    };
    let output = type_argument(segment, 0);
    if output.is_none() {
        faults.at(ty, "PL0707", wanted);
    }
    if let Some(error) = type_argument(segment, 1)
        && last_segment(error).is_none_or(|segment| segment.ident != "StageError")
    {
        faults.at(error, "PL0707", "a stage fails with a `StageError`: one sentence for the person who must act");
    }
    output
}

fn typed(input: &FnArg) -> Option<&PatType> {
    match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    }
}

fn by_value(input: &FnArg) -> Option<&PathSegment> {
    typed(input).and_then(|typed| last_segment(&typed.ty))
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Paren(inner) => last_segment(&inner.elem),
        Type::Group(inner) => last_segment(&inner.elem),
        _ => None,
    }
}

/// The type argument number `n` of a path segment, lifetimes not counted.
fn type_argument(segment: &PathSegment, n: usize) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.into_iter().nth(n)
}

/// Types as text, for comparison and for messages: `Slot < '_ , T >` is `Slot<'_, T>`.
pub fn text(ty: &Type) -> String {
    let tokens: TokenStream = quote!(#ty);
    tokens
        .to_string()
        .replace(" < ", "<")
        .replace(" > ", ">")
        .replace(" >", ">")
        .replace(" :: ", "::")
        .replace(" , ", ", ")
}
