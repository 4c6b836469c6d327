//! What a calculation gives.

use zeroize::Zeroize;

use crate::field::{Element, MODULUS};

/// The values of all wires, wire 0 (the constant 1) first. Wiped when dropped.
pub struct Witness {
    pub(crate) values: Vec<Element>,
}

impl Witness {
    /// The values, canonical, by wire.
    #[must_use]
    pub fn values(&self) -> &[Element] {
        &self.values
    }

    /// The values as a `.wtns` file, version 2, the same bytes as snarkjs writes. The caller wipes them.
    #[must_use]
    pub fn to_wtns(&self) -> Vec<u8> {
        let prime = MODULUS.iter().flat_map(|limb| limb.to_le_bytes());
        let mut out = Vec::with_capacity(76 + 32 * self.values.len());
        out.extend(*b"wtns");
        out.extend([2u32, 2, 1].iter().flat_map(|word| word.to_le_bytes()));
        out.extend(40u64.to_le_bytes());
        out.extend(32u32.to_le_bytes());
        out.extend(prime);
        // A calculator counts its wires in 32 bits.
        out.extend((self.values.len() as u32).to_le_bytes());
        out.extend(2u32.to_le_bytes());
        out.extend((32 * self.values.len() as u64).to_le_bytes());
        out.extend(self.values.iter().flatten().flat_map(|limb| limb.to_le_bytes()));
        out
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.values.zeroize();
    }
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Witness(len = {})", self.values.len())
    }
}
