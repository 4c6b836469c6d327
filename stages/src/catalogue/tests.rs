use std::path::Path;

use super::*;
use crate::circuits::CircuitShape;
use crate::tokens::QueryCounts;

#[test]
fn the_file_is_what_the_code_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue.ron");
    if std::env::var_os("PROOFLINE_BLESS").is_some() {
        std::fs::write(&file, catalogue()).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap();
    assert_eq!(found, catalogue(), "the stages have changed: PROOFLINE_BLESS=1 cargo test -p proofline-stages");
}

/// `"32 * inputs + 96"` for a circuit.
fn value(formula: &str, shape: &CircuitShape) -> u64 {
    let sizes = shape.sizes();
    let size = |name: &str| match name {
        "constraints" => sizes.constraints,
        "aux" => sizes.aux,
        "inputs" => sizes.inputs,
        "domain" => sizes.domain,
        "a_density" => sizes.a_density,
        "b_density" => sizes.b_density,
        number => number.parse().unwrap(),
    };
    formula.split('+').map(|term| term.split('*').map(|factor| size(factor.trim())).product::<u64>()).sum()
}

#[test]
fn formulas_are_the_bytes_of_the_tokens() {
    let shape = CircuitShape::from_builtin("sha256:1").unwrap();
    let bytes = [
        Witness::with_shape(&shape.variables()).bytes(),
        Evaluated::with_shape(&shape.domain().size()).bytes(),
        {
            // Every scalar full-sized, the case that the formula is for.
            let full = -blstrs::Scalar::from(u64::MAX) - blstrs::Scalar::from(2);
            let mut witness = Witness::with_shape(&shape.variables());
            witness.values.fill(full);
            let mut classified = Classified::with_shape(&QueryCounts::of(&shape));
            crate::host::classify(&shape, &witness, &mut classified);
            classified.bytes()
        },
        SumsG1::with_shape(&()).bytes(),
        SumG2::with_shape(&()).bytes(),
        Proof::with_shape(&()).bytes(),
    ];
    for (token, bytes) in TOKENS.iter().zip(bytes) {
        assert_eq!(value(token.formula, &shape), bytes, "{}", token.token);
    }
}
