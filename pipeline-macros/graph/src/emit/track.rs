//! What makes cargo build again.

use proc_macro2::TokenStream;
use quote::quote_spanned;

use super::Target;
use crate::load::Outcome;

/// Mentions every file that was read, and the environment variable.
pub fn files(outcome: &Outcome, target: &Target) -> TokenStream {
    let span = target.span;
    let files = outcome.files().filter_map(|file| std::path::absolute(file).ok()?.to_str().map(str::to_owned));
    let files = files.map(|file| quote_spanned!(span=> const _: &[u8] = ::core::include_bytes!(#file);));
    files.chain([environment(target)]).collect()
}

/// Mentions the environment variable.
pub fn environment(target: &Target) -> TokenStream {
    let span = target.span;
    let variable = target.env.iter();
    quote_spanned!(span=> #(const _: ::core::option::Option<&str> = ::core::option_env!(#variable);)*)
}

/// A warning: stable Rust shows one for each use of something deprecated.
pub fn warning(text: &str, target: &Target) -> TokenStream {
    let span = target.span;
    quote_spanned! {span=>
        const _: () = {
            #[deprecated(note = #text)]
            const WARNING: () = ();
            WARNING
        };
    }
}
