//! PL0301 and PL0302: more memory than the machine or a pool has.

use super::{Check, Example, Planned, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Linear, Unit};
use crate::plan::memory::{self, Memory, Table};
use crate::plan::{Edge, Plan};
use crate::resolve::Resolved;
use crate::source::Span;
use crate::words::{amount, at_least, at_most};

/// The page of PL0301.
pub const MACHINE: Check = Check {
    code: "PL0301",
    name: "memory-above-sku",
    rule: "What can be alive at once fits the memory of the SKU: its RAM, that of each NUMA node, and that of each device.",
    why: "Tokens are counted by their places: at most as many are alive as the edges have places and the stages behind \
          them firings, and never more than the join behind them lets in. What a pool of bytes bounds counts up to the pool. \
          Beside that count the workspace of every worker, the scratch memory of every firing, and what the graph says \
          is `resident`. The bytes of a token come from the catalogue, for each circuit under `sizes`. A pool named `vram:0` is \
          memory of device 0, `ram:1` is memory of NUMA node 1, other pools of bytes are RAM. On several NUMA nodes, what \
          a stage makes counts on the nodes of its group's CCDs, evenly. With `sku: any` the numbers are compared with \
          the machine when the pipeline starts.",
    bad: examples::chain! {
        sku: r#""small""#,
        pools: r#""dealloc": 1, "vram:0": "16 GiB""#,
        groups: r#""all": Ccds("*", share: Pack)"#,
        synthesize: r#"on: "all""#,
        spmv: r#"backend: "cuda", device: 0, workers: 2, workspace: { "vram:0": "12 GiB" }"#,
    },
    good: examples::chain! {
        sku: r#""small""#,
        pools: r#""dealloc": 1, "vram:0": "15 GiB""#,
        groups: r#""all": Ccds("*", share: Pack)"#,
        synthesize: r#"on: "all""#,
        spmv: r#"backend: "cuda", device: 0, workers: 2, workspace: { "vram:0": "7 GiB" }"#,
    },
    fix: "Lower what the table shows to be the most: workers, workspace, capacities, or the pool of bytes.",
    run: None,
};

/// The page of PL0302.
pub const POOL: Check = Check {
    code: "PL0302",
    name: "memory-above-pool",
    rule: "A pool of bytes has room for the workspace of all workers, and beside it for one partition of every circuit.",
    why: "Workspace is taken when the pipeline starts. What a partition `holds` on its way is reserved when it enters, and \
          the largest firing needs its own share beside that: a partition that does not fit would wait for ever. A pool of \
          a device or a NUMA node also needs that device or node. A pool that is larger than its memory bounds nothing, which is a \
          warning.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    sizes: { "porep_32g": (constraints: 130278869, aux: 130169893, inputs: 328, domain: 134217728) },
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "12 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "Witness" }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }, holds: { "ram": "Evaluated" }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    sizes: { "porep_32g": (constraints: 130278869, aux: 130169893, inputs: 328, domain: 134217728) },
    pools: { "mem_heavy": 1, "dealloc": 1, "ram": "40 GiB" },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all", holds: { "ram": "Witness" }),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }, holds: { "ram": "Evaluated" }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    fix: "Raise the pool to the number that the error names, or lower what takes from it.",
    run: None,
};

/// Judges every memory and every pool of bytes.
pub fn judge(graph: &Planned<'_>, report: &mut Report) {
    // Of several circuits the one that takes the most, once for each memory; of the RAM and its nodes, the worse.
    let tables = memory::tables(graph.plan);
    let mut worst: Vec<&Table> = Vec::new();
    for table in tables.iter().filter(|table| table.exceeds()) {
        let same = |one: &&mut &Table| match (one.memory, table.memory) {
            (Memory::Device(a), Memory::Device(b)) => a == b,
            (Memory::Device(_), _) | (_, Memory::Device(_)) => false,
            _ => true,
        };
        let over = |table: &Table| table.sum().saturating_sub(table.has.unwrap_or(0));
        match worst.iter_mut().find(same) {
            Some(known) if over(known) < over(table) => *known = table,
            Some(_) => {}
            None => worst.push(table),
        }
    }
    for table in &worst {
        report.add(machine(graph, table));
    }
    for pool in 0..graph.plan.pools.len() {
        if graph.plan.pools[pool].unit == Unit::Bytes && !worst.iter().any(|table| explains(graph, table, pool)) {
            report_pool(graph, pool, report);
        }
    }
}

/// Whether what is wrong with a pool is what a table shows: it has no room for the workspace of a device that has none.
fn explains(graph: &Planned<'_>, table: &Table, pool: usize) -> bool {
    matches!(table.memory, Memory::Device(_)) && memory::of_pool(&graph.plan.pools[pool].name) == table.memory
}

fn machine(graph: &Planned<'_>, table: &Table) -> Diagnostic {
    let has = table.has.unwrap_or_default();
    let what = name(table.memory);
    let sku = graph.plan.sku.as_ref().map_or("", |sku| sku.name.as_str());
    let title = format!("this graph takes {} of {what}, the SKU \"{sku}\" has {}", amount(table.sum()), amount(has));
    let largest = table.rows.iter().filter(|row| row.stage.is_some()).max_by_key(|row| row.bytes);
    let span = largest.and_then(|row| row.stage).map(|stage| graph.stated(stage)).map(|stated| {
        stated
            .workspace
            .items
            .first()
            .filter(|_| matches!(table.memory, Memory::Device(_)))
            .map_or(stated.name.span, |(_, bytes)| bytes.span)
    });
    let mut found = Diagnostic::error(MACHINE.code, span.unwrap_or(graph.file_span()), title);
    if let Some(row) = largest {
        found = found.here(format!("{} × {}", row.count, amount(row.each)));
    }
    if let Some(choice) = &graph.graph.file.sku {
        found = found.and(choice.span, format!("has {}", amount(has)));
    }
    found = found.note(draw(table));
    match (table.memory, largest) {
        (Memory::Device(_), Some(row)) if row.each > 0 && row.count > 1 => {
            let others = table.sum() - row.bytes;
            let each = has.saturating_sub(others) / row.count;
            let workers = has.saturating_sub(others) / row.each;
            found.help(format!(
                "with {} workers each may have {}; with {} each there is room for {workers}",
                row.count,
                at_most(each),
                amount(row.each)
            ))
        }
        _ => {
            let found = lower_capacities(graph, table).into_iter().fold(found, Diagnostic::help);
            found.help(format!(
                "{} must go: lower a capacity, the workers of a stage, or a pool of bytes",
                at_least(table.sum() - has)
            ))
        }
    }
}

/// The edges whose capacity alone can be lowered so far that the memory suffices, in words. A default is a number that
/// stands nowhere: it is said.
fn lower_capacities(graph: &Planned<'_>, table: &Table) -> Vec<String> {
    let fits = |edge: usize, capacity: u32| {
        let mut plan = graph.plan.clone();
        plan.edges[edge].capacity = capacity;
        memory::tables(&plan).iter().filter(|other| other.memory == table.memory).all(|other| !other.exceeds())
    };
    let words = |edge: usize| {
        let Edge { from, to, capacity, .. } = &graph.plan.edges[edge];
        // The largest that fits; the more places the more memory.
        let (mut low, mut high) = (0, *capacity);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(edge, middle) { low = middle } else { high = middle }
        }
        let (from, to) = (&graph.plan.stages[*from].name, &graph.plan.stages[*to].name);
        let default = if graph.stated_edge(edge).capacity.is_none() { " by default" } else { "" };
        (low > 0)
            .then(|| format!("the edge `{from}` -> `{to}` has capacity {capacity}{default}; `capacity: {low}` fits"))
    };
    // Where many would do, two say how.
    (0..graph.plan.edges.len().min(64)).filter_map(words).take(2).collect()
}

/// Warns of pools that are larger than the memory that they are of: they bound nothing.
pub fn beyond(graph: &Resolved<'_>, report: &mut Report) {
    let Some(sku) = graph.sku else { return };
    for pool in graph.file.pools.items.iter().filter(|pool| pool.unit == Unit::Bytes) {
        let memory = memory::of_pool(&pool.name.value);
        let (has, at) = match memory {
            Memory::Ram => (sku.ram.value, sku.ram.span),
            Memory::Node(_) => (sku.ram.value / u64::from(sku.numa_nodes.value.max(1)), sku.ram.span),
            Memory::Device(device) => match sku.gpus.get(device as usize) {
                Some(gpu) => (gpu.vram.value, gpu.vram.span),
                None => continue,
            },
        };
        let Some(size) = pool.size.filter(|size| size.value > has) else { continue };
        let title = format!(
            "pool `{}` has {}, and the SKU \"{}\" {} of {}",
            pool.name.value,
            amount(size.value),
            sku.name,
            amount(has),
            name(memory)
        );
        report.add(
            Diagnostic::warning(POOL.code, size.span, title)
                .and(at, "all that there is")
                .note("memory is full before the pool is: it bounds nothing")
                .help(format!("write \"{}\" or less", at_most(has))),
        );
    }
}

/// What rustc says if the machine has no room for the tokens as their Rust types state them.
#[must_use]
pub fn of_the_types(plan: &Plan, table: &Table) -> Diagnostic {
    let (what, has, sum) = (name(table.memory), amount(table.has.unwrap_or_default()), amount(table.sum()));
    let sku = plan.sku.as_ref().map_or("", |sku| sku.name.as_str());
    let title = format!(
        "this graph takes more than the {has} of {what} that the SKU \"{sku}\" has, if its tokens are as large as their \
         Rust types state"
    );
    let largest = table.rows.iter().filter(|row| row.token.is_some()).max_by_key(|row| row.bytes);
    let stage = largest.and_then(|row| row.stage).map_or(&plan.stages[0], |stage| &plan.stages[stage]);
    Diagnostic::error(MACHINE.code, stage.name_at, title)
        .note(format!("by the catalogue it takes {sum}: {}", draw(table)))
        .help(
            "generate the catalogue anew from the implementations, and then lower what the table shows to be the most",
        )
}

/// A memory in a sentence.
fn name(memory: Memory) -> String {
    match memory {
        Memory::Ram => "RAM".to_owned(),
        Memory::Node(node) => format!("memory on NUMA node {node}"),
        Memory::Device(device) => format!("memory on device {device}"),
    }
}

/// The rows of a table, widest columns first, with their sum.
#[must_use]
pub fn draw(table: &Table) -> String {
    let mut lines: Vec<[String; 3]> = table
        .rows
        .iter()
        .map(|row| {
            let product = if row.count > 1 { format!("{} × {}", row.count, amount(row.each)) } else { String::new() };
            [row.what.clone(), product, amount(row.bytes)]
        })
        .collect();
    lines.push(["together".to_owned(), String::new(), amount(table.sum())]);
    if let Some(has) = table.has {
        lines.push(["there is".to_owned(), String::new(), amount(has)]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let (first, second, third) = (width(0), width(1), width(2));
    let head = match &table.circuit {
        Some(circuit) => format!("what takes it, for the circuit \"{circuit}\":"),
        None => "what takes it, apart from what depends on the circuit (no `sizes`):".to_owned(),
    };
    let mut text = head;
    for [what, product, bytes] in &lines {
        text.push_str(&format!("\n  {what:first$}  {product:>second$}  {bytes:>third$}"));
    }
    text
}

fn report_pool(graph: &Planned<'_>, pool: usize, report: &mut Report) {
    let plan = graph.plan;
    let (name, size, span) = (&plan.pools[pool].name, plan.pools[pool].size, graph.pool_span(pool));
    if let Some(sku) = &plan.sku {
        let (there, what) = match memory::of_pool(name) {
            Memory::Device(device) => ((device as usize) < sku.gpus.len(), "device"),
            Memory::Node(node) => (node < sku.numa_nodes.value, "NUMA node"),
            Memory::Ram => (true, ""),
        };
        if !there {
            let title = format!("pool `{name}` is memory of a {what} that the SKU \"{}\" does not have", sku.name);
            report.add(Diagnostic::error(POOL.code, span, title).help("name one that is there, or remove the pool"));
            return;
        }
    }
    let of = |list: &[(usize, Linear)]| -> Linear {
        list.iter().filter(|(of, _)| *of == pool).fold(Linear::default(), |sum, (_, bytes)| sum.plus(bytes, 1))
    };
    let fixed = plan
        .stages
        .iter()
        .fold(0_u64, |sum, stage| sum.saturating_add(of(&stage.workspace).fixed.saturating_mul(stage.workers.into())));
    let circuits: Vec<(&str, [u64; 6])> = match plan.sizes.as_slice() {
        [] => vec![("", [0; 6])],
        sizes => sizes.iter().map(|(name, counts)| (name.as_str(), *counts)).collect(),
    };
    let needs = circuits.iter().map(|(circuit, counts)| {
        let held = plan.stages.iter().map(|stage| of(&stage.holds).of(counts)).fold(0, u64::saturating_add);
        let firing = plan.stages.iter().map(|stage| Linear { fixed: 0, ..of(&stage.workspace) }.of(counts)).max();
        (*circuit, held, firing.unwrap_or(0))
    });
    let Some((circuit, held, firing)) = needs.max_by_key(|(_, held, firing)| held.saturating_add(*firing)) else {
        return;
    };
    let need = fixed.saturating_add(held).saturating_add(firing);
    if need <= size {
        return;
    }
    let title = format!("pool `{name}` needs at least {}, and has {}", amount(need), amount(size));
    let mut found = Diagnostic::error(POOL.code, span, title).here(format!("has {}", amount(size)));
    for (label, span, bytes) in takers(graph, pool) {
        found = found.and(span, format!("{label} {bytes}"));
    }
    let parts = [
        (fixed, "the workspace of all workers".to_owned()),
        (held, format!("what one partition of \"{circuit}\" holds")),
        (firing, "the largest firing".to_owned()),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(bytes, _)| *bytes > 0)
        .map(|(bytes, what)| format!("{what} takes {}", amount(*bytes)))
        .collect();
    report.add(
        found
            .note(parts.join(", "))
            .help(format!("raise the pool to \"{}\", or lower what takes from it", at_least(need))),
    );
}

/// What takes from a pool: what, where, how it is written.
fn takers(graph: &Planned<'_>, pool: usize) -> Vec<(&'static str, Span, String)> {
    let mut takers = Vec::new();
    for stage in &graph.graph.stages {
        for (list, label) in [(&stage.holds, "each token takes"), (&stage.workspace, "each worker takes")] {
            for (_, bytes, place) in list.iter().filter(|(of, ..)| *of == pool) {
                let most = graph.plan.sizes.iter().map(|(_, counts)| bytes.of(counts)).max().unwrap_or(bytes.fixed);
                takers.push((label, place.span, amount(most)));
            }
        }
    }
    takers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, titles, with};

    #[test]
    fn the_table_has_every_number() {
        let found = diagnostics(MACHINE.bad.text());
        assert_eq!(found[0].title, "this graph takes 24 GiB of memory on device 0, the SKU \"small\" has 16 GiB");
        let table = "what takes it, apart from what depends on the circuit (no `sizes`):\n  \
                     workspace of `spmv`  2 × 12 GiB  24 GiB\n  \
                     together                         24 GiB\n  \
                     there is                         16 GiB";
        assert_eq!(found[0].notes, [table]);
        assert_eq!(found[0].help, ["with 2 workers each may have 8 GiB; with 12 GiB each there is room for 1"]);
    }

    #[test]
    fn a_pool_must_have_room_for_one_partition() {
        let found = diagnostics(POOL.bad.text());
        assert_eq!(found[0].title, "pool `ram` needs at least 15.88 GiB, and has 12 GiB");
        assert_eq!(found[0].notes, ["what one partition of \"porep_32g\" holds takes 15.88 GiB"]);
    }

    /// What is in quotes behind `to`, written into the graph, lifts the error.
    #[test]
    fn the_advised_pool_is_enough() {
        let mut rounded_up = 0;
        for fixed in 0..7 {
            let bad = POOL.bad.text().replace("Witness\"", &format!("Witness + {fixed} MiB\""));
            let found = diagnostics(&bad);
            let advice = found[0].help[0].split('"').nth(1).expect("an amount in quotes");
            assert_eq!(titles(&bad.replace("\"12 GiB\"", &format!("\"{advice}\""))), [""; 0], "{advice}");
            rounded_up += usize::from(!found[0].title.contains(advice));
        }
        assert!(rounded_up > 0, "some lie nearer to the number below");
    }

    #[test]
    fn the_advised_workspace_fits() {
        let odd = MACHINE.bad.text().replace("workers: 2", "workers: 3");
        let help = &diagnostics(&odd)[0].help[0];
        let (_, advice) = help.split_once("each may have ").expect("it says what each may have");
        let advice = advice.split(';').next().expect("an amount");
        assert_eq!(advice, "5.33 GiB");
        assert_eq!(titles(&odd.replace("12 GiB", advice)), [""; 0]);
    }

    #[test]
    fn a_capacity_that_stands_nowhere_is_said() {
        let sizes = "sizes: { \"porep_32g\": (aux: 130169893, inputs: 328, domain: 134217728) },\n    resident: { \"key\": \"44 GiB\" },";
        let text = with(examples::WITH_DEVICE, "sku: \"small\",", &format!("sku: \"small\",\n    {sizes}"));
        let wide = text.replace("Stage(\"synthesize\", on: \"all\"", "Stage(\"synthesize\", on: \"all\", workers: 8");
        let found = diagnostics(&wide);
        let help = &found[0].help[0];
        assert!(
            help.starts_with("the edge `synthesize` -> `spmv` has capacity 8 by default; `capacity: "),
            "{found:?}"
        );
        let advice = help.split('`').nth(5).expect("a field");
        let with = |field: &str| {
            wide.replace("Edge(\"synthesize\", \"spmv\"", &format!("Edge(\"synthesize\", \"spmv\", {field}"))
        };
        assert_eq!(titles(&with(advice)), [""; 0], "{advice}");
        let (_, number) = advice.split_once(' ').expect("a number");
        let more = format!("capacity: {}", number.parse::<u32>().expect("a number") + 1);
        assert_eq!(diagnostics(&with(&more)).len(), 1, "it is the largest: {more}");
    }

    #[test]
    fn pools_beyond_the_machine_are_told() {
        let of = |size: &str| {
            let pools = format!("pools: {{ \"ram\": \"{size}\",");
            with(examples::WITH_DEVICE, "pools: {", &pools)
                .replace("on: \"all\"", "on: \"all\", holds: { \"ram\": \"1 GiB\" }")
        };
        assert_eq!(titles(&of("65 GiB")), ["pool `ram` has 65 GiB, and the SKU \"small\" 64 GiB of RAM"]);
        assert_eq!(diagnostics(&of("65 GiB"))[0].help, ["write \"64 GiB\" or less"]);
        assert_eq!(titles(&of("64 GiB")), [""; 0]);
    }

    #[test]
    fn ram_is_judged_with_sizes() {
        let sizes = "sizes: { \"porep_32g\": (aux: 130169893, inputs: 328, domain: 134217728) },\n    load: (jobs: 1, partitions: 1),\n    resident: { \"key\": \"44 GiB\" },";
        let text = with(examples::WITH_DEVICE, "sku: \"small\",", &format!("sku: \"small\",\n    {sizes}"));
        // Two witnesses and one result of `spmv`: 7.76 + 12 + 44.
        assert_eq!(titles(&text), [""; 0]);
        let wide = text.replace("Edge(\"synthesize\", \"spmv\")", "Edge(\"synthesize\", \"spmv\", capacity: 2)");
        assert_eq!(titles(&wide), ["this graph takes 67.64 GiB of RAM, the SKU \"small\" has 64 GiB"]);
    }

    #[test]
    fn pools_of_devices_that_are_not_there_are_refused() {
        let text = with(examples::WITH_DEVICE, "pools: {", "pools: { \"vram:1\": \"1 GiB\",");
        let text = text.replace("device: 0", "device: 0, holds: { \"vram:1\": \"1 MiB\" }");
        assert_eq!(titles(&text), ["pool `vram:1` is memory of a device that the SKU \"small\" does not have"]);
    }
}
