//! Changing one number of a graph that was read: `stages.spmv.workers=7`.

use std::collections::HashSet;

use pipeline_graph::decode::bytes::amount;
use pipeline_graph::model::Unit;
use pipeline_graph::plan::{Plan, Role};
use pipeline_graph::words;
use pipeline_runtime::sim::Costs;

use crate::fields::{Field, HOST, RETAINED, STAGE, WORK, names};
use crate::numbers::{self, Kind};

/// A setting that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingError {
    /// It is not `path=value`.
    #[error("`{0}` is no setting; write PATH=VALUE, stages.spmv.workers=7 say")]
    NoSetting(String),
    /// It is not `path=values`.
    #[error("`{0}` has no values to try; write PATH=1..16, PATH=1..16:5 (in steps of 5) or PATH=4,8,12")]
    NoValues(String),
    /// A graph file's text has no such field, nor a place for it.
    #[error("the graph file has nothing at `{path}`{more}")]
    NotInTheFile {
        /// The field.
        path: String,
        /// What is meant, or what to do.
        more: String,
    },
    /// A field is given twice.
    #[error("`{0}` is given twice; give a field once, with all that it is to be")]
    Twice(String),
    /// There is nothing of that name.
    #[error("there is no {what} `{name}`; there is {}", known.join(", "))]
    NoSuch {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The value cannot be.
    #[error("`{path}` cannot be `{value}`: {why}")]
    BadValue {
        /// The field.
        path: String,
        /// The value.
        value: String,
        /// What it should be.
        why: String,
    },
}

const FIELDS: [&str; 10] = [
    "workers (the source's)",
    "permits.NAME (as pools.NAME)",
    "stages.NAME.workers",
    "stages.NAME.threads",
    "stages.NAME.in_flight",
    "stages.NAME.needs.POOL",
    "pools.NAME",
    "edges.FROM.TO.capacity",
    "policy",
    "costs.…",
];

/// Whether no path, in full, is there twice.
pub(crate) fn expect_distinct(paths: impl Iterator<Item = String>) -> Result<(), SettingError> {
    let mut seen = HashSet::new();
    paths.into_iter().try_for_each(|path| match seen.replace(path) {
        Some(twice) => Err(SettingError::Twice(twice)),
        None => Ok(()),
    })
}

/// A path in full: `workers` alone is the source's, `permits.NAME` is the pool of that name.
pub fn in_full(plan: &Plan, path: &str) -> String {
    let source = plan.stages.iter().find(|stage| stage.role == Role::Source);
    match (path.trim(), source) {
        ("workers", Some(source)) => format!("stages.{}.workers", source.name),
        (path, _) => path.strip_prefix("permits.").map_or_else(|| path.to_owned(), |pool| format!("pools.{pool}")),
    }
}

/// Applies `setting` to a plan or to costs.
pub fn set(plan: &mut Plan, costs: &mut Costs, setting: &str) -> Result<(), SettingError> {
    let (path, value) = setting.split_once('=').ok_or_else(|| SettingError::NoSetting(setting.to_owned()))?;
    let (path, value) = (&*in_full(plan, path), value.trim());
    let words: Vec<&str> = path.split('.').collect();
    match words.as_slice() {
        ["stages", stage, "workers"] => stage_of(plan, stage)?.workers = count(path, value)?,
        ["stages", stage, "in_flight"] => stage_of(plan, stage)?.in_flight = count(path, value)?,
        ["stages", stage, "threads"] => stage_of(plan, stage)?.threads = Some(count(path, value)?),
        ["stages", stage, "needs", pool] => {
            let (pool, weight) = (pool_of(plan, pool)?, count(path, value)?);
            let needs = &mut stage_of(plan, stage)?.needs;
            needs.retain(|(other, _)| *other != pool);
            needs.push((pool, u64::from(weight)));
        }
        ["pools", pool] => {
            let pool = pool_of(plan, pool)?;
            plan.pools[pool].size = size(plan.pools[pool].unit, path, value)?;
        }
        ["edges", from, to, "capacity"] => {
            let names = |edge: &pipeline_graph::plan::Edge| (edge.from, edge.to);
            let ends = (stage_at(plan, from)?, stage_at(plan, to)?);
            let capacity = count(path, value)?;
            let known =
                plan.edges.iter().map(|edge| format!("{}.{}", plan.stages[edge.from].name, plan.stages[edge.to].name));
            let known: Vec<String> = known.collect();
            let mut edges = plan.edges.iter_mut().filter(|edge| names(edge) == ends).peekable();
            if edges.peek().is_none() {
                return Err(SettingError::NoSuch { what: "edge", name: format!("{from}.{to}"), known });
            }
            edges.for_each(|edge| edge.capacity = capacity);
        }
        ["policy"] => plan.policy = policy(plan, path, value)?,
        ["costs", rest @ ..] => {
            let (number, kind) = number_of(costs, rest, path)?;
            *number = kind.parse(value).map_err(|allowed| bad(path, value, format!("write {allowed}")))?;
        }
        _ => {
            let known = FIELDS.iter().map(|field| (*field).to_owned()).collect();
            return Err(SettingError::NoSuch { what: "field", name: path.to_owned(), known });
        }
    }
    Ok(())
}

/// The number of a cost model at a path, `host.smt_gain` or `synthesize.witness.core_s`, and what it may be.
pub(super) fn number_of<'a>(
    costs: &'a mut Costs,
    words: &[&str],
    path: &str,
) -> Result<(&'a mut f64, Kind), SettingError> {
    let no_such = |what, known: Vec<String>| SettingError::NoSuch { what, name: path.to_owned(), known };
    match *words {
        ["host", field] => in_part(&mut costs.host, HOST, field, path),
        ["retained", field] => in_part(&mut costs.retained, RETAINED, field, path),
        [stage, field] => {
            let known: Vec<String> = costs.stages.keys().cloned().collect();
            let cost = costs.stages.get_mut(stage).ok_or_else(|| no_such("stage", known))?;
            in_part(cost, STAGE, field, path)
        }
        [stage, piece, field] => {
            let known: Vec<String> = costs.stages.keys().cloned().collect();
            let cost = costs.stages.get_mut(stage).ok_or_else(|| no_such("stage", known))?;
            let known: Vec<String> = cost.work.iter().map(|work| work.name.clone()).collect();
            let work = cost.work.iter_mut().find(|work| work.name == piece).ok_or_else(|| no_such("piece", known))?;
            in_part(work, WORK, field, path)
        }
        _ => {
            let fields = ["host.FIELD", "retained.FIELD", "STAGE.FIELD", "STAGE.PIECE.FIELD"];
            // On the command line costs are told from the graph's own fields, in a fit there is nothing else.
            let before = if path.starts_with("costs.") { "costs." } else { "" };
            Err(no_such("field", fields.map(|field| format!("{before}{field}")).to_vec()))
        }
    }
}

fn in_part<'a, T>(
    part: &'a mut T,
    fields: &'static [Field<T>],
    name: &str,
    path: &str,
) -> Result<(&'a mut f64, Kind), SettingError> {
    let no_such = || SettingError::NoSuch { what: "field", name: path.to_owned(), known: names(fields) };
    let field = fields.iter().find(|field| field.name == name).ok_or_else(no_such)?;
    Ok(((field.of)(part), field.kind))
}

fn stage_at(plan: &Plan, name: &str) -> Result<usize, SettingError> {
    plan.stages.iter().position(|stage| stage.name == name).ok_or_else(|| SettingError::NoSuch {
        what: "stage",
        name: name.to_owned(),
        known: plan.stages.iter().map(|stage| stage.name.clone()).collect(),
    })
}

fn stage_of<'a>(plan: &'a mut Plan, name: &str) -> Result<&'a mut pipeline_graph::plan::StagePlan, SettingError> {
    let at = stage_at(plan, name)?;
    Ok(&mut plan.stages[at])
}

fn pool_of(plan: &Plan, name: &str) -> Result<usize, SettingError> {
    plan.pools.iter().position(|pool| pool.name == name).ok_or_else(|| SettingError::NoSuch {
        what: "pool",
        name: name.to_owned(),
        known: plan.pools.iter().map(|pool| pool.name.clone()).collect(),
    })
}

fn bad(path: &str, value: &str, why: impl Into<String>) -> SettingError {
    SettingError::BadValue { path: path.to_owned(), value: value.to_owned(), why: why.into() }
}

fn count(path: &str, value: &str) -> Result<u32, SettingError> {
    numbers::count(value).map_err(|allowed| bad(path, value, format!("write {allowed}")))
}

/// The size of a pool, in its unit.
fn size(unit: Unit, path: &str, value: &str) -> Result<u64, SettingError> {
    match unit {
        Unit::Count => count(path, value).map(u64::from),
        Unit::Bytes => amount(value)
            .filter(|bytes| *bytes > 0 && value.ends_with(|letter: char| letter.is_alphabetic()))
            .ok_or_else(|| bad(path, value, "write an amount with its unit, `400 GiB` say")),
    }
}

/// A policy that there is, with what it takes.
fn policy(plan: &Plan, path: &str, value: &str) -> Result<String, SettingError> {
    let parts = words::policy_parts(value);
    let word = parts.map_or_else(|word| word, |(word, _)| word);
    let Some(known) = words::POLICIES.iter().find(|known| known.word == word) else {
        let known = words::POLICIES.map(|policy| policy.shown()).to_vec();
        return Err(SettingError::NoSuch { what: "policy", name: value.to_owned(), known });
    };
    match parts {
        Ok((_, argument)) if known.fault_of(argument, plan.stages.len()).is_none() => Ok(value.to_owned()),
        _ => {
            let why = format!("write `{}`; `proofline explain PL0004` says what it takes", known.shown());
            Err(bad(path, value, why))
        }
    }
}
