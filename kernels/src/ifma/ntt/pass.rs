//! One pass over memory: up to ten layers on rows that are a stride apart.

use proofline_memory::{Arena, Pages};
use rayon::prelude::*;

use super::plan::Scale;
use super::rows::{Rows, load, store};
use super::stage::{self, MAX_ROWS};
use super::tables::{Geometry, Tables};
use crate::Scalar;
use crate::domain::roots::Twiddles;
use crate::ifma::Ifma;
use crate::ifma::field::{normalise, pack};
use crate::ifma::fr::{self, Fr, LIMBS};
use crate::ifma::vector::LANES;
use crate::shelf::Shelf;

/// The array under transformation, shared by tasks that touch different elements of it.
#[derive(Clone, Copy)]
struct Memory(*mut Scalar);

// SAFETY: a task dereferences only the elements of its own eight columns or blocks (see `run`).
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Everything that tasks of a pass have in common.
struct Pass<'a> {
    proof: Ifma,
    geometry: Geometry,
    scale: Option<&'a Scale>,
}

/// Runs a pass over `x`, whose length is 2^(before + layers + after). `tables` are those of block 0.
pub(super) fn run<const SPLIT: bool>(
    proof: Ifma,
    x: &mut [Scalar],
    geometry: Geometry,
    twiddles: &Twiddles,
    tables: &Tables,
    scale: Option<&Scale>,
    buffers: &Shelf<Buffer>,
) {
    let pass = Pass { proof, geometry, scale: scale.filter(|_| geometry.after == 0) };
    let memory = &Memory(x.as_mut_ptr());
    let buffer = || {
        let mut buffer = buffers.take(|| Buffer::new(proof));
        buffer.group = (1 << geometry.second()) + 1;
        buffer
    };
    let Geometry { before, layers, after } = geometry;
    if after == 0 {
        // Eight neighbouring blocks of 2^layers elements a task; there are 2^before of them.
        (0..1usize << before >> 3).into_par_iter().for_each_init(buffer, |buffer, group| {
            // SAFETY: the start of block 8·group is inside the array, and no other task has these eight blocks.
            let at = unsafe { memory.0.add(group << (layers + 3)) };
            let rows = Rows { at, row_stride: 1, lane_stride: 1 << layers };
            // The finest block twiddle; those of earlier layers are its repeated squares.
            let finest = |lane| fr::factor(twiddles.get((LANES * group + lane) << (layers - 1)));
            let finest = pack(proof, &std::array::from_fn(finest));
            // SAFETY: `proof` proves the features, and `rows` are this task's own.
            unsafe { blocks::<SPLIT>(&pass, rows, group, tables, &finest, buffer) };
        });
        return;
    }
    // Eight neighbouring columns a task; each of 2^before blocks has 2^after columns.
    let columns = 1usize << after >> 3;
    for block in 0..1usize << before {
        let own = (block > 0).then(|| Tables::new(twiddles, block, geometry));
        let tables = own.as_ref().unwrap_or(tables);
        (0..columns).into_par_iter().for_each_init(buffer, |buffer, group| {
            // SAFETY: column 8·group of the block is inside the array, and no other task has these eight columns.
            let at = unsafe { memory.0.add((block << (layers + after)) + LANES * group) };
            let rows = Rows { at, row_stride: 1 << after, lane_stride: 1 };
            // SAFETY: `proof` proves the features, and `rows` are this task's own.
            unsafe { strided::<SPLIT>(&pass, rows, tables, buffer) };
        });
    }
}

/// The rows of one task between the stages.
///
/// They are made of a witness, and stay until the next transform: they lie in memory that core dumps leave out.
pub(super) struct Buffer {
    rows: Pages<Fr>,
    /// Rows of the second stage are neighbours; groups of them are padded by one, since a stride of a power of two would
    /// use few sets of a cache.
    group: usize,
    first: stage::Twiddles,
    second: stage::Twiddles,
}

impl Buffer {
    /// For any geometry.
    fn new(proof: Ifma) -> Self {
        let zero = [proof.splat(0); LIMBS];
        Self {
            rows: Pages::filled_in(&Arena::default(), (MAX_ROWS + 1) * MAX_ROWS, zero),
            group: 0,
            first: [zero; MAX_ROWS],
            second: [zero; MAX_ROWS],
        }
    }
}

/// # Safety
/// `rows` must be valid for 2^layers rows and not be in use elsewhere; 2^after ≥ 8 columns.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
unsafe fn strided<const SPLIT: bool>(pass: &Pass<'_>, rows: Rows, tables: &Tables, buffer: &mut Buffer) {
    for (twiddle, limbs) in buffer.first.iter_mut().zip(&tables.first) {
        *twiddle = fr::splat(pass.proof, limbs);
    }
    let trivial = pass.geometry.before == 0;
    if SPLIT {
        // SAFETY: the caller's promise.
        unsafe { first_stage::<SPLIT>(pass, rows, buffer, trivial) };
    }
    for k in 0..1usize << pass.geometry.first() {
        for (twiddle, limbs) in buffer.second.iter_mut().zip(&tables.second[k]) {
            *twiddle = fr::splat(pass.proof, limbs);
        }
        // SAFETY: the caller's promise.
        unsafe { second_stage::<SPLIT>(pass, rows, buffer, k, None) };
    }
    if !SPLIT {
        // SAFETY: the caller's promise.
        unsafe { first_stage::<SPLIT>(pass, rows, buffer, trivial) };
    }
}

/// `finest` has the twiddle of the first block of the last layer below each of the eight blocks.
///
/// # Safety
/// `rows` must be valid for 2^layers rows of eight blocks and not be in use elsewhere.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
unsafe fn blocks<const SPLIT: bool>(
    pass: &Pass<'_>,
    rows: Rows,
    group: usize,
    tables: &Tables,
    finest: &Fr,
    buffer: &mut Buffer,
) {
    let (first, second) = (pass.geometry.first() as usize, pass.geometry.second() as usize);
    // Of layer t: the twiddle of the first block below each of the eight. It is the square of that of layer t + 1. A
    // block i further on has that times the twiddle that it has below block 0: a product of canonical factors, which is
    // below 1.03r. With such a twiddle a product still takes values up to 34r, more than the stages have.
    let mut heads = [*finest; 2 * stage::MAX_LAYERS];
    for layer in (0..first + second - 1).rev() {
        heads[layer] = fr::canonical(fr::mul_raw(&heads[layer + 1], &heads[layer + 1]));
    }
    for (layer, head) in heads[..first].iter().enumerate() {
        for i in 0..1 << layer {
            let at = (1 << layer) - 1 + i;
            buffer.first[at] = if i == 0 { *head } else { fr::mul(head, &fr::splat(pass.proof, &tables.first[at])) };
        }
    }
    if SPLIT {
        // SAFETY: the caller's promise.
        unsafe { first_stage::<SPLIT>(pass, rows, buffer, false) };
    }
    for k in 0..1usize << first {
        for layer in 0..second {
            for i in 0..1 << layer {
                let at = (1 << layer) - 1 + i;
                let below_zero = fr::splat(pass.proof, &tables.second[k][at]);
                buffer.second[at] = fr::mul(&heads[first + layer], &below_zero);
            }
        }
        // SAFETY: the caller's promise.
        unsafe { second_stage::<SPLIT>(pass, rows, buffer, k, Some(group)) };
    }
    if !SPLIT {
        // SAFETY: the caller's promise.
        unsafe { first_stage::<SPLIT>(pass, rows, buffer, false) };
    }
}

/// The stage on rows that are 2^second apart: from memory to the buffer when splitting, back when joining.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
unsafe fn first_stage<const SPLIT: bool>(pass: &Pass<'_>, rows: Rows, buffer: &mut Buffer, trivial: bool) {
    let (count, second) = (1usize << pass.geometry.first(), pass.geometry.second());
    let mut even = [[pass.proof.splat(0); LIMBS]; MAX_ROWS];
    let mut odd = even;
    // Two neighbouring rows at a time: with blocks in the lanes they share their loads.
    for j in (0..1usize << second).step_by(2) {
        for (k, (even, odd)) in even[..count].iter_mut().zip(&mut odd).enumerate() {
            [*even, *odd] = if SPLIT {
                // SAFETY: the caller's promise: both rows are among the pass's.
                unsafe { load(pass.proof, rows, (k << second) + j) }
            } else {
                [buffer.rows[k * buffer.group + j], buffer.rows[k * buffer.group + j + 1]]
            };
        }
        for x in [&mut even, &mut odd] {
            match (SPLIT, trivial) {
                (true, true) => stage::split::<true>(&mut x[..count], &buffer.first),
                (true, false) => stage::split::<false>(&mut x[..count], &buffer.first),
                (false, _) => stage::join(&mut x[..count], &buffer.first),
            }
        }
        for (k, (even, odd)) in even[..count].iter().zip(&odd).enumerate() {
            if SPLIT {
                buffer.rows[k * buffer.group + j] = *even;
                buffer.rows[k * buffer.group + j + 1] = *odd;
            } else {
                let (mut even, mut odd) = (*even, *odd);
                if pass.geometry.before == 0 {
                    even = fr::canonical(even);
                    odd = fr::canonical(odd);
                }
                // SAFETY: as for the loads.
                unsafe { store([&even, &odd], rows, (k << second) + j) };
            }
        }
    }
}

/// The stage on neighbouring rows of group `k`: from the buffer to memory when splitting, back when joining.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
unsafe fn second_stage<const SPLIT: bool>(
    pass: &Pass<'_>,
    rows: Rows,
    buffer: &mut Buffer,
    k: usize,
    blocks: Option<usize>,
) {
    let count = 1usize << pass.geometry.second();
    let x = &mut buffer.rows[k * buffer.group..][..count];
    let start = k << pass.geometry.second();
    if !SPLIT {
        for i in (0..count).step_by(2) {
            // SAFETY: the caller's promise: both rows are among the pass's.
            let [even, odd] = unsafe { load(pass.proof, rows, start + i) };
            (x[i], x[i + 1]) = (even, odd);
        }
        stage::join(x, &buffer.second);
        return;
    }
    stage::split::<false>(x, &buffer.second);
    if let (Some(scale), Some(group)) = (pass.scale, blocks) {
        let mut lanes = [[0; LIMBS]; LANES];
        lanes.copy_from_slice(&scale.block[LANES * group..][..LANES]);
        let block = pack(pass.proof, &lanes);
        for (x, row) in x.iter_mut().zip(&scale.row[start..]) {
            normalise(x);
            *x = fr::mul_raw(&fr::mul(x, &fr::splat(pass.proof, row)), &block);
        }
    }
    for i in (0..count).step_by(2) {
        let (mut even, mut odd) = (x[i], x[i + 1]);
        if pass.geometry.after == 0 {
            even = fr::canonical(even);
            odd = fr::canonical(odd);
        } else {
            even = fr::weak(even);
            odd = fr::weak(odd);
        }
        // SAFETY: as for the loads.
        unsafe { store([&even, &odd], rows, start + i) };
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn rows_between_the_stages_are_left_out_of_core_dumps() {
        let Some(proof) = Ifma::detect() else { return };
        let buffer = Buffer::new(proof);
        let (at, maps) = (buffer.rows.as_ptr() as usize, std::fs::read_to_string("/proc/self/smaps").unwrap());
        let holds = |line: &str| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            let address = |text| usize::from_str_radix(text, 16).ok();
            Some((address(start)?..address(end)?).contains(&at))
        };
        let own = maps.lines().skip_while(|line| holds(line) != Some(true));
        let flags = own.into_iter().find_map(|line| line.strip_prefix("VmFlags:")).unwrap();
        assert!(flags.split_whitespace().any(|flag| flag == "dd"), "{flags}");
    }
}
