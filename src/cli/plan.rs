//! `proofline plan`: what this build was compiled from, and where it runs.

use std::path::{Path, PathBuf};

use clap::Args;
use pipeline_graph::{Style, render};
use proofline::runtime::binding::Bound;
use proofline::runtime::export::Graph;
use proofline::runtime::placement::place;
use proofline::runtime::plan::{Bytes, Ccds, Insist, MemoryRow, Plan, Pool, Share, StagePlan, Unit};
use proofline::runtime::topology::{Cpus, Machine};
use proofline::study::{plan_of_graph, read_sku};
use proofline::{Error, Pipeline, Prover, StartError};

use super::exit::Fault;

/// The version, with the graph that is compiled in.
pub fn version() -> String {
    let plan = Pipeline::plan();
    let sku = plan.sku.as_ref().map_or("any", |sku| &sku.name);
    format!("{} (graph {}, {}, sku {sku})", env!("CARGO_PKG_VERSION"), plan.graph, plan.digest)
}

/// Prints the plan that is compiled into this binary.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline plan\n  proofline plan --svg > plan.svg\n  proofline plan --graph graphs/mine.ron\n  proofline plan --binding\n  proofline plan --machine 'pack:1 l3:12 \
                        core:8 pu:2'\n  proofline plan --graph graphs/h200.ron --machine this"
)]
pub struct PlanCommand {
    /// Binds every worker on this machine, reads the binding back, and prints whether it holds
    #[arg(long)]
    binding: bool,
    /// Compares a machine with the graph's SKU and places the workers on it, as the start does (nothing is bound): hwloc's
    /// synthetic notation, a file of hwloc's XML, or `this` machine
    #[arg(long, value_name = "TEXT", conflicts_with = "binding")]
    machine: Option<String>,
    /// As --machine, on the machine of a SKU: a file of `skus/` beside the graph
    #[arg(long, value_name = "NAME", conflicts_with_all = ["binding", "machine"])]
    sku: Option<String>,
    /// Plans this graph file instead, without building it
    #[arg(long, value_name = "FILE", conflicts_with = "binding")]
    graph: Option<PathBuf>,
    /// Draws the graph for Graphviz
    #[arg(long, conflicts_with_all = ["svg", "binding", "machine", "sku"])]
    dot: bool,
    /// Draws the graph as SVG
    #[arg(long, conflicts_with_all = ["binding", "machine", "sku"])]
    svg: bool,
}

impl PlanCommand {
    pub fn run(&self) -> Result<(), Fault> {
        let plan = Pipeline::plan();
        // Before anything is printed.
        let machine = self.machine(&plan)?;
        if self.graph.is_some() || self.dot || self.svg {
            return self.of_a_file(&plan, machine.as_ref());
        }
        print_plan(&plan);
        if self.binding {
            print_bindings(&Prover::start()?);
        }
        if let Some(machine) = machine {
            print_placement(&plan, &machine)?;
        }
        Ok(())
    }
}

impl PlanCommand {
    /// The machine to place the workers on, if one is named.
    fn machine(&self, compiled: &Plan) -> Result<Option<Machine>, Fault> {
        if let Some(name) = &self.sku {
            let graph = self.graph.as_deref().unwrap_or(Path::new(&compiled.file));
            return Ok(Some(Machine::of_sku(&read_sku(graph, name)?)));
        }
        self.machine.as_deref().map(super::machine::named).transpose()
    }

    /// The plan of a graph file: a picture, or its tables. Without a name it is the file that was compiled in.
    fn of_a_file(&self, compiled: &Plan, machine: Option<&Machine>) -> Result<(), Fault> {
        let file = self.graph.clone().unwrap_or_else(|| PathBuf::from(&compiled.file));
        let outcome = super::check::load(&file)?;
        for found in &outcome.diagnostics {
            tell!("{}\n", render::diagnostic(found, &outcome.sources, Style::Plain));
        }
        let fault = || if outcome.unread.is_some() { Fault::Unread } else { Fault::Refused };
        let plan = outcome.plan.as_ref().ok_or_else(fault)?;
        if self.graph.is_none() && plan.digest != compiled.digest {
            let why =
                format!("{} is not what this program was built from: `--graph FILE` draws any file", file.display());
            return Err(Error::BadText(why).into());
        }
        match (self.dot, self.svg) {
            (true, _) => super::say::text_as_it_is(format_args!("{}", render::dot(plan))),
            (_, true) => super::say::text_as_it_is(format_args!("{}", render::svg(plan))),
            _ => super::say::text_as_it_is(format_args!("{}", render::plan(plan))),
        }
        machine.map_or(Ok(()), |machine| print_placement(&plan_of_graph(plan), machine))
    }
}

fn print_plan(plan: &Plan) {
    let sku = plan.sku.as_ref().map_or("any (the machine at start-up)", |sku| &sku.name);
    say!("graph   {} ({}, digest {})", plan.graph, plan.file, plan.digest);
    say!("sku     {sku}");
    say!("policy  {}", plan.policy);
    say!("\npools");
    let pool = |pool: &Pool| vec![pool.name.clone(), amount(pool.size, pool.unit)];
    table(&["name", "size"], plan.pools.iter().map(pool).collect());
    say!("\ngroups");
    let groups = plan.groups.iter().map(|group| {
        let ccds = match &group.ccds {
            Ccds::All => "all".to_owned(),
            Ccds::List(ccds) => ccds.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        };
        let share = match group.share {
            Share::Spread => "spread: a pool for each CCD",
            Share::Pack => "pack: one pool",
        };
        let insist = match group.insist {
            Insist::Demand => "demanded",
            Insist::Prefer => "preferred",
        };
        let exclusive = if group.exclusive { "exclusive" } else { "shared" };
        [group.name.as_str(), &ccds, share, insist, exclusive].map(str::to_owned).to_vec()
    });
    table(&["name", "CCDs", "share", "binding", "overlap"], groups.collect());
    say!("\nstages");
    table(
        &["name", "backend", "tags", "group", "workers", "threads", "in flight", "fires", "needs", "holds"],
        plan.stages.iter().map(|stage| stage_row(plan, stage)).collect(),
    );
    say!("\nedges");
    let edges = plan.edges.iter().map(|edge| {
        let name = |stage: usize| plan.stages[stage].name.clone();
        let reserved = if edge.reserved_by == edge.from { String::new() } else { name(edge.reserved_by) };
        vec![name(edge.from), name(edge.to), edge.token.clone(), edge.capacity.to_string(), reserved]
    });
    table(&["from", "to", "token", "capacity", "place reserved by"], edges.collect());
    for memory in plan.memory.iter().filter(|memory| !memory.rows.is_empty()) {
        match &memory.circuit {
            Some(circuit) => say!("\nmemory, for the circuit \"{circuit}\""),
            None => say!("\nmemory, apart from what depends on the circuit"),
        }
        let row = |row: &MemoryRow| {
            let each = if row.count > 1 {
                format!("{} × {}", row.count, pipeline_graph::words::amount(row.each))
            } else {
                String::new()
            };
            vec![row.what.clone(), each, pipeline_graph::words::amount(row.bytes)]
        };
        let together = vec!["together".to_owned(), String::new(), pipeline_graph::words::amount(memory.sum())];
        table(&["what", "each", "all"], memory.rows.iter().map(row).chain([together]).collect());
    }
}

fn stage_row(plan: &Plan, stage: &StagePlan) -> Vec<String> {
    let group = stage.group.map_or_else(|| "-".to_owned(), |group| plan.groups[group].name.clone());
    let threads = match (stage.threads, stage.group) {
        (Some(threads), _) => threads.to_string(),
        (None, Some(_)) => "all".to_owned(),
        (None, None) => "1".to_owned(),
    };
    let needs = stage.needs.iter().map(|(pool, weight)| format!("{} {}", plan.pools[*pool].name, weight));
    let holds = stage.holds.iter().map(|(pool, bytes)| format!("{} {}", plan.pools[*pool].name, formula(bytes)));
    vec![
        stage.name.clone(),
        stage.backend.clone(),
        stage.tags.words().collect::<Vec<_>>().join(" "),
        group,
        stage.workers.to_string(),
        threads,
        stage.in_flight.to_string(),
        stage.fires().to_string(),
        needs.collect::<Vec<_>>().join(", "),
        holds.collect::<Vec<_>>().join(", "),
    ]
}

fn formula(bytes: &Bytes) -> String {
    let per = &bytes.per;
    let terms = [
        (per.constraints, "constraints"),
        (per.aux, "aux"),
        (per.inputs, "inputs"),
        (per.domain, "domain"),
        (per.a_density, "a_density"),
        (per.b_density, "b_density"),
    ];
    let mut text: Vec<String> =
        terms.iter().filter(|(factor, _)| *factor > 0).map(|(factor, name)| format!("{factor}·{name}")).collect();
    if bytes.fixed > 0 || text.is_empty() {
        text.push(bytes.fixed.to_string());
    }
    format!("{} B", text.join(" + "))
}

fn amount(size: u64, unit: Unit) -> String {
    match unit {
        Unit::Count => size.to_string(),
        Unit::Bytes => format!("{:.2} GiB", size as f64 / f64::from(1 << 30)),
    }
}

fn print_bindings(prover: &Prover) {
    say!("\nbinding");
    let rows = prover.bindings().iter().map(|binding| {
        let holds = match &binding.bound {
            Some(Bound::Holds(cpus)) => format!("holds ({cpus})"),
            Some(Bound::Floats(why)) => format!("FLOATS: {why}"),
            None => "not asked for".to_owned(),
        };
        let ccds: Vec<String> = binding.ccds.iter().map(u32::to_string).collect();
        vec![
            binding.stage.clone(),
            binding.worker.to_string(),
            ccds.join(","),
            binding.cpus.to_string(),
            binding.threads.to_string(),
            holds,
        ]
    });
    table(&["stage", "worker", "CCD", "cpus", "threads", "binding"], rows.collect());
    prover.notes().iter().for_each(|note| say!("note: {note}"));
}

fn print_placement(plan: &Plan, machine: &Machine) -> Result<(), Fault> {
    let placement = place(plan, machine).map_err(StartError::from)?;
    say!("\nplacement on {} CCDs, {} cores", machine.ccds.len(), machine.cores());
    let rows = placement.workers.iter().map(|worker| {
        let ccds = Cpus::new(worker.ccds.clone()).to_string();
        let threads = worker.pool.map_or_else(|| "-".to_owned(), |pool| placement.pools[pool].threads.to_string());
        let stage = plan.stages[worker.stage].name.clone();
        vec![stage, worker.worker.to_string(), ccds, worker.cpus.to_string(), threads]
    });
    table(&["stage", "worker", "CCD", "cpus", "threads"], rows.collect());
    placement.notes.iter().for_each(|note| say!("note: {note}"));
    Ok(())
}

/// Prints rows under a heading, columns as wide as their widest cell.
fn table(heading: &[&str], rows: Vec<Vec<String>>) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heading[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let print = |cells: &[String]| {
        let line: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        say!("  {}", line.join("  ").trim_end());
    };
    print(&heading.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    rows.iter().for_each(|row| print(row));
}
