//! Numbers of bytes that depend on the sizes of the circuit.

/// The sizes of a circuit that formulas may use, in the order of `runtime::stage::Sizes`.
pub const SIZES: [&str; 6] = ["constraints", "aux", "inputs", "domain", "a_density", "b_density"];

/// A linear formula over [`SIZES`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Linear {
    /// Bytes whatever the circuit.
    pub fixed: u64,
    /// Bytes for each element of each size.
    pub per: [u64; 6],
}

impl Linear {
    /// The bytes for a circuit of these sizes; saturates.
    #[must_use]
    pub fn of(&self, counts: &[u64; 6]) -> u64 {
        let terms = self.per.iter().zip(counts);
        terms.fold(self.fixed, |sum, (bytes, count)| sum.saturating_add(bytes.saturating_mul(*count)))
    }

    /// This formula and `factor` times `other`; saturates.
    #[must_use]
    pub fn plus(mut self, other: &Linear, factor: u64) -> Linear {
        self.fixed = self.fixed.saturating_add(other.fixed.saturating_mul(factor));
        for (sum, bytes) in self.per.iter_mut().zip(other.per) {
            *sum = sum.saturating_add(bytes.saturating_mul(factor));
        }
        self
    }
}

/// A formula as it was written: a sum of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expression(pub Vec<Term>);

/// A term of a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// A fixed number of bytes.
    Bytes(u64),
    /// So many bytes for each element of a size, by its position in [`SIZES`].
    Size(u64, usize),
    /// So many tokens of that name.
    Token(u64, String),
}
