//! Slots that nobody reads any more, on their way home or out.

use std::sync::Arc;

use super::{FreeList, Hold, Token, Travels};

/// A slot that nobody reads any more. One that is dropped is freed.
pub struct Dead {
    /// `None` once it went home or was freed.
    slot: Option<Box<dyn AnyDeadSlot>>,
    /// Given back when the slot is gone.
    hold: Option<Hold>,
}

pub(super) struct DeadSlot<T: Token> {
    token: T,
    free: Arc<FreeList<T>>,
}

impl<T: Travels> DeadSlot<T> {
    pub(super) fn boxed(token: T, free: Arc<FreeList<T>>) -> Box<dyn AnyDeadSlot> {
        Box::new(Self { token, free })
    }
}

pub(super) trait AnyDeadSlot: Send {
    fn bytes(&self) -> u64;
    fn token(&self) -> &'static str;
    fn wipe(&mut self);
    fn go_home(self: Box<Self>);
}

impl<T: Travels> AnyDeadSlot for DeadSlot<T> {
    fn bytes(&self) -> u64 {
        self.token.bytes()
    }

    fn token(&self) -> &'static str {
        T::NAME
    }

    fn wipe(&mut self) {
        self.token.wipe();
    }

    fn go_home(self: Box<Self>) {
        self.free.put(self.token);
    }
}

/// See [`Dead::idle`]. Whatever a `dealloc` stage does with it, what is to go goes: when it is dropped at the latest.
struct Idle<F: FnOnce()>(Option<F>);

impl<F: FnOnce() + Send> AnyDeadSlot for Idle<F> {
    fn bytes(&self) -> u64 {
        0
    }

    fn token(&self) -> &'static str {
        "idle memory"
    }

    fn wipe(&mut self) {}

    fn go_home(self: Box<Self>) {}
}

impl<F: FnOnce()> Drop for Idle<F> {
    fn drop(&mut self) {
        if let Some(let_go) = self.0.take() {
            let_go();
        }
    }
}

impl Dead {
    pub(super) fn new(slot: Box<dyn AnyDeadSlot>, hold: Option<Hold>) -> Self {
        Self { slot: Some(slot), hold }
    }

    /// The memory of the slot, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.slot.as_ref().map_or(0, |slot| slot.bytes())
    }

    /// The name of the token that it held.
    #[must_use]
    pub fn token(&self) -> &'static str {
        self.slot.as_ref().map_or("", |slot| slot.token())
    }

    /// Wipes the slot, and puts it where the next firing of its stage finds it or gives its memory back to the kernel, as
    /// the graph says.
    pub fn go_home(mut self) {
        if let Some(mut slot) = self.slot.take() {
            slot.wipe();
            slot.go_home();
        }
    }

    /// Wipes the slot and gives its memory back to the kernel, whatever the graph says.
    pub fn free(self) {
        drop(self);
    }

    /// Not a slot, but the order to let go of memory that nobody uses.
    pub(crate) fn idle(let_go: impl FnOnce() + Send + 'static, hold: Hold) -> Self {
        Self { slot: Some(Box::new(Idle(Some(let_go)))), hold: Some(hold) }
    }

    /// [`free`](Self::free) on a thread of its own, which nobody counts: what a program does that bounds nothing.
    pub(super) fn free_elsewhere(self) {
        let thread = std::thread::Builder::new().name("unbounded-free".to_owned());
        // Where no thread is to be had, the slot is dropped with the closure: here, and as free.
        let _ = thread.spawn(move || self.free());
    }
}

impl Drop for Dead {
    fn drop(&mut self) {
        if let Some(mut slot) = self.slot.take() {
            slot.wipe();
        }
        drop(self.hold.take());
    }
}
