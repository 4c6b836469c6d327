//! The notation: a subset of RON, read with the place of everything and on after faults.
//!
//! Beyond RON, a call may have positional arguments before its named ones: `Stage("spmv", workers: 2)`. Left out are
//! `char`s and extensions (`#![enable(…)]`), which the language does not need.

mod lexer;
mod node;
mod reader;

pub use lexer::Token;
pub use node::{Argument, Call, Node, Value};
pub use reader::read;
