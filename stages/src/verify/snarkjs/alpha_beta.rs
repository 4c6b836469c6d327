//! e(α, β) as snarkjs writes it into a verifying key.

use blst::{blst_fp12, blst_p1_affine, blst_p2_affine};
use blstrs::{G1Affine, G2Affine};
use serde_json::{Value, json};

use super::{BASE_BYTES, decimal};

/// e(α, β) over the tower that snarkjs has too: two components of Fp6, each of three of Fp2, each `[real, imaginary]`.
///
/// The final exponentiation's hard part is 3(p⁴ − p² + 1)/r, in both libraries.
pub(super) fn alpha_beta(alpha: &G1Affine, beta: &G2Affine) -> Value {
    let (alpha, beta): (&blst_p1_affine, &blst_p2_affine) = (alpha.as_ref(), beta.as_ref());
    let pairing = blst_fp12::miller_loop(beta, alpha).final_exp().to_bendian();
    // blst writes them by powers of w: those of Fp6 alternate.
    let numbers: Vec<String> = pairing.chunks(BASE_BYTES).map(decimal::show_bytes).collect();
    let fp2 = |of_fp6: usize, at: usize| {
        let first = 2 * (2 * at + of_fp6);
        json!([numbers[first], numbers[first + 1]])
    };
    let fp6 = |of_fp6: usize| json!([fp2(of_fp6, 0), fp2(of_fp6, 1), fp2(of_fp6, 2)]);
    json!([fp6(0), fp6(1)])
}
