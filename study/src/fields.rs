//! The numbers of a cost model: what each is called, where it stands, and of which kind it is.
//!
//! One table for the reader of files, for `--set` and for the fit.

use pipeline_runtime::sim::{Costs, Host, Retained, StageCost, Work};

use crate::numbers::{Fault, Kind, MOST, MOST_CONSTRAINTS, Step};

/// A number of a part of a cost model.
pub struct Field<T: 'static> {
    /// Its name in files.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Where it stands.
    pub of: fn(&mut T) -> &mut f64,
}

macro_rules! fields {
    ($ty:ty: $($name:ident $kind:ident),* $(,)?) => {
        &[$(Field::<$ty> { name: stringify!($name), kind: Kind::$kind, of: |part| &mut part.$name }),*]
    };
}

/// Of the host.
pub const HOST: &[Field<Host>] = fields!(Host:
    smt_gain Part,
    boost_loss Loss,
    dram_efficiency PositivePart,
    pcie_bytes_per_s BytesPerSecond,
    shootdown_s_per_gib Seconds,
);

/// Of the memory beside the plan's.
pub const RETAINED: &[Field<Retained>] =
    fields!(Retained: process_bytes Bytes, job_bytes Bytes, sampled_every_s Seconds);

/// Of a stage.
pub const STAGE: &[Field<StageCost>] = fields!(StageCost: spread Spread, vram_bytes Bytes);

/// Of a piece of a stage's work.
pub const WORK: &[Field<Work>] = fields!(Work:
    wait_s Seconds,
    core_s Seconds,
    dram_bytes Bytes,
    stall Part,
    l3_bytes Bytes,
    l3_traffic_bytes Bytes,
    pcie_bytes Bytes,
    gpu_s Seconds,
    unmap_bytes Bytes,
    unmaps_slot Part,
    output_part Part,
);

/// The names of some fields.
pub fn names<T>(fields: &[Field<T>]) -> Vec<String> {
    fields.iter().map(|field| field.name.to_owned()).collect()
}

/// The first field that is not what it may be, with its value.
fn wrong<T: Clone>(part: &T, fields: &'static [Field<T>]) -> Option<(&'static Field<T>, f64)> {
    let mut part = part.clone();
    let values = fields.iter().map(|field| (field, *(field.of)(&mut part)));
    values.into_iter().find(|(field, value)| !field.kind.takes(*value))
}

/// The first number of a cost model, or name in it, that is not what it may be.
pub fn fault_of(costs: &Costs) -> Option<Fault> {
    let way = |part: &'static str, field: &'static str| vec![Step::Field(part), Step::Field(field)];
    if costs.constraints > MOST_CONSTRAINTS {
        let allowed = "a number of constraints, 0 to 1099511627776";
        return Some(Fault::new(vec![Step::Field("constraints")], "constraints", costs.constraints, allowed));
    }
    if let Some(calibration) = &costs.calibration {
        let numbers = [
            ("median_error", Some(calibration.median_error)),
            ("worst_error", Some(calibration.worst_error)),
            ("left_out_median", calibration.left_out_median),
            ("left_out_worst", calibration.left_out_worst),
        ];
        let wrong = numbers.into_iter().find(|(_, number)| number.is_some_and(|number| !Kind::Error.takes(number)));
        if let Some((name, Some(number))) = wrong {
            let full = format!("calibration.{name}");
            return Some(Fault::new(way("calibration", name), full, number, Kind::Error.allowed()));
        }
        if calibration.rows == 0 || calibration.rows > MOST {
            let allowed = "the number of rows that were measured, 1 to 65536";
            return Some(Fault::new(way("calibration", "rows"), "calibration.rows", calibration.rows, allowed));
        }
        if calibration.sku.trim().is_empty() {
            return Some(Fault::new(way("calibration", "sku"), "calibration.sku", "an empty name", "that of a SKU"));
        }
    }
    if let Some((field, value)) = wrong(&costs.host, HOST) {
        return Some(Fault::new(way("host", field.name), format!("host.{}", field.name), value, field.kind.allowed()));
    }
    if let Some((field, value)) = wrong(&costs.retained, RETAINED) {
        let name = format!("retained.{}", field.name);
        return Some(Fault::new(way("retained", field.name), name, value, field.kind.allowed()));
    }
    costs.stages.iter().find_map(|(name, cost)| fault_of_stage(name, cost))
}

fn fault_of_stage(name: &str, cost: &StageCost) -> Option<Fault> {
    let to = |more: &[Step]| [&[Step::Field("stages"), Step::Key(name.to_owned())], more].concat();
    if let Some((field, value)) = wrong(cost, STAGE) {
        let called = format!("{name}.{}", field.name);
        return Some(Fault::new(to(&[Step::Field(field.name)]), called, value, field.kind.allowed()));
    }
    if let Some((at, factor)) = cost.per_job.iter().enumerate().find(|(_, factor)| !Kind::Factor.takes(**factor)) {
        let way = to(&[Step::Field("per_job"), Step::Item(at)]);
        return Some(Fault::new(way, format!("{name}.per_job"), factor, Kind::Factor.allowed()));
    }
    for (at, work) in cost.work.iter().enumerate() {
        let piece = if work.name.is_empty() { at.to_string() } else { work.name.clone() };
        let to_field = |field| to(&[Step::Field("work"), Step::Item(at), Step::Field(field)]);
        if let Some((field, value)) = wrong(work, WORK) {
            let called = format!("{name}.{piece}.{}", field.name);
            return Some(Fault::new(to_field(field.name), called, value, field.kind.allowed()));
        }
        if work.threads > MOST {
            let allowed = "a number of threads, 1 to 65536, or 0 for all of the stage's";
            return Some(Fault::new(to_field("threads"), format!("{name}.{piece}.threads"), work.threads, allowed));
        }
        let others = |name: &str| cost.work.iter().filter(|other| other.name == name).count();
        if !work.name.is_empty() && others(&work.name) > 1 {
            let why = format!("two pieces are called `{}`; give each a name of its own", work.name);
            return Some(Fault::because(to_field("name"), format!("{name}.{piece}"), why));
        }
        if let Some(after) = work.after.iter().find(|after| others(after) == 0 || **after == work.name) {
            let why = format!("it waits for `{after}`, which is no other piece of this stage");
            return Some(Fault::because(to_field("after"), format!("{name}.{piece}.after"), why));
        }
    }
    let parts: f64 = cost.work.iter().map(|work| work.output_part).sum();
    // Parts that are written with a few digits may be a little more together.
    if parts > 1.001 {
        let why = format!("the pieces take {parts} of the output together; write parts that are 1 together at most");
        return Some(Fault::because(to(&[Step::Field("work")]), format!("{name}.output_part"), why));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that the format has and the tables have not would be read unchecked.
    #[test]
    fn every_number_of_the_format_is_in_the_tables() {
        let text = |costs: &Costs| ron::to_string(costs).expect("it can be written");
        let work = Work { name: "w".into(), ..Work::default() };
        let stage = StageCost { work: vec![work], ..StageCost::default() };
        let mut costs = Costs { stages: [("s".to_owned(), stage)].into(), ..Costs::default() };
        let marked = 0.123_456_5;
        HOST.iter().for_each(|field| *(field.of)(&mut costs.host) = marked);
        RETAINED.iter().for_each(|field| *(field.of)(&mut costs.retained) = marked);
        for cost in costs.stages.values_mut() {
            STAGE.iter().for_each(|field| *(field.of)(cost) = marked);
            for work in &mut cost.work {
                WORK.iter().for_each(|field| *(field.of)(work) = marked);
            }
        }
        let text = text(&costs);
        let floats = text.matches('.').count();
        assert_eq!(floats, text.matches("0.1234565").count(), "{text}");
        assert_eq!(floats, HOST.len() + RETAINED.len() + STAGE.len() + WORK.len(), "{text}");
    }
}
