//! The type and its implementation of the runtime's trait.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Type, Visibility};

use super::Form;
use super::attribute::Attribute;
use super::signature::{Function, Parameter};

/// The stage's type, its trait, and the const checks. With `faults` the bodies never run, so they are left out and
/// what could not be understood is filled in: the type exists, and its users report nothing.
pub fn implementation(attribute: &Attribute, form: &Form<'_>, visible: &Visibility, faults: bool) -> TokenStream {
    let ty = attribute.type_name();
    let doc = format!("The stage `{}` on the backend `{}`.", attribute.name, attribute.backend);
    let body = match form {
        Form::Dealloc(function) => dealloc(&ty, attribute, function, faults),
        Form::One(_) | Form::Two { .. } => stage(&ty, attribute, form, faults),
    };
    quote! {
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        #visible struct #ty;
        const _: () = { #body };
    }
}

fn dealloc(ty: &Ident, attribute: &Attribute, function: &Function<'_>, faults: bool) -> TokenStream {
    let (backend, tags, checks) = (attribute.backend, tags(attribute), capability_checks([function]));
    let call = if faults {
        quote!(::core::unreachable!())
    } else {
        let name = &function.name;
        let arguments = function.parameters.iter().map(|parameter| match parameter {
            Parameter::Dead => quote!(dead),
            _ => quote!(permit),
        });
        quote!(#name(#(#arguments),*))
    };
    quote! {
        impl ::pipeline_runtime::stage::DeallocStage for #ty {
            const BACKEND: &'static str = #backend;
            const TAGS: ::pipeline_runtime::tags::Tags = #tags;
            #[allow(unused_variables)]
            fn dealloc(
                dead: ::pipeline_runtime::export::Dead,
                permit: &::pipeline_runtime::capability::DeallocPermit,
            ) -> ::core::result::Result<(), ::pipeline_runtime::error::StageError> {
                #call
            }
        }
        #checks
    }
}

fn stage(ty: &Ident, attribute: &Attribute, form: &Form<'_>, faults: bool) -> TokenStream {
    let ports = ports(form);
    let unknown = faults.then(unknown_types);
    let or_unknown = |known: Option<&Type>| known.map_or_else(|| quote!(Unknown), |ty| quote!(#ty));
    let job = or_unknown(form.functions().find_map(|function| function.job));
    let (pending, output) = match form {
        Form::Two { start, finish } => (start.output, finish.output),
        Form::One(one) | Form::Dealloc(one) => (one.output, one.output),
    };
    // The unit type is a fault that was reported; it is no token.
    let output = output.filter(|ty| !matches!(ty, Type::Tuple(_)));
    let (pending, output) = (if faults { or_unknown(output) } else { or_unknown(pending) }, or_unknown(output));
    let (start, finish) = match form {
        _ if faults => (quote!(::core::unreachable!()), quote!(::core::unreachable!())),
        Form::Two { start, finish } => (call(start, &ports), call(finish, &ports)),
        Form::One(one) | Form::Dealloc(one) => (call(one, &ports), quote!(::core::result::Result::Ok(pending))),
    };
    let (name, backend, tags) = (attribute.name.to_string(), attribute.backend, tags(attribute));
    let tokens: Vec<TokenStream> = ports.iter().map(|(_, token)| input_token(token)).collect();
    let port_names = ports.iter().map(|(name, _)| name.to_string());
    let number = 0..ports.len();
    let (inputs, checks) = (input_trait(), capability_checks(form.functions()));
    quote! {
        #unknown
        #inputs
        impl ::pipeline_runtime::stage::Stage for #ty {
            type Job = #job;
            type In = (#(::pipeline_runtime::export::Shared<#tokens>,)*);
            type Out = #output;
            type Pending = #pending;
            const NAME: &'static str = #name;
            const BACKEND: &'static str = #backend;
            const TAGS: ::pipeline_runtime::tags::Tags = #tags;
            const PORTS: &'static [::pipeline_runtime::stage::Port] = &[#(::pipeline_runtime::stage::Port {
                name: #port_names,
                token: <#tokens as ::pipeline_runtime::slot::Token>::NAME,
            }),*];
            #[allow(unused_variables)]
            fn start(
                firing: &::pipeline_runtime::export::Firing<'_, Self>,
                inputs: &Self::In,
            ) -> ::core::result::Result<Self::Pending, ::pipeline_runtime::error::StageError> {
                #start
            }
            #[allow(unused_variables)]
            fn finish(
                firing: &::pipeline_runtime::export::Firing<'_, Self>,
                inputs: &Self::In,
                pending: Self::Pending,
            ) -> ::core::result::Result<Self::Out, ::pipeline_runtime::error::StageError> {
                #finish
            }
        }
        #(impl ::pipeline_runtime::stage::TakesAt<#number> for #ty { type Takes = #tokens; })*
        #checks
    }
}

/// The ports of all functions, in the order in which they first appear.
fn ports<'a>(form: &'a Form<'_>) -> Vec<(&'a Ident, &'a Type)> {
    let mut ports: Vec<(&Ident, &Type)> = Vec::new();
    for parameter in form.functions().flat_map(|function| &function.parameters) {
        if let Parameter::Port(name, token) = parameter
            && ports.iter().all(|(known, _)| *known != name)
        {
            ports.push((name, token));
        }
    }
    ports
}

/// The call of a stage function. Each argument has the span of its parameter's type, so that rustc's complaint about an
/// alias points there.
fn call(function: &Function<'_>, ports: &[(&Ident, &Type)]) -> TokenStream {
    let name = &function.name;
    let arguments = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Job => quote!(firing.job()),
        Parameter::Key => quote!(firing.key()),
        Parameter::Pending(ty) => quote_spanned!(ty.span()=> pending),
        Parameter::Slot(_, ty) => quote_spanned!(ty.span()=> firing.slot()),
        Parameter::Capability(tag, ident, _) => {
            let method = Ident::new(tag.accessor, ident.span());
            quote_spanned!(ident.span()=> firing.#method()?)
        }
        Parameter::Port(name, token) => {
            let index = syn::Index::from(ports.iter().position(|(known, _)| *known == name).unwrap_or_default());
            quote_spanned!(token.span()=> &inputs.#index)
        }
        Parameter::Dead | Parameter::Unknown => quote!(::core::unreachable!()),
    });
    quote!(#name(#(#arguments),*))
}

fn tags(attribute: &Attribute) -> TokenStream {
    let constants = attribute.tags.iter().map(|(tag, _)| format_ident!("{}", tag.constant));
    quote!(::pipeline_runtime::tags::Tags::NONE #(.with(::pipeline_runtime::tags::Tags::#constants))*)
}

/// The trait by way of which every input's type is named: of a type that is no token rustc then says so, and not how
/// the runtime would have used it.
fn input_trait() -> TokenStream {
    quote! {
        pub trait Input {
            type Token: ::pipeline_runtime::slot::Token;
        }
        #[diagnostic::do_not_recommend]
        impl<T: ::pipeline_runtime::slot::Token> Input for T {
            type Token = T;
        }
    }
}

/// The type of an input, at the place of the parameter.
fn input_token(ty: &Type) -> TokenStream {
    let span = match ty {
        Type::Path(path) => path.path.segments.last().map_or_else(|| ty.span(), |segment| segment.ident.span()),
        _ => ty.span(),
    };
    quote_spanned!(span=> <#ty as Input>::Token)
}

/// The capability type that was recognised by its name is the runtime's, not a namesake.
fn capability_checks<'a>(functions: impl IntoIterator<Item = &'a Function<'a>>) -> TokenStream {
    let parameters = functions.into_iter().flat_map(|function| &function.parameters);
    let checks = parameters.filter_map(|parameter| {
        let Parameter::Capability(tag, ident, Type::Reference(ty)) = parameter else {
            return None;
        };
        let (constant, ty) = (format_ident!("{}", tag.constant), &ty.elem);
        let message = format!("this `{}` is not the capability that the tag `{}` pays out", tag.capability, tag.word);
        Some(quote_spanned! {ident.span()=>
            const _: () = ::core::assert!(
                <#ty as ::pipeline_runtime::capability::Capability>::NEEDS
                    .contains(::pipeline_runtime::tags::Tags::#constant),
                #message
            );
        })
    });
    quote!(#(#checks)*)
}

/// A type that stands for what a fault left open.
fn unknown_types() -> TokenStream {
    quote! {
        #[allow(dead_code)]
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Unknown {}
        impl ::pipeline_runtime::stage::Job for Unknown {
            fn partitions(&self) -> u32 {
                match *self {}
            }
            fn sizes(&self) -> ::pipeline_runtime::stage::Sizes {
                match *self {}
            }
        }
        impl ::pipeline_runtime::slot::Token for Unknown {
            const NAME: &'static str = "Unknown";
            type Shape = ();
            fn with_shape(_: &()) -> Self {
                ::core::unreachable!()
            }
            fn shape(&self) {
                match *self {}
            }
            fn bytes(&self) -> u64 {
                match *self {}
            }
        }
    }
}
