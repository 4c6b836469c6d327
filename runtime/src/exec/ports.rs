//! The input ends of a stage, emptied together.

use crate::error::StageError;
use crate::exec::edge::{InEnd, Packet};
use crate::key::TokenKey;
use crate::slot::{Shared, Travels};

/// The input ends of a stage, as a tuple.
pub trait InPorts: Send + Sync + 'static {
    /// What they give: a tuple of [`Shared`] tokens.
    type In;
    #[doc(hidden)]
    fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError>;
}

/// Spelled out for each arity: a tuple of packets is live when each of them is.
macro_rules! arity {
    ($($name:ident : $token:ident . $index:tt),*) => {
        impl<$($token: Travels),*> InPorts for ($(InEnd<$token>,)*) {
            type In = ($(Shared<$token>,)*);

            #[allow(unused_variables, unreachable_patterns, clippy::unused_unit)]
            fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError> {
                // All ports are emptied before any is judged: a tombstone takes its siblings off their edges.
                match ($(self.$index.take(key)?,)*) {
                    ($(Packet::Live($name),)*) => Ok(Some(($($name,)*))),
                    _ => Ok(None),
                }
            }
        }
    };
}

/// Any number of ports of one kind: what a plan without types of its own is wired with.
impl<T: Travels> InPorts for Vec<InEnd<T>> {
    type In = Vec<Shared<T>>;

    fn take(&self, key: TokenKey) -> Result<Option<Self::In>, StageError> {
        let packets = self.iter().map(|end| end.take(key)).collect::<Result<Vec<_>, _>>()?;
        let live = |packet| match packet {
            Packet::Live(token) => Some(token),
            Packet::Tombstone => None,
        };
        Ok(packets.into_iter().map(live).collect())
    }
}

arity!();
arity!(a: A.0);
arity!(a: A.0, b: B.1);
arity!(a: A.0, b: B.1, c: C.2);
arity!(a: A.0, b: B.1, c: C.2, d: D.3);
