//! Running a case: what to run on, what is reported while it runs, what comes out.

use std::ops::ControlFlow;
use std::time::Duration;

mod device;
mod gpu;
mod native;
mod run;
mod select;

use crate::case::Case;
use crate::error::Error;
use crate::outcome::Outcome;
use device::Device;
use native::Native;

pub use run::run_batch;

/// What the simulation runs on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AdapterChoice {
    /// A hardware GPU if there is one, else the built-in software adapter.
    #[default]
    Auto,
    /// A hardware GPU or nothing.
    Gpu,
    /// A software Vulkan adapter (Mesa's lavapipe) or nothing.
    VulkanCpu,
    /// The built-in software adapter: the same shaders as native code.
    BuiltIn,
    /// The first adapter whose name contains this text.
    Named(String),
}

/// How to run a case. Nothing here changes a result.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where to run.
    pub adapter: AdapterChoice,
    /// Threads of the built-in adapter; 0 = one a core.
    pub threads: usize,
    /// Window (ps); `None` = the whole lookahead.
    pub window_ps: Option<u32>,
    /// Time series to record.
    pub sampling: Option<Sampling>,
}

/// A time series: state just before the events of each multiple of the interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Distance of samples (ps).
    pub interval_ps: u64,
    /// Ports to sample (case index).
    pub ports: Vec<u32>,
    /// Flows to sample (case index).
    pub flows: Vec<u32>,
}

/// State of a run, for people and machines that wait for it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Simulated time (ps).
    pub now_ps: u64,
    /// Frames that crossed a link so far, of any kind.
    pub packet_hops: u64,
    /// Data frames among them.
    pub data_hops: u64,
    /// Flows done or failed.
    pub flows_ended: u64,
    /// Wall-clock time since the start.
    pub wall: Duration,
}

/// One sample of the time series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// When (ps).
    pub time_ps: u64,
    /// Per sampled port and class, in order.
    pub queues: Vec<QueueSample>,
    /// Per sampled flow, in order.
    pub flows: Vec<FlowSample>,
}

/// Egress queue of one class at one port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueSample {
    /// Port (case index).
    pub port: u32,
    /// Class (case index).
    pub class: u32,
    /// Queue (bytes).
    pub queue_bytes: u32,
    /// Frame bytes sent since the start.
    pub tx_bytes: u64,
    /// Paused by the peer.
    pub paused: bool,
}

/// Sender side of a flow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowSample {
    /// Flow (case index).
    pub flow: u32,
    /// Rate (kb/s).
    pub rate_kbps: u32,
    /// Alpha (2^-32).
    pub alpha_q32: u32,
    /// Packets acknowledged.
    pub acked_packets: u32,
    /// Packets sent and not acknowledged.
    pub in_flight_packets: u32,
}

/// Who watches a run.
pub trait Observer {
    /// Called a few times a second; `Break` ends the run cleanly with what there is.
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()>;
    /// Called for every sample, in time order.
    ///
    /// # Errors
    /// Ends the run with that error.
    fn sample(&mut self, sample: &Sample) -> Result<(), Error>;
}

/// An observer that watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn sample(&mut self, _: &Sample) -> Result<(), Error> {
        Ok(())
    }
}

/// An adapter, as listed and as recorded in manifests.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct AdapterInfo {
    /// Name, e.g. `built-in (2 threads)` or `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// `gpu`, `vulkan-cpu` or `builtin`.
    pub kind: String,
    /// Backend API, e.g. `vulkan`; `native` for the built-in one.
    pub backend: String,
    /// Driver and version.
    pub driver: String,
    /// Largest storage binding (bytes); 0 = main memory.
    pub max_binding_bytes: u64,
    /// Largest buffer (bytes); 0 = main memory.
    pub max_buffer_bytes: u64,
}

/// What a run gave.
#[derive(Debug, Clone)]
pub struct Report {
    /// The results.
    pub outcome: Outcome,
    /// Where it ran.
    pub adapter: AdapterInfo,
    /// Window used (ps).
    pub window_ps: u32,
    /// Windows taken.
    pub windows: u64,
    /// Bytes of device state.
    pub state_bytes: u64,
    /// Last progress.
    pub progress: Progress,
    /// True if an observer ended the run.
    pub interrupted: bool,
}

/// Runs a case.
///
/// # Errors
/// [`Error::Adapter`] if the adapter asked for is missing, [`Error::Capacity`] if the state does not fit, [`Error::Usage`] for a window
/// beyond the lookahead, [`Error::Internal`] for a bug, and whatever the observer returns.
pub fn run(case: &Case, options: &Options, observer: &mut dyn Observer) -> Result<Report, Error> {
    let mut reports = run_batch(&[case], options, observer)?;
    reports.pop().ok_or_else(|| Error::Internal("a run gave no report".into()))
}

/// The adapters of this machine, the built-in one last.
#[must_use]
pub fn adapters() -> Vec<AdapterInfo> {
    let mut all = gpu::adapters();
    all.push(Native::new(0).info());
    all
}
