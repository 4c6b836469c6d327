//! `proofline sku`: the machine at hand as a SKU file, and a SKU file as hwloc writes machines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use pipeline_graph::{Source, Style, render};
use proofline::Error;
use proofline::runtime::topology::{Device, Machine};

use super::exit::Fault;
use super::machine;

/// Describes machines: the one at hand as a SKU file, or a SKU file in hwloc's notation.
#[derive(Args)]
#[command(after_help = "Examples:\n  proofline sku probe > graphs/skus/mine.ron\n  proofline sku synthetic \
                        graphs/skus/laptop.ron")]
pub struct SkuCommand {
    #[command(subcommand)]
    command: What,
}

#[derive(Subcommand)]
enum What {
    /// Prints this machine as a SKU file
    Probe(Probe),
    /// Prints the machine of a SKU file in hwloc's synthetic notation, as `plan --machine` takes it
    Synthetic {
        /// The SKU file
        file: PathBuf,
    },
}

#[derive(Args)]
struct Probe {
    /// Memory bandwidth of the whole machine, `332.8 GB/s` say; without it, it is measured by reading, for a third of a second
    #[arg(long, value_name = "RATE")]
    ram_bandwidth: Option<String>,
    /// Describes a machine in an XML file of `lstopo` instead of this one
    #[arg(long, value_name = "FILE", requires = "ram_bandwidth")]
    xml: Option<PathBuf>,
}

impl SkuCommand {
    pub fn run(&self) -> Result<(), Fault> {
        match &self.command {
            What::Probe(probe) => probe.run(),
            What::Synthetic { file } => synthetic(file),
        }
    }
}

fn synthetic(file: &Path) -> Result<(), Fault> {
    let shown = file.display().to_string();
    let source = match Source::read(file, &shown) {
        // What was read and is no text is a SKU with a fault.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            tell!("error: {shown}: {error}");
            return Err(Fault::Refused);
        }
        read => read.map_err(|source| Error::Io { action: "read", file: file.to_owned(), source })?,
    };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let outcome = pipeline_graph::load::sku(&name, source);
    for found in &outcome.diagnostics {
        tell!("{}\n", render::diagnostic(found, &outcome.sources, Style::Plain));
    }
    let sku = outcome.sku.ok_or(Fault::Refused)?;
    say!("{}", sku.synthetic());
    Ok(())
}

impl Probe {
    fn run(&self) -> Result<(), Fault> {
        let machine = match &self.xml {
            Some(file) => machine::of_xml(file)?,
            None => machine::this()?.with_devices(),
        };
        let bandwidth = match &self.ram_bandwidth {
            Some(rate) => rate.clone(),
            None => format!("{:.1} GB/s", measure_gb_per_second(machine.cores())),
        };
        let text = describe(&machine, &bandwidth).map_err(Error::BadText)?;
        // What is written is read as a graph's SKU will be: a machine that is none is told, not written down.
        let outcome = pipeline_graph::load::sku("probed", Source::inline("this machine's SKU", text.as_str()));
        for found in &outcome.diagnostics {
            tell!("{}\n", render::diagnostic(found, &outcome.sources, Style::Plain));
        }
        if outcome.sku.is_none() {
            return Err(Fault::Refused);
        }
        super::say::text_as_it_is(format_args!("{text}"));
        Ok(())
    }
}

/// The SKU file; the error says why a machine cannot be described as one.
fn describe(machine: &Machine, bandwidth: &str) -> Result<String, String> {
    let first = machine.ccds.first().ok_or("no processor may be used: the process's cpuset is empty")?;
    let threads = first.cores.first().map_or(1, |core| core.cpus.numbers().len());
    for (number, ccd) in machine.ccds.iter().enumerate() {
        if ccd.cores.len() != first.cores.len() {
            return Err(format!(
                "CCD {number} has {} cores, CCD 0 has {}: a SKU has equal CCDs; is a part of the machine reserved (cpuset)?",
                ccd.cores.len(),
                first.cores.len()
            ));
        }
    }
    let mib = |bytes: u64| bytes >> 20;
    let mut text = String::from("// Written by `proofline sku probe`.\nSku(\n    version: 1,\n");
    let _ = writeln!(text, "    numa_nodes: {},", machine.numa_nodes.max(1));
    let _ = writeln!(text, "    ccds: {},\n    cores_per_ccd: {},", machine.ccds.len(), first.cores.len());
    let _ = writeln!(text, "    threads_per_core: {threads},");
    let _ = writeln!(text, "    l3_per_ccd: \"{} MiB\",", mib(first.l3_bytes.unwrap_or(0)).max(1));
    let _ = writeln!(text, "    ram: \"{} MiB\",\n    ram_bandwidth: \"{bandwidth}\",", mib(machine.ram_bytes));
    let gpus = machine.devices.as_deref().unwrap_or_default();
    if !gpus.is_empty() {
        text.push_str("    gpus: [\n");
        for (number, Device { name, memory_bytes, arch }) in gpus.iter().enumerate() {
            let (Some(bytes), Some(arch)) = (memory_bytes, arch) else {
                return Err(format!(
                    "device {number}, {name}, does not tell its memory and architecture: on the machine itself `nvidia-smi`, \
                     the driver's tool, must answer; a description without devices comes from `lstopo --no-io FILE.xml`"
                ));
            };
            let _ = writeln!(text, "        Gpu(\"{name}\", vram: \"{} MiB\", arch: \"{arch}\"),", mib(*bytes));
        }
        text.push_str("    ],\n");
    }
    text.push_str(")\n");
    Ok(text)
}

/// What all cores together read from memory that no cache holds.
fn measure_gb_per_second(cores: usize) -> f64 {
    const WORDS: usize = 8 << 20;
    const TIME: Duration = Duration::from_millis(300);
    let start = std::sync::Barrier::new(cores.max(1));
    let read = || {
        let words: Vec<u64> = (0..WORDS as u64).collect();
        start.wait();
        let (clock, mut bytes, mut sum) = (Instant::now(), 0_u64, 0_u64);
        while clock.elapsed() < TIME {
            sum = words.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            bytes += (WORDS * size_of::<u64>()) as u64;
        }
        std::hint::black_box(sum);
        bytes as f64 / clock.elapsed().as_secs_f64() / 1e9
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.max(1)).map(|_| scope.spawn(read)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}

#[cfg(test)]
mod tests {
    use proofline::runtime::topology::hwloc::Hwloc;

    use super::*;

    /// What is probed on the synthetic machine of a SKU is that SKU.
    #[test]
    fn probing_a_described_machine_gives_its_numbers_back() {
        for name in ["laptop", "tr-pro-7995wx-rtx5070ti", "h200"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("graphs/skus/{name}.ron"));
            let read = |source| pipeline_graph::load::sku(name, source).sku.expect("it is a SKU");
            let sku = read(Source::read(&path, name).expect("it is there"));
            let machine = Hwloc::synthetic(&sku.synthetic()).expect("hwloc reads it").machine();
            let text = describe(&machine, "1 GB/s").expect("its CCDs are equal");
            let probed = read(Source::inline("probed.ron", text));
            let numbers = |sku: &pipeline_graph::model::Sku| {
                let counts = [sku.numa_nodes, sku.ccds, sku.cores_per_ccd, sku.threads_per_core].map(|at| at.value);
                (counts, sku.l3_per_ccd.value, sku.ram.value)
            };
            assert_eq!(numbers(&probed), numbers(&sku), "{name}");
        }
    }

    #[test]
    fn devices_are_written_as_they_tell() {
        let mut machine =
            Hwloc::synthetic("[numa(memory=8589934592)] l3:2 core:2 pu:1").expect("hwloc reads it").machine();
        let h200 = Device { name: "NVIDIA H200".into(), memory_bytes: Some(143_771 << 20), arch: Some("sm_90".into()) };
        machine.devices = Some(vec![h200.clone(), Device { arch: None, ..h200.clone() }]);
        let why = describe(&machine, "1 GB/s").expect_err("it does not know the second");
        assert!(why.starts_with("device 1, NVIDIA H200, does not tell"), "{why}");
        machine.devices = Some(vec![h200]);
        let text = describe(&machine, "1 GB/s").expect("its CCDs are equal");
        let sku = pipeline_graph::load::sku("x", Source::inline("x.ron", text)).sku.expect("it is a SKU");
        assert_eq!((sku.gpus[0].vram.value, sku.gpus[0].arch.value.as_str()), (143_771 << 20, "sm_90"));
    }

    #[test]
    fn unequal_ccds_are_no_sku() {
        let mut machine = Hwloc::synthetic("l3:2 core:2 pu:1").expect("hwloc reads it").machine();
        machine.ccds[1].cores.pop();
        assert!(describe(&machine, "1 GB/s").is_err_and(|why| why.starts_with("CCD 1 has 1 cores")));
    }
}
