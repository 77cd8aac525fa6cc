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

/// A load: 400 Gb/s, MTU 4096, DCQCN, PFC; two tiers up to 1,024 endpoints, three beyond; `bytes` of payload in all.
///
/// # Errors
/// [`Error::Input`] for a number of endpoints that no fabric of 64-port switches has.
pub fn plan(pattern: Pattern, endpoints: u32, bytes: u64) -> Result<Plan, Error> {
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
        "[scenario]\nname = \"bench-{name}-{endpoints}\"\nprofile = \"roce-400g\"\n\
         [fabric]\nkind = \"{kind}\"\nendpoints = {endpoints}\n\
         [[traffic]]\nname = \"load\"\nkind = \"{name}\"\nsize = \"{size} B\"\n{pair}",
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
pub fn measure(pattern: Pattern, endpoints: u32, bytes: u64, options: &Options) -> Result<Measured, Error> {
    let started = Instant::now();
    let plan = plan(pattern, endpoints, bytes)?;
    let setup = started.elapsed();
    let started = Instant::now();
    let report = engine::run(&plan.case, options, &mut Silent)?;
    Ok(Measured { report, setup, run: started.elapsed(), endpoints })
}
