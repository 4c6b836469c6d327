//! Scalars that must not outlive their use.

use std::ops::{Deref, DerefMut};

use blstrs::Scalar;
use ff::Field;
use proofline_memory::{Arena, Pages};

/// Overwrites scalars with zeros in a way that the optimiser does not remove.
pub fn wipe_scalars(scalars: &mut [Scalar]) {
    scalars.fill(Scalar::ZERO);
    // The slice escapes here, as far as the compiler knows, so the stores before it must happen.
    std::hint::black_box(scalars);
}

/// Scalars that are overwritten when they are dropped. The length is fixed: growing would leave copies behind.
pub struct SecretScalars(Scalars);

enum Scalars {
    Heap(Box<[Scalar]>),
    /// Memory of a slot, which is used again.
    Arena(Pages<Scalar>),
}

impl SecretScalars {
    /// So many zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Self(Scalars::Heap(vec![Scalar::ZERO; len].into_boxed_slice()))
    }

    /// So many zeros, in memory of an arena.
    #[must_use]
    pub fn zeros_in(arena: &Arena, len: usize) -> Self {
        Self(Scalars::Arena(Pages::filled_in(arena, len, Scalar::ZERO)))
    }

    /// Whether they are in memory of an arena.
    pub(crate) fn is_in_arena(&self) -> bool {
        matches!(self.0, Scalars::Arena(_))
    }

    /// Takes the memory of an arena out, as it is; none are left then.
    pub(crate) fn take_pages(&mut self) -> Option<Pages<Scalar>> {
        if !self.is_in_arena() {
            return None;
        }
        match std::mem::replace(&mut self.0, Scalars::Heap(Box::default())) {
            Scalars::Arena(pages) => Some(pages),
            Scalars::Heap(_) => None,
        }
    }

    /// Overwrites them with zeros.
    pub fn wipe(&mut self) {
        wipe_scalars(self);
    }
}

impl From<Vec<Scalar>> for SecretScalars {
    /// Takes the scalars over. A vector with spare capacity is moved, and its old memory overwritten.
    fn from(mut scalars: Vec<Scalar>) -> Self {
        if scalars.len() == scalars.capacity() {
            return Self(Scalars::Heap(scalars.into_boxed_slice()));
        }
        let kept = scalars.as_slice().into();
        wipe_scalars(&mut scalars);
        Self(Scalars::Heap(kept))
    }
}

impl From<Pages<Scalar>> for SecretScalars {
    fn from(pages: Pages<Scalar>) -> Self {
        Self(Scalars::Arena(pages))
    }
}

impl Deref for SecretScalars {
    type Target = [Scalar];

    fn deref(&self) -> &[Scalar] {
        match &self.0 {
            Scalars::Heap(scalars) => scalars,
            Scalars::Arena(scalars) => scalars,
        }
    }
}

impl DerefMut for SecretScalars {
    fn deref_mut(&mut self) -> &mut [Scalar] {
        match &mut self.0 {
            Scalars::Heap(scalars) => scalars,
            Scalars::Arena(scalars) => scalars,
        }
    }
}

impl Drop for SecretScalars {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl std::fmt::Debug for SecretScalars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretScalars(len = {})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wiping_leaves_zeros() {
        let mut secret = SecretScalars::from(vec![Scalar::ONE; 5]);
        secret.wipe();
        assert!(secret.iter().all(|s| *s == Scalar::ZERO));
    }

    #[test]
    fn debug_does_not_show_the_values() {
        assert_eq!(format!("{:?}", SecretScalars::from(vec![Scalar::ONE; 5])), "SecretScalars(len = 5)");
    }

    #[test]
    fn a_vector_with_spare_capacity_keeps_its_values() {
        let mut values = Vec::with_capacity(8);
        values.extend([Scalar::ONE; 3]);
        assert_eq!(&*SecretScalars::from(values), [Scalar::ONE; 3]);
    }
}
