//! PL0102: tags in the graph that the implementation does not have, or lacks.

use super::unknown_name;
use super::{Check, Example};
use crate::diagnostic::{Diagnostic, Report};
use crate::model::{Implementation, TagSet};
use crate::plan::StagePlan;
use crate::resolve::Resolved;
use crate::source::Span;
use crate::words::{TAGS, listed};

/// The page.
pub const CHECK: Check = Check {
    code: "PL0102",
    name: "tags-differ",
    rule: "Where a stage states `tags`, they are those of its implementation.",
    why: "The tags belong to the Rust code; a graph may repeat them so that its reader sees them. Of a `Prefer`, each branch is \
          compared. The catalogue, from which the tags are known here, is itself held to the Rust types by rustc.",
    bad: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }, tags: ["mem_heavy"]),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    good: Example::Graph(
        r#"Graph(
    version: 1,
    sku: any,
    pools: { "mem_heavy": 1, "dealloc": 1 },
    groups: { "all": Ccds("*", share: Pack) },
    stages: [
        Stage("synthesize", on: "all"),
        Stage("spmv", on: "all", needs: { "mem_heavy": 1 }, tags: ["mem_heavy", "ccd_pinned"]),
        Stage("dealloc", needs: { "dealloc": 1 }),
    ],
    edges: [Edge("synthesize", "spmv")],
)"#,
    ),
    fix: "State the tags that the implementation has, or none.",
    run: Some(run),
};

fn run(graph: &Resolved<'_>, report: &mut Report) {
    for stage in &graph.stages {
        let Some(stated) = &stage.stated.tags else { continue };
        let mut tags = TagSet::default();
        let mut known = stated.value.whole;
        for word in &stated.value.items {
            if !tags.add(&word.value) {
                known = false;
                report.add(unknown_name::report("tag", word.span, &word.value, TAGS.map(|tag| tag.word)));
            }
        }
        for branch in stage.branches.iter().filter(|branch| known && branch.tags != tags) {
            report.add(differ(stated.span, stage.name(), branch));
        }
    }
}

fn words(tags: TagSet) -> String {
    if tags == TagSet::default() { "no tags".to_owned() } else { format!("the tags {}", listed(tags.words())) }
}

/// What rustc says if the type of `branch` has other tags than the catalogue.
#[must_use]
pub fn of_the_type(stage: &StagePlan, branch: &Implementation) -> Diagnostic {
    let (name, backend, tags) = (&stage.name, &branch.backend.value, words(branch.tags));
    let title = format!("stage `{name}` on `{backend}` has other tags than the catalogue says");
    Diagnostic::error(CHECK.code, stage.tags_at.unwrap_or(stage.name_at), title)
        .and(branch.stage.span, format!("the catalogue says {tags}"))
        .help("generate the catalogue anew from the implementations")
}

fn differ(span: Span, stage: &str, branch: &Implementation) -> Diagnostic {
    let (backend, tags) = (&branch.backend.value, branch.tags);
    let quoted: Vec<String> = tags.words().map(|word| format!("\"{word}\"")).collect();
    Diagnostic::error(CHECK.code, span, format!("stage `{stage}` on `{backend}` has {}", words(tags)))
        .here("the graph says otherwise")
        .help(format!("write `tags: [{}]`, or leave `tags` out", quoted.join(", ")))
}
