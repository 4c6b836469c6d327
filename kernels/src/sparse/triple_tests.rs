use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::tests::random;
use super::*;
use crate::{Path, Scalar};

#[test]
fn a_triple_is_its_three_matrices() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (rows, columns, kinds) in
        [(0, 3, 1), (1, 1, 1), (1023, 40, 3), (1024, 40, 4), (1025, 5000, 300), (300, 80, 70_000), (2500, 70_000, 20)]
    {
        let matrices: [(_, Matrix); 3] = std::array::from_fn(|_| random(&mut rng, rows, columns.min(300), kinds));
        let [a, b, c] = matrices.each_ref().map(|(_, matrix)| matrix);
        let triple = Triple::new(a, b, c).unwrap();
        assert_eq!((triple.rows(), triple.columns()), (rows, columns.min(300)));
        assert_eq!(triple.nonzeros(), [a, b, c].map(Matrix::nonzeros));
        for i in 0..rows {
            assert_eq!(triple.row(i), [a, b, c].map(|m| m.row(i)), "row {i}");
        }
        let w: Vec<_> = (0..columns.min(300)).map(|_| Scalar::random(&mut rng)).collect();
        assert_products(&triple, [a, b, c], &w, rows + 1300);
    }
}

/// The triple's products on every path are those of its matrices.
fn assert_products(triple: &Triple, matrices: [&Matrix; 3], w: &[Scalar], len: usize) {
    let want = matrices.map(|matrix| {
        let mut want = vec![Scalar::from(3); len];
        matrix.mul_into(w, &mut want);
        want
    });
    for path in Path::all() {
        let mut got = [(); 3].map(|()| vec![Scalar::from(5); len]);
        let [a, b, c] = &mut got;
        triple.clone().with_path(path).mul_into(w, a, b, c);
        for (m, (got, want)) in got.iter().zip(&want).enumerate() {
            assert!(got == want, "matrix {m} of {} rows, {}", triple.rows(), path.name());
        }
    }
}

/// A matrix of these rows.
fn matrix(columns: usize, rows: &[Vec<(u32, Scalar)>]) -> Matrix {
    let mut builder = MatrixBuilder::new(columns);
    rows.iter().for_each(|row| builder.push_row(row).unwrap());
    builder.finish()
}

/// Sums at the borders of their ranges: rows of all lengths with only 1, only −1, only r − 2, and one of each, alone and
/// by eights, times witnesses of only r − 1, 1 and 0.
#[test]
fn sums_and_products_at_the_borders() {
    const COLUMNS: u32 = 130;
    let minus = |x| -Scalar::from(x);
    let palettes = [vec![Scalar::ONE], vec![minus(1)], vec![minus(2)], vec![minus(1), Scalar::from(2), Scalar::ONE]];
    let mut rows = Vec::new();
    for palette in &palettes {
        for length in [0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 130] {
            let row: Vec<_> = (0..length).map(|at| (at, palette[at as usize % palette.len()])).collect();
            rows.extend(std::iter::repeat_n(row, length as usize % 3 * 8 + 3));
        }
    }
    let forward = matrix(COLUMNS as usize, &rows);
    rows.reverse();
    let backward = matrix(COLUMNS as usize, &rows);
    let empty = matrix(COLUMNS as usize, &vec![vec![]; rows.len()]);
    let triple = Triple::new(&forward, &empty, &backward).unwrap();
    for value in [minus(1), Scalar::ONE, Scalar::ZERO] {
        let w = vec![value; COLUMNS as usize];
        assert_products(&triple, [&forward, &empty, &backward], &w, rows.len());
    }
}

/// Gadgets repeated as circuits have them, with rows that come back at all distances.
#[test]
fn repeated_rows() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let columns = 200_000;
    let kinds: Vec<Scalar> =
        (0..5).map(|k| if k < 2 { Scalar::from(k) - Scalar::from(1 - k) } else { Scalar::random(&mut rng) }).collect();
    let gadgets: Vec<Vec<(u32, Scalar)>> = [1, 2, 3, 5, 40, 100]
        .map(|length| (0..length).map(|at| (at * at, kinds[rng.gen_range(0..5)])).collect())
        .to_vec();
    let matrices: [Matrix; 3] = std::array::from_fn(|_| {
        let rows: Vec<_> = (0..3000)
            .map(|i| {
                let gadget = &gadgets[rng.gen_range(0..6)];
                let base = if i % 500 == 0 { rng.gen_range(0..100_000) } else { i * 60 };
                gadget.iter().map(|&(column, value)| (base + column, value)).collect()
            })
            .collect();
        matrix(columns, &rows)
    });
    let [a, b, c] = &matrices;
    let triple = Triple::new(a, b, c).unwrap();
    assert_eq!(Triple::from_parts(triple.parts().clone()).unwrap(), triple);
    let w: Vec<_> = (0..columns).map(|_| Scalar::random(&mut rng)).collect();
    assert_products(&triple, [a, b, c], &w, 3000);
    for i in (0..3000).step_by(97) {
        assert_eq!(triple.row(i), [a, b, c].map(|m| m.row(i)), "row {i}");
    }
}

#[test]
fn long_rows_and_far_columns() {
    let columns = 1 << 24;
    let build = |row: &[(u32, Scalar)]| {
        let mut builder = MatrixBuilder::new(columns);
        builder.push_row(row).unwrap();
        builder.push_row(&[(columns as u32 - 1, -Scalar::from(5))]).unwrap();
        builder.push_row(&[(0, Scalar::ONE)]).unwrap();
        builder.finish()
    };
    let long: Vec<_> = (0..1000).map(|i| (i * 16_000, Scalar::from(u64::from(i % 40)))).collect();
    let [a, b, c] = [build(&long), build(&long[..7]), build(&long[..3])];
    let triple = Triple::new(&a, &b, &c).unwrap();
    for i in 0..3 {
        assert_eq!(triple.row(i), [&a, &b, &c].map(|m| m.row(i)), "row {i}");
    }
}

#[test]
fn powers_of_two_take_two_bytes() {
    // A recomposition of bits, as every range check has it: one token a bit, and no code after the first.
    let mut builder = MatrixBuilder::new(2000);
    for row in 0..1000u32 {
        let mut power = Scalar::ONE;
        let terms: Vec<_> = (0..32)
            .map(|bit| {
                power = power.double();
                (row + bit, power)
            })
            .collect();
        builder.push_row(&terms).unwrap();
    }
    let (bits, empty) = (builder.finish(), {
        let mut builder = MatrixBuilder::new(2000);
        (0..1000).for_each(|_| builder.push_row(&[]).unwrap());
        builder.finish()
    });
    let triple = Triple::new(&bits, &empty, &empty).unwrap();
    assert!(triple.bytes() < 2 * bits.nonzeros(), "{} bytes for {} non-zeros", triple.bytes(), bits.nonzeros());
}

#[test]
fn matrices_of_different_shapes_are_refused() {
    let (one, two) = (MatrixBuilder::new(1).finish(), MatrixBuilder::new(2).finish());
    let error = Triple::new(&one, &one, &two).unwrap_err();
    assert_eq!(error, SparseError::ShapesDiffer { first: (0, 1), other: (0, 2) });
}

/// Three random matrices, and their triple.
fn random_triple(rng: &mut ChaCha8Rng, rows: usize, columns: usize, kinds: usize) -> ([Matrix; 3], Triple) {
    let matrices: [Matrix; 3] = std::array::from_fn(|_| random(rng, rows, columns, kinds).1);
    let triple = Triple::new(&matrices[0], &matrices[1], &matrices[2]).unwrap();
    (matrices, triple)
}

#[test]
fn rows_and_densities_of_a_triple_are_those_of_its_matrices() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (rows, columns, kinds) in [(0, 3, 1), (1, 1, 1), (128, 64, 4), (700, 333, 40)] {
        let (matrices, triple) = random_triple(&mut rng, rows, columns, kinds);
        assert_eq!(triple.column_densities(), matrices.each_ref().map(Matrix::column_density));
        let mut seen = 0;
        triple.for_each_row(|i, row| {
            assert_eq!(i, seen);
            let row = row.map(|row| row.terms().map(|(column, value)| (column, *value)).collect::<Vec<_>>());
            assert_eq!(row, matrices.each_ref().map(|matrix| matrix.row(i)), "row {i}");
            seen += 1;
        });
        assert_eq!(seen, rows);
    }
}

fn refusal(parts: Parts) -> String {
    Triple::from_parts(parts).unwrap_err().to_string()
}

#[test]
fn parts_that_were_stored_make_the_same_triple() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (rows, columns, kinds) in [(0, 0, 1), (1, 1, 1), (127, 5, 3), (128, 64, 4), (700, 333, 400)] {
        let (_, triple) = random_triple(&mut rng, rows, columns, kinds);
        assert_eq!(Triple::from_parts(triple.parts().clone()).unwrap(), triple, "{rows} rows");
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let (_, triple) = random_triple(&mut ChaCha8Rng::seed_from_u64(7), 2100, 50, 9);
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = triple.parts().clone();
        change(&mut parts);
        refusal(parts)
    };
    for (change, says) in [
        (&(|p: &mut Parts| p.rows = 2000) as &dyn Fn(&mut Parts), "2000 rows have 2 blocks, and 3 starts"),
        (&|p| p.rows = 2099, "the block of rows 2048 to 2098"),
        (&|p| p.rows = 2101, "the block of rows 2048 to 2100"),
        (&|p| p.columns = 40, "is no block of rows"),
        (&|p| p.columns = 1 << 32, "are not below 2^32"),
        (&|p| p.nonzeros[1] += 1, "are stated"),
        (&|p| p.values.swap(0, 1), "do not begin with 1 and -1"),
        (&|p| p.values[2] = Scalar::ZERO, "or one of them is 0"),
        (&|p| p.values.truncate(4), "is no block of rows"),
        (&|p| p.starts[0] = 1, "does not start at the front"),
        (&|p| p.starts[1] += 1, "the block of rows 0 to 1023"),
        (&|p| p.starts[2] = u64::MAX, "the block of rows 1024 to 2047"),
        (&|p| p.starts.swap(1, 2), "the block of rows"),
        (&|p| _ = p.stream.pop(), "the block of rows 2048 to 2099"),
        (&|p| p.stream.push(0), "the block of rows 2048 to 2099"),
    ] {
        let text = with(change);
        assert!(text.contains(says) && text.ends_with("are damaged"), "{text:?} should say {says:?}");
    }
    let nothing = Parts { rows: 0, columns: 0, nonzeros: [0; 3], stream: vec![0], starts: vec![], values: vec![] };
    let values = vec![Scalar::ONE, -Scalar::ONE];
    assert!(refusal(Parts { values, ..nothing }).contains("there are no rows, and bytes of rows"));
}

#[test]
fn no_change_of_a_byte_of_the_stream_is_a_panic() {
    let (_, triple) = random_triple(&mut ChaCha8Rng::seed_from_u64(8), 140, 30, 9);
    let w = vec![Scalar::ONE; 30];
    let (mut refusals, mut changes) = (0, 0);
    for at in 0..triple.parts().stream.len() {
        for value in [0, 1, 7, 0x7f, 0x80, 0xff] {
            let mut parts = triple.parts().clone();
            parts.stream[at] = value;
            changes += 1;
            match Triple::from_parts(parts) {
                Err(_) => refusals += 1,
                // What passes is a triple like any other.
                Ok(triple) => {
                    let mut out = [(); 3].map(|()| vec![Scalar::ZERO; 140]);
                    let [a, b, c] = &mut out;
                    triple.mul_into(&w, a, b, c);
                }
            }
        }
    }
    assert!(refusals > changes / 2, "{refusals} of {changes}");
}
