//! PL0701 to PL0708: what `#[stage]` refuses. The macro finds these faults; the pages stand here with all the others.

use super::{Check, Example};

const GOOD: Example = Example::Rust(
    r#"#[stage(spmv, backend = host, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
);

/// The words of the attribute.
pub const WORDS: Check = Check {
    code: "PL0701",
    name: "stage-words",
    rule: "`#[stage]` has the stage's name, then `backend = …` and the tags; it stands on a function or a module.",
    why: "The name is the one of graph files. A module holds the functions `start` and `finish` of a stage in two parts.",
    bad: Example::Rust(
        r#"#[stage(backend = host, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Write `#[stage(NAME, backend = host, …tags)]`.",
    run: None,
};

/// The backend of the attribute.
pub const BACKEND: Check = Check {
    code: "PL0702",
    name: "stage-backend",
    rule: "The backend of an implementation is one that exists.",
    why: "There are `host` and `cuda`.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = cpu, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Write the name of a backend that exists.",
    run: None,
};

/// The tags of the attribute.
pub const TAG: Check = Check {
    code: "PL0703",
    name: "stage-tag",
    rule: "A tag is one that exists, and is declared once.",
    why: "The tags are mem_heavy, gpu, ccd_pinned and unmaps.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host, memheavy, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Write the tag that the error suggests.",
    run: None,
};

/// A tag that the signature does not pay out.
pub const UNPAID: Check = Check {
    code: "PL0704",
    name: "tag-without-capability",
    rule: "Every tag is paid out as a capability: the function takes it as an argument.",
    why: "A tag without its capability would claim a resource that the code does not use. mem_heavy pays out \
          `&MemPermit`, gpu `&GpuDevice`, ccd_pinned `&CcdPool`, unmaps `&DeallocPermit`.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness)
}"#,
    ),
    good: GOOD,
    fix: "Take the capability and hand it to the code that needs it, or drop the tag.",
    run: None,
};

/// A capability that the tags do not pay out.
pub const UNDECLARED: Check = Check {
    code: "PL0705",
    name: "capability-without-tag",
    rule: "Every capability that a function takes is paid out by a tag.",
    why: "The checks of the graph look at tags. Code that took a resource without its tag would escape them.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Add the tag to the attribute.",
    run: None,
};

/// Parameters that a stage cannot have.
pub const SIGNATURE: Check = Check {
    code: "PL0706",
    name: "stage-signature",
    rule: "A stage is a plain function of the job, capabilities, its slot, its token's key, and input tokens by reference.",
    why: "The first parameter is `job: &Job`. Tokens are shared with other stages, so they are read by reference. The \
          slot `Slot<'_, T>` is where the memory of the output `T` comes from. `dealloc` alone takes `dead: Dead`, and no job.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host, mem_heavy)]
pub fn spmv(witness: Witness, permit: &MemPermit) -> Result<Evaluated, StageError> {
    kernel::spmv(witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Change the parameter as the error says.",
    run: None,
};

/// The result of a stage.
pub const OUTPUT: Check = Check {
    code: "PL0707",
    name: "stage-output",
    rule: "A stage returns `Result<T, StageError>`, where `T` is its output token; `dealloc` returns `Result<(), StageError>`.",
    why: "A refusal fails one partition of one job; its sentence reaches the job's owner with stage and partition.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host, mem_heavy)]
pub fn spmv(job: &Job, witness: &Witness, permit: &MemPermit) -> Evaluated {
    kernel::spmv(&job.matrices, witness, permit)
}"#,
    ),
    good: GOOD,
    fix: "Return a `Result`.",
    run: None,
};

/// Tags that exclude each other, or the backend.
pub const TAG_SET: Check = Check {
    code: "PL0708",
    name: "stage-tag-set",
    rule: "`gpu` goes with the backend `cuda`, and `cuda` with `gpu`; `unmaps` is the tag of `dealloc`, which has no other.",
    why: "A host implementation has no device to pay out. `dealloc` runs beside all stages, on none of their resources.",
    bad: Example::Rust(
        r#"#[stage(spmv, backend = host, gpu)]
pub fn spmv(job: &Job, witness: &Witness, gpu: &GpuDevice) -> Result<Evaluated, StageError> {
    kernel::spmv(&job.matrices, witness, gpu)
}"#,
    ),
    good: GOOD,
    fix: "Change the backend or drop the tag.",
    run: None,
};
