//! Standard loads for measuring speed; `fabricsim bench` and `cargo bench` use the same ones.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::engine::{self, Options, Report, Silent};
use crate::error::Error;
use crate::plan::Plan;
use crate::scenario;

/// Fabric sizes (endpoints) that are measured by default.
pub const SIZES: [u32; 4] = [128, 1024, 8192, 24_576];

/// Who sends to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Every endpoint sends to one other, all at once.
    Permutation,
    /// One in twelve endpoints sends to one receiver, at most 2,048 of them.
    Incast,
}

impl Pattern {
    /// Lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::Incast => "incast",
        }
    }
}

/// What the load runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Technology {
    /// RoCEv2 with PFC and DCQCN.
    Ethernet,
    /// One lane with credits, tables by destination modulo uplinks, no congestion control.
    Infiniband,
}

impl Technology {
    /// As in `fabric.technology`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "ethernet",
            Self::Infiniband => "infiniband",
        }
    }

    fn sections(self) -> &'static str {
        match self {
            Self::Ethernet => "[scenario]\nprofile = \"roce-400g\"\n[fabric]\ntechnology = \"ethernet\"\n",
            Self::Infiniband => "[infiniband]\nrouting = \"ftree\"\n[fabric]\ntechnology = \"infiniband\"\n",
        }
    }
}

/// A load: 400 Gb/s, MTU 4096; two tiers up to 1,024 endpoints, three beyond; `bytes` of payload in all.
///
/// # Errors
/// [`Error::Input`] for a number of endpoints that no fabric of 64-port switches has.
pub fn plan(technology: Technology, pattern: Pattern, endpoints: u32, bytes: u64) -> Result<Plan, Error> {
    let kind = if endpoints <= 1024 { "leaf-spine" } else { "fat-tree" };
    let senders = match pattern {
        Pattern::Permutation => endpoints,
        Pattern::Incast => (endpoints / 12).clamp(1, 2048),
    };
    let size = (bytes / u64::from(senders)).max(1);
    let pair = match pattern {
        Pattern::Permutation => String::new(),
        Pattern::Incast => format!("receiver = 0\nsenders = {senders}\nstride = 11\n"),
    };
    let text = format!(
        "{sections}kind = \"{kind}\"\nendpoints = {endpoints}\n\
         [[traffic]]\nname = \"load\"\nkind = \"{name}\"\nsize = \"{size} B\"\n{pair}",
        sections = technology.sections(),
        name = pattern.name()
    );
    scenario::load_text(Path::new("bench.toml"), &text, &[])
}

/// A measurement.
#[derive(Debug, Clone)]
pub struct Measured {
    /// What ran, where, and how much.
    pub report: Report,
    /// From scenario text to the resolved case.
    pub setup: Duration,
    /// The run, packing and reading back included.
    pub run: Duration,
    /// Endpoints of the fabric.
    pub endpoints: u32,
}

/// Runs a load once.
///
/// # Errors
/// As [`plan`] and [`engine::run`].
pub fn measure(technology: Technology, pattern: Pattern, endpoints: u32, bytes: u64, options: &Options) -> Result<Measured, Error> {
    let started = Instant::now();
    let plan = plan(technology, pattern, endpoints, bytes)?;
    let setup = started.elapsed();
    let started = Instant::now();
    let report = engine::run(&plan.case, options, &mut Silent)?;
    Ok(Measured { report, setup, run: started.elapsed(), endpoints })
}
