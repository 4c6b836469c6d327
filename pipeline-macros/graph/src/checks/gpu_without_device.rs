//! PL0103: a gpu stage without a device that there is.

use super::{Check, Example, examples};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::SkuChoice;
use crate::plan::memory::{self, Memory};
use crate::resolve::{Resolved, Stage};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0103",
    name: "gpu-without-device",
    rule: "A stage whose implementation is tagged `gpu` names a `device`, the SKU has it, and its workspace there is of that device.",
    why: "Devices are counted from 0 in the order of the SKU's `gpus`. With `sku: any` the machine is asked when the pipeline \
          starts. Of a `Prefer` the branches that the SKU cannot run are passed over, as long as one is left.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: "small",
    pools: { "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", backend: "cuda", device: 1),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: examples::WITH_DEVICE,
    fix: "Name a device of the SKU, choose a SKU that has one, or choose the backend `host`.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in graph.stages.iter().filter(|stage| stage.known) {
        if let Some(fault) = judge(graph, stage) {
            report.add(fault);
        }
        elsewhere(graph, stage).for_each(|fault| report.add(fault));
    }
}

/// The branch of a stage that the plan uses: the first that the SKU can run. With `sku: any` that is the first without
/// a device, if there is a choice.
#[must_use]
pub fn chosen(graph: &Resolved<'_>, stage: &Stage<'_>) -> usize {
    let device = stage.stated.device.map(|device| device.value);
    let can_run = |gpu: bool| match graph.sku {
        Some(sku) => !gpu || device.is_some_and(|device| (device as usize) < sku.gpus.len()),
        None => !gpu,
    };
    stage.branches.iter().position(|branch| can_run(branch.tags.has("gpu"))).unwrap_or(0)
}

/// Workspace on another device than the stage's: its kernels could not use it.
fn elsewhere<'g>(graph: &'g Resolved<'_>, stage: &'g Stage<'_>) -> impl Iterator<Item = Diagnostic> + 'g {
    let device = stage.stated.device.map(|device| device.value);
    stage.workspace.iter().filter_map(move |(pool, _, place)| {
        let pool = &graph.file.pools.items[*pool].name;
        let Memory::Device(of) = memory::of_pool(&pool.value) else { return None };
        let name = stage.name();
        let (title, help) = match device {
            Some(device) if device == of => return None,
            Some(device) => (
                format!("stage `{name}` runs on device {device}, and its workspace is memory of device {of}"),
                format!("write `workspace: {{ \"vram:{device}\": … }}`, or `device: {of}`"),
            ),
            None => (
                format!("stage `{name}` runs on no device, and its workspace is memory of device {of}"),
                "name a pool of the host's memory, or give the stage a backend that runs on the device".to_owned(),
            ),
        };
        let found = Diagnostic::error(CHECK.code, place.span, title).and(pool.span, "the pool of that memory");
        let found = stage.stated.device.iter().fold(found, |found, device| found.and(device.span, "here it runs"));
        Some(found.help(help))
    })
}

fn judge(graph: &Resolved<'_>, stage: &Stage<'_>) -> Option<Diagnostic> {
    let name = stage.name();
    let on_device = stage.branches.iter().filter(|branch| branch.tags.has("gpu")).count();
    let device = stage.stated.device;
    if on_device == 0 {
        let device = device.filter(|_| !stage.branches.is_empty())?;
        let title = format!("stage `{name}` has a device, but its implementation does not run on one");
        return Some(
            Diagnostic::error(CHECK.code, device.span, title).help("remove `device`, or choose another backend"),
        );
    }
    let Some(device) = device else {
        let title = format!("stage `{name}` runs on a device, and names none");
        return Some(Diagnostic::error(CHECK.code, stage.stated.name.span, title).help("add `device: 0`"));
    };
    let gpus = graph.sku?.gpus.len();
    if (device.value as usize) < gpus || on_device < stage.branches.len() {
        return None;
    }
    let sku = graph.sku?;
    let title =
        format!("stage `{name}` runs on device {}, the SKU \"{}\" has {}", device.value, sku.name, devices(gpus));
    let found = Diagnostic::error(CHECK.code, device.span, title).here("not there");
    let found = match &graph.file.sku {
        Some(choice) if matches!(choice.value, SkuChoice::Named(_)) => found.and(choice.span, devices(gpus)),
        _ => found,
    };
    Some(match gpus {
        0 => found.help("choose the backend `host`, or a SKU with a device"),
        1 => found.help("the only device is 0"),
        _ => found.help(format!("the devices are 0 to {}", gpus - 1)),
    })
}

fn devices(count: usize) -> String {
    match count {
        0 => "no device".to_owned(),
        1 => "1 device".to_owned(),
        _ => format!("{count} devices"),
    }
}

#[cfg(test)]
mod tests {
    use crate::checks::examples;
    use crate::checks::testing::{outcome, titles, with};

    #[test]
    fn a_device_must_be_named_and_used() {
        let of = |old, new| titles(&with(examples::WITH_DEVICE, old, new));
        assert_eq!(of(", device: 0", ""), ["stage `spmv` runs on a device, and names none"]);
        assert_eq!(
            of("on: \"all\"", "on: \"all\", device: 0"),
            ["stage `synthesize` has a device, but its implementation does not run on one"]
        );
        assert_eq!(of("device: 0", "device: 1"), ["stage `spmv` runs on device 1, the SKU \"small\" has 1 device"]);
    }

    #[test]
    fn workspace_is_memory_of_the_stage_s_device() {
        let two = with(examples::WITH_DEVICE, "pools: {", "pools: { \"vram:0\": \"1 GiB\", \"vram:1\": \"1 GiB\",");
        let of = |stage: &str| titles(&two.replace("sku: \"small\"", "sku: any").replace("device: 0", stage));
        assert_eq!(
            of("device: 0, workspace: { \"vram:1\": \"1 MiB\" }"),
            ["stage `spmv` runs on device 0, and its workspace is memory of device 1"]
        );
        let both = "device: 1, workspace: { \"vram:0\": \"1 MiB\", \"vram:1\": \"1 MiB\" }";
        assert_eq!(of(both), ["stage `spmv` runs on device 1, and its workspace is memory of device 0"]);
        let host = two.replace("on: \"all\"", "on: \"all\", workspace: { \"vram:0\": \"1 MiB\" }");
        assert!(
            titles(&host)
                .contains(&"stage `synthesize` runs on no device, and its workspace is memory of device 0".to_owned())
        );
    }

    #[test]
    fn prefer_takes_what_the_sku_can_run() {
        let prefer = "backend: Prefer(\"cuda\", \"host\"), on: \"all\", needs: { \"dealloc\": 1 }";
        let of = |device| {
            let text =
                with(examples::WITH_DEVICE, "backend: \"cuda\", device: 0", &format!("{prefer}, device: {device}"));
            outcome(&text).plan.map(|plan| plan.stages[1].backend.clone())
        };
        assert_eq!(of(0).as_deref(), Some("cuda"));
        assert_eq!(of(1).as_deref(), Some("host"));
    }
}
