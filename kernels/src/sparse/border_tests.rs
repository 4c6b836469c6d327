//! Rows and coefficients at the borders of the format, against the definition.

use ff::Field;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{Path, Scalar};

type Terms = Vec<(u32, Scalar)>;

/// Σ coefficient · w[column], row by row.
fn definition(rows: &[Terms], w: &[Scalar]) -> Vec<Scalar> {
    rows.iter().map(|row| row.iter().map(|(column, value)| *value * w[*column as usize]).sum()).collect()
}

fn matrix(columns: usize, rows: &[Terms]) -> Matrix {
    let mut builder = MatrixBuilder::new(columns);
    rows.iter().for_each(|row| builder.push_row(row).unwrap());
    builder.finish()
}

/// Products of three matrices on both paths and on pools of one thread and of many; and the triple that was stored.
fn check(columns: usize, rows: [&[Terms]; 3], what: &str) -> Triple {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let [a, b, c] = rows.map(|rows| matrix(columns, rows));
    let triple = Triple::new(&a, &b, &c).unwrap();
    assert_eq!(Triple::from_parts(triple.parts().clone()).as_ref(), Ok(&triple), "{what}");
    let random: Vec<Scalar> = (0..columns).map(|_| Scalar::random(&mut rng)).collect();
    for w in [random, vec![-Scalar::ONE; columns], vec![Scalar::ZERO; columns]] {
        let want = rows.map(|rows| definition(rows, &w));
        for path in Path::all() {
            let triple = triple.clone().with_path(path);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut got = want.each_ref().map(|want| vec![Scalar::from(9); want.len()]);
                let [a, b, c] = &mut got;
                pool.install(|| triple.mul_into(&w, a, b, c));
                assert!(got == want, "{what}, {}, {threads} threads", path.name());
            }
        }
    }
    triple
}

fn power_of_two(k: u64) -> Scalar {
    Scalar::from(2).pow_vartime([k])
}

#[test]
fn no_terms_at_all() {
    for rows in [1, 1023, 1024, 1025] {
        let empty = vec![vec![]; rows];
        check(5, [&empty, &empty, &empty], &format!("{rows} rows of nothing"));
    }
}

#[test]
fn one_column() {
    let row = |value: Scalar| vec![(0, value)];
    let values = [Scalar::ONE, -Scalar::ONE, Scalar::from(2), -power_of_two(254), -Scalar::from(2)];
    for count in [1, 7, 8, 9, 1030] {
        let rows: Vec<Terms> = (0..count).map(|i| row(values[i % 5])).collect();
        let alike = vec![row(values[0]); count];
        let nothing = vec![vec![]; count];
        check(1, [&rows, &alike, &nothing], &format!("{count} rows of one column"));
    }
}

/// All powers of two of either sign, 0 and r − 1, in rows of all lengths around a segment's and a group's.
#[test]
fn powers_of_two_of_either_sign() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let coefficient = |rng: &mut ChaCha8Rng| {
        let power = power_of_two(rng.gen_range(0..255));
        [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, power, -power][rng.gen_range(0..5)]
    };
    let rows: [Vec<Terms>; 3] = std::array::from_fn(|_| {
        let lengths = (0..70).chain([95, 96, 97, 127, 128, 129, 200]);
        lengths.map(|length| (0..length).map(|column| (3 * column, coefficient(&mut rng))).collect()).collect()
    });
    check(600, rows.each_ref().map(Vec::as_slice), "powers of two");
}

/// One row of a hundred thousand terms, with others around it, and terms that come in no order and more than once.
#[test]
fn a_very_long_row() {
    let n = 100_000u32;
    let mut rng = ChaCha8Rng::seed_from_u64(33);
    let kinds = [Scalar::ONE, -Scalar::ONE, power_of_two(200), -Scalar::from(3), Scalar::random(&mut rng)];
    let long: Terms = (0..n).map(|i| ((i * 7919) % n, kinds[rng.gen_range(0..5)])).collect();
    let ones: Terms = (0..n).map(|column| (column, Scalar::ONE)).collect();
    let twice: Terms = (0..n).map(|i| (i / 2, -Scalar::ONE)).collect();
    let with = |row: &Terms| vec![vec![(n - 1, kinds[2])], row.clone(), vec![], vec![(0, kinds[0])]];
    let triple = check(n as usize, [&with(&long), &with(&ones), &with(&twice)], "a very long row");
    assert_eq!(triple.row(1)[1].len(), n as usize);
    assert!(triple.row(1)[0].is_sorted_by_key(|(column, _)| *column), "columns ascend");
}

/// As many coefficients as one byte of code can name, two bytes, and one more of each.
#[test]
fn dictionaries_at_the_borders_of_codes() {
    for distinct in [254usize, 255, 256, 257, 65_534, 65_535, 65_536, 65_537] {
        // 1 and −1 are always there.
        let rows: Vec<Terms> = (0..distinct - 2)
            .collect::<Vec<_>>()
            .chunks(50)
            .map(|values| {
                values.iter().zip(0..).map(|(value, column)| (column, Scalar::from(*value as u64 + 2))).collect()
            })
            .collect();
        let nothing = vec![vec![]; rows.len()];
        let triple = check(50, [&rows, &nothing, &rows], &format!("{distinct} coefficients"));
        assert_eq!(triple.parts().values.len(), distinct);
    }
}

/// A row that goes on although its first segment is not full would not come back in the order of its columns.
#[test]
fn a_row_that_goes_on_too_early_is_refused() {
    use super::layout::{Slot, push_group, push_step};
    // Two rows of A in one group of 32 steps: the first has them all, the second one term; then the second goes on.
    let mut stream = Vec::new();
    let slots = [Slot::new(0, 0), Slot::new(0, 1)];
    push_group(&mut stream, 32, false, &slots);
    for step in 0..32 {
        push_step(&mut stream, &[(step, 1), (50, u32::from(step == 0))], 1);
    }
    let rest = [Slot::new(1, 0), Slot::new(1, 1), Slot::new(2, 0), Slot::new(2, 1)];
    push_group(&mut stream, 0, false, &rest);
    let parts = |stream: &[u8], terms| Parts {
        rows: 2,
        columns: 60,
        nonzeros: [terms, 0, 0],
        stream: stream.to_vec(),
        starts: vec![0],
        values: vec![Scalar::ONE, -Scalar::ONE],
    };
    assert!(Triple::from_parts(parts(&stream, 33)).is_ok());
    let mut first = stream.clone();
    push_group(&mut first, 1, true, &slots[..1]);
    push_step(&mut first, &[(40, 1)], 1);
    assert!(Triple::from_parts(parts(&first, 34)).is_ok(), "the first row may go on");
    push_group(&mut stream, 1, true, &slots[1..]);
    push_step(&mut stream, &[(10, 1)], 1);
    let error = Triple::from_parts(parts(&stream, 34)).unwrap_err();
    assert!(error.to_string().contains("rows 0 to 1 is no block of rows"), "{error}");
}

/// A coefficient that brings a dictionary above its limit is refused with its row, and the row is not there.
#[test]
fn a_dictionary_that_is_full_takes_no_more() {
    let mut builder = MatrixBuilder::with_limit(9, 5);
    let values = |from: u64| (0..3).map(|i| (i as u32, Scalar::from(from + i))).collect::<Terms>();
    builder.push_row(&values(2)).unwrap();
    builder.push_row(&values(2)).unwrap();
    let all_known: Terms = (0..9).map(|column| (column, Scalar::from(3))).collect();
    builder.push_row(&all_known).unwrap();
    let error = builder.push_row(&values(4)).unwrap_err();
    assert_eq!(error, SparseError::TooManyCoefficients { row: 3, limit: 5 });
    builder.push_row(&values(2)).unwrap();
    let matrix = builder.finish();
    assert_eq!((matrix.rows(), matrix.nonzeros(), matrix.row(3)), (4, 18, values(2)));
}
