//! Channels of the checker's own locks, as far as the engine and the workers here use them.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::sync::{Condvar, Mutex};

struct Channel<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
}

pub struct Sender<T>(Arc<Channel<T>>);

pub struct Receiver<T>(Arc<Channel<T>>);

pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let state = Mutex::new(State { items: VecDeque::new(), senders: 1 });
    let channel = Arc::new(Channel { state, changed: Condvar::new() });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    pub fn send(&self, item: T) -> Result<(), T> {
        self.try_send(item)
    }

    pub fn try_send(&self, item: T) -> Result<(), T> {
        self.0.state.lock().unwrap().items.push_back(item);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().senders -= 1;
        self.0.changed.notify_one();
    }
}

impl<T> Receiver<T> {
    pub fn try_recv(&self) -> Result<T, ()> {
        self.0.state.lock().unwrap().items.pop_front().ok_or(())
    }

    /// `None` when no sender is left.
    pub fn recv(&self) -> Option<T> {
        let mut state = self.0.state.lock().unwrap();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.senders == 0 {
                return None;
            }
            state = self.0.changed.wait(state).unwrap();
        }
    }
}
