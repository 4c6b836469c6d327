//! snarkjs' JSON: proofs and verifying keys.
//!
//! Coordinates are decimal strings, not in Montgomery form; a component of Fp2 is `[real, imaginary]`. A point is
//! `[x, y, "1"]`, the `"1"` may be left out; numbers in hexadecimal begin with `0x`. snarkjs checks that points are on
//! the curve and leaves out the subgroup; here both are checked, or a point of order 3 could be added to a good proof.

mod alpha_beta;

use blstrs::{G1Affine, G2Affine};
use serde_json::{Map, Value, json};

use alpha_beta::alpha_beta;

use super::decimal;
use super::proof::{PreparedKey, ProofPoints};
use crate::error::Error;
use crate::params::VerifyingKey;
use crate::params::point::Point;

/// What snarkjs calls the curve, in its old and new versions.
const CURVES: [&str; 4] = ["bls12381", "BLS12381", "bls12-381", "BLS12-381"];
/// e(α, β) in a verifying key.
const ALPHA_BETA: &str = "vk_alphabeta_12";
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
    if !object.contains_key("curve") {
        let why = "`curve` is missing: snarkjs writes \"bls12381\" there; export the key again";
        return Err(Error::BadText(why.to_owned()));
    }
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
    let alpha_g1 = point::<G1Affine>(&object, "vk_alpha_1")?;
    let [beta_g2, gamma_g2, delta_g2] = ["vk_beta_2", "vk_gamma_2", "vk_delta_2"].map(|name| point(&object, name));
    let beta_g2 = beta_g2?;
    // snarkjs reads it nowhere; a key whose parts contradict one another was changed.
    if object.get(ALPHA_BETA).is_some_and(|given| *given != alpha_beta(&alpha_g1, &beta_g2)) {
        return Err(Error::BadText(format!(
            "`{ALPHA_BETA}` is not the pairing of `vk_alpha_1` and `vk_beta_2`: the key was changed, or put together from \
             several; export it again"
        )));
    }
    Ok(PreparedKey::of_points(&alpha_g1, &beta_g2, &gamma_g2?, &delta_g2?, ic))
}

/// Writes a `verification_key.json`, with all that snarkjs writes.
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
        ALPHA_BETA: alpha_beta(&key.alpha_g1, &key.beta_g2),
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

/// `protocol` and `curve`, where they are given (the curve of a proof is its key's), must be the right ones.
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
        return Err(not("is on the curve, but not in the subgroup of prime order; snarkjs accepts it"));
    }
    Ok(point)
}

fn limbs(number: &Value) -> Option<[u64; LIMBS]> {
    match number {
        Value::String(text) => match text.strip_prefix("0x") {
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
mod tests;
