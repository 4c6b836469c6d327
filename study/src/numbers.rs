//! What numbers may be: every number of a file or of the command line has a kind, and a kind has a range.

use std::fmt;

/// The kind of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A time: 0 to thirty years.
    Seconds,
    /// A time that was measured: more than 0.
    Measured,
    /// A time of an event of a trace, in microseconds.
    Microseconds,
    /// Memory, or traffic.
    Bytes,
    /// Memory that was measured, or a limit of it, in GiB.
    Gibibytes,
    /// A rate.
    BytesPerSecond,
    /// A part of a whole.
    Part,
    /// A part of a whole that is not nothing.
    PositivePart,
    /// A spread around 1: less than 1, so that nothing takes no time.
    Spread,
    /// By how much more something takes.
    Loss,
    /// How many times as long something takes.
    Factor,
    /// An error of a model, 0.05 being 5 %.
    Error,
}

impl Kind {
    /// The least and the most, and what errors call them.
    const fn range(self) -> (f64, f64, &'static str) {
        match self {
            Self::Seconds => (0.0, 1e9, "a time in seconds, 0 to 1e9"),
            Self::Measured => (1e-9, 1e9, "a time in seconds, 1e-9 to 1e9"),
            Self::Microseconds => (0.0, 1e15, "a time in microseconds, 0 to 1e15"),
            Self::Bytes => (0.0, 1e18, "a number of bytes, 0 to 1e18"),
            Self::Gibibytes => (1e-3, 1e6, "a number of GiB, 0.001 to 1e6"),
            Self::BytesPerSecond => (1e3, 1e15, "a number of bytes a second, 1e3 to 1e15"),
            Self::Part => (0.0, 1.0, "a part of a whole, 0 to 1"),
            Self::PositivePart => (0.01, 1.0, "a part of a whole, 0.01 to 1"),
            Self::Spread => (0.0, 0.99, "a spread around 1, 0 to 0.99"),
            Self::Loss => (0.0, 100.0, "what it takes more than before, 0 to 100"),
            Self::Factor => (1e-6, 1e6, "how many times as long it takes, 1e-6 to 1e6"),
            Self::Error => (0.0, 1e6, "an error of a model, 0 to 1e6"),
        }
    }

    /// What is allowed, in words.
    #[must_use]
    pub const fn allowed(self) -> &'static str {
        self.range().2
    }

    /// Whether a number is of this kind.
    #[must_use]
    pub fn takes(self, number: f64) -> bool {
        let (least, most, _) = self.range();
        // Written such that what is no number is refused.
        number >= least && number <= most
    }

    /// Reads a number of this kind.
    ///
    /// # Errors
    /// What is allowed.
    pub fn parse(self, text: &str) -> Result<f64, &'static str> {
        text.trim().parse().ok().filter(|number| self.takes(*number)).ok_or(self.allowed())
    }
}

/// The most of anything that is counted: workers, threads, jobs, places.
pub const MOST: u32 = 65_536;

/// The most constraints that a circuit has.
pub const MOST_CONSTRAINTS: u64 = 1 << 40;

/// Reads a count.
///
/// # Errors
/// What is allowed.
pub fn count(text: &str) -> Result<u32, &'static str> {
    text.trim().parse().ok().filter(|count| (1..=MOST).contains(count)).ok_or("a whole number, 1 to 65536")
}

/// A step into a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A field.
    Field(&'static str),
    /// A key of a map.
    Key(String),
    /// An item of a list, counted from 0.
    Item(usize),
}

/// What is wrong at a place of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The way there.
    pub way: Vec<Step>,
    /// What it is called.
    pub name: String,
    /// What stands there, and what is allowed.
    pub why: String,
}

impl Fault {
    /// The value at `way` is not what it may be.
    #[must_use]
    pub fn new(way: Vec<Step>, name: impl Into<String>, found: impl fmt::Display, allowed: &str) -> Self {
        Self { way, name: name.into(), why: format!("{found} is not allowed; write {allowed}") }
    }

    /// Something else is wrong at `way`.
    #[must_use]
    pub fn because(way: Vec<Step>, name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { way, name: name.into(), why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.name, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_of_no_kind() {
        use Kind::*;
        let kinds = [
            Seconds,
            Measured,
            Microseconds,
            Bytes,
            Gibibytes,
            BytesPerSecond,
            Part,
            PositivePart,
            Spread,
            Loss,
            Factor,
            Error,
        ];
        for kind in kinds {
            let (least, most, words) = kind.range();
            assert!(kind.takes(least) && kind.takes(most), "{words}");
            for text in ["nan", "inf", "-inf", "-1", "1e300", "", "x", "1 2"] {
                assert_eq!(kind.parse(text), Err(words), "{text}");
            }
        }
        assert!(!Measured.takes(0.0) && !Gibibytes.takes(0.0) && !BytesPerSecond.takes(0.0) && !Factor.takes(0.0));
        assert_eq!(Kind::Seconds.parse(" 2.5 "), Ok(2.5));
        assert_eq!((count("1"), count("65536")), (Ok(1), Ok(65_536)));
        assert!(["0", "65537", "-1", "1.5", ""].iter().all(|text| count(text).is_err()));
    }
}
