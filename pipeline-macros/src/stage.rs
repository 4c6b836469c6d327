//! `#[stage]`: attribute → [`attribute`], functions → [`signature`], both against each other → [`check`], then [`emit`].

mod attribute;
mod check;
mod emit;
mod faults;
mod signature;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Item;

use attribute::Attribute;
use faults::Faults;
use signature::{Function, Part};

/// The functions of an implementation, in one of the three forms.
enum Form<'a> {
    /// One function does the work.
    One(Function<'a>),
    /// `start` and `finish`, inside a module.
    Two { start: Function<'a>, finish: Function<'a> },
    /// `dealloc`, which takes dead slots and no job.
    Dealloc(Function<'a>),
}

impl<'a> Form<'a> {
    fn functions(&self) -> impl Iterator<Item = &Function<'a>> {
        match self {
            Form::One(one) | Form::Dealloc(one) => [Some(one), None],
            Form::Two { start, finish } => [Some(start), Some(finish)],
        }
        .into_iter()
        .flatten()
    }
}

/// Expands `#[stage(attribute)] item`. Whatever is wrong, the item itself, the stage's type and an implementation of
/// its trait are in the result, so that their users report nothing.
pub fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut faults = Faults::default();
    let parsed = match syn::parse2::<Item>(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    match parsed {
        Item::Fn(function) => {
            let attribute = Attribute::parse(attribute, &function.sig.ident, &mut faults);
            let read = Function::read(&function.sig, Part::Whole, &attribute, &mut faults);
            let form = if read.is_dealloc { Form::Dealloc(read) } else { Form::One(read) };
            check::capabilities(&attribute, &form, &mut faults);
            let made = emit::implementation(&attribute, &form, &function.vis, faults.any());
            quote!(#function #made #faults)
        }
        Item::Mod(mut module) => {
            let attribute = Attribute::parse(attribute, &module.ident, &mut faults);
            let Some(form) = signature::two_functions(&module, &attribute, &mut faults) else {
                return quote!(#module #faults);
            };
            check::capabilities(&attribute, &form, &mut faults);
            // Inside the module, because the types of the signatures are names of the module's scope.
            let visible = syn::parse_quote!(pub);
            let made = emit::implementation(&attribute, &form, &visible, faults.any());
            if let Some((_, items)) = &mut module.content {
                items.push(Item::Verbatim(made));
            }
            let (vis, name, ty) = (&module.vis, &module.ident, attribute.type_name());
            quote!(#module #vis use self::#name::#ty; #faults)
        }
        other => {
            faults.at(
                &other,
                "PL0701",
                "`#[stage]` belongs on a function, or on a module with the functions `start` and `finish`",
            );
            quote!(#other #faults)
        }
    }
}
