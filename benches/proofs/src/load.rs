//! Loading a converted key: what a restart costs.

use std::error::Error;
use std::path::Path;

use proofline::{ProvingKey, resident, unwatched};

use crate::table::{Bar, Contender, Table, rounds};

/// Seconds that a GiB may take.
const SECONDS_PER_GIB: f64 = 2.0;

/// A later load of a key: read, checked against its digests, laid out for the kernels.
pub fn load(params: &Path, runs: usize, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let gib = std::fs::metadata(resident::beside(params))?.len() as f64 / f64::from(1 << 30);
    let load = || {
        let key = ProvingKey::read(params, &unwatched)?;
        if (key.bytes() as f64) < gib * 0.9 * f64::from(1 << 30) {
            return Err("the key is smaller than its file".into());
        }
        Ok(())
    };
    let contenders: Vec<Contender<'_>> = vec![("load", Box::new(load))];
    let times = rounds(runs, contenders)?;
    table.limit(
        &format!("load of a converted key of {gib:.2} GiB, per GiB"),
        "the limit",
        (times[0].median() / gib, SECONDS_PER_GIB),
        Bar { required: 1.0, goal: 2.0 },
    );
    Ok(())
}
