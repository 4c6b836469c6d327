//! PL0209: stages of one graph that read different jobs.

use super::{Check, Example};
use crate::diagnostic::Diagnostic;
use crate::plan::StagePlan;

/// The page.
pub const CHECK: Check = Check {
    code: "PL0209",
    name: "job-type",
    rule: "All stages of a graph read the same type of job.",
    why: "The job's partitions fire the source, and every later firing reads the same job. Only rustc knows the types; it \
          reports this.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host)]
pub fn spmv(job: &OtherJob, witness: &Witness) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness)
}"#,
    ),
    good: Example::Rust(
        r#"#[stage(spmv, backend = host)]
pub fn spmv(job: &Job, witness: &Witness) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness)
}"#,
    ),
    fix: "Give the stage the job of the others.",
    run: None,
};

/// What rustc says, with the type in place of `{Job}`.
#[must_use]
pub fn report(stage: &StagePlan, source: &StagePlan) -> Diagnostic {
    let (name, source_name) = (&stage.name, &source.name);
    let title = format!("stage `{name}` reads another job than `{source_name}`, which reads `{{Job}}`");
    Diagnostic::error(CHECK.code, stage.name_at, title).and(source.name_at, "the source")
}
