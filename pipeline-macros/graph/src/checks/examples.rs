//! What the pages' examples are read with.

use super::Example;
use crate::source::Source;

/// A source, a sink and `dealloc`: the example of a page that is about where they run and what they take.
macro_rules! chain {
    (
        sku: $sku:literal,
        pools: $pools:literal,
        groups: $groups:literal,
        synthesize: $synthesize:literal,
        spmv: $spmv:literal,
    ) => {
        $crate::checks::Example::Graph(concat!(
            "Graph(\n    version: 1,\n    sku: ",
            $sku,
            ",\n    pools: { ",
            $pools,
            " },\n    groups: { ",
            $groups,
            " },\n    stages: [\n        Stage(\"synthesize\", ",
            $synthesize,
            "),\n        Stage(\"spmv\", ",
            $spmv,
            "),\n        Stage(\"dealloc\", needs: { \"dealloc\": 1 }),\n    ],\n    \
             edges: [Edge(\"synthesize\", \"spmv\")],\n)"
        ))
    };
}
pub(crate) use chain;

/// The smallest graph: a source, a sink and `dealloc`.
pub const SMALL: Example = Example::Graph(
    r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
);

/// A graph with a fork and a join.
pub const FORK_AND_JOIN: Example = Example::Graph(
    r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 2, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("prep_msm", on: "all", needs: { "mem_heavy": 1 }),
        Stage("gpu_ntt_msm", on: "all", needs: { "mem_heavy": 2 }),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("synthesize", "prep_msm"),
        Edge("spmv", "gpu_ntt_msm"),
        Edge("prep_msm", "gpu_ntt_msm"),
    ],
)"#,
);

/// A graph with a stage whose two ports take the same token.
pub const TWO_PORTS: Example = Example::Graph(
    r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }),
        Stage("scale", on: "all"),
        Stage("compare"),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [
        Edge("synthesize", "spmv"),
        Edge("spmv", "scale"),
        Edge("spmv", "compare.left"),
        Edge("scale", "compare.right"),
    ],
)"#,
);

/// A graph with a device.
pub const WITH_DEVICE: Example = Example::Graph(
    r#"Graph(
    version: 1,
    sku: "small",
    pools: { "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", backend: "cuda", device: 0),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
);

/// The catalogue: the prover's stages.
pub const CATALOGUE: &str = r#"Catalogue(
    version: 1,
    tokens: {
        "Witness": (bytes: "32 * inputs + 32 * aux"),
        "Evaluated": (bytes: "96 * domain"),
        "Classified": (bytes: "40 * inputs + 40 * aux"),
        "SumsG1": (bytes: "576"),
        "SumG2": (bytes: "288"),
        "Proof": (bytes: "192"),
    },
    stages: [
        Implementation(stage: "synthesize", backend: "host", tags: ["ccd_pinned"], inputs: [], output: "Witness"),
        Implementation(stage: "spmv", backend: "host", tags: ["mem_heavy", "ccd_pinned"],
            inputs: [("witness", "Witness")], output: "Evaluated"),
        Implementation(stage: "spmv", backend: "cuda", tags: ["gpu"],
            inputs: [("witness", "Witness")], output: "Evaluated"),
        Implementation(stage: "prep_msm", backend: "host", tags: ["mem_heavy", "ccd_pinned"],
            inputs: [("witness", "Witness")], output: "Classified"),
        Implementation(stage: "b_g2_msm", backend: "host", tags: ["mem_heavy", "ccd_pinned"],
            inputs: [("classified", "Classified")], output: "SumG2"),
        Implementation(stage: "gpu_ntt_msm", backend: "host", tags: ["mem_heavy", "ccd_pinned"],
            inputs: [("evaluated", "Evaluated"), ("classified", "Classified")], output: "SumsG1"),
        Implementation(stage: "gpu_ntt_msm", backend: "cuda", tags: ["gpu"],
            inputs: [("evaluated", "Evaluated"), ("classified", "Classified"), ("witness", "Witness")], output: "SumsG1"),
        Implementation(stage: "scale", backend: "host", tags: ["ccd_pinned"],
            inputs: [("evaluated", "Evaluated")], output: "Evaluated"),
        Implementation(stage: "compare", backend: "host", tags: [],
            inputs: [("left", "Evaluated"), ("right", "Evaluated")], output: "Evaluated"),
        Implementation(stage: "assemble", backend: "host", tags: [],
            inputs: [("sums_g1", "SumsG1"), ("sum_g2", "SumG2")], output: "Proof"),
        Implementation(stage: "dealloc", backend: "host", tags: ["unmaps"], inputs: [("dead", "Dead")], output: None),
    ],
)"#;

/// The SKUs, by name.
pub const SKUS: [(&str, &str); 2] = [
    ("two-ccds", TWO_CCDS),
    (
        "small",
        r#"Sku(
    version: 1,
    numa_nodes: 1,
    ccds: 2,
    cores_per_ccd: 8,
    threads_per_core: 2,
    l3_per_ccd: "32 MiB",
    ram: "64 GiB",
    ram_bandwidth: "80 GB/s",
    gpus: [Gpu("NVIDIA GeForce RTX 5070 Ti", vram: "16 GiB", arch: "sm_120")],
)"#,
    ),
];

/// The catalogue as a source.
#[must_use]
pub fn catalogue() -> Source {
    Source::inline("catalogue.ron", CATALOGUE)
}

/// Two CCDs and no device.
const TWO_CCDS: &str = r#"Sku(
    version: 1,
    numa_nodes: 1,
    ccds: 2,
    cores_per_ccd: 8,
    threads_per_core: 2,
    l3_per_ccd: "32 MiB",
    ram: "64 GiB",
    ram_bandwidth: "80 GB/s",
)"#;
