//! Diagnostics and plans for people.

mod dot;
mod excerpt;
mod plan;
mod svg;
mod text;

pub use dot::dot;
pub use plan::{formula, plan};
pub use svg::svg;
pub use text::{Style, diagnostic, for_rustc};
