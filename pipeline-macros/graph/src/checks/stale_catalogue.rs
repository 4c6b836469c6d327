//! PL0210: a catalogue that does not say what the Rust types say.

use super::{Check, Example};
use crate::diagnostic::Diagnostic;
use crate::model::{Implementation, Linear};
use crate::plan::StagePlan;
use crate::render::formula;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0210",
    name: "stale-catalogue",
    rule: "The ports and the output of an implementation, and the bytes of a token, are those that the catalogue states.",
    why: "Graphs are checked against the catalogue, which is generated from the Rust code. rustc compares the two again, \
          and reports an implementation that was changed since.",
    bad: Example::Rust(
        r#"// catalogue: inputs: [("witness", "Witness")]
#[stage(spmv, backend = host)]
pub fn spmv(job: &Job, assignment: &Witness) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, assignment)
}"#,
    ),
    good: Example::Rust(
        r#"// catalogue: inputs: [("witness", "Witness")]
#[stage(spmv, backend = host)]
pub fn spmv(job: &Job, witness: &Witness) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness)
}"#,
    ),
    fix: "Generate the catalogue anew.",
    run: None,
};

/// What rustc says if the type of `branch` has other ports or another output.
#[must_use]
pub fn report(stage: &StagePlan, branch: &Implementation) -> Diagnostic {
    let (name, backend) = (&stage.name, &branch.backend.value);
    let ports: Vec<String> = branch.ports.iter().map(|port| format!("{}: {}", port.name, port.token)).collect();
    let output = branch.output.as_deref().unwrap_or("nothing");
    let title = format!("stage `{name}` on `{backend}` has other ports or another output than the catalogue says");
    Diagnostic::error(CHECK.code, stage.name_at, title)
        .and(branch.stage.span, format!("({}) -> {output}", ports.join(", ")))
        .help("generate the catalogue anew from the implementations")
}

/// What rustc says if the type of a token states another formula for its bytes.
#[must_use]
pub fn bytes(stage: &StagePlan, token: &str, stated: &Linear) -> Diagnostic {
    let title = format!("`{token}`, which stage `{}` puts out, has other bytes than the catalogue says", stage.name);
    Diagnostic::error(CHECK.code, stage.name_at, title)
        .here(format!("the catalogue says {}", formula(stated)))
        .help("generate the catalogue anew from the implementations: memory is planned and reserved by it")
}
