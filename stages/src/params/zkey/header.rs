//! The header of a `.zkey`, and the lengths that it gives the other sections.

use blstrs::{G1Affine, G2Affine};
use proofline_kernels::domain::MAX_LOG_SIZE;
use proofline_kernels::scalars::MAX_LEN;

use super::points::decode_one;
use super::{A, B_G1, B_G2, COEFFICIENTS, G1_BYTES, G2_BYTES, H, HEADER, IC, L, PROTOCOL};
use crate::error::Error;
use crate::iden3::{Cursor, Place, SectionFile, expect_bls12_381, expect_end};

/// The protocols of snarkjs, by number.
const PROTOCOLS: [(u32, &str); 3] = [(1, "Groth16"), (2, "PLONK"), (10, "FFLONK")];
/// Bytes of the base field's elements.
const BASE_BYTES: u32 = 48;
/// p of BLS12-381, little-endian.
pub(super) const BASE_PRIME: [u8; 48] = [
    0xab, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xb9, 0xff, 0xff, 0x53, 0xb1, 0xfe, 0xff, 0xab, 0x1e, 0x24, 0xf6, 0xb0,
    0xf6, 0xa0, 0xd2, 0x30, 0x67, 0xbf, 0x12, 0x85, 0xf3, 0x84, 0x4b, 0x77, 0x64, 0xd7, 0xac, 0x4b, 0x43, 0xb6, 0xa7,
    0x1b, 0x4b, 0x9a, 0xe6, 0x7f, 0x39, 0xea, 0x11, 0x01, 0x1a,
];
/// Bytes of the whole section over BLS12-381.
pub(super) const HEADER_BYTES: u64 = 4 + 48 + 4 + 32 + 3 * 4 + 3 * G1_BYTES + 3 * G2_BYTES;

/// What the header says.
#[derive(Debug)]
pub(super) struct Header {
    /// Wires, ONE counted.
    pub(super) wires: usize,
    /// Public wires, ONE counted.
    pub(super) inputs: usize,
    /// The size of the domain.
    pub(super) domain: usize,
    /// α, β, δ.
    pub(super) g1: [G1Affine; 3],
    /// β, γ, δ.
    pub(super) g2: [G2Affine; 3],
}

impl Header {
    pub(super) fn read(file: &SectionFile) -> Result<Self, Error> {
        expect_groth16(file)?;
        let place = file.section(HEADER, "the header")?;
        let bytes = file.read_small(Place { length: place.length.min(HEADER_BYTES), ..place })?;
        let mut cursor = Cursor::at(file.path(), &bytes, place.offset);
        expect_base_field(&mut cursor)?;
        expect_bls12_381(&mut cursor)?;
        let at = cursor.offset();
        let wires = cursor.u32("the number of wires")? as usize;
        let public = cursor.u32("the number of public wires")? as usize;
        let domain = cursor.u32("the size of the domain")? as usize;
        if wires > MAX_LEN {
            return Err(file.malformed(at, format!("it has {wires} wires, and this program proves {MAX_LEN} at most")));
        }
        if public >= wires {
            let fault = format!("{wires} wires cannot hold ONE and {public} public ones; the file is damaged");
            return Err(file.malformed(at + 4, fault));
        }
        if !domain.is_power_of_two() || domain > 1 << MAX_LOG_SIZE || domain < public + 1 {
            let fault = format!(
                "a domain of {domain} points is none for {public} public wires: it is a power of two, more than they are, \
                 and at most 2^{MAX_LOG_SIZE}"
            );
            return Err(file.malformed(at + 8, fault));
        }
        let alpha_g1 = decode_one(&mut cursor, "alpha in G1")?;
        let beta_g1 = decode_one(&mut cursor, "beta in G1")?;
        let beta_g2 = decode_one(&mut cursor, "beta in G2")?;
        let gamma_g2 = decode_one(&mut cursor, "gamma in G2")?;
        let delta_g1 = decode_one(&mut cursor, "delta in G1")?;
        let delta_g2 = decode_one(&mut cursor, "delta in G2")?;
        if place.length != HEADER_BYTES {
            let fault = format!("the header has {} bytes instead of {HEADER_BYTES}", place.length);
            return Err(file.malformed(place.offset, fault));
        }
        let (g1, g2) = ([alpha_g1, beta_g1, delta_g1], [beta_g2, gamma_g2, delta_g2]);
        Ok(Self { wires, inputs: public + 1, domain, g1, g2 })
    }

    /// A section of points, which has the length that this header gives it.
    pub(super) fn place_of(&self, file: &SectionFile, section: u32) -> Result<Place, Error> {
        let (what, points, each) = match section {
            IC => ("the points of the public wires", self.inputs, G1_BYTES),
            A => ("the points of A", self.wires, G1_BYTES),
            B_G1 => ("the points of B in G1", self.wires, G1_BYTES),
            B_G2 => ("the points of B in G2", self.wires, G2_BYTES),
            L => ("the points of L", self.wires - self.inputs, G1_BYTES),
            H => ("the points of H", self.domain, G1_BYTES),
            other => return Err(Error::Internal(format!("section {other} of a key holds no points"))),
        };
        file.section_of(section, what, points as u64 * each)
    }

    /// Holds every section against this header, before anything is made of one.
    pub(super) fn check_lengths(&self, file: &SectionFile) -> Result<(), Error> {
        file.section(COEFFICIENTS, "the coefficients")?;
        [A, B_G1, B_G2, L, H].into_iter().try_for_each(|section| self.place_of(file, section).map(drop))
    }
}

fn expect_groth16(file: &SectionFile) -> Result<(), Error> {
    let place = file.section_of(PROTOCOL, "the protocol", 4)?;
    let bytes = file.read_small(place)?;
    let mut cursor = Cursor::at(file.path(), &bytes, place.offset);
    match cursor.u32("the protocol")? {
        1 => expect_end(&cursor, "the protocol"),
        other => {
            let name =
                PROTOCOLS.iter().find(|(number, _)| *number == other).map_or("an unknown protocol", |(_, name)| name);
            let fault = format!(
                "it is a key of {name} (number {other}), and this program proves Groth16: make one with `snarkjs \
                 groth16 setup`"
            );
            Err(file.malformed(place.offset, fault))
        }
    }
}

fn expect_base_field(cursor: &mut Cursor<'_>) -> Result<(), Error> {
    let at = cursor.offset();
    let width = cursor.u32("the width of a coordinate")?;
    let wrong = |fault: String| Error::WrongField { file: cursor.file().to_owned(), fault };
    if width == 32 {
        return Err(wrong(
            "its coordinates have 32 bytes, as those of BN254 have, circom's default curve; compile the circuit with \
             `--prime bls12381` and make its key anew"
                .to_owned(),
        ));
    }
    if width != BASE_BYTES {
        return Err(wrong(format!("its coordinates have {width} bytes, those of BLS12-381 have {BASE_BYTES}")));
    }
    if cursor.take(u64::from(BASE_BYTES), "the prime of the coordinates")? != BASE_PRIME {
        return Err(cursor.malformed(at, "the prime of the coordinates is not BLS12-381's p".to_owned()));
    }
    Ok(())
}
