//! Traffic: flow lists and generators, and how long each flow takes alone.

pub mod generate;
pub mod ideal;
pub mod lists;
pub mod rng;
