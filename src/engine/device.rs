//! What every engine does: hold the buffers, run windows, give words back.

use crate::engine::AdapterInfo;
use crate::error::Error;
use crate::kernels::Turn;
use crate::state::buffers::Buffers;
use crate::state::layout::Layout;

/// Words of `sync` that describe the clocks: [`crate::kernels::SCENARIO_WORDS`] a case, at its start.
pub(crate) const SYNC: usize = 8;

const _: () = assert!(matches!(Buffers::NAMES[SYNC].as_bytes(), b"sync"));

/// Work between windows; see `shaders/clock.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upkeep {
    /// Moves the epoch of every case to its window.
    Rebase,
    /// Brings reaction points to the settle time of their case.
    Settle,
}

impl Upkeep {
    /// Kernels in order, with the number of invocations of each.
    pub(crate) fn kernels(self, layout: &Layout) -> Vec<(&'static str, u32)> {
        match self {
            Self::Rebase => vec![
                ("rebase_ports", layout.n_ports),
                ("rebase_pool", layout.n_entries),
                ("rebase_nodes", layout.n_nodes),
                ("rebase_clock", layout.n_cases()),
            ],
            Self::Settle => vec![("settle_flows", layout.n_flows)],
        }
    }
}

/// Holds the state of a batch and advances it. After every call the current parity is 0.
pub(crate) trait Device {
    /// Where this runs.
    fn info(&self) -> AdapterInfo;

    /// Takes the state over.
    fn put(&mut self, buffers: Buffers, layout: &Layout) -> Result<(), Error>;

    /// Gives the state back.
    fn take(&mut self) -> Result<Buffers, Error>;

    /// Runs an even number of windows, for about a tenth of a second, and returns how many.
    fn windows(&mut self) -> Result<u64, Error>;

    /// Runs upkeep kernels.
    fn upkeep(&mut self, upkeep: Upkeep) -> Result<(), Error>;

    /// Reads words of buffer `which` (an index into [`Buffers::NAMES`]).
    fn read(&mut self, which: usize, first: usize, words: &mut [u32]) -> Result<(), Error>;

    /// Writes words of buffer `which`.
    fn write(&mut self, which: usize, first: usize, words: &[u32]) -> Result<(), Error>;
}

/// The uniform of a dispatch.
pub(crate) fn turn(layout: &Layout, parity: u32, budget: u32) -> Turn {
    Turn {
        parity,
        n_endpoints: layout.n_endpoints,
        n_nodes: layout.n_nodes,
        n_scenarios: layout.n_cases(),
        budget,
        n_entries: layout.n_entries,
        first_entry: layout.first_entry,
        clock_off: layout.clock_off,
    }
}
