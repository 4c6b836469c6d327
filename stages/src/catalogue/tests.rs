use std::path::Path;

use super::*;
use crate::circuits::CircuitShape;

#[test]
fn the_file_is_what_the_code_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue.ron");
    if std::env::var_os("PROOFLINE_BLESS").is_some() {
        std::fs::write(&file, catalogue()).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap();
    assert_eq!(found, catalogue(), "the stages have changed: PROOFLINE_BLESS=1 cargo test -p proofline-stages");
}

#[test]
fn formulas_are_the_bytes_of_the_tokens() {
    fn check<T: Token>(token: &T, shape: &CircuitShape) {
        let formula = T::FORMULA.expect("every token states its bytes");
        assert_eq!(formula.of(&shape.sizes()), token.bytes(), "{}", T::NAME);
    }
    let shape = CircuitShape::from_builtin("sha256:1").unwrap();
    check(&Witness::with_shape(&shape.variables()), &shape);
    check(&Evaluated::with_shape(&shape.domain().size()), &shape);
    // Every scalar full-sized, the case that the formula is for.
    let full = -blstrs::Scalar::from(u64::MAX) - blstrs::Scalar::from(2);
    let mut witness = Witness::with_shape(&shape.variables());
    witness.values.fill(full);
    let mut classified = Classified::with_shape(&shape.variables());
    crate::host::classify(&witness, &mut classified);
    check(&classified, &shape);
    let held = classified.scalars.bytes() as u64;
    // Mapped memory is whole pages, and the counts of blocks are beside it.
    let rounding = proofline_memory::LARGE_PAGE as u64 + (1 << 16);
    assert!((classified.bytes()..classified.bytes() + rounding).contains(&held), "{held} of {}", classified.bytes());
    check(&SumsG1::with_shape(&()), &shape);
    check(&SumG2::with_shape(&()), &shape);
    check(&Proof::with_shape(&()), &shape);
}
