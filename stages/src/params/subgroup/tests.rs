use blstrs::{G1Affine, G1Projective, G2Affine};

use group::prime::PrimeCurveAffine;

use super::*;

fn inside<P: Point>(count: usize) -> Vec<P> {
    let mut point = P::Curve::generator();
    let multiples = (0..count).map(|_| {
        point = point.double() + P::Curve::generator();
        point.to_affine()
    });
    multiples.collect()
}

/// Points of the curve with small x that are not in the subgroup: nearly all of them.
fn strangers() -> impl Iterator<Item = G1Affine> {
    let candidates = (1..=u8::MAX).map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
    });
    candidates.flatten().filter(|point| !point.in_subgroup())
}

fn outside() -> G1Affine {
    strangers().next().unwrap()
}

fn outside_in_g2() -> G2Affine {
    let candidates = (1..=u8::MAX).map(|x| {
        let mut bytes = [0; 96];
        (bytes[0], bytes[95]) = (0x80, x);
        Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&bytes))
    });
    candidates.flatten().find(|point| !point.in_subgroup()).unwrap()
}

/// r·h/3, where h is the cofactor of G1 and 3 its smallest factor.
const TO_ORDER_3: &str =
    "8ab05f8bdd54cde190937e76bc3e447cc27c3d6fbd7063fcd104635a790520c0a395554e5c6aaaad955555555558e39";

/// A point of order 3: the kind that sums of random subsets miss most often.
fn order_3() -> G1Affine {
    let found =
        strangers().map(|point| multiple(TO_ORDER_3, point.into())).find(|point| !bool::from(point.is_identity()));
    let point = found.unwrap();
    assert!(bool::from((point.double() + point).is_identity()));
    point.to_affine()
}

/// By double and add: the library's own product takes its points to be in the subgroup.
fn multiple(factor: &str, point: G1Projective) -> G1Projective {
    let digits = factor.chars().map(|digit| digit.to_digit(16).unwrap());
    let bits = digits.flat_map(|digit| (0..4).rev().map(move |bit| digit >> bit & 1 == 1));
    bits.fold(G1Projective::identity(), |sum, bit| if bit { sum.double() + point } else { sum.double() })
}

#[test]
fn points_inside_pass() {
    for count in [0, 1, FEW - 1, FEW, FEW + 100] {
        assert_eq!(first_outside(&inside::<G1Affine>(count)), None, "{count}");
    }
    assert_eq!(first_outside(&inside::<G2Affine>(FEW)), None);
    assert_eq!(first_outside(&vec![G1Affine::identity(); FEW]), None, "infinity is inside");
}

#[test]
fn one_point_outside_is_found_wherever_it_is() {
    for count in [FEW - 1, 2 * FEW] {
        for at in [0, 1, count / 2, count - 1] {
            for stranger in [outside(), order_3()] {
                let mut points = inside(count);
                points[at] = stranger;
                assert_eq!(first_outside(&points), Some(at));
            }
            let mut points = inside(count);
            points[at] = outside_in_g2();
            assert_eq!(first_outside(&points), Some(at));
        }
    }
}

#[test]
fn points_outside_that_cancel_are_found() {
    let stranger = order_3();
    for strangers in [vec![stranger, -stranger], vec![stranger; 3], vec![stranger; 2 * FEW]] {
        let mut points = inside(2 * FEW);
        points[..strangers.len()].copy_from_slice(&strangers);
        assert_eq!(first_outside(&points), Some(0), "{} strangers", strangers.len());
    }
}
