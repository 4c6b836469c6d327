//! `Sku(…)`.

use super::fields::Decoder;
use crate::checks::bytes::Wanted;
use crate::checks::{contradiction, values};
use crate::diagnostic::Report;
use crate::kind::Kind;
use crate::model::{Gpu, Sku};
use crate::ron::Node;
use crate::source::At;

// What a machine has, from the smallest that could be meant to the largest that will be built for a while: a slip of a
// unit lies outside.
const L3: [&str; 2] = ["64 KiB", "64 GiB"];
const RAM: [&str; 2] = ["16 MiB", "1024 TiB"];
const BANDWIDTH: [&str; 2] = ["1 MB/s", "1000 TB/s"];
const VRAM: [&str; 2] = ["16 MiB", "64 TiB"];

/// Decodes a SKU file; `name` is its stem.
pub fn sku(name: &str, node: &Node, report: &mut Report) -> Option<Sku> {
    const FIELDS: &[&str] = &[
        "version",
        "numa_nodes",
        "ccds",
        "cores_per_ccd",
        "threads_per_core",
        "l3_per_ccd",
        "ram",
        "ram_bandwidth",
        "gpus",
    ];
    if let Some(kind) = Kind::of(node).filter(|kind| *kind != Kind::Sku) {
        report.add(values::other_kind(node.head(), kind, "a SKU"));
        return None;
    }
    let mut decoder = Decoder::new(report);
    let d = &mut decoder;
    let fields = d.fields(node, "Sku", FIELDS, 0)?;
    d.version(&fields);
    let numa_nodes = fields.required(d, "numa_nodes").and_then(|node| d.small(node, 1..=1024));
    let ccds = fields.required(d, "ccds").and_then(|node| d.small(node, 1..=4096));
    let cores_per_ccd = fields.required(d, "cores_per_ccd").and_then(|node| d.small(node, 1..=1024));
    let threads_per_core = fields.required(d, "threads_per_core").and_then(|node| d.small(node, 1..=8));
    let l3_per_ccd = fields.required(d, "l3_per_ccd").and_then(|node| d.bytes_within(node, Wanted::Cache, L3));
    let ram = fields.required(d, "ram").and_then(|node| d.bytes_within(node, Wanted::Memory, RAM));
    let ram_bandwidth = fields.required(d, "ram_bandwidth").and_then(|node| d.bandwidth(node, BANDWIDTH));
    let gpus = fields.optional("gpus").map(|node| d.list(node, Decoder::gpu)).unwrap_or_default();
    let sku = Sku {
        name: name.to_owned(),
        span: fields.head,
        numa_nodes: numa_nodes?,
        ccds: ccds?,
        cores_per_ccd: cores_per_ccd?,
        threads_per_core: threads_per_core?,
        l3_per_ccd: l3_per_ccd?,
        ram: ram?,
        ram_bandwidth: ram_bandwidth?,
        gpus: gpus.whole.then_some(gpus.items)?,
    };
    contradiction::judge(&sku, d.report);
    Some(sku)
}

impl Decoder<'_> {
    fn gpu(&mut self, node: &Node) -> Option<Gpu> {
        let fields = self.fields(node, "Gpu", &["name", "vram", "arch"], 1)?;
        let name = fields.required(self, "name").and_then(|node| self.text(node));
        let vram = fields.required(self, "vram").and_then(|node| self.bytes_within(node, Wanted::Memory, VRAM));
        let arch = fields.required(self, "arch").and_then(|node| self.arch(node));
        Some(Gpu { name: name?, vram: vram?, arch: arch? })
    }

    /// `sm_90`: what the driver tells is compared with it.
    fn arch(&mut self, node: &Node) -> Option<At<String>> {
        let text = self.text(node)?;
        let digits = text.value.strip_prefix("sm_").unwrap_or_default();
        if !(2..=3).contains(&digits.len()) || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            self.report.add(contradiction::no_arch(text.span, &text.value));
        }
        Some(text)
    }
}
