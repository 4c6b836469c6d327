//! Numbers and residues in 64-bit words: the coordinates' prime, and sums and differences in place.
//!
//! Through blst a sum costs a call and its operands' way through memory, as much again as the sum.

use std::hint::select_unpredictable;

/// p, the order of the coordinates' field, the lowest word first.
pub(crate) const PRIME: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// a + b, and whether that is 2^(64·N) or more, which is then left out.
#[inline(always)]
pub(crate) fn plus<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], bool) {
    let mut sum = [0; N];
    let mut carry = false;
    for i in 0..N {
        (sum[i], carry) = a[i].carrying_add(b[i], carry);
    }
    (sum, carry)
}

/// a − b, and whether that is negative, when 2^(64·N) is added.
#[inline(always)]
pub(crate) fn minus<const N: usize>(a: &[u64; N], b: &[u64; N]) -> ([u64; N], bool) {
    let mut difference = [0; N];
    let mut borrow = false;
    for i in 0..N {
        (difference[i], borrow) = a[i].borrowing_sub(b[i], borrow);
    }
    (difference, borrow)
}

/// a mod m, for a below 2m.
#[inline(always)]
pub(crate) fn reduced<const N: usize>(a: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let (less, below) = minus(a, m);
    choose(below, a, &less)
}

/// a + b mod m, for a and b below m, and m below half of 2^(64·N): the sum carries nothing out.
#[inline(always)]
pub(crate) fn add<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    reduced(&plus(a, b).0, m)
}

/// a − b mod m, for a and b below m.
#[inline(always)]
pub(crate) fn sub<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let (out, negative) = minus(a, b);
    choose(negative, &plus(&out, m).0, &out)
}

/// `a` where `first`, else `b`. Without a branch: it would be a coin's throw.
#[inline(always)]
pub(crate) fn choose<const N: usize>(first: bool, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    std::array::from_fn(|i| select_unpredictable(first, a[i], b[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = u64::MAX;

    /// Numbers of two words, beside the arithmetic of 128 bits.
    #[test]
    fn sums_and_differences_carry_through_all_words() {
        let number = |words: &[u64; 2]| u128::from(words[0]) | u128::from(words[1]) << 64;
        let all = [[0, 0], [1, 0], [ALL, 0], [0, 1], [ALL, ALL], [ALL - 1, ALL], [0, 1 << 63], [ALL, ALL >> 1]];
        for a in &all {
            for b in &all {
                let ((sum, carry), (difference, borrow)) = (plus(a, b), minus(a, b));
                assert_eq!((number(&sum), carry), number(a).overflowing_add(number(b)), "{a:x?} + {b:x?}");
                assert_eq!((number(&difference), borrow), number(a).overflowing_sub(number(b)), "{a:x?} − {b:x?}");
            }
        }
    }

    #[test]
    fn residues_stay_below_the_modulus() {
        let mut last = PRIME;
        last[0] -= 1;
        let zero = [0; 6];
        assert_eq!(add(&last, &last, &PRIME), minus(&last, &[1, 0, 0, 0, 0, 0]).0);
        assert_eq!((add(&last, &zero, &PRIME), sub(&zero, &last, &PRIME)), (last, [1, 0, 0, 0, 0, 0]));
        assert_eq!((sub(&last, &last, &PRIME), reduced(&PRIME, &PRIME), reduced(&last, &PRIME)), (zero, zero, last));
        assert_eq!(reduced(&plus(&PRIME, &last).0, &PRIME), last);
    }
}
