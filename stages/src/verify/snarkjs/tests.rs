use group::prime::PrimeCurveAffine;

use super::*;

fn generators() -> ProofPoints {
    ProofPoints { a: G1Affine::generator(), b: G2Affine::generator(), c: -G1Affine::generator() }
}

#[test]
fn a_proof_that_was_written_is_read_again() {
    let text = write_proof(&generators());
    assert_eq!(parse_proof(&text).unwrap(), generators());
    let value: Value = serde_json::from_str(&text).unwrap();
    // x of the generator, and the real part of x of G2's, from the curve's specification.
    assert!(value["pi_a"][0].as_str().unwrap().starts_with("3685416753713387016781"));
    assert!(value["pi_b"][0][0].as_str().unwrap().starts_with("35270106958746661818"));
}

#[test]
fn other_spellings_are_read_too() {
    let mut value: Value = serde_json::from_str(&write_proof(&generators())).unwrap();
    value.as_object_mut().unwrap().remove("protocol");
    value["pi_a"].as_array_mut().unwrap().pop();
    let y = "0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1";
    value["pi_a"][1] = y.into();
    assert_eq!(parse_proof(&value.to_string()).unwrap(), generators());
}

#[test]
fn what_is_no_proof_is_refused_with_its_reason() {
    let refused = |change: &dyn Fn(&mut Value), says: &str| {
        let mut value: Value = serde_json::from_str(&write_proof(&generators())).unwrap();
        change(&mut value);
        let error = parse_proof(&value.to_string()).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    refused(&|v| drop(v.as_object_mut().unwrap().remove("pi_b")), "`pi_b`, a point of G2, is missing");
    refused(&|v| v["pi_a"] = json!(["1"]), "`pi_a` (a point of G1) should be [x, y, \"1\"]");
    refused(&|v| v["pi_b"] = json!(["1", "2", "1"]), "should be [[x0, x1], [y0, y1], [\"1\", \"0\"]]");
    refused(&|v| v["pi_a"][0] = json!("1x"), "has a coordinate that is no number below p in quotes");
    refused(&|v| v["pi_a"][0] = json!("0X1"), "has a coordinate that is no number below p in quotes");
    refused(&|v| v["pi_a"][0] = json!("-1"), "has a coordinate that is no number below p in quotes");
    refused(&|v| v["pi_a"][0] = json!(null), "has a coordinate that is no number below p in quotes");
    refused(&|v| v["pi_a"][0] = "9".repeat(115).into(), "has a coordinate that is not below p");
    refused(&|v| v["pi_a"][0] = "9".repeat(117).into(), "has a coordinate that is no number below p in quotes");
    refused(&|v| v["pi_c"] = json!(["4", "5", "1"]), "`pi_c` (a point of G1) is not on the curve");
    refused(&|v| v["pi_c"] = json!(["0", "1", "0"]), "is the point at infinity, or not affine");
    refused(&|v| v["pi_c"] = json!(["0", "0", "1"]), "`pi_c` (a point of G1) is not on the curve");
    refused(&|v| v["protocol"] = json!("plonk"), "the protocol of the proof is \"plonk\"");
    refused(&|v| v["curve"] = json!("bn128"), "compile the circuit with `--prime bls12381`");
    assert!(parse_proof("[1]").unwrap_err().to_string().contains("no object"));
    assert!(parse_proof("{").unwrap_err().to_string().starts_with("it is no JSON: EOF"));
    assert!(parse_proof(&"[".repeat(1 << 16)).is_err(), "depth is bounded");
}

#[test]
fn keys_are_held_against_their_number_of_inputs() {
    let g1 = G1Affine::generator();
    let g2 = G2Affine::generator();
    let key = VerifyingKey {
        alpha_g1: g1,
        beta_g1: g1,
        beta_g2: g2,
        gamma_g2: g2,
        delta_g1: g1,
        delta_g2: g2,
        ic: vec![g1, -g1],
    };
    let text = write_key(&key);
    parse_key(&text).unwrap();
    let refused = |from: &str, to: &str, says: &str| {
        assert!(text.contains(from), "{from}");
        let error = parse_key(&text.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    refused(
        "\"nPublic\": 1",
        "\"nPublic\": 2",
        "IC has 2 points, and there should be one more than the 2 public inputs",
    );
    refused("\"nPublic\": 1", "\"nPublic\": 18446744073709551615", "IC has 2 points");
    for number in ["-1", "4.5", "\"1\"", "null", "[1]"] {
        refused("\"nPublic\": 1", &format!("\"nPublic\": {number}"), &format!("`nPublic` is {number}, and should be"));
    }
    refused("\"IC\"", "\"ic\"", "`IC`, an array of points, is missing");
    refused("\"curve\"", "\"the curve\"", "`curve` is missing");
    refused("vk_delta_2", "delta", "`vk_delta_2`, a point of G2, is missing");
}

/// A key that snarkjs wrote, and what it says of e(α, β).
#[test]
fn the_pairing_is_what_snarkjs_writes() {
    let text = include_str!("../../../../tests/data/circom/sha256_55.verification_key.json");
    let value: Value = serde_json::from_str(text).unwrap();
    let object = value.as_object().unwrap();
    let (alpha, beta) = (point(object, "vk_alpha_1").unwrap(), point(object, "vk_beta_2").unwrap());
    assert_eq!(alpha_beta(&alpha, &beta), value["vk_alphabeta_12"]);
    parse_key(text).unwrap();
    let mut wrong = value.clone();
    wrong["vk_alphabeta_12"][0][0].as_array_mut().unwrap().swap(0, 1);
    let error = parse_key(&wrong.to_string()).unwrap_err().to_string();
    assert!(error.starts_with("`vk_alphabeta_12` is not the pairing of"), "{error}");
}
