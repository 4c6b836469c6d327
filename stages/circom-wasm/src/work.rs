//! How long a module will take to compile, told from its shape before it is compiled.
//!
//! A compiler's worst case is not its usual one: where every local variable lives through nested loops, registers are
//! assigned in more than quadratic time, and 16 kB of such code keep Cranelift busy for minutes. Compilation cannot be
//! interrupted, so what would take too long must be seen before. circom's own code has at most 35 locals in a function
//! and shallow nests.

use wasmparser::{BinaryReaderError, FunctionBody, Operator, Parser, Payload};

/// The work of compiling a module, in units of about a microsecond: for each block, loop or branch the locals of its
/// function times its depth, and two for each byte of code. Measured on nests of loops, chains of conditions and calls,
/// a unit took 0.8 to 1.8 µs; honest code takes less.
///
/// # Errors
///
/// The module cannot be read.
pub fn of_module(bytes: &[u8]) -> Result<u64, BinaryReaderError> {
    let mut work = 0u64;
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::CodeSectionEntry(body) = payload? {
            work = work.saturating_add(of_function(&body)?);
        }
    }
    Ok(work)
}

fn of_function(body: &FunctionBody<'_>) -> Result<u64, BinaryReaderError> {
    let mut locals = 1u64;
    for group in body.get_locals_reader()? {
        locals = locals.saturating_add(u64::from(group?.0));
    }
    let mut work = 2 * body.as_bytes().len() as u64;
    let mut depth = 1u64;
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        match operators.read()? {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                depth += 1;
                work = work.saturating_add(locals.saturating_mul(depth));
            }
            Operator::Br { .. } | Operator::BrIf { .. } => work = work.saturating_add(locals),
            Operator::End => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    Ok(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_count_by_their_depth_and_locals() {
        let work = |text: &str| of_module(&wat::parse_str(text).expect("WebAssembly")).expect("it can be read");
        let flat = work("(module (func (local i32 i32) (loop) (loop)))");
        let nested = work("(module (func (local i32 i32) (loop (loop))))");
        let wide = work("(module (func (local i64 i32 i32 i32) (loop (loop))))");
        assert_eq!(nested - flat, 3);
        assert!(wide > nested);
        assert_eq!(work("(module)"), 0);
    }
}
