//! Filecoin's circuits, of the crates that the network's nodes run.

mod porep;

pub use porep::Porep;
