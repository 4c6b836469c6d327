//! Checking a converted key again, from its first byte to its last.

use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::msm::Curve;

use super::read::{Resident, Stretch};
use super::{INFINITIES, KIND, POINTS};
use crate::error::Error;
use crate::params::key_file::KeyFile;
use crate::params::point::Point;
use crate::params::subgroup::checked;
use crate::progress::{Progress, Watch};
use crate::sealed::{PIECE_BYTES, Sealed, SealedWriter};

/// What a verification has looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// Digests, and curve and subgroup of every point.
    Alone,
    /// That, and that every point is the source's.
    WithSource,
}

/// Checks a converted key: its digests, curve and subgroup of every point, and, if the source is given, that it holds the
/// same points. Runs on the rayon pool that it is called in.
///
/// # Errors
/// What is not right.
pub fn verify(file: &Path, source: Option<&Path>, watch: Watch<'_>) -> Result<Verified, Error> {
    let resident = Resident::open(file)?;
    let [h, l, a, b_g1, b_g2] = resident.stretches();
    for stretch in [h, l, a, b_g1] {
        check_points::<G1Affine>(&resident.sealed, stretch, watch)?;
    }
    check_points::<G2Affine>(&resident.sealed, b_g2, watch)?;
    let Some(source) = source else { return Ok(Verified::Alone) };
    resident.expect_source(source)?;
    // The source converted again, without writing it down, has the same digests.
    let mut key = KeyFile::open(source, watch)?;
    let mut writer = SealedWriter::rehearsal(KIND);
    let done = key.write_queries(&mut writer, watch)?;
    let vk = key.verifying_key();
    let again = super::convert::finish(writer, vk, key.convention(), &done, &resident.source)?;
    let digest = |number| again.sections.iter().find(|section| section.number == number).map(|found| found.digest);
    let differs = |number: u32| resident.sealed.section(number, "a part").map(|found| Some(found.digest)).ok();
    let numbers = (0..5).flat_map(|query| [POINTS + query, INFINITIES + query]);
    match numbers.into_iter().find(|number| differs(*number) != Some(digest(*number))) {
        None if vk == resident.verifying_key() => Ok(Verified::WithSource),
        _ => Err(Error::Mismatch(format!(
            "{} has other points than {}: it was not made by converting it; delete it",
            file.display(),
            source.display()
        ))),
    }
}

fn check_points<P: Point + Curve>(sealed: &Sealed, stretch: &Stretch, watch: Watch<'_>) -> Result<(), Error> {
    let Stretch { name, points: section, .. } = stretch;
    let total = section.length / P::PLAIN_BYTES as u64;
    let mut digests = Vec::new();
    let mut within = 0;
    let mut bytes = Vec::new();
    while within < section.length {
        let first = within / P::PLAIN_BYTES as u64;
        watch(Progress { what: name, done: first, total });
        bytes.resize((section.length - within).min(PIECE_BYTES as u64) as usize, 0);
        digests.push(sealed.read_piece(section, within, &mut bytes)?);
        let refused = |index: usize, fault: &str| {
            let offset = section.offset + within + (index * P::PLAIN_BYTES) as u64;
            sealed.malformed(offset, &format!("stored point {} of {name} ({}) {fault}", first + index as u64, P::GROUP))
        };
        let decode = |bytes: &[u8]| {
            let point = <P as Curve>::from_plain(bytes).filter(Point::is_on_curve);
            point.ok_or("is not on the curve")
        };
        checked(&bytes, P::PLAIN_BYTES, decode, refused)?;
        within += bytes.len() as u64;
    }
    sealed.check(section, &digests, name)?;
    watch(Progress { what: name, done: total, total });
    Ok(())
}
