use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::Scalar;

fn dense_product(dense: &[Vec<Scalar>], w: &[Scalar]) -> Vec<Scalar> {
    dense.iter().map(|row| row.iter().zip(w).map(|(a, b)| *a * b).sum()).collect()
}

/// A random matrix in both forms; `kinds` is the number of distinct coefficients.
pub(super) fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize, kinds: usize) -> (Vec<Vec<Scalar>>, Matrix) {
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
