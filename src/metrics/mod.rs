//! Reductions of an outcome to what people read: rows per flow, port and link, and a summary.
//!
//! Everything here is computed from integers with stated rounding, so that two engines that agree on an
//! [`Outcome`] agree on every byte of the result files. Ratios are kept as whole millionths.

mod findings;
mod flows;
mod hops;
mod ports;
mod stats;
mod summary;

pub use findings::findings;
pub use flows::FlowRow;
pub use hops::expected_data_hops;
pub use ports::{LinkRow, QueueRow};
pub use stats::{Distribution, jain_millionths, nearest_rank, scaled_ratio};
pub use summary::{FabricSummary, GroupSummary, Place};

use crate::error::Error;
use crate::outcome::Outcome;
use crate::plan::Plan;

/// One million: the scale of every ratio that the metrics hold.
pub const MILLION: u64 = 1_000_000;

/// All that is derived from one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    /// One row a flow, by flow id.
    pub flows: Vec<FlowRow>,
    /// One row a port and queue, the control queue first.
    pub queues: Vec<QueueRow>,
    /// One row a port, that is one outgoing channel.
    pub links: Vec<LinkRow>,
    /// All flows together.
    pub all: GroupSummary,
    /// Each traffic group, in plan order.
    pub groups: Vec<GroupSummary>,
    /// The network as a whole.
    pub fabric: FabricSummary,
}

impl Metrics {
    /// Reduces the outcome of a plan.
    ///
    /// # Errors
    /// [`Error::Internal`] if the outcome has not the shape of the plan's case.
    pub fn new(plan: &Plan, outcome: &Outcome) -> Result<Self, Error> {
        check_shape(plan, outcome)?;
        let flows = flows::rows(plan, outcome);
        let queues = ports::queue_rows(plan, outcome);
        let links = ports::link_rows(plan, outcome);
        let all = summary::group(&flows, None);
        let groups = (0..plan.groups.len()).map(|g| summary::group(&flows, Some(g))).collect();
        let fabric = summary::fabric(plan, outcome, &queues, &links);
        Ok(Self { flows, queues, links, all, groups, fabric })
    }
}

/// An outcome has one entry a flow, a port and class, and a port.
fn check_shape(plan: &Plan, outcome: &Outcome) -> Result<(), Error> {
    let case = &plan.case;
    let expected = [case.flows.len(), case.ports.len() * (case.classes.len() + 1), case.ports.len()];
    let found = [outcome.flows.len(), outcome.queues.len(), outcome.lost_packets.len()];
    if expected == found {
        return Ok(());
    }
    Err(Error::Internal(format!("the outcome has {found:?} flows, queues and ports; the case has {expected:?}")))
}

#[cfg(test)]
pub(crate) mod testing;
