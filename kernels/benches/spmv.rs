//! Sparse products: `cargo bench -p proofline-kernels --bench spmv -- [FILE.r1cs | gadgets [ROWS]]`.
//!
//! On a circom circuit, or on rows like those of Filecoin's PoRep circuit. The peer is the definition: compressed sparse
//! rows with a 4-byte column and a 32-byte coefficient per non-zero, one product and one addition each. One thread, its own
//! CPU time, interleaved, medians.

use std::hint::black_box;
use std::time::Duration;

use ff::{Field, PrimeField};
use proofline_kernels::sparse::{MatrixBuilder, Triple};
use proofline_kernels::{Path, Scalar};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RUNS: usize = 9;

/// Compressed sparse rows, straight from the definition.
#[derive(Default)]
struct Rows {
    ends: Vec<usize>,
    terms: Vec<(u32, Scalar)>,
}

impl Rows {
    fn mul_into(&self, w: &[Scalar], out: &mut [Scalar]) {
        let mut start = 0;
        for (out, &end) in out.iter_mut().zip(&self.ends) {
            *out = self.terms[start..end].iter().map(|(column, value)| w[*column as usize] * value).sum();
            start = end;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let (columns, constraints) = match arguments.first().map(String::as_str) {
        Some("gadgets") | None => gadgets(arguments.get(1).map_or(1 << 17, |rows| rows.parse().expect("a number"))),
        Some(path) => read(&std::fs::read(path).expect("a readable file")),
    };
    let mut builders = [(); 3].map(|()| MatrixBuilder::new(columns));
    let mut plain = [(); 3].map(|()| Rows::default());
    for constraint in &constraints {
        for ((builder, plain), row) in builders.iter_mut().zip(&mut plain).zip(constraint) {
            builder.push_row(row).expect("columns in range");
            plain.terms.extend_from_slice(row);
            plain.ends.push(plain.terms.len());
        }
    }
    let [a, b, c] = builders.map(MatrixBuilder::finish);
    let triple = Triple::new(&a, &b, &c).expect("equal shapes");
    let nonzeros: usize = triple.nonzeros().iter().sum();
    println!(
        "{} rows, {columns} columns, {nonzeros} non-zeros; bytes per non-zero: triple {:.2}, matrices {:.2}",
        triple.rows(),
        triple.bytes() as f64 / nonzeros as f64,
        [&a, &b, &c].iter().map(|m| m.bytes()).sum::<usize>() as f64 / nonzeros as f64,
    );
    let portable = triple.clone().with_path(Path::Portable);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let random: Vec<_> = (0..columns).map(|_| Scalar::random(&mut rng)).collect();
    let bits: Vec<_> = (0..columns).map(|_| Scalar::from(rng.gen_range(0..2u64))).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for (kind, w) in [("full-size", random), ("bits", bits)] {
        let out = vec![Scalar::ZERO; triple.rows()];
        let mut out = [out.clone(), out.clone(), out];
        let mut want = out.clone();
        let mut contenders: [Contender<'_>; 4] = [
            ("triple", &mut |[a, b, c]| triple.mul_into(&w, a, b, c)),
            ("portable", &mut |[a, b, c]| portable.mul_into(&w, a, b, c)),
            ("matrices", &mut |out| [&a, &b, &c].iter().zip(out).for_each(|(matrix, out)| matrix.mul_into(&w, out))),
            ("definition", &mut |out| plain.iter().zip(out).for_each(|(rows, out)| rows.mul_into(&w, out))),
        ];
        contenders[3].1(&mut want);
        let mut times = [const { Vec::new() }; 4];
        pool.install(|| {
            for _ in 0..RUNS {
                for ((_, run), times) in contenders.iter_mut().zip(&mut times) {
                    let start = cpu_time();
                    run(&mut out);
                    times.push(cpu_time() - start);
                    assert!(out == want, "times mean nothing if the results differ");
                    black_box(&mut out);
                }
            }
        });
        let medians = times.map(|mut times| {
            times.sort();
            times[RUNS / 2].as_nanos() as f64 / nonzeros as f64
        });
        print!("ns per non-zero, {kind} witness:");
        for ((name, _), median) in contenders.iter().zip(medians) {
            print!(" {name} {median:.2} (×{:.2})", medians[3] / median);
        }
        println!();
    }
}

/// A name and one run.
type Contender<'a> = (&'a str, &'a mut (dyn FnMut(&mut [Vec<Scalar>; 3]) + Send));

/// Constraints in the proportions of Filecoin's PoRep circuit, which is SHA-256 on bits and Poseidon: x·(1 − x) = 0,
/// 2a·b = a + b − c and a·b = c, a sum of 32-bit words as one row of some 870 terms ±2^k per 650 rows, and 1 row in 100
/// of up to 66 terms with large coefficients.
fn gadgets(rows: usize) -> (usize, Vec<Constraint>) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let one = Scalar::ONE;
    let large: Vec<_> = (0..960).map(|_| Scalar::random(&mut rng)).collect();
    let powers: Vec<_> = (0..35).map(|k| Scalar::from(1u64 << k)).collect();
    let mut constraints = Vec::new();
    // Column 0 is the constant; every gadget allocates what it defines.
    let mut next = 2000u32;
    while constraints.len() < rows {
        let word = next;
        match rng.gen_range(0..1000) {
            // The bits of a word.
            0..450 => {
                for x in word..word + 32 {
                    constraints.push([vec![(x, one)], vec![(0, one), (x, -one)], vec![]]);
                }
                next += 32;
            }
            // a ⊕ b of words, one of them some rotation.
            450..880 => {
                let (a, b) = (word - 32 * rng.gen_range(1..12), word - 32 * rng.gen_range(1..60));
                let turn = rng.gen_range(0..32);
                for bit in 0..32 {
                    let (a, b, c) = (a + bit, b + (bit + turn) % 32, word + bit);
                    let sum = vec![(a, one), (b, one), (c, -one)];
                    constraints.push([vec![(a, one + one)], vec![(b, one)], sum]);
                }
                next += 32;
            }
            // a ∧ b.
            880..950 => {
                let (a, b) = (word - 32 * rng.gen_range(1..12), word - 32 * rng.gen_range(1..12));
                for bit in 0..32 {
                    constraints.push([vec![(a + bit, one)], vec![(b + bit, one)], vec![(word + bit, one)]]);
                }
                next += 32;
            }
            // A sum of words.
            950..990 => {
                let words =
                    (1..27).rev().flat_map(|back| (0..32).map(move |bit| (word - 32 * back + bit, bit as usize)));
                let sum: Vec<_> = words.map(|(x, bit)| (x, powers[bit])).collect();
                let mut sum = sum;
                sum.extend((0..35).map(|bit| (word + bit, -powers[bit as usize])));
                constraints.push([sum, vec![(0, one)], vec![]]);
                next += 35;
            }
            // A permutation's partial rounds.
            _ => {
                for round in 0..30 {
                    let row = |from: usize| -> Vec<(u32, Scalar)> {
                        (0..20 + round)
                            .map(|at| (word + at, large[(from + 67 * round as usize + at as usize) % 960]))
                            .collect()
                    };
                    let square = (word + 20 + round, one);
                    constraints.push([row(0), row(31), vec![square]]);
                }
                next += 50;
            }
        }
    }
    constraints.truncate(rows);
    (next as usize, constraints)
}

/// Rows of A, B and C of one constraint.
type Constraint = [Vec<(u32, Scalar)>; 3];

/// Wires and constraints of an .r1cs file; panics on anything but a well-formed one.
fn read(bytes: &[u8]) -> (usize, Vec<Constraint>) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    assert_eq!(&bytes[..4], b"r1cs", "not an .r1cs file");
    let (mut at, mut header, mut body) = (12, 0, 0);
    for _ in 0..word(8) {
        match word(at) {
            1 => header = at + 12,
            2 => body = at + 12,
            _ => {}
        }
        at += 12 + word(at + 4);
    }
    let (columns, rows) = (word(header + 36), word(header + 60));
    let mut at = body;
    let mut combination = || {
        let count = word(at);
        at += 4;
        let terms = (0..count).map(|_| {
            let value = Scalar::from_repr_vartime(bytes[at + 4..at + 36].try_into().expect("32 bytes"));
            let term = (word(at) as u32, value.expect("a canonical coefficient"));
            at += 36;
            term
        });
        terms.collect()
    };
    (columns, (0..rows).map(|_| [combination(), combination(), combination()]).collect())
}

/// CPU time of the calling thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; the clock exists on every Linux.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
