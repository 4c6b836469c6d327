//! The fields of statements: which a kind has, and the one form of each.

use std::fmt;
use std::path::Path;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::bytes::{Bytes32, from_json, parse_hex, to_hex};
use super::family::Kind;
use super::registered::RegisteredProof;
use crate::error::Error;

/// The names of the fields that a statement of a kind has.
#[must_use]
pub fn of_kind(kind: Kind) -> Vec<&'static str> {
    let own: &[&str] = match kind {
        Kind::Porep => &["prover_id", "sector_id", "comm_d", "comm_r", "ticket", "seed"],
        Kind::Winning | Kind::Window => &["prover_id", "randomness", "sectors"],
        Kind::Update => &["comm_r_old", "comm_r_new", "comm_d_new"],
    };
    [&["registered_proof"], own].concat()
}

/// A field of a statement in the one form in which fields can be compared: digits in lower case and without `0x`, the proof
/// under its plain name, the sectors ascending.
///
/// # Errors
/// Statements of the kind have no such field, or it is malformed.
pub fn field(kind: Kind, name: &str, value: &Value) -> Result<Value, Error> {
    let one = Map::from_iter([(name.to_owned(), value.clone())]);
    let fields = Fields(&one);
    fields.expect_only(&of_kind(kind), &format!("a statement of the kind {kind}"))?;
    Ok(match name {
        "registered_proof" => json!(RegisteredProof::named(kind, fields.text(name)?)?.to_string()),
        "sector_id" => json!(fields.number(name)?),
        "sectors" => sectors_json(&fields.sectors()?),
        _ => json!(to_hex(&fields.bytes(name)?)),
    })
}

/// Reads the file of a statement; some of its fields may be missing. Each is in its [one form](field).
///
/// # Errors
/// The file is no JSON object, an object in it has a name twice, or a field is not of the kind or malformed.
pub fn read(kind: Kind, file: &Path, json: &[u8]) -> Result<Map<String, Value>, Error> {
    let OnceOnly(value) = from_json(file, json, "statement")?;
    let Value::Object(fields) = value else {
        let fault = "this is no statement: it must be a JSON object".to_owned();
        return Err(Error::Malformed { file: file.to_owned(), offset: 0, fault });
    };
    let of_file = |fault: Error| Error::BadText(format!("{}: {fault}", file.display()));
    fields.iter().map(|(name, value)| Ok((name.clone(), field(kind, name, value).map_err(of_file)?))).collect()
}

/// The sectors as a statement has them.
pub(super) fn sectors_json(sectors: &[(u64, Bytes32)]) -> Value {
    sectors.iter().map(|(number, comm_r)| json!({"sector_id": number, "comm_r": to_hex(comm_r)})).collect()
}

/// The fields of a statement.
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    /// Refuses a field that is none of these: what is not looked at would be taken for proved.
    pub(super) fn expect_only(&self, known: &[&str], whose: &str) -> Result<(), Error> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                Err(Error::BadText(format!("`{name}` is no field of {whose}, which has {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    fn get(&self, name: &str) -> Result<&'a Value, Error> {
        self.0.get(name).ok_or_else(|| Error::BadText(format!("the statement has no `{name}`")))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, Error> {
        self.get(name)?.as_str().ok_or_else(|| Error::BadText(format!("`{name}` must be a text")))
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, Error> {
        self.get(name)?.as_u64().ok_or_else(|| Error::BadText(format!("`{name}` must be a whole number below 2^64")))
    }

    pub(super) fn bytes(&self, name: &str) -> Result<Bytes32, Error> {
        parse_hex(&format!("`{name}`"), self.text(name)?)
    }

    pub(super) fn sectors(&self) -> Result<Vec<(u64, Bytes32)>, Error> {
        let Some(sectors) = self.0.get("sectors") else { return Ok(Vec::new()) };
        let bad = || Error::BadText("`sectors` must be a list of objects with `sector_id` and `comm_r`".to_owned());
        let sector = |sector: &'a Value| {
            let fields = Fields(sector.as_object().ok_or_else(bad)?);
            fields.expect_only(&["sector_id", "comm_r"], "a sector in `sectors`")?;
            Ok((fields.number("sector_id")?, fields.bytes("comm_r")?))
        };
        let mut sectors = sectors.as_array().ok_or_else(bad)?.iter().map(sector).collect::<Result<Vec<_>, Error>>()?;
        sectors.sort_by_key(|(number, _)| *number);
        Ok(sectors)
    }
}

/// JSON in which no object has a name twice: readers differ in which of the two they take.
struct OnceOnly(Value);

impl<'de> Deserialize<'de> for OnceOnly {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceOnlyVisitor).map(Self)
    }
}

struct OnceOnlyVisitor;

impl<'de> Visitor<'de> for OnceOnlyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(json!(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(OnceOnly(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = object.next_key::<String>()? {
            let OnceOnly(value) = object.next_value()?;
            if fields.contains_key(&name) {
                return Err(de::Error::custom(format!("`{name}` is there twice")));
            }
            fields.insert(name, value);
        }
        Ok(Value::Object(fields))
    }
}
