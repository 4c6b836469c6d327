use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::Scalar;

fn dense_product(dense: &[Vec<Scalar>], w: &[Scalar]) -> Vec<Scalar> {
    dense.iter().map(|row| row.iter().zip(w).map(|(a, b)| *a * b).sum()).collect()
}

/// A random matrix in both forms; `kinds` is the number of distinct coefficients.
fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize, kinds: usize) -> (Vec<Vec<Scalar>>, Matrix) {
    let palette: Vec<Scalar> = (0..kinds)
        .map(|i| match i {
            0 => Scalar::ONE,
            1 => -Scalar::ONE,
            2 => Scalar::ZERO,
            _ => Scalar::random(&mut *rng),
        })
        .collect();
    let mut builder = MatrixBuilder::new(columns);
    let mut dense = vec![vec![Scalar::ZERO; columns]; rows];
    for row in &mut dense {
        let terms: Vec<_> = (0..rng.gen_range(0..9))
            .map(|_| (rng.gen_range(0..columns as u32), palette[rng.gen_range(0..kinds)]))
            .collect();
        for &(column, value) in &terms {
            row[column as usize] += value;
        }
        builder.push_row(&terms).unwrap();
    }
    (dense, builder.finish())
}

#[test]
fn equals_the_dense_product() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (rows, columns, kinds) in [(1, 1, 1), (7, 3, 3), (40, 50, 4), (1100, 60, 300), (2100, 30, 70_000)] {
        let (dense, matrix) = random(&mut rng, rows, columns, kinds);
        let w: Vec<_> = (0..columns).map(|_| Scalar::random(&mut rng)).collect();
        let mut out = vec![Scalar::random(&mut rng); rows + 5];
        matrix.mul_into(&w, &mut out);
        assert_eq!(out[..rows], dense_product(&dense, &w)[..]);
        assert!(out[rows..].iter().all(|x| *x == Scalar::ZERO), "beyond the rows: zero");
    }
}

#[test]
fn rows_read_back_sorted_summed_and_without_zeros() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let (dense, matrix) = random(&mut rng, 90, 12, 6);
    assert_eq!((matrix.rows(), matrix.columns()), (90, 12));
    let mut nonzeros = 0;
    for (i, dense) in dense.iter().enumerate() {
        let want: Vec<_> = dense
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != Scalar::ZERO)
            .map(|(column, value)| (column as u32, *value))
            .collect();
        nonzeros += want.len();
        assert_eq!(matrix.row(i), want, "row {i}");
    }
    assert_eq!(matrix.nonzeros(), nonzeros);
}

#[test]
fn duplicates_that_cancel_leave_nothing() {
    let mut builder = MatrixBuilder::new(4);
    let x = Scalar::from(9);
    builder.push_row(&[(3, x), (1, Scalar::ZERO), (3, -x)]).unwrap();
    builder.push_row(&[]).unwrap();
    builder.push_row(&[(2, x), (0, x), (2, x)]).unwrap();
    let matrix = builder.finish();
    assert_eq!(matrix.row(0), vec![]);
    assert_eq!(matrix.row(1), vec![]);
    assert_eq!(matrix.row(2), vec![(0, x), (2, x + x)]);
    assert_eq!(matrix.column_density().ones().collect::<Vec<_>>(), vec![0, 2]);
}

#[test]
fn density_is_the_set_of_columns_in_use() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (dense, matrix) = random(&mut rng, 20, 200, 5);
    let density = matrix.column_density();
    assert_eq!(density.len(), 200);
    for column in 0..200 {
        assert_eq!(density.get(column), dense.iter().any(|row| row[column] != Scalar::ZERO), "column {column}");
    }
    assert_eq!(density.count(), density.ones().count());
}

#[test]
fn a_column_out_of_range_is_refused_and_named() {
    let mut builder = MatrixBuilder::new(3);
    builder.push_row(&[(0, Scalar::ONE)]).unwrap();
    let error = builder.push_row(&[(2, Scalar::ONE), (3, Scalar::ONE)]).unwrap_err();
    assert_eq!(error, SparseError::ColumnOutOfRange { row: 1, column: 3, columns: 3 });
    assert!(error.to_string().contains("row 1 uses column 3"), "{error}");
    assert_eq!(builder.finish().rows(), 1, "the refused row is not in the matrix");
}

#[test]
fn no_rows_and_no_columns() {
    let matrix = MatrixBuilder::new(0).finish();
    assert_eq!((matrix.rows(), matrix.columns(), matrix.nonzeros()), (0, 0, 0));
    let mut out = [Scalar::ONE; 2];
    matrix.mul_into(&[], &mut out);
    assert_eq!(out, [Scalar::ZERO; 2]);
}

#[test]
fn a_triple_is_its_three_matrices() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for (rows, columns, kinds) in
        [(0, 3, 1), (1, 1, 1), (127, 40, 3), (128, 40, 4), (129, 5000, 300), (2500, 70_000, 20)]
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
        let dirty = vec![Scalar::random(&mut rng); rows + 300];
        let mut got = [dirty.clone(), dirty.clone(), dirty];
        let [ga, gb, gc] = &mut got;
        triple.mul_into(&w, ga, gb, gc);
        for (got, matrix) in got.iter().zip([a, b, c]) {
            let mut want = vec![Scalar::ZERO; rows + 300];
            matrix.mul_into(&w, &mut want);
            assert_eq!(*got, want, "{rows} rows");
        }
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
    let (_, triple) = random_triple(&mut ChaCha8Rng::seed_from_u64(7), 300, 50, 9);
    let with = |change: &dyn Fn(&mut Parts)| {
        let mut parts = triple.parts().clone();
        change(&mut parts);
        refusal(parts)
    };
    for (change, says) in [
        (&(|p: &mut Parts| p.rows = 200) as &dyn Fn(&mut Parts), "200 rows have 2 blocks, and 3 starts"),
        (&|p| p.rows = 299, "the block of rows 256 to 298"),
        (&|p| p.rows = 301, "the block of rows 256 to 300"),
        (&|p| p.columns = 40, "is no block of rows"),
        (&|p| p.columns = 1 << 32, "are not below 2^32"),
        (&|p| p.nonzeros[1] += 1, "are stated"),
        (&|p| p.values.swap(0, 1), "do not begin with 1 and -1"),
        (&|p| p.values[2] = Scalar::ZERO, "or one of them is 0"),
        (&|p| p.values.truncate(4), "is no block of rows"),
        (&|p| p.starts[0] = 1, "does not start at the front"),
        (&|p| p.starts[1] += 1, "the block of rows 0 to 127"),
        (&|p| p.starts[2] = u64::MAX, "the block of rows 128 to 255"),
        (&|p| p.starts.swap(1, 2), "the block of rows"),
        (&|p| _ = p.stream.pop(), "the block of rows 256 to 299"),
        (&|p| p.stream.push(0), "the block of rows 256 to 299"),
    ] {
        let text = with(change);
        assert!(text.contains(says) && text.ends_with("are damaged"), "{text:?} should say {says:?}");
    }
    let nothing = Parts { rows: 0, columns: 0, nonzeros: [0; 3], stream: vec![0], starts: vec![], values: vec![] };
    let values = vec![Scalar::ONE, -Scalar::ONE];
    assert!(refusal(Parts { values, ..nothing }).contains("there are no rows, and bytes of rows"));
}

/// Rows that say they are longer than the bytes behind them must not make anybody reserve memory.
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
