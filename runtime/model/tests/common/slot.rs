//! What the engine knows of slots.

use crate::common::Key;

pub struct Dead;

pub type Hold = Box<dyn Send + Sync>;

pub trait Token: Send + Sync + 'static {}

pub trait WayHome: Send + Sync {
    fn send(&self, key: Key, dead: Dead);
}
