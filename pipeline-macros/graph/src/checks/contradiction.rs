//! PL0010: a SKU whose numbers are of no machine, or sizes of no circuit.

use super::{Check, Example};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::Sku;
use crate::source::{At, Span};
use crate::words::amount;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0010",
    name: "contradiction",
    rule: "The numbers of a SKU are those of one machine: each NUMA node has as many CCDs as the others, the caches are \
           smaller than the memory, and Linux can number the hardware threads. The `sizes` of a circuit are those of one \
           circuit: its domain has room for its constraints.",
    why: "Memory, placement and the simulator are computed from these numbers; what is computed from a machine that cannot \
          be is worth nothing. `proofline sku probe` writes the numbers of the machine at hand. A device's `arch` is its \
          compute capability as the compiler names it; at start-up it is compared with the driver's.",
    bad: Example::Sku(
        r#"Sku(
    version: 1,
    numa_nodes: 3,
    ccds: 8,
    cores_per_ccd: 8,
    threads_per_core: 2,
    l3_per_ccd: "32 GiB",
    ram: "128 GiB",
    ram_bandwidth: "204.8 GB/s",
    gpus: [Gpu("NVIDIA H200", vram: "139.8 GiB", arch: "hopper")],
)"#,
    ),
    good: Example::Sku(
        r#"Sku(
    version: 1,
    numa_nodes: 4,
    ccds: 8,
    cores_per_ccd: 8,
    threads_per_core: 2,
    l3_per_ccd: "32 MiB",
    ram: "128 GiB",
    ram_bandwidth: "204.8 GB/s",
    gpus: [Gpu("NVIDIA H200", vram: "139.8 GiB", arch: "sm_90")],
)"#,
    ),
    fix: "Look the number up, or let `proofline sku probe` write it.",
    run: None,
};

/// What Linux numbers at most on this architecture (`CONFIG_NR_CPUS`).
pub const MOST_HARDWARE_THREADS: u64 = 8192;

/// Compares the numbers of a SKU with each other.
pub fn judge(sku: &Sku, report: &mut Report) {
    let (nodes, ccds) = (sku.numa_nodes.value, sku.ccds.value);
    if !ccds.is_multiple_of(nodes) {
        let title = format!("`numa_nodes`: {ccds} CCDs cannot be shared out evenly among {nodes} NUMA nodes");
        let fits = |nodes: &u32| ccds.is_multiple_of(*nodes);
        let below = (1..nodes).rev().find(fits);
        let above = (nodes + 1..=ccds).find(fits);
        let numbers: Vec<String> = below.into_iter().chain(above).map(|nodes| nodes.to_string()).collect();
        report.add(
            Diagnostic::error(CHECK.code, sku.numa_nodes.span, title)
                .and(sku.ccds.span, "of the whole machine")
                .help(format!("write `numa_nodes: {}`", numbers.join("` or `numa_nodes: "))),
        );
    }
    let (cores, threads) = (sku.cores_per_ccd.value, sku.threads_per_core.value);
    let all = u64::from(ccds) * u64::from(cores) * u64::from(threads);
    if all > MOST_HARDWARE_THREADS {
        let title = format!(
            "{ccds} CCDs of {cores} cores with {threads} hardware threads are {all} hardware threads, more than the \
             {MOST_HARDWARE_THREADS} that Linux can number"
        );
        let most = MOST_HARDWARE_THREADS / (u64::from(ccds) * u64::from(threads));
        let help = match most {
            0 => format!("write at most `ccds: {}`", MOST_HARDWARE_THREADS / (u64::from(cores) * u64::from(threads))),
            most => format!("write at most `cores_per_ccd: {most}`"),
        };
        report.add(Diagnostic::error(CHECK.code, sku.cores_per_ccd.span, title).and(sku.ccds.span, "").help(help));
    }
    let caches = sku.l3_per_ccd.value.saturating_mul(u64::from(ccds));
    if caches >= sku.ram.value {
        let title =
            format!("the caches of {ccds} CCDs have {}, the whole memory {}", amount(caches), amount(sku.ram.value));
        report.add(
            Diagnostic::error(CHECK.code, sku.l3_per_ccd.span, title)
                .and(sku.ram.span, "of the whole machine")
                .help("a cache has some MiB: \"32 MiB\""),
        );
    }
}

/// Compares the sizes of a circuit with each other; one that is not stated is 0 and agrees with all.
pub fn judge_sizes(name: &At<String>, span: Span, counts: &[u64; 6], report: &mut Report) {
    let [constraints, _, _, domain, ..] = *counts;
    if domain == 0 || domain >= constraints {
        return;
    }
    let title = format!("the circuit \"{}\" has {constraints} constraints, and a domain of {domain}", name.value);
    let fits = constraints.checked_next_power_of_two().unwrap_or(u64::MAX);
    report.add(
        Diagnostic::error(CHECK.code, span, title)
            .note("each constraint is a row, and the domain is the next power of two above the rows")
            .help(format!("write `domain: {fits}`, or the number of constraints that it has")),
    );
}

/// An architecture that is none of the driver's.
pub fn no_arch(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error(CHECK.code, span, format!("`arch`: \"{found}\" is no architecture"))
        .help("write the compute capability without its point: \"sm_90\" for 9.0, as `proofline sku probe` does")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{diagnostics, diagnostics_of_sku, with};

    fn titles(old: &str, new: &str) -> Vec<String> {
        diagnostics_of_sku(&with(CHECK.good, old, new)).into_iter().map(|found| found.title).collect()
    }

    #[test]
    fn every_number_has_its_range() {
        for (old, new, title) in [
            ("numa_nodes: 4", "numa_nodes: 0", "`numa_nodes`: 0 is outside 1 to 1024"),
            ("ccds: 8", "ccds: 0", "`ccds`: 0 is outside 1 to 4096"),
            ("cores_per_ccd: 8", "cores_per_ccd: 0", "`cores_per_ccd`: 0 is outside 1 to 1024"),
            ("threads_per_core: 2", "threads_per_core: 0", "`threads_per_core`: 0 is outside 1 to 8"),
            ("threads_per_core: 2", "threads_per_core: 9", "`threads_per_core`: 9 is outside 1 to 8"),
            ("\"32 MiB\"", "\"0 MiB\"", "`l3_per_ccd`: \"0 MiB\" is outside \"64 KiB\" to \"64 GiB\""),
            ("\"32 MiB\"", "\"32 TiB\"", "`l3_per_ccd`: \"32 TiB\" is outside \"64 KiB\" to \"64 GiB\""),
            ("\"128 GiB\"", "\"0 GiB\"", "`ram`: \"0 GiB\" is outside \"16 MiB\" to \"1024 TiB\""),
            ("\"128 GiB\"", "\"4096 TiB\"", "`ram`: \"4096 TiB\" is outside \"16 MiB\" to \"1024 TiB\""),
            ("\"204.8 GB/s\"", "\"0 GB/s\"", "`ram_bandwidth`: \"0 GB/s\" is outside \"1 MB/s\" to \"1000 TB/s\""),
            (
                "\"204.8 GB/s\"",
                "\"2000 TB/s\"",
                "`ram_bandwidth`: \"2000 TB/s\" is outside \"1 MB/s\" to \"1000 TB/s\"",
            ),
            ("\"204.8 GB/s\"", "\"nan GB/s\"", "\"nan GB/s\" is no bandwidth"),
            ("\"204.8 GB/s\"", "\"-1 GB/s\"", "\"-1 GB/s\" is no bandwidth"),
            ("\"139.8 GiB\"", "\"0 GiB\"", "`vram`: \"0 GiB\" is outside \"16 MiB\" to \"64 TiB\""),
            ("\"NVIDIA H200\"", "\"\"", "`name`: this string is empty"),
            ("\"sm_90\"", "\"\"", "`arch`: this string is empty"),
            ("\"sm_90\"", "\"9.0\"", "`arch`: \"9.0\" is no architecture"),
            ("\"sm_90\"", "\"sm_\"", "`arch`: \"sm_\" is no architecture"),
        ] {
            assert_eq!(titles(old, new), [title], "{new}");
        }
    }

    #[test]
    fn a_domain_has_room_for_the_constraints() {
        let of = |sizes: &str| {
            let sizes = format!("sku: any,\n    sizes: {{ \"c\": ({sizes}) }},");
            diagnostics(&with(crate::checks::examples::SMALL, "sku: any,", &sizes))
        };
        let found = of("constraints: 130278869, aux: 5, domain: 1024");
        assert_eq!(found[0].title, "the circuit \"c\" has 130278869 constraints, and a domain of 1024");
        assert_eq!(found[0].help, ["write `domain: 134217728`, or the number of constraints that it has"]);
        for good in
            ["constraints: 130278869, domain: 134217728", "constraints: 8, domain: 8", "constraints: 8", "domain: 8"]
        {
            assert_eq!(of(good), [], "{good}");
        }
    }

    #[test]
    fn numbers_agree_with_each_other() {
        let help = |old: &str, new: &str| diagnostics_of_sku(&with(CHECK.good, old, new))[0].help.clone();
        let of = |old: &str, new: &str| titles(old, new);
        assert_eq!(
            of("numa_nodes: 4", "numa_nodes: 3"),
            ["`numa_nodes`: 8 CCDs cannot be shared out evenly among 3 NUMA nodes"]
        );
        assert_eq!(help("numa_nodes: 4", "numa_nodes: 3"), ["write `numa_nodes: 2` or `numa_nodes: 4`"]);
        assert_eq!(help("numa_nodes: 4", "numa_nodes: 16"), ["write `numa_nodes: 8`"]);
        assert_eq!(
            of("cores_per_ccd: 8", "cores_per_ccd: 1024"),
            [
                "8 CCDs of 1024 cores with 2 hardware threads are 16384 hardware threads, more than the 8192 that Linux can number"
            ]
        );
        assert_eq!(help("cores_per_ccd: 8", "cores_per_ccd: 1024"), ["write at most `cores_per_ccd: 512`"]);
        assert_eq!(of("\"32 MiB\"", "\"32 GiB\""), ["the caches of 8 CCDs have 256 GiB, the whole memory 128 GiB"]);
    }
}
