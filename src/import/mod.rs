//! Files of other tools.

pub mod hpcc;
