//! Diagnostics and plans for people.

mod dot;
mod plan;
mod text;

pub use dot::dot;
pub use plan::{formula, plan};
pub use text::{Style, diagnostic, for_rustc};
