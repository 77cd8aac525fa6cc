//! fabricsim: a packet-level simulator of AI-cluster networks on compute shaders.
//!
//! # The way of the data
//!
//! 1. [`scenario::load`] reads a TOML file, checks every key and builds a [`plan::Plan`]: [`fabric`] wires nodes, ports and routes,
//!    [`workload`] makes flows. What is left is a [`case::Case`]: integers only. For InfiniBand
//!    [`subnet`] fills the forwarding tables.
//! 2. [`engine::run`] packs the case into device buffers (`state::layout`), whose records are those of `shaders/types.wgsl`, and runs
//!    windows on a device: `engine::gpu` (wgpu) or `engine::native` (the same kernels, translated by `build.rs`).
//! 3. `state::readout` turns the buffers into an [`outcome::Outcome`] and checks that no frame appeared or vanished.
//! 4. [`metrics`] reduces it, [`output`] writes the result folder, [`commands`] is the program around it.
//!
//! # How it computes
//!
//! The model is event-exact; [`model`] defines it completely. A *window* is at most the shortest link delay, so nothing sent in it
//! takes effect elsewhere before its end: one invocation an endpoint (`step_endpoints`) and one a switch (`step_switches`, of InfiniBand
//! `step_lanes`) can take the events of
//! the window in order, alone. Frames travel in rings, one a channel, which sender and receiver share; `advance_clock`
//! publishes what changed and finds the next window, across any gap. Times on the device are 32-bit picoseconds since an epoch
//! that moves; what lies further ahead is 64 bit. A node whose ring or pool is full stops before the event that needs
//! room, the host enlarges it, and the window goes on.
//!
//! # Guarantees
//!
//! * The outcome depends on the case alone: not on adapter, threads, window size, batch or time series. `tests/exactness` compares them.
//! * Integers decide; floats report. Random draws are counter-based: a function of seed, port and the number of the frame.
//! * Nothing is clamped or dropped silently: 32-bit counters that come close to their end, buffers that cannot grow and broken conservation are
//!   errors, with exit codes of their own ([`error::Error::exit_code`]).
//!
//! # Where to add
//!
//! * A congestion control: its rules in `src/model.md`, a [`case::Reaction`], the code in `shaders/reaction.wgsl` or
//!   `shaders/injection.wgsl` (annex A10), parameters in
//!   `Params` (`shaders/types.wgsl`) and `state::layout`, keys in `scenario`.
//! * A topology: a wiring in `fabric::build` and its keys in `scenario`.
//! * A routing engine of InfiniBand: a variant of [`subnet::Engine`] and its word in `scenario::keys_infiniband`.
//! * An importer: a module of [`import`] that writes a scenario.

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
pub mod subnet;
pub mod units;
mod wide;
pub mod workload;

#[doc = include_str!("model.md")]
#[doc = include_str!("model_infiniband.md")]
pub mod model {}
