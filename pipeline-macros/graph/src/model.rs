//! What files say, after reading and before judging: every value with its place.

mod bytes;
mod catalogue;
mod graph;
mod sku;

pub use bytes::{Expression, Linear, SIZES, Term};
pub use catalogue::{Catalogue, Implementation, Port, TagSet, Token};
pub use graph::{
    Backend, Ccds, Dealloc, Edge, GiveBack, Graph, Group, Insist, Listed, Load, Pool, Share, Sizes, SkuChoice, Stage,
    Unit,
};
pub use sku::{Gpu, Sku};
