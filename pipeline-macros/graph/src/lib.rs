//! The stage-graph language: spanned RON reader, model, checks, plan, emitted tokens, renderers.
//!
//! An ordinary library: the macro `pipeline!` and the command `proofline check` are both thin users of it, so what
//! the one refuses the other refuses in the same words.

pub mod words;
