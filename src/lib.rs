//! fabricsim: a packet-level simulator of AI-cluster networks on compute shaders.

pub mod bench;
pub mod case;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod error;
pub mod fabric;
pub mod import;
mod kernels;
pub mod metrics;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod scenario;
mod state;
pub mod units;
mod wide;
pub mod workload;

#[doc = include_str!("model.md")]
pub mod model {}
