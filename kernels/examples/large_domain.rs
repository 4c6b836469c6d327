//! Transforms of a domain too large for tests: `cargo run --release -p proofline-kernels --example large_domain -- 28`.
//!
//! The values are powers of g, whose transform has a closed form: (gⁿ − 1) / (g ωᵏ − 1) at point k. The transform, its inverse
//! and the same over the coset, each at 2^16 places spread over all and at those beside powers of two.

use std::time::Instant;

use ff::Field;
use proofline_kernels::Scalar;
use proofline_kernels::domain::Domain;
use rayon::prelude::*;

/// Powers of g from g^0 on.
fn powers(values: &mut [Scalar], g: Scalar) {
    const CHUNK: usize = 1 << 12;
    values.par_chunks_mut(CHUNK).enumerate().for_each(|(at, values)| {
        let mut power = g.pow_vartime([(at * CHUNK) as u64]);
        for value in values {
            *value = power;
            power *= g;
        }
    });
}

/// Places to look at.
fn places(n: usize) -> Vec<usize> {
    let spread = (0..1 << 16).map(|k| k * (n / (1 << 16)).max(1) + k % 61);
    let borders = (0..n.ilog2()).flat_map(|log| [(1 << log) - 1, 1 << log, n - (1 << log)]);
    spread.chain(borders).filter(|place| *place < n).collect()
}

/// Whether the values at these places are those of the closed form, at the points shift · ωᵏ.
fn is_transform(values: &[Scalar], domain: &Domain, g: Scalar, shift: Scalar) -> bool {
    let n = values.len() as u64;
    let numerator = (g * shift).pow_vartime([n]) - Scalar::ONE;
    places(values.len()).par_iter().all(|&k| {
        let denominator = g * shift * domain.root().pow_vartime([k as u64]) - Scalar::ONE;
        values[k] * denominator == numerator
    })
}

fn is_powers(values: &[Scalar], g: Scalar) -> bool {
    places(values.len()).par_iter().all(|&k| values[k] == g.pow_vartime([k as u64]))
}

fn main() {
    let log: u32 =
        std::env::args().nth(1).map_or(28, |text| text.parse().expect("a number, the logarithm of the size"));
    let domain = Domain::for_rows(1 << log).expect("a domain of this size");
    let g = Scalar::from(0x9e37_79b9_7f4a_7c15);
    let mut values = vec![Scalar::ZERO; 1 << log];
    powers(&mut values, g);
    let mut timed = |what: &str, run: &dyn Fn(&mut [Scalar])| {
        let clock = Instant::now();
        run(&mut values);
        let seconds = clock.elapsed().as_secs_f64();
        println!("2^{log} {what}: {seconds:.2} s, {:.1} ns a value", 1e9 * seconds / values.len() as f64);
    };
    timed("fft", &|values| {
        domain.fft(values);
        assert!(is_transform(values, &domain, g, Scalar::ONE), "the transform is wrong");
    });
    timed("ifft", &|values| {
        domain.ifft(values);
        assert!(is_powers(values, g), "the inverse is wrong");
    });
    timed("coset fft", &|values| {
        domain.coset_fft(values);
        assert!(is_transform(values, &domain, g, Scalar::from(7)), "the transform over the coset is wrong");
    });
    timed("coset ifft", &|values| {
        domain.coset_ifft(values);
        assert!(is_powers(values, g), "the inverse over the coset is wrong");
    });
    println!("all right, on {} threads, kernels: {}", rayon::current_num_threads(), domain.path().name());
}
