//! A known-answer test of the chosen kernels, for start-up.
//!
//! A CPU, hypervisor or compiler that gets one vector instruction wrong would otherwise show as proofs that do not
//! verify. Takes some ten milliseconds on one thread.

mod sums;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ff::Field;

use crate::domain::reverse::reverse;
use crate::domain::roots::Twiddles;
use crate::domain::{Convention, Domain, DomainError};
use crate::sparse::{MatrixBuilder, SparseError, Triple};
use crate::{G1Affine, G2Affine, Path, Scalar};

/// A kernel that gave a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelfTestError {
    /// Results differ from the known ones.
    #[error(
        "the {kernel} kernel gives a wrong result on the {path} path: do not prove on this machine; report its CPU model"
    )]
    Wrong {
        /// Which kernel.
        kernel: &'static str,
        /// On which path.
        path: &'static str,
    },
    /// The transforms' test could not be set up.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The sparse product's test could not be set up.
    #[error(transparent)]
    Sparse(#[from] SparseError),
}

/// Points of G1's test query: so many that a window of the small scalars takes more than one batch, with a rest.
const G1_POINTS: usize = 2500;
/// Points of G2's: groups of lanes with a rest. What goes on between batches is the same code in both groups.
const G2_POINTS: usize = 93;
/// Points of the test domain: two stages of different length in both passes.
const ROWS: usize = 1 << 11;

/// Runs every kernel of a path on inputs with known results.
///
/// # Errors
/// The first kernel that is wrong.
pub fn run(path: Path) -> Result<(), SelfTestError> {
    run_with(path, |_| Scalar::ZERO)
}

/// [`run`] of kernels whose results are off by what `slip` says of each: how the test of the self-test makes wrong ones.
fn run_with(path: Path, slip: impl Fn(&str) -> Scalar) -> Result<(), SelfTestError> {
    let check = |kernel: &'static str, test: &dyn Fn(Scalar) -> Result<bool, SelfTestError>| {
        // Kernels panic at what cannot be, as sums of points of the curve that have none: then it is they that are wrong.
        let right = catch_unwind(AssertUnwindSafe(|| test(slip(kernel)))).unwrap_or(Ok(false))?;
        right.then_some(()).ok_or(SelfTestError::Wrong { kernel, path: path.name() })
    };
    check(G1_MULTIPLICATION, &|slip| Ok(sums::msm::<G1Affine>(path, G1_POINTS, slip)))?;
    check(G2_MULTIPLICATION, &|slip| Ok(sums::msm::<G2Affine>(path, G2_POINTS, slip)))?;
    check(TRANSFORM, &|slip| Ok(transform(path, slip)?))?;
    check(QUOTIENT, &|slip| Ok(quotient(path, slip)?))?;
    check(SPARSE_PRODUCT, &|slip| Ok(sparse(path, slip)?))
}

const G1_MULTIPLICATION: &str = "G1 multiplication";
const G2_MULTIPLICATION: &str = "G2 multiplication";
const TRANSFORM: &str = "transform";
const QUOTIENT: &str = "quotient";
const SPARSE_PRODUCT: &str = "sparse product";

/// The transform of 1, x, x², … has known values: (1 − xⁿ)/(1 − x·ωᵏ).
fn transform(path: Path, slip: Scalar) -> Result<bool, DomainError> {
    let domain = Domain::with_path(ROWS, path)?;
    let base = Scalar::from(3);
    let mut power = Scalar::ONE;
    let geometric: Vec<Scalar> = (0..ROWS)
        .map(|_| {
            let entry = power;
            power *= base;
            entry
        })
        .collect();
    let mut x = geometric.clone();
    domain.fft(&mut x);
    x[ROWS / 3] += slip;
    let (mut at, root) = (base, domain.root());
    let right = x.iter().all(|value| {
        let right = *value * (Scalar::ONE - at) == Scalar::ONE - power;
        at *= root;
        right
    });
    domain.ifft(&mut x);
    Ok(right && x == geometric && passes(path))
}

/// Small transforms that go the ways of large ones, which [`transform`]'s do not: five layers in a stage, a pass between
/// two others. There and back again, the values along the way being those of the definition.
#[cfg(target_arch = "x86_64")]
fn passes(path: Path) -> bool {
    use crate::ifma::ntt::{Order, Plan};
    let Path::Ifma(proof) = path else { return true };
    [&[9, 3][..], &[3, 9], &[3, 4, 3]].iter().all(|layers| {
        let log_size = layers.iter().sum();
        let root = crate::domain::root(log_size);
        let inverse = root.pow_vartime([(1 << log_size) - 1]);
        let plan = |root| Plan::of_passes(proof, Twiddles::twiddles(root, log_size), layers);
        let base = Scalar::from(3);
        let powers: Vec<Scalar> =
            std::iter::successors(Some(Scalar::ONE), |x| Some(*x * base)).take(1 << log_size).collect();
        let mut x = powers.clone();
        plan(root).run(&mut x, Order::Split, None);
        let mut values = x.clone();
        reverse(&mut values);
        let (mut at, whole) = (base, Scalar::ONE - base.pow_vartime([1 << log_size]));
        let right = values.iter().all(|value| {
            let right = *value * (Scalar::ONE - at) == whole;
            at *= root;
            right
        });
        plan(inverse).run(&mut x, Order::Join, None);
        let size = Scalar::from(1 << log_size);
        right && x.iter().zip(&powers).all(|(x, power)| *x == *power * size)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn passes(_: Path) -> bool {
    true
}

/// With A = B and C = A·B the quotient times Z is A·B − C at a point outside the domain; its values on the odd coset are not
/// looked at, for they come of the same transforms and steps.
fn quotient(path: Path, slip: Scalar) -> Result<bool, DomainError> {
    let domain = Domain::with_path(ROWS, path)?;
    let mut value = Scalar::from(11);
    let mut a: Vec<Scalar> = (0..ROWS)
        .map(|_| {
            value = value.square() - Scalar::from(5);
            value
        })
        .collect();
    let mut b = a.clone();
    let mut c: Vec<Scalar> = a.iter().map(Scalar::square).collect();
    let mut coefficients = [a.clone(), c.clone()];
    coefficients.iter_mut().for_each(|x| domain.ifft(x));
    domain.quotient(Convention::Coefficients, &mut a, &mut b, &mut c);
    a[ROWS / 3] += slip;
    let point = Scalar::from(1_000_003);
    let evaluate = |x: &[Scalar]| x.iter().rev().fold(Scalar::ZERO, |sum, entry| sum * point + entry);
    let z = point.pow_vartime([ROWS as u64]) - Scalar::ONE;
    let [a_polynomial, c_polynomial] = coefficients.map(|x| evaluate(&x));
    Ok(evaluate(&a) * z == a_polynomial.square() - c_polynomial)
}

/// Rows of all kinds of coefficients and of all lengths up to a few segments, against the definition.
fn sparse(path: Path, slip: Scalar) -> Result<bool, SparseError> {
    const COLUMNS: u32 = 77;
    let mut power = Scalar::from(3);
    let w: Vec<Scalar> = (0..COLUMNS)
        .map(|_| {
            power = power.square() + Scalar::ONE;
            power
        })
        .collect();
    let coefficients = [Scalar::ONE, -Scalar::ONE, Scalar::from(2), power];
    let mut builders = [(); 3].map(|()| MatrixBuilder::new(COLUMNS as usize));
    let mut want = [(); 3].map(|()| Vec::new());
    for row in 0..100 {
        for (m, (builder, want)) in builders.iter_mut().zip(&mut want).enumerate() {
            // A has rows alike, B rows of one variable, C rows that are all different.
            let coefficient = |column: u32| coefficients[[column, 0, column * column + row][m] as usize % 4];
            let terms: Vec<_> =
                (0..[3, 1, row % COLUMNS][m]).map(|column| (column + row % 7, coefficient(column))).collect();
            let terms: Vec<_> = terms.into_iter().filter(|(column, _)| *column < COLUMNS).collect();
            builder.push_row(&terms)?;
            want.push(terms.iter().map(|(column, value)| w[*column as usize] * value).sum::<Scalar>());
        }
    }
    let [a, b, c] = builders.map(MatrixBuilder::finish);
    let triple = Triple::new(&a, &b, &c)?.with_path(path);
    let mut got = want.clone().map(|rows| vec![Scalar::ONE; rows.len()]);
    let [a, b, c] = &mut got;
    triple.mul_into(&w, a, b, c);
    c[7] += slip;
    Ok(got == want)
}

#[cfg(test)]
mod tests {
    use super::sums::{ONES_EACH, factors};
    use super::*;

    #[test]
    fn every_path_passes() {
        for path in Path::all() {
            assert_eq!(run(path), Ok(()), "{}", path.name());
        }
    }

    #[test]
    fn a_kernel_that_is_wrong_is_found_and_named() {
        for path in Path::all() {
            for kernel in [G1_MULTIPLICATION, G2_MULTIPLICATION, TRANSFORM, QUOTIENT, SPARSE_PRODUCT] {
                let wrong = run_with(path, |name| if name == kernel { Scalar::ONE } else { Scalar::ZERO });
                assert_eq!(wrong, Err(SelfTestError::Wrong { kernel, path: path.name() }));
                let broken = run_with(path, |name| if name == kernel { panic!("no sum") } else { Scalar::ZERO });
                assert_eq!(broken, wrong, "one that panics is as wrong");
            }
        }
    }

    #[test]
    fn equal_and_opposite_points_and_sums_meet() {
        for points in [G1_POINTS, G2_POINTS] {
            let factors = factors(points);
            let ones: Vec<i64> = factors.into_iter().step_by(ONES_EACH).take(12).collect();
            let [a, b, c, d, e, f, g, h, i, j, ..] = ones[..] else { panic!("{} ones", ones.len()) };
            assert_eq!((c, a + b), (d, c + d), "equal points, and sums");
            assert_eq!((e + f, i), (-(g + h), -j), "opposite sums, and points");
        }
    }

    #[test]
    fn the_error_names_kernel_and_path() {
        let error = SelfTestError::Wrong { kernel: "transform", path: "avx512-ifma" };
        assert!(error.to_string().contains("transform kernel gives a wrong result on the avx512-ifma path"));
    }
}
