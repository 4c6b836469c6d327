//! snarkjs' JSON: proofs and verifying keys.
//!
//! Coordinates are decimal strings, not in Montgomery form; a component of Fp2 is `[real, imaginary]`. A point is
//! `[x, y, "1"]`, the `"1"` may be left out; numbers in hexadecimal begin with `0x`. snarkjs checks that points are on
//! the curve and leaves out the subgroup; here both are checked, or a point of order 3 could be added to a good proof.

use blstrs::{G1Affine, G2Affine};
use serde_json::{Map, Value, json};

use super::decimal;
use super::proof::{PreparedKey, ProofPoints};
use crate::error::Error;
use crate::params::VerifyingKey;
use crate::params::point::Point;

/// What snarkjs calls the curve, in its old and new versions.
const CURVES: [&str; 4] = ["bls12381", "BLS12381", "bls12-381", "BLS12-381"];
/// Limbs of a coordinate.
const LIMBS: usize = 6;
/// Bytes of a coordinate.
const BASE_BYTES: usize = 48;

/// Reads a `proof.json`.
///
/// # Errors
/// It is no JSON, lacks a point, or a point is not one of its group.
pub fn parse_proof(text: &str) -> Result<ProofPoints, Error> {
    let object = object(text, "a proof of snarkjs")?;
    expect_words(&object, "the proof")?;
    Ok(ProofPoints { a: point(&object, "pi_a")?, b: point(&object, "pi_b")?, c: point(&object, "pi_c")? })
}

/// Writes a `proof.json`.
#[must_use]
pub fn write_proof(proof: &ProofPoints) -> String {
    let value = json!({
        "pi_a": show(&proof.a),
        "pi_b": show(&proof.b),
        "pi_c": show(&proof.c),
        "protocol": "groth16",
        "curve": CURVES[0],
    });
    format!("{value:#}\n")
}

/// Reads a `verification_key.json`.
///
/// # Errors
/// It is no JSON, lacks something, or a point is not one of its group.
pub fn parse_key(text: &str) -> Result<PreparedKey, Error> {
    let object = object(text, "a verifying key of snarkjs")?;
    expect_words(&object, "the key")?;
    let Some(Value::Array(items)) = object.get("IC") else {
        return Err(missing("IC", "an array of points"));
    };
    let ic = items.iter().enumerate().map(|(index, item)| read(item, &format!("IC[{index}]")));
    let ic = ic.collect::<Result<Vec<G1Affine>, Error>>()?;
    let public = object.get("nPublic").map(|number| {
        let not =
            || Error::BadText(format!("`nPublic` is {number}, and should be the number of public inputs, such as 1"));
        number.as_u64().ok_or_else(not)
    });
    let public = public.transpose()?;
    if public.is_some_and(|public| public.checked_add(1) != Some(ic.len() as u64)) || ic.is_empty() {
        return Err(Error::BadText(format!(
            "IC has {} points, and there should be one more than the {} public inputs (`nPublic`)",
            ic.len(),
            public.unwrap_or(0)
        )));
    }
    let alpha_g1 = point::<G1Affine>(&object, "vk_alpha_1");
    let [beta_g2, gamma_g2, delta_g2] = ["vk_beta_2", "vk_gamma_2", "vk_delta_2"].map(|name| point(&object, name));
    Ok(PreparedKey::of_points(&alpha_g1?, &beta_g2?, &gamma_g2?, &delta_g2?, ic))
}

/// Writes a `verification_key.json`.
///
/// `vk_alphabeta_12`, a pairing that snarkjs writes and never reads, is left out.
#[must_use]
pub fn write_key(key: &VerifyingKey) -> String {
    let value = json!({
        "protocol": "groth16",
        "curve": CURVES[0],
        "nPublic": key.ic.len() - 1,
        "vk_alpha_1": show(&key.alpha_g1),
        "vk_beta_2": show(&key.beta_g2),
        "vk_gamma_2": show(&key.gamma_g2),
        "vk_delta_2": show(&key.delta_g2),
        "IC": key.ic.iter().map(show).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn object(text: &str, what: &str) -> Result<Map<String, Value>, Error> {
    // Some editors write a byte order mark.
    match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Error::BadText(format!("this JSON is no object: not {what}"))),
        Err(error) => Err(Error::BadText(format!("it is no JSON: {error}"))),
    }
}

fn missing(name: &str, what: &str) -> Error {
    Error::BadText(format!("`{name}`, {what}, is missing"))
}

/// `protocol` and `curve`, where they are given, must be the right ones.
fn expect_words(object: &Map<String, Value>, whose: &str) -> Result<(), Error> {
    if let Some(protocol) = object.get("protocol").filter(|protocol| *protocol != "groth16") {
        return Err(Error::BadText(format!(
            "the protocol of {whose} is {protocol}, and this program verifies \"groth16\""
        )));
    }
    match object.get("curve") {
        Some(curve) if !CURVES.iter().any(|name| curve == name) => {
            let advice = if curve == "bn128" {
                "that is circom's default: compile the circuit with `--prime bls12381`"
            } else {
                "give one over \"bls12381\""
            };
            Err(Error::BadText(format!("the curve of {whose} is {curve}; {advice}")))
        }
        _ => Ok(()),
    }
}

fn point<P: JsonPoint>(object: &Map<String, Value>, name: &str) -> Result<P, Error> {
    read(object.get(name).ok_or_else(|| missing(name, &format!("a point of {}", P::GROUP)))?, name)
}

/// A point whose coordinates have one or two components.
trait JsonPoint: Point {
    /// Components of a coordinate.
    const COMPONENTS: usize;
}

impl JsonPoint for G1Affine {
    const COMPONENTS: usize = 1;
}

impl JsonPoint for G2Affine {
    const COMPONENTS: usize = 2;
}

/// Reads a point of the subgroup that is not at infinity.
fn read<P: JsonPoint>(value: &Value, name: &str) -> Result<P, Error> {
    let shape = if P::COMPONENTS == 1 { "[x, y, \"1\"]" } else { "[[x0, x1], [y0, y1], [\"1\", \"0\"]]" };
    let not = |fault: &str| Error::BadText(format!("`{name}` (a point of {}) {fault}", P::GROUP));
    let coordinates = value.as_array().filter(|items| matches!(items.len(), 2 | 3));
    let coordinates = coordinates.ok_or_else(|| not(&format!("should be {shape}")))?;
    let mut bytes = Vec::with_capacity(P::BYTES);
    for (at, coordinate) in coordinates.iter().enumerate() {
        let components: Vec<&Value> = match coordinate {
            Value::Array(components) if P::COMPONENTS > 1 => components.iter().collect(),
            single if P::COMPONENTS == 1 => vec![single],
            _ => Vec::new(),
        };
        if components.len() != P::COMPONENTS {
            return Err(not(&format!("should be {shape}")));
        }
        let numbers = components.iter().map(|number| limbs(number));
        let numbers = numbers.collect::<Option<Vec<_>>>();
        let numbers = numbers.ok_or_else(|| not("has a coordinate that is no number below p in quotes"))?;
        if at == 2 {
            let one = numbers
                .iter()
                .enumerate()
                .all(|(i, limbs)| limbs[0] == u64::from(i == 0) && limbs[1..] == [0; LIMBS - 1]);
            if !one {
                return Err(not("is the point at infinity, or not affine: its third coordinate is not 1"));
            }
            continue;
        }
        // The encoding has the imaginary part first.
        for limbs in numbers.iter().rev() {
            limbs.iter().rev().for_each(|limb| bytes.extend(limb.to_be_bytes()));
        }
    }
    // The encoding's flags are the top three bits of the first byte, which no number below p has.
    if bytes.chunks(BASE_BYTES).any(|number| number[0] >> 5 != 0) {
        return Err(not("has a coordinate that is not below p"));
    }
    let point = P::decode(&bytes).map_err(|_| not("is not on the curve, or has a coordinate that is not below p"))?;
    if !point.in_subgroup() {
        return Err(not("is on the curve, but not in the subgroup of prime order; snarkjs accepts such proofs"));
    }
    Ok(point)
}

fn limbs(number: &Value) -> Option<[u64; LIMBS]> {
    match number {
        Value::String(text) => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(hexadecimal) => decimal::parse_hex_limbs(hexadecimal),
            None => decimal::parse_limbs(text),
        },
        Value::Number(number) => number.as_u64().map(|low| [low, 0, 0, 0, 0, 0]),
        _ => None,
    }
}

fn show<P: JsonPoint>(point: &P) -> Value {
    let mut bytes = Vec::new();
    point.append_to(&mut bytes);
    let numbers: Vec<String> = bytes.chunks(BASE_BYTES).map(decimal::show_bytes).collect();
    match &numbers[..] {
        [x, y] => json!([x, y, "1"]),
        [x1, x0, y1, y0] => json!([[x0, x1], [y0, y1], ["1", "0"]]),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
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
            refused(
                "\"nPublic\": 1",
                &format!("\"nPublic\": {number}"),
                &format!("`nPublic` is {number}, and should be"),
            );
        }
        refused("\"IC\"", "\"ic\"", "`IC`, an array of points, is missing");
        refused("vk_delta_2", "delta", "`vk_delta_2`, a point of G2, is missing");
    }
}
