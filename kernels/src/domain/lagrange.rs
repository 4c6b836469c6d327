//! Lagrange polynomials of snarkjs' domains at a point: what setups need.

use ff::{BatchInvert, Field};
use rayon::prelude::*;

use super::{Convention, roots};
use crate::Scalar;

/// Points that one task takes: an inversion is shared by as many.
const POINTS_PER_TASK: usize = 1 << 12;

/// The values at τ of the Lagrange polynomials that a key for [`Convention::OddCoset`] is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OddCosetBasis {
    /// Of the domain of N points: entry j is 1 at w^j and 0 at the other points; w has order N.
    pub on_domain: Vec<Scalar>,
    /// The odd half of those of the domain of 2·N points: entry j is 1 at v^(2j+1), where v² = w.
    pub on_odd_coset: Vec<Scalar>,
}

impl OddCosetBasis {
    /// The basis of a domain of 2^`log_size` points; nothing if τ is one of the 2·2^`log_size` points, where the formula
    /// `(τ^M − 1)/M · x/(τ − x)` for the point x of a domain of M points has no meaning.
    ///
    /// # Panics
    /// If `log_size` is above [`MAX_LOG_SIZE`](super::MAX_LOG_SIZE).
    #[must_use]
    pub fn at(log_size: u32, tau: Scalar) -> Option<Self> {
        assert!(log_size <= super::MAX_LOG_SIZE, "a domain of 2^{log_size} points is above the limit");
        let size = 1u64 << log_size;
        let root = roots::root_of_unity(Convention::OddCoset, log_size);
        let double = roots::root_of_unity(Convention::OddCoset, log_size + 1);
        // Zero on the domain of 2·size points, which holds the other one.
        if tau.pow_vartime([2 * size]) == Scalar::ONE {
            return None;
        }
        let values = |order: u64, first: Scalar| {
            let factor = (tau.pow_vartime([order]) - Scalar::ONE) * roots::inverse(Scalar::from(order));
            let mut values = vec![Scalar::ZERO; size as usize];
            values.par_chunks_mut(POINTS_PER_TASK).enumerate().for_each(|(task, values)| {
                let mut point = first * root.pow_vartime([(task * POINTS_PER_TASK) as u64]);
                let mut points = Vec::with_capacity(values.len());
                for value in values.iter_mut() {
                    *value = tau - point;
                    points.push(point);
                    point *= root;
                }
                values.iter_mut().batch_invert();
                values.iter_mut().zip(points).for_each(|(value, point)| *value *= factor * point);
            });
            values
        };
        Some(Self { on_domain: values(size, Scalar::ONE), on_odd_coset: values(2 * size, double) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Lagrange polynomial at τ as it is defined: a product over all other points.
    fn slowly(points: &[Scalar], at: usize, tau: Scalar) -> Scalar {
        let others = points.iter().enumerate().filter(|(j, _)| *j != at);
        others.map(|(_, x)| (tau - x) * (points[at] - x).invert().unwrap()).product()
    }

    #[test]
    fn values_are_those_of_the_definition() {
        let tau = Scalar::from(123_456_789);
        for log_size in 0..5 {
            let basis = OddCosetBasis::at(log_size, tau).unwrap();
            let v = roots::root_of_unity(Convention::OddCoset, log_size + 1);
            let double: Vec<Scalar> = (0..2u64 << log_size).map(|j| v.pow_vartime([j])).collect();
            let domain: Vec<Scalar> = double.iter().step_by(2).copied().collect();
            for j in 0..1 << log_size {
                assert_eq!(basis.on_domain[j], slowly(&domain, j, tau), "2^{log_size}, {j}");
                assert_eq!(basis.on_odd_coset[j], slowly(&double, 2 * j + 1, tau), "2^{log_size}, {j}");
            }
        }
    }

    #[test]
    fn tasks_fit_together() {
        let basis = OddCosetBasis::at(13, Scalar::from(3)).unwrap();
        // The basis sums to the polynomial 1.
        assert_eq!(basis.on_domain.iter().sum::<Scalar>(), Scalar::ONE);
    }

    #[test]
    fn a_point_of_the_domain_has_no_basis() {
        assert_eq!(OddCosetBasis::at(3, Scalar::ONE), None);
        assert_eq!(OddCosetBasis::at(3, roots::root_of_unity(Convention::OddCoset, 4)), None);
    }
}
