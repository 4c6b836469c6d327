//! The faults of one `#[stage]`, collected so that one build shows them all.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Faults, in the order in which they were found.
#[derive(Default)]
pub struct Faults(Vec<syn::Error>);

impl Faults {
    /// Adds a fault on `tokens`: what is wrong, and what to do, in one sentence.
    pub fn at(&mut self, tokens: impl ToTokens, code: &str, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new_spanned(tokens, format!("{message} [{code}]")));
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.0.is_empty()
    }
}

impl ToTokens for Faults {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().map(syn::Error::to_compile_error));
    }
}
