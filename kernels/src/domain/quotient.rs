//! The quotient polynomial of a Groth16 proof, in both conventions.

use ff::Field;
use rayon::prelude::*;

use super::roots::{self, Twiddles};
use super::{Convention, Domain, portable};
use crate::Scalar;

/// Entries that one task of the pointwise step takes.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// Coefficients of (A·B − C)/Z: three inverse transforms, three on the coset of 7, one inverse on the coset.
pub(super) fn coefficients(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    let generator = roots::coset_generator();
    for x in [&mut *a, &mut *b, &mut *c] {
        to_coset(domain, x, &domain.backward, &domain.forward, generator);
    }
    // On the coset Z has the single value g^size − 1; g is no root of unity of this order, so it is not zero.
    let z_inverse = roots::inverse(generator.pow_vartime([domain.size() as u64]) - Scalar::ONE);
    pointwise(a, b, c, |a, b, c| (*a * b - c) * z_inverse);
    domain.coset_ifft(a);
}

/// Values of A·B − C on the odd coset, where C interpolates A·B on the domain; the roots are snarkjs'.
pub(super) fn odd_coset(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    pointwise(c, a, b, |_, a, b| *a * b);
    let root = roots::root_of_unity(Convention::OddCoset, domain.log_size());
    let shift = roots::root_of_unity(Convention::OddCoset, domain.log_size() + 1);
    let forward = Twiddles::new(root, domain.log_size());
    let backward = Twiddles::new(roots::inverse(root), domain.log_size());
    for x in [&mut *a, &mut *b, &mut *c] {
        to_coset(domain, x, &backward, &forward, shift);
    }
    pointwise(a, b, c, |a, b, c| *a * b - c);
}

/// Values on the domain to values on `shift`·domain, both in natural order.
fn to_coset(domain: &Domain, x: &mut [Scalar], backward: &Twiddles, forward: &Twiddles, shift: Scalar) {
    portable::to_reversed(x, backward);
    portable::reverse(x);
    portable::scale_by_powers(x, shift, domain.size_inverse());
    portable::reverse(x);
    portable::to_natural(x, forward);
}

/// `x[i] ← f(x[i], y[i], z[i])`.
fn pointwise(
    x: &mut [Scalar],
    y: &[Scalar],
    z: &[Scalar],
    f: impl Fn(&Scalar, &Scalar, &Scalar) -> Scalar + Sync + Send,
) {
    let entries = x.par_iter_mut().with_min_len(ELEMENTS_PER_TASK).zip(y).zip(z);
    entries.for_each(|((x, y), z)| *x = f(x, y, z));
}
