//! Channels of the checker's own locks, as far as the sources here use them.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex};

struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    room: usize,
}

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
}

pub struct Sender<T>(Arc<Channel<T>>);

pub struct Receiver<T>(Arc<Channel<T>>);

pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

pub fn bounded<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    let state = Mutex::new(State { items: VecDeque::new(), senders: 1 });
    let channel = Arc::new(Channel { state, changed: Condvar::new(), room });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    pub fn send(&self, item: T) -> Result<(), T> {
        self.try_send(item)
    }

    /// Gives the item back where there is no room.
    pub fn try_send(&self, item: T) -> Result<(), T> {
        let mut state = self.0.state.lock().unwrap();
        if state.items.len() >= self.0.room {
            return Err(item);
        }
        state.items.push_back(item);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.state.lock().unwrap().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().senders -= 1;
        self.0.changed.notify_one();
    }
}

/// No sender is left.
#[derive(Debug)]
pub struct Closed;

impl<T> Receiver<T> {
    pub fn try_recv(&self) -> Result<T, Closed> {
        self.0.state.lock().unwrap().items.pop_front().ok_or(Closed)
    }

    pub fn try_iter(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.try_recv().ok())
    }

    pub fn recv(&self) -> Result<T, Closed> {
        let mut state = self.0.state.lock().unwrap();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Ok(item);
            }
            if state.senders == 0 {
                return Err(Closed);
            }
            state = self.0.changed.wait(state).unwrap();
        }
    }
}
