//! Sums and differences of residues in 64-bit words, in place.
//!
//! Through blst each costs a call and its operands' way through memory, as much again as the sum.

use std::hint::select_unpredictable;

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
