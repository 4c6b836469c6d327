//! The quotient polynomial of a Groth16 proof, in both conventions.

use ff::Field;
use rayon::prelude::*;

use super::roots;
use super::transform::Transforms;
use super::{Convention, Domain};
use crate::{Path, Scalar};

/// Entries that one task of the pointwise step takes.
const ELEMENTS_PER_TASK: usize = 1 << 12;

/// Coefficients of (A·B − C)/Z: three inverse transforms, three on the coset of 7, one inverse on the coset.
pub(super) fn coefficients(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    let generator = roots::coset_generator();
    to_coset(domain, &domain.transforms, generator, [&mut *a, &mut *b, &mut *c]);
    // On the coset Z has the single value g^size − 1; g is no root of unity of this order, so it is not zero.
    let z_inverse = roots::inverse(generator.pow_vartime([domain.size() as u64]) - Scalar::ONE);
    combine(domain.path, a, b, c, z_inverse);
    domain.coset_ifft(a);
}

/// Values of A·B − C on the odd coset, where C interpolates A·B on the domain; the roots are snarkjs'.
pub(super) fn odd_coset(domain: &Domain, a: &mut [Scalar], b: &mut [Scalar], c: &mut [Scalar]) {
    pointwise(c, a, b, |_, a, b| *a * b);
    let root = roots::root_of_unity(Convention::OddCoset, domain.log_size());
    let shift = roots::root_of_unity(Convention::OddCoset, domain.log_size() + 1);
    let transforms = Transforms::new(domain.path, root, domain.log_size());
    to_coset(domain, &transforms, shift, [&mut *a, &mut *b, &mut *c]);
    combine(domain.path, a, b, c, Scalar::ONE);
}

/// Values on the domain to values on `shift`·domain, both in natural order.
fn to_coset(domain: &Domain, transforms: &Transforms, shift: Scalar, arrays: [&mut [Scalar]; 3]) {
    let scale = transforms.backward.scale(shift, domain.size_inverse());
    for x in arrays {
        transforms.backward.to_reversed(x, Some(&scale));
        transforms.forward.to_natural(x);
    }
}

/// `a[i] ← (a[i]·b[i] − c[i])·factor`.
fn combine(path: Path, a: &mut [Scalar], b: &[Scalar], c: &[Scalar], factor: Scalar) {
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Ifma(proof) => crate::ifma::pointwise::combine(proof, a, b, c, factor),
        _ => pointwise(a, b, c, |a, b, c| (*a * b - c) * factor),
    }
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
