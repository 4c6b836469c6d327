//! `proofline plan`: what this build was compiled from, and where it runs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use pipeline_graph::{Style, render};
use proofline::runtime::binding::Bound;
use proofline::runtime::export::Graph;
use proofline::runtime::placement::place;
use proofline::runtime::plan::Plan;
use proofline::runtime::topology::{Cpus, Machine};
use proofline::study::{plan_of_graph, read_sku};
use proofline::{Error, Pipeline, Prover, StartError};

use super::exit::Fault;
use super::plan_sizes;

/// The version, with the graph that is compiled in.
pub fn version() -> String {
    let plan = Pipeline::plan();
    let sku = plan.sku.as_ref().map_or("any", |sku| &sku.name);
    format!("{} (graph {}, {}, sku {sku})", env!("CARGO_PKG_VERSION"), plan.graph, plan.digest)
}

/// Prints the plan that is compiled into this binary.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  proofline plan\n  proofline plan --svg > plan.svg\n  proofline plan graphs/mine.ron\n  proofline plan --binding\n  proofline plan --sizes porep_32g\n  proofline plan --machine 'pack:1 l3:12 \
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
    #[arg(value_name = "FILE", conflicts_with_all = ["binding", "graph"])]
    file: Option<PathBuf>,
    /// The same
    #[arg(long, value_name = "FILE", conflicts_with = "binding")]
    graph: Option<PathBuf>,
    /// Prints the memory for circuits of known sizes in place of the graph's own: `porep_32g`, `winning_32g`, `porep_2k`, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with_all = ["dot", "svg", "binding"])]
    sizes: Vec<String>,
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
        if self.named().is_some() || self.dot || self.svg || !self.sizes.is_empty() {
            return self.of_a_file(&plan, machine.as_ref());
        }
        print_tables(Pipeline::TABLES, &plan.digest);
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
    /// The graph file that is planned instead of the one that is compiled in.
    fn named(&self) -> Option<&Path> {
        self.file.as_deref().or(self.graph.as_deref())
    }

    /// The machine to place the workers on, if one is named.
    fn machine(&self, compiled: &Plan) -> Result<Option<Machine>, Fault> {
        if let Some(name) = &self.sku {
            let graph = self.named().unwrap_or(Path::new(&compiled.file));
            return Ok(Some(Machine::of_sku(&read_sku(graph, name)?)));
        }
        self.machine.as_deref().map(super::machine::named).transpose()
    }

    /// The plan of a graph file: a picture, or its tables. Without a name it is the file that was compiled in.
    fn of_a_file(&self, compiled: &Plan, machine: Option<&Machine>) -> Result<(), Fault> {
        let sizes = self.sizes.iter().map(|name| plan_sizes::named(name)).collect::<Result<Vec<_>, _>>()?;
        let file = self.named().map_or_else(|| PathBuf::from(&compiled.file), Path::to_owned);
        let outcome = super::check::load(&file).map_err(|error| match error {
            // The compiled plan is read from its file again, which not everybody has beside the program.
            Error::Io { action, file, source } if self.named().is_none() && source.kind() == ErrorKind::NotFound => {
                let said = "this is the graph that is compiled in, and its path starts at the root of the repository: run \
                            it there, or name the file with --graph";
                Error::Io { action, file, source: std::io::Error::new(source.kind(), said) }
            }
            other => other,
        })?;
        for found in &outcome.diagnostics {
            tell!("{}\n", render::diagnostic(found, &outcome.sources, Style::Plain));
        }
        let fault = || if outcome.unread.is_some() { Fault::Unread } else { Fault::Refused };
        let plan = outcome.plan.as_ref().ok_or_else(fault)?;
        if self.named().is_none() && plan.digest != compiled.digest {
            let why =
                format!("{} is not what this program was built from: `--graph FILE` draws any file", file.display());
            return Err(Error::BadText(why).into());
        }
        let mut plan = plan.clone();
        if !sizes.is_empty() {
            plan.sizes.clone_from(&sizes);
        }
        let plan = &plan;
        match (self.dot, self.svg) {
            (true, _) => super::say::text_as_it_is(format_args!("{}", render::dot(plan))),
            (_, true) => super::say::text_as_it_is(format_args!("{}", render::svg(plan))),
            _ => print_tables(&render::plan(plan), &plan.digest),
        }
        sizes.iter().for_each(|(name, counts)| say!("{}", plan_sizes::brought(name, *counts)));
        machine.map_or(Ok(()), |machine| print_placement(&plan_of_graph(plan), machine))
    }
}

/// The tables of a plan, the digest behind the name.
fn print_tables(tables: &str, digest: &str) {
    let (first, rest) = tables.split_once('\n').unwrap_or((tables, ""));
    super::say::text_as_it_is(format_args!("{first}\ndigest  {digest}\n{rest}"));
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
