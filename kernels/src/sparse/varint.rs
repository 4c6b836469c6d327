//! Numbers of seven bits a byte, lowest first; a set top bit says that more follow.

/// Appends a number.
pub(super) fn push(stream: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        stream.push(number as u8 | 0x80);
        number >>= 7;
    }
    stream.push(number as u8);
}

/// Reads numbers from the front of a stream.
pub(super) struct Reader<'a> {
    rest: std::slice::Iter<'a, u8>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { rest: stream.iter() }
    }

    /// The next byte, zero behind the end.
    #[inline(always)]
    pub(super) fn byte(&mut self) -> u8 {
        self.rest.next().copied().unwrap_or(0)
    }

    /// The next number; what is above 64 bits is lost.
    #[inline(always)]
    pub(super) fn number(&mut self) -> u64 {
        let first = self.byte();
        let mut number = u64::from(first & 0x7f);
        let mut more = first & 0x80 != 0;
        let mut shift = 7;
        while more {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f).unbounded_shl(shift);
            more = byte & 0x80 != 0;
            shift += 7;
        }
        number
    }
}

/// Reads numbers from the front of a stream that may be anything; nothing where the stream does not hold one.
pub(super) struct Checked<'a> {
    rest: &'a [u8],
}

impl<'a> Checked<'a> {
    pub(super) fn new(stream: &'a [u8]) -> Self {
        Self { rest: stream }
    }

    /// The bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    /// The next number, if it ends and has at most 63 bits: [`push`] is given none above.
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_return() {
        let numbers: Vec<u64> = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, u64::MAX >> bit]).collect();
        let mut stream = Vec::new();
        numbers.iter().for_each(|&number| push(&mut stream, number));
        let mut reader = Reader::new(&stream);
        for number in numbers {
            assert_eq!(reader.number(), number);
        }
    }

    #[test]
    fn checked_numbers_are_the_same_or_none() {
        for bit in 0..64 {
            let number = u64::MAX >> bit;
            let mut stream = Vec::new();
            push(&mut stream, number);
            assert_eq!(Checked::new(&stream).number(), (bit > 0).then_some(number));
            assert_eq!(Checked::new(&stream[1..]).number().is_some(), stream.len() > 1);
            stream.pop();
            assert_eq!(Checked::new(&stream).number(), None);
        }
        assert_eq!(Checked::new(&[0xff; 40]).number(), None);
    }

    #[test]
    fn a_stream_that_ends_reads_as_zeros() {
        assert_eq!(Reader::new(&[]).number(), 0);
        assert_eq!(Reader::new(&[0xff; 40]).number(), u64::MAX);
    }
}
