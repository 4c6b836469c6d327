//! Statements from files and the command line.

use std::path::Path;

use proofline::Error;
use proofline::filecoin::{Family, Kind, RegisteredProof, Statement, prover_id, to_hex};
use serde_json::{Map, Value, json};

use super::ClaimArgs;
use crate::cli::exit::Fault;
use crate::cli::files;

/// A statement about a partition of the most sectors has a third of a megabyte.
const MOST_STATEMENT_BYTES: u64 = 1 << 26;

impl ClaimArgs {
    /// The kind of proof that is asked for.
    pub fn kind(&self) -> Result<Kind, Fault> {
        let kind = self.kind.as_deref().ok_or_else(|| Fault::Usage("give a kind of proof: --filecoin KIND".into()))?;
        kind.parse().map_err(|fault: Error| Fault::Usage(fault.to_string()))
    }

    /// The fields that are given.
    pub fn fields(&self) -> Result<Map<String, Value>, Fault> {
        let kind = self.kind()?;
        let mut fields = self.statement.as_deref().map_or_else(|| Ok(Map::new()), read)?;
        let mut put = |name: &str, option: &str, value: Value| match fields.insert(name.to_owned(), value.clone()) {
            Some(old) if old != value => Err(Fault::Usage(format!(
                "`{name}` is {old} in the statement and {value} on the command line ({option}): give it once"
            ))),
            _ => Ok(()),
        };
        let registered = match (&self.registered, &self.size) {
            (Some(name), _) => Some(name.clone()),
            (None, Some(size)) => {
                let family = Family { kind, size: size.parse()? };
                Some(RegisteredProof::newest(family)?.to_string())
            }
            (None, None) => None,
        };
        if let Some(name) = registered {
            put("registered_proof", "--registered or --size", json!(name))?;
        }
        if let Some(miner) = &self.miner {
            put("prover_id", "--miner", json!(to_hex(&prover_id(miner)?)))?;
        }
        if let Some(sector) = self.sector {
            put("sector_id", "--sector", json!(sector))?;
        }
        for (name, option, value) in [
            ("randomness", "--randomness", &self.randomness),
            ("comm_r_old", "--comm-r-old", &self.comm_r_old),
            ("comm_r_new", "--comm-r-new", &self.comm_r_new),
            ("comm_d_new", "--comm-d-new", &self.comm_d_new),
            ("comm_d", "--comm-d", &self.comm_d),
            ("ticket", "--ticket", &self.ticket),
            ("seed", "--seed", &self.seed),
        ] {
            if let Some(value) = value {
                put(name, option, json!(value))?;
            }
        }
        match (kind, &self.comm_r[..]) {
            (_, []) => {}
            (Kind::Winning | Kind::Window, sectors) => {
                put("sectors", "--comm-r", sectors.iter().map(|text| sector(text)).collect::<Result<_, _>>()?)?;
            }
            (_, [comm_r]) => put("comm_r", "--comm-r", json!(comm_r))?,
            _ => return Err(Fault::Usage(format!("a proof of the kind {kind} is about one comm_r"))),
        }
        Ok(fields)
    }

    /// The whole statement.
    pub fn whole(&self) -> Result<Statement, Fault> {
        Ok(Statement::from_json(self.kind()?, &self.fields()?)?)
    }
}

/// `7=f5342d80…`
fn sector(text: &str) -> Result<Value, Fault> {
    let wrong =
        || Fault::Usage(format!("`--comm-r {text}`: it must be a sector's number, `=` and 64 hexadecimal digits"));
    let (number, comm_r) = text.split_once('=').ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    Ok(json!({ "sector_id": number, "comm_r": comm_r }))
}

fn read(file: &Path) -> Result<Map<String, Value>, Fault> {
    let bytes = files::read(file, MOST_STATEMENT_BYTES)?;
    let wrong = |why: String| Error::BadText(format!("{} is no statement: {why}", file.display()));
    let value: Value = serde_json::from_slice(&bytes).map_err(|fault| wrong(fault.to_string()))?;
    match value {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong("it must be a JSON object".to_owned()).into()),
    }
}
