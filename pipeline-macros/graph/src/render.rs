//! Diagnostics as text, plans as pictures.

mod dot;
mod text;

pub use dot::dot;
pub use text::{Style, diagnostic, for_rustc};
