//! Bounded edges, and joins by key.

use std::collections::HashMap;
use std::sync::PoisonError;

use crate::error::StageError;
use crate::key::TokenKey;
use crate::slot::{Shared, Token};
use crate::sync::{Mutex, Receiver, Sender, bounded};

/// What travels: a token, or the sign that there will be none.
pub(crate) enum Packet<T: Token> {
    Live(Shared<T>),
    Tombstone,
}

/// The end that a stage puts tokens in.
pub struct OutEnd<T: Token> {
    pub(crate) edge: usize,
    tokens: Sender<(TokenKey, Packet<T>)>,
}

/// The end that a stage takes tokens out of, by key.
pub struct InEnd<T: Token> {
    tokens: Receiver<(TokenKey, Packet<T>)>,
    /// Tokens that came out of the channel before they were asked for: grants need not follow the order of arrival.
    early: Mutex<HashMap<TokenKey, Packet<T>>>,
}

/// An edge with room for `room` packets: its capacity, and one for each firing that was granted its input but has not
/// taken it yet.
pub(crate) fn edge<T: Token>(edge: usize, room: usize) -> (OutEnd<T>, InEnd<T>) {
    let (sender, receiver) = bounded(room);
    (OutEnd { edge, tokens: sender }, InEnd { tokens: receiver, early: Mutex::new(HashMap::new()) })
}

impl<T: Token> OutEnd<T> {
    /// Puts a packet on the edge; the firing has reserved its place, so there is room.
    pub(crate) fn put(&self, key: TokenKey, packet: Packet<T>) -> Result<(), StageError> {
        let full = |_| {
            StageError::new(format_args!("edge {} has no place for `{}`, though one was reserved", self.edge, T::NAME))
        };
        self.tokens.try_send((key, packet)).map_err(full)
    }
}

impl<T: Token> InEnd<T> {
    /// Takes the packet of that key; it has been put on the edge before the firing was granted.
    pub(crate) fn take(&self, key: TokenKey) -> Result<Packet<T>, StageError> {
        let mut early = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(packet) = early.remove(&key) {
            return Ok(packet);
        }
        for (other, packet) in self.tokens.try_iter() {
            if other == key {
                return Ok(packet);
            }
            early.insert(other, packet);
        }
        Err(StageError::new(format_args!("`{}` of {key} was granted but is not on its edge", T::NAME)))
    }
}

// Not where the model checks compile this file: their locks work inside a check only.
#[cfg(all(test, not(model)))]
mod tests {
    use super::*;
    use crate::key::JobId;

    struct Unit;

    impl Token for Unit {
        const NAME: &'static str = "Unit";
        type Shape = ();
        fn with_shape((): &()) -> Self {
            Self
        }
        fn shape(&self) {}
        fn bytes(&self) -> u64 {
            0
        }
    }

    fn key(job: u64) -> TokenKey {
        TokenKey { job: JobId(job), partition: 0 }
    }

    #[test]
    fn tokens_are_taken_by_key_in_any_order() {
        let (out, end) = edge::<Unit>(0, 3);
        (0..3).for_each(|job| out.put(key(job), Packet::Tombstone).unwrap());
        [2, 0, 1].into_iter().for_each(|job| assert!(matches!(end.take(key(job)), Ok(Packet::Tombstone))));
    }

    #[test]
    fn a_broken_promise_is_an_error_and_no_hang() {
        let (out, end) = edge::<Unit>(4, 1);
        let error = end.take(key(0)).err().unwrap();
        assert_eq!(error.to_string(), "`Unit` of job 0 partition 0 was granted but is not on its edge");
        out.put(key(0), Packet::Tombstone).unwrap();
        let error = out.put(key(1), Packet::Tombstone).err().unwrap();
        assert_eq!(error.to_string(), "edge 4 has no place for `Unit`, though one was reserved");
    }
}
