//! Changing one number of a graph that was read: `stages.spmv.workers=7`.

use pipeline_graph::plan::Plan;
use pipeline_runtime::sim::Costs;

/// A setting that does not fit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingError {
    /// It is not `path=value`.
    #[error("`{0}` is no setting; write PATH=VALUE, stages.spmv.workers=7 say")]
    NoSetting(String),
    /// A graph file's text has no such field, nor a place for it.
    #[error("the graph file has nothing at `{0}`")]
    NotInTheFile(String),
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
        why: &'static str,
    },
}

const FIELDS: [&str; 8] = [
    "stages.NAME.workers",
    "stages.NAME.threads",
    "stages.NAME.in_flight",
    "stages.NAME.needs.POOL",
    "pools.NAME",
    "edges.FROM.TO.capacity",
    "policy",
    "costs.…",
];

/// Applies `setting` to a plan or to costs.
pub fn set(plan: &mut Plan, costs: &mut Costs, setting: &str) -> Result<(), SettingError> {
    let (path, value) = setting.split_once('=').ok_or_else(|| SettingError::NoSetting(setting.to_owned()))?;
    let (path, value) = (path.trim(), value.trim());
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
            plan.pools[pool].size = u64::from(count(path, value)?);
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
        ["policy"] => value.clone_into(&mut plan.policy),
        ["costs", rest @ ..] => *number_of(costs, rest, path)? = amount(path, value)?,
        _ => {
            let known = FIELDS.iter().map(|field| (*field).to_owned()).collect();
            return Err(SettingError::NoSuch { what: "field", name: path.to_owned(), known });
        }
    }
    Ok(())
}

/// The number of a cost model at a path: `host.smt_gain`, `synthesize.witness.core_s`.
pub(super) fn number_of<'a>(costs: &'a mut Costs, words: &[&str], path: &str) -> Result<&'a mut f64, SettingError> {
    let no_such = |what, known: Vec<String>| SettingError::NoSuch { what, name: path.to_owned(), known };
    let fields = |known: &[&str]| known.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>();
    match *words {
        ["host", field] => Ok(match field {
            "smt_gain" => &mut costs.host.smt_gain,
            "boost_loss" => &mut costs.host.boost_loss,
            "dram_efficiency" => &mut costs.host.dram_efficiency,
            "pcie_bytes_per_s" => &mut costs.host.pcie_bytes_per_s,
            "shootdown_s_per_gib" => &mut costs.host.shootdown_s_per_gib,
            _ => {
                return Err(no_such(
                    "field",
                    fields(&["smt_gain", "boost_loss", "dram_efficiency", "pcie_bytes_per_s", "shootdown_s_per_gib"]),
                ));
            }
        }),
        ["retained", field] => Ok(match field {
            "process_bytes" => &mut costs.retained.process_bytes,
            "job_bytes" => &mut costs.retained.job_bytes,
            _ => return Err(no_such("field", fields(&["process_bytes", "job_bytes"]))),
        }),
        [stage, "spread"] => {
            let known: Vec<String> = costs.stages.keys().cloned().collect();
            costs.stages.get_mut(stage).map(|cost| &mut cost.spread).ok_or_else(|| no_such("stage", known))
        }
        [stage, piece, field] => {
            let known: Vec<String> = costs.stages.keys().cloned().collect();
            let cost = costs.stages.get_mut(stage).ok_or_else(|| no_such("stage", known))?;
            let known: Vec<String> = cost.work.iter().map(|work| work.name.clone()).collect();
            let work = cost.work.iter_mut().find(|work| work.name == piece).ok_or_else(|| no_such("piece", known))?;
            Ok(match field {
                "wait_s" => &mut work.wait_s,
                "core_s" => &mut work.core_s,
                "dram_bytes" => &mut work.dram_bytes,
                "stall" => &mut work.stall,
                "l3_bytes" => &mut work.l3_bytes,
                "l3_traffic_bytes" => &mut work.l3_traffic_bytes,
                "pcie_bytes" => &mut work.pcie_bytes,
                "gpu_s" => &mut work.gpu_s,
                "unmap_bytes" => &mut work.unmap_bytes,
                "output_part" => &mut work.output_part,
                _ => {
                    return Err(no_such(
                        "field",
                        fields(&[
                            "wait_s",
                            "core_s",
                            "dram_bytes",
                            "stall",
                            "l3_bytes",
                            "l3_traffic_bytes",
                            "pcie_bytes",
                            "gpu_s",
                            "unmap_bytes",
                            "output_part",
                        ]),
                    ));
                }
            })
        }
        _ => Err(no_such("field", fields(&["host.FIELD", "retained.FIELD", "STAGE.spread", "STAGE.PIECE.FIELD"]))),
    }
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

fn count(path: &str, value: &str) -> Result<u32, SettingError> {
    let bad = || SettingError::BadValue {
        path: path.to_owned(),
        value: value.to_owned(),
        why: "write a whole number, 1 or more",
    };
    value.parse().ok().filter(|count| *count > 0).ok_or_else(bad)
}

fn amount(path: &str, value: &str) -> Result<f64, SettingError> {
    let bad =
        || SettingError::BadValue { path: path.to_owned(), value: value.to_owned(), why: "write a number, 0 or more" };
    value.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0).ok_or_else(bad)
}
