//! dealloc: slots go home.

use pipeline_macros::stage;
use pipeline_runtime::capability::DeallocPermit;
use pipeline_runtime::error::StageError;
use pipeline_runtime::slot::Dead;

/// Wipes a slot and puts it where the next proof finds it. Nothing is given back to the kernel.
///
/// # Errors
/// None of its own.
#[stage(dealloc, backend = host, unmaps)]
pub fn dealloc(dead: Dead, _permit: &DeallocPermit) -> Result<(), StageError> {
    dead.go_home();
    Ok(())
}
