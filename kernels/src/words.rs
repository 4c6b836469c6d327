//! Residues in 64-bit words: the coordinates' prime, and sums and differences in place.
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

/// a + b mod m, for a and b below m, and m below half of 2^(64·N): the sum carries nothing out.
#[inline(always)]
pub(crate) fn add<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let mut sum = [0; N];
    let mut carry = false;
    for i in 0..N {
        (sum[i], carry) = a[i].carrying_add(b[i], carry);
    }
    let mut reduced = [0; N];
    let mut borrow = false;
    for i in 0..N {
        (reduced[i], borrow) = sum[i].borrowing_sub(m[i], borrow);
    }
    choose(borrow, &sum, &reduced)
}

/// a − b mod m, for a and b below m.
#[inline(always)]
pub(crate) fn sub<const N: usize>(a: &[u64; N], b: &[u64; N], m: &[u64; N]) -> [u64; N] {
    let mut out = [0; N];
    let mut borrow = false;
    for i in 0..N {
        (out[i], borrow) = a[i].borrowing_sub(b[i], borrow);
    }
    let mut back = [0; N];
    let mut carry = false;
    for i in 0..N {
        (back[i], carry) = out[i].carrying_add(m[i], carry);
    }
    choose(borrow, &back, &out)
}

/// `a` where `first`, else `b`. Without a branch: it would be a coin's throw.
#[inline(always)]
pub(crate) fn choose<const N: usize>(first: bool, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    std::array::from_fn(|i| select_unpredictable(first, a[i], b[i]))
}
