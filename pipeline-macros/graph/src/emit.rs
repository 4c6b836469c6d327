//! A plan → the tokens of `pipeline!`.
