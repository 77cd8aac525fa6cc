//! fabricsim: a packet-level simulator of AI-cluster networks on compute shaders.

pub mod case;
pub mod cli;
pub mod commands;
pub mod engine;
pub mod error;
pub mod import;
pub mod metrics;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod scenario;

#[doc = include_str!("model.md")]
pub mod model {}
