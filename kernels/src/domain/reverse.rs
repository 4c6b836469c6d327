//! The bit-reversal permutation, in place.

use rayon::prelude::*;

/// Bits of a tile's side: eight elements of 32 bytes are four cache lines.
const TILE_LOG: u32 = 3;
/// Tiles that one task swaps.
const TILES_PER_TASK: usize = 1 << 6;

/// The array, shared by tasks that touch different tiles.
struct Memory<T>(*mut T);

// SAFETY: see `reverse`: every task has its own tiles.
unsafe impl<T: Send> Send for Memory<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Memory<T> {}

/// Swaps every entry with the one at the bit-reversed index. The length must be a power of two.
///
/// An index is a (topmost bits), m, b (lowest bits). All entries of one m go to those of rev(m), and with eight values of
/// a and b each, both tiles are whole cache lines.
pub(crate) fn reverse<T: Copy + Send>(x: &mut [T]) {
    debug_assert!(x.len().is_power_of_two());
    let bits = x.len().trailing_zeros();
    if bits < 2 * TILE_LOG {
        for i in 0..x.len() {
            let j = reversed(i, bits);
            if i < j {
                x.swap(i, j);
            }
        }
        return;
    }
    let middle = bits - 2 * TILE_LOG;
    let side = 1usize << TILE_LOG;
    let memory = &Memory(x.as_mut_ptr());
    (0..1usize << middle).into_par_iter().with_min_len(TILES_PER_TASK).for_each(|m| {
        let to = reversed(m, middle);
        if to < m {
            return;
        }
        for a in 0..side {
            for b in 0..side {
                let i = a << (bits - TILE_LOG) | m << TILE_LOG | b;
                let j = reversed(b, TILE_LOG) << (bits - TILE_LOG) | to << TILE_LOG | reversed(a, TILE_LOG);
                // Within a tile that stays, each pair is met twice.
                if m != to || i < j {
                    // SAFETY: both are below 2^bits. Tiles m and rev(m) belong to this task alone: to one task per
                    // unordered pair, the one with the smaller m.
                    unsafe { std::ptr::swap(memory.0.add(i), memory.0.add(j)) };
                }
            }
        }
    });
}

fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_moves_to_its_mirror() {
        for bits in 0..=13 {
            let mut x: Vec<usize> = (0..1 << bits).collect();
            reverse(&mut x);
            assert!(x.iter().enumerate().all(|(i, &j)| reversed(i, bits) == j), "2^{bits}");
        }
    }
}
