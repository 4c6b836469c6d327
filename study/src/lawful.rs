//! Whether a fit, the model that it starts from and the graphs of its rows belong together: asked before the search.

use std::collections::BTreeSet;
use std::path::Path;

use pipeline_runtime::sim::Costs;

use crate::numbers::{Fault, Step};
use crate::settings::number_of;
use crate::{Fit, Row, SettingError, Study, StudyError, place};

/// What a fit names is there, and its rows were measured on its machine.
///
/// # Errors
/// The first fault, with its place in the fit; or a graph of a row cannot be read.
pub(crate) fn expect_lawful(file: &Path, fit: &Fit, costs: &Costs) -> Result<(), StudyError> {
    let told = |fault: Fault| place::fault_of_file(file, &fault);
    let mut moved = BTreeSet::new();
    for (at, free) in fit.free.iter().enumerate() {
        let way = |name| vec![Step::Field("free"), Step::Item(at), Step::Field(name)];
        for (number, path) in free.path.split_whitespace().enumerate() {
            if !moved.insert(path) {
                return Err(told(Fault::because(
                    way("path"),
                    path,
                    "it may move already, by an entry before this; keep one",
                )));
            }
            let words: Vec<&str> = path.split('.').collect();
            let mut costs = costs.clone();
            let (value, kind) = match number_of(&mut costs, &words, path) {
                Ok(found) => found,
                Err(error) => return Err(told(Fault::because(way("path"), path, error.to_string()))),
            };
            for (end, number) in [("from", free.from), ("to", free.to)] {
                if !kind.takes(number) {
                    let found = format!("{} to {}", free.from, free.to);
                    return Err(told(Fault::new(way(end), path, found, kind.allowed())));
                }
            }
            // Those that move along with the first of a list have no range of their own.
            if number == 0 && !(free.from..=free.to).contains(value) {
                let why = format!(
                    "the fit starts at `{value}`, as {} says; its range is {} to {}",
                    fit.start.display(),
                    free.from,
                    free.to
                );
                return Err(told(Fault::because(way("from"), path, why)));
            }
        }
    }
    fit.rows.iter().enumerate().try_for_each(|(at, row)| match fault_of_row(file, fit, (at, row), costs)? {
        Some(fault) => Err(told(fault)),
        None => Ok(()),
    })?;
    fault_of_idle_numbers(file, fit, costs)?.map_or(Ok(()), |fault| Err(told(fault)))
}

/// A number of a stage that no row runs: no row says anything of it. Those that move along with another may be such.
fn fault_of_idle_numbers(file: &Path, fit: &Fit, costs: &Costs) -> Result<Option<Fault>, StudyError> {
    let mut run = BTreeSet::new();
    for row in &fit.rows {
        let study = Study::with_costs(&file.with_file_name(&row.graph), costs.clone())?;
        let keys = study.graph.stages.iter().map(|stage| match format!("{}@{}", stage.name, study.graph.graph) {
            own if costs.stages.contains_key(&own) => own,
            _ => stage.name.clone(),
        });
        run.extend(keys);
    }
    let idle = fit.free.iter().enumerate().find_map(|(at, free)| {
        let path = free.path.split_whitespace().next()?;
        let (stage, _) = path.split_once('.')?;
        (!["host", "retained"].contains(&stage) && !run.contains(stage)).then_some((at, path, stage))
    });
    Ok(idle.map(|(at, path, stage)| {
        let known = pipeline_graph::words::listed(run.iter().map(String::as_str));
        let why = format!("no row runs `{stage}`, so nothing says what it costs; the rows run {known}");
        Fault::because(vec![Step::Field("free"), Step::Item(at), Step::Field("path")], path, why)
    }))
}

/// What is wrong with a row that has numbers as they may be.
fn fault_of_row(file: &Path, fit: &Fit, (at, row): (usize, &Row), costs: &Costs) -> Result<Option<Fault>, StudyError> {
    let way = |name| vec![Step::Field("rows"), Step::Item(at), Step::Field(name)];
    let called = |name: &str| format!("{name} of the row \"{}\"", row.name);
    let mut study = Study::with_costs(&file.with_file_name(&row.graph), costs.clone())?;
    study.expect_costs()?;
    let shown = row.graph.display();
    let sku = study.plan().sku.map(|sku| sku.name);
    if sku.as_ref() != Some(&fit.sku) {
        let why = match sku {
            Some(sku) => format!("{shown} is simulated on its SKU `{sku}`, and the fit's `sku` is `{}`", fit.sku),
            None => format!("{shown} is for any machine, and is not simulated on the fit's `sku`, `{}`", fit.sku),
        };
        let why = format!("{why}: seconds measured on one machine say nothing of another; name one SKU in both");
        return Ok(Some(Fault::because(way("graph"), called("graph"), why)));
    }
    let mut set = BTreeSet::new();
    for (number, setting) in row.set.iter().enumerate() {
        let path = study.in_full(setting.split_once('=').map_or("", |(path, _)| path));
        if !set.insert(path.clone()) {
            let way = [way("set"), vec![Step::Item(number)]].concat();
            return Ok(Some(Fault::because(way, called("set"), SettingError::Twice(path).to_string())));
        }
        if let Err(error) = study.set_one(setting) {
            let way = [way("set"), vec![Step::Item(number)]].concat();
            return Ok(Some(Fault::because(way, called("set"), error.to_string())));
        }
    }
    let Some(busy) = &row.busy else { return Ok(None) };
    let to = |name| [way("busy"), vec![Step::Field(name)]].concat();
    let none = |name, what: &str, found: &str, known: Vec<&str>| {
        let known = pipeline_graph::words::listed(known);
        let why = format!("there is no {what} `{found}`; there is {known}");
        Some(Fault::because(to(name), called(&format!("busy.{name}")), why))
    };
    let plan = study.plan();
    let stages: Vec<&str> = plan.stages.iter().map(|stage| stage.name.as_str()).collect();
    if !stages.contains(&busy.stage.as_str()) {
        return Ok(none("stage", &format!("stage of {shown}"), &busy.stage, stages));
    }
    let Some(without) = &busy.without else { return Ok(None) };
    let costs = study.costs_of_graph();
    let pieces = costs.stages.get(&busy.stage).map(|cost| cost.work.as_slice()).unwrap_or_default();
    let pieces: Vec<&str> = pieces.iter().map(|work| work.name.as_str()).collect();
    if pieces.contains(&without.as_str()) {
        return Ok(None);
    }
    Ok(none("without", &format!("piece of `{}`", busy.stage), without, pieces))
}
