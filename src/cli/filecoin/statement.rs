//! Statements from files and the command line.

use std::path::Path;

use proofline::Error;
use proofline::filecoin::{Family, Kind, RegisteredProof, Statement, field, fields_of, prover_id, read_fields, to_hex};
use serde_json::{Map, Value, json};

use super::ClaimArgs;
use crate::cli::exit::Fault;
use crate::cli::files;

/// A statement about a partition of the most sectors has a third of a megabyte.
const MOST_STATEMENT_BYTES: u64 = 1 << 24;

impl ClaimArgs {
    /// The kind of proof that is asked for.
    pub fn kind(&self) -> Result<Kind, Fault> {
        let kind = self.kind.as_deref().ok_or_else(|| Fault::Usage("give a kind of proof: --filecoin KIND".into()))?;
        kind.parse().map_err(|fault: Error| Fault::Usage(fault.to_string()))
    }

    /// The fields that are given, each in its one form.
    pub fn fields(&self) -> Result<Map<String, Value>, Fault> {
        let kind = self.kind()?;
        let mut fields = self.statement.as_deref().map_or_else(|| Ok(Map::new()), |file| read(kind, file))?;
        let mut put = |name: &str, option: &str, value: Value| {
            if !fields_of(kind).contains(&name) {
                return Err(Fault::Usage(format!("{option}: a statement of the kind {kind} has no `{name}`")));
            }
            let value = field(kind, name, &value).map_err(|fault| Error::BadText(format!("{option}: {fault}")))?;
            match fields.insert(name.to_owned(), value.clone()) {
                Some(old) if old != value => Err(Fault::Usage(format!(
                    "`{name}` is {old} in the statement and {value} on the command line ({option}): give it once"
                ))),
                _ => Ok(()),
            }
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

    /// The statement of all that is given.
    pub fn statement_of(&self, fields: &Map<String, Value>) -> Result<Statement, Fault> {
        let kind = self.kind()?;
        let missing = |name: &&str| *name != "sectors" && !fields.contains_key(*name);
        match (fields_of(kind).into_iter().find(missing), &self.statement) {
            (Some(name), Some(file)) => {
                let (file, option) = (file.display(), option_of(name));
                Err(Error::BadText(format!("{file} has no `{name}`: it is to stand there, or give {option}")).into())
            }
            (Some(name), None) => Err(Fault::Usage(format!(
                "a statement of the kind {kind} has a `{name}`: give {}, or --statement FILE",
                option_of(name)
            ))),
            (None, _) => Ok(Statement::from_json(kind, fields)?),
        }
    }

    /// The whole statement.
    pub fn whole(&self) -> Result<Statement, Fault> {
        self.statement_of(&self.fields()?)
    }
}

/// What says a field on the command line.
fn option_of(field: &str) -> String {
    match field {
        "registered_proof" => "--registered NAME or --size SIZE".to_owned(),
        "prover_id" => "--miner ID".to_owned(),
        "sector_id" => "--sector N".to_owned(),
        hex => format!("--{} HEX", hex.replace('_', "-")),
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

fn read(kind: Kind, file: &Path) -> Result<Map<String, Value>, Fault> {
    Ok(read_fields(kind, file, &files::read(file, MOST_STATEMENT_BYTES)?)?)
}
