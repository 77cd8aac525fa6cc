//! Files of other tools.

pub mod hpcc;
pub mod hpcc_files;
