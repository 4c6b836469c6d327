//! Sizes of sectors.

use std::fmt;
use std::str::FromStr;

use filecoin_proofs::constants::SUPPORTED_SECTOR_SIZES;

use crate::error::Error;

/// The size of a sector, one of those that the network's crates know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SectorSize(u64);

impl SectorSize {
    /// All of them, ascending.
    pub const ALL: [Self; 10] = {
        let mut all = [Self(0); 10];
        let mut i = 0;
        while i < all.len() {
            all[i] = Self(SUPPORTED_SECTOR_SIZES[i]);
            i += 1;
        }
        all
    };

    /// The size of so many bytes.
    ///
    /// # Errors
    /// No sector has this size.
    pub fn of_bytes(bytes: u64) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|size| size.0 == bytes);
        found.ok_or_else(|| Error::BadText(format!("no sector has {bytes} bytes: {}", known())))
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.0
    }
}

fn known() -> String {
    let sizes: Vec<String> = SectorSize::ALL.iter().map(ToString::to_string).collect();
    format!("sizes are {}", sizes.join(", "))
}

/// As it stands in the names of registered proofs: `2KiB`, `512MiB`, `32GiB`.
impl fmt::Display for SectorSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trailing_zeros() / 10 {
            1 => write!(f, "{}KiB", self.0 >> 10),
            2 => write!(f, "{}MiB", self.0 >> 20),
            _ => write!(f, "{}GiB", self.0 >> 30),
        }
    }
}

impl FromStr for SectorSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|size| size.to_string().eq_ignore_ascii_case(text));
        found.ok_or_else(|| Error::BadText(format!("`{text}` is the size of no sector: {}", known())))
    }
}

/// Calls a function with the shape of a size's trees as its type.
macro_rules! of_size {
    ($size:expr, $function:ident($($argument:expr),*)) => {{
        use filecoin_proofs::constants as shapes;
        let bytes = $crate::circuits::filecoin::SectorSize::bytes($size);
        if shapes::is_sector_shape_base(bytes) {
            $function::<shapes::SectorShapeBase>($($argument),*)
        } else if shapes::is_sector_shape_sub2(bytes) {
            $function::<shapes::SectorShapeSub2>($($argument),*)
        } else if shapes::is_sector_shape_sub8(bytes) {
            $function::<shapes::SectorShapeSub8>($($argument),*)
        } else {
            $function::<shapes::SectorShapeTop2>($($argument),*)
        }
    }};
}
pub(super) use of_size;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_has_the_name_that_registered_proofs_use() {
        let names: Vec<String> = SectorSize::ALL.iter().map(ToString::to_string).collect();
        let known = ["2KiB", "4KiB", "16KiB", "32KiB", "8MiB", "16MiB", "512MiB", "1GiB", "32GiB", "64GiB"];
        assert_eq!(names, known);
        for size in SectorSize::ALL {
            assert_eq!(size.to_string().parse::<SectorSize>().unwrap(), size);
            assert_eq!(SectorSize::of_bytes(size.bytes()).unwrap(), size);
        }
        let refused = "3KiB".parse::<SectorSize>().unwrap_err().to_string();
        assert!(refused.contains("`3KiB`") && refused.contains("32GiB"), "{refused}");
        assert!(SectorSize::of_bytes(2049).is_err());
    }
}
