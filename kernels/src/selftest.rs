//! A known-answer test of the chosen kernels, for start-up.
//!
//! A CPU, hypervisor or compiler that gets one vector instruction wrong would otherwise show as proofs that do not
//! verify. Takes some ten milliseconds on one thread.

use ff::Field;

use crate::domain::reverse::reverse;
use crate::domain::roots::Twiddles;
use crate::domain::{Convention, Domain, DomainError};
use crate::msm::{Curve, Query, Stored, Workspace, affine_many};
use crate::scalars::ScalarSet;
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
/// Points of the dense multiplication, which takes every scalar for a full one.
const DENSE_POINTS: usize = 71;
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
    let check = |kernel, right: bool| right.then_some(()).ok_or(SelfTestError::Wrong { kernel, path: path.name() });
    check(G1_MULTIPLICATION, msm::<G1Affine>(path, G1_POINTS, slip(G1_MULTIPLICATION)))?;
    check(G2_MULTIPLICATION, msm::<G2Affine>(path, G2_POINTS, slip(G2_MULTIPLICATION)))?;
    check(TRANSFORM, transform(path, slip(TRANSFORM))?)?;
    check(QUOTIENT, quotient(path, slip(QUOTIENT))?)?;
    check(SPARSE_PRODUCT, sparse(path, slip(SPARSE_PRODUCT))?)
}

const G1_MULTIPLICATION: &str = "G1 multiplication";
const G2_MULTIPLICATION: &str = "G2 multiplication";
const TRANSFORM: &str = "transform";
const QUOTIENT: &str = "quotient";
const SPARSE_PRODUCT: &str = "sparse product";

/// The factors of the test's points: k + 1, but where the scalar is 1 whatever additions have to tell apart.
///
/// Points with the scalar 1 are summed as a tree over neighbours: here equal and opposite points meet in its first round, and
/// equal and opposite sums in the second.
fn factors(points: usize) -> Vec<Scalar> {
    let mut factors: Vec<Scalar> = (1..=points as u64).map(Scalar::from).collect();
    for (place, like) in [(6, 4), (7, 5), (9, 8)] {
        factors[ONES_EACH * place] = -factors[ONES_EACH * like];
    }
    // The sum of the first two is twice the second but one: 1 + 9 = 5 + 5.
    (factors[2 * ONES_EACH], factors[3 * ONES_EACH]) = (Scalar::from(5), Scalar::from(5));
    factors
}

/// Of so many points at the front one has the scalar 1.
const ONES_EACH: usize = 8;
/// Points at the front that have so many ones; of those behind half as many do.
const MANY_ONES: usize = 12 * ONES_EACH;

/// Points of known multiples of G, scalars of all classes: the sum is one product of G.
fn msm<C: Curve>(path: Path, points: usize, slip: Scalar) -> bool {
    let generator = C::standard_generator();
    let factors = factors(points);
    let mut at = C::zero();
    let mut walk: Vec<_> = (0..points)
        .map(|_| {
            at += &generator;
            at
        })
        .collect();
    for (k, factor) in factors.iter().enumerate().take(MANY_ONES).step_by(ONES_EACH) {
        walk[k] = C::Projective::from(generator) * *factor;
    }
    // Iterated squares run through all sizes of limbs. Most scalars are small, of either sign: they have a quarter of the
    // windows, and go through the same additions.
    let (mut power, mut word) = (Scalar::from(7), 7u64);
    let scalars: Vec<Scalar> = (0..points)
        .map(|k| {
            power = power.square() + Scalar::ONE;
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
            match k % 16 {
                0 => Scalar::ONE,
                ONES_EACH if k < MANY_ONES => Scalar::ONE,
                1 => power,
                2 => -Scalar::from(word),
                _ => Scalar::from(word),
            }
        })
        .collect();
    let sum_of = |count: usize| {
        let products = scalars[..count].iter().zip(&factors).map(|(scalar, factor)| *scalar * factor);
        C::Projective::from(generator) * products.sum::<Scalar>()
    };
    let multiples: Vec<C> = affine_many(&walk);
    let Some(dense) = stored(path, &multiples[..DENSE_POINTS]) else { return false };
    let query = Query::<C>::with_path(multiples, path);
    let mut set = ScalarSet::new();
    set.fill(&scalars, None);
    let workspace = Workspace::new();
    let slip = C::Projective::from(generator) * slip;
    query.msm(&set, &workspace) + slip == sum_of(points)
        && dense.msm_dense(&scalars[..DENSE_POINTS], &workspace) + slip == sum_of(DENSE_POINTS)
}

/// A query that was stored and is read back: keys that were converted come this way.
fn stored<C: Curve>(path: Path, points: &[C]) -> Option<Query<C>> {
    let mut plain = vec![0; C::PLAIN_BYTES * points.len()];
    plain.chunks_exact_mut(C::PLAIN_BYTES).zip(points).for_each(|(plain, point)| point.to_plain(plain));
    let stored = Stored { len: points.len(), infinities: &[], points_per_piece: points.len() };
    let read = |first: usize, bytes: &mut [u8]| {
        let from = C::PLAIN_BYTES * first;
        bytes.copy_from_slice(&plain[from..from + bytes.len()]);
        Ok::<_, std::convert::Infallible>(())
    };
    Query::load(stored, path, read).ok()
}

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
    let mut at = base;
    let right = x.iter().all(|value| {
        let right = *value * (Scalar::ONE - at) == Scalar::ONE - power;
        at *= domain.root();
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
    [&[10, 3][..], &[3, 10], &[3, 4, 3]].iter().all(|layers| {
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
            }
        }
    }

    #[test]
    fn equal_and_opposite_points_and_sums_meet() {
        for points in [G1_POINTS, G2_POINTS] {
            let factors = factors(points);
            let ones: Vec<Scalar> = factors.into_iter().step_by(ONES_EACH).take(12).collect();
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
