//! Sizes of circuits by name, for plans of machines that are not there yet.

use std::fmt::Write as _;

use proofline::runtime::admission::PROGRAM_BYTES;

use super::exit::Fault;

/// A circuit's sizes in the order of the graph language: constraints, aux, inputs, domain, variables in A and in B.
type Counts = [u64; 6];

/// Circuits that people plan for: Filecoin's, at 2 KiB for tests and at 32 GiB.
const KNOWN: [(&str, Counts); 6] = [
    ("porep_2k", [2_687_921, 2_685_673, 40, 1 << 22, 2_674_948, 685_522]),
    ("update_2k", [1_705_039, 1_703_569, 5, 1 << 21, 1_697_194, 444_404]),
    ("winning_2k", [90_750, 91_674, 133, 1 << 17, 69_433, 66_793]),
    ("window_2k", [21_866, 22_128, 23, 1 << 15, 16_793, 16_029]),
    ("winning_32g", [370_590, 375_210, 133, 1 << 19, 284_329, 272_185]),
    ("porep_32g", [130_278_541, 130_169_893, 328, 1 << 27, 129_753_292, 33_112_281]),
];

/// The sizes of a circuit of this name.
pub fn named(name: &str) -> Result<(String, Counts), Fault> {
    let found = KNOWN.iter().find(|(known, _)| *known == name);
    found.map(|(name, counts)| ((*name).to_owned(), *counts)).ok_or_else(|| {
        let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        Fault::Usage(format!(
            "`{name}` is no circuit whose sizes are known: {}; others stand under `sizes` of a graph",
            names.join(", ")
        ))
    })
}

/// What the plan does not count: what a job brings along.
pub fn brought(name: &str, [_, aux, _, domain, a, b]: Counts) -> String {
    // Points as the prover holds them: H, L and A in G1, B in both groups.
    let key = 96 * (domain + aux + a) + (96 + 192) * b;
    let mut text = String::new();
    let _ = write!(
        text,
        "{name}: beside it, the proving key takes {}; the matrices, the workspaces of the sums and {} for the program come to it",
        pipeline_graph::words::amount(key),
        pipeline_graph::words::amount(PROGRAM_BYTES)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_known_is_answered_with_those_that_are() {
        assert_eq!(named("porep_32g").unwrap().1[3], 1 << 27);
        let refused = named("porep_3g").unwrap_err().to_string();
        assert!(refused.contains("`porep_3g`") && refused.contains("winning_32g"), "{refused}");
    }

    /// The circuits themselves say the same.
    #[cfg(feature = "filecoin")]
    #[test]
    fn sizes_are_those_of_the_circuits() {
        use proofline::filecoin::{Family, Kind};
        for (name, kind, size) in [
            ("window_2k", Kind::Window, "2KiB"),
            ("winning_2k", Kind::Winning, "2KiB"),
            ("winning_32g", Kind::Winning, "32GiB"),
        ] {
            let sizes = Family { kind, size: size.parse().unwrap() }.compile().unwrap().sizes();
            let proofline::runtime::stage::Sizes { constraints, aux, inputs, domain, a_density, b_density } = sizes;
            assert_eq!(named(name).unwrap().1, [constraints, aux, inputs, domain, a_density, b_density], "{name}");
        }
    }
}
