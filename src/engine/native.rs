//! The built-in adapter: the kernels as native code, on any number of threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::engine::AdapterInfo;
use crate::engine::device::{Device, Upkeep, turn};
use crate::error::Error;
use crate::kernels::{self, Cx};
use crate::state::buffers::Buffers;
use crate::state::layout::Layout;

/// Native code has no limit on iterations.
const BUDGET: u32 = 1 << 30;
const SLICE: Duration = Duration::from_millis(50);
/// Endpoints that are taken, or passed by, at a time; switches are taken one by one.
const CHUNK: u32 = 64;
/// Nodes below which another thread is not worth its synchronization.
const NODES_PER_THREAD: usize = 64;

/// See the module.
pub(crate) struct Native {
    asked_threads: usize,
    pool: Option<rayon::ThreadPool>,
    buffers: Buffers,
    layout: Option<Layout>,
}

/// Threads meet here between the phases of a window.
struct Meeting {
    threads: u32,
    arrived: AtomicU32,
    round: AtomicU32,
}

impl Meeting {
    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins < 2000 { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

impl Native {
    /// `threads == 0`: one a core, fewer for small fabrics.
    pub(crate) fn new(threads: usize) -> Self {
        Self { asked_threads: threads, pool: None, buffers: Buffers::default(), layout: None }
    }

    fn layout(&self) -> Result<&Layout, Error> {
        self.layout.as_ref().ok_or_else(|| Error::Internal("the device holds no state".into()))
    }

    fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    fn context(&mut self, parity: u32) -> Result<Cx, Error> {
        let turn = turn(self.layout()?, parity, BUDGET);
        Ok(self.buffers.context(turn))
    }
}

/// True if windows would change nothing: every case is at its limit or done, or one waits for the host.
///
/// # Safety
/// As for [`Cx`], and no kernel runs.
unsafe fn is_idle(cx: &Cx) -> bool {
    let word = |case: u32, i: u32| {
        // SAFETY: scenario blocks come first in `sync`.
        unsafe { cx.sync.get(case * kernels::SCENARIO_WORDS + i) }
    };
    let mut idle = true;
    for case in 0..cx.turn.n_scenarios {
        if word(case, kernels::S_NEED) != 0 {
            return true;
        }
        let waits = word(case, kernels::S_NEXT) == kernels::INF || word(case, kernels::S_TIME) >= word(case, kernels::S_LIMIT);
        idle &= waits && word(case, kernels::S_UNFINISHED) == 0;
    }
    idle
}

/// Clock words of one kind, of nodes `from..to`.
///
/// # Safety
/// As for [`Cx`], and no other thread writes these words.
unsafe fn clock_words(cx: &Cx, kind: u32, from: u32, to: u32) -> &[u32] {
    let first = cx.turn.clock_off + kind * cx.turn.n_nodes;
    // SAFETY: the caller's promise.
    unsafe { cx.sync.range(first + from, first + to) }
}

fn earliest(words: &[u32]) -> u32 {
    words.iter().fold(kernels::INF, |least, word| least.min(*word))
}

/// Latest end of the window of any case.
///
/// # Safety
/// As for [`Cx`], and no clock advances.
unsafe fn horizon(cx: &Cx) -> u32 {
    // SAFETY: the caller's promise.
    (0..cx.turn.n_scenarios).map(|s| unsafe { kernels::window_end(cx, s * kernels::SCENARIO_WORDS) }).max().unwrap_or(0)
}

/// Steps endpoints `from..to`, or passes by all of them if nothing is due, as each one would find for itself.
///
/// # Safety
/// As for [`Cx`], and no other thread steps these.
unsafe fn step_endpoints(cx: &Cx, horizon: u32, from: u32, to: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let quiet = earliest(clock_words(cx, kernels::NEXT, from, to)) >= horizon
            && earliest(clock_words(cx, kernels::INBOX + cx.turn.parity, from, to)) == kernels::INF;
        // The first endpoints also open the next window of the cases.
        if !quiet || from < cx.turn.n_scenarios {
            kernels::step_endpoints(cx, from, to);
        }
    }
}

/// Steps switches `from..to`, counted from the first one, by the kernel of their case's technology.
///
/// # Safety
/// As for [`Cx`], and no other thread steps these.
unsafe fn step_switches(cx: &Cx, from: u32, to: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let first = cx.turn.n_endpoints;
        let owners = clock_words(cx, kernels::OWNER, first + from, first + to);
        let mut at = from;
        for run in owners.chunk_by(|a, b| a == b) {
            let end = at + u32::try_from(run.len()).unwrap_or(0);
            if kernels::has_credits(cx, run[0]) {
                kernels::step_lanes(cx, at, end)
            } else {
                kernels::step_switches(cx, at, end)
            }
            at = end;
        }
    }
}

/// Advances the clocks of nodes `from..to`. Nodes that did nothing are taken together.
///
/// # Safety
/// As for [`Cx`], and all nodes have been stepped.
unsafe fn advance_clock(cx: &Cx, from: u32, to: u32) {
    let mut at = from;
    while at < to {
        let end = (at + CHUNK).min(to);
        // SAFETY: the caller's promise.
        unsafe {
            let owners = clock_words(cx, kernels::OWNER, at, end);
            let ran = clock_words(cx, kernels::ACTIVE, at, end).iter().fold(0, |any, ran| any | ran);
            let owner = owners.iter().fold(0, |any, s| any | (s ^ owners[0]));
            if ran | owner != 0 {
                kernels::advance_clock(cx, at, end);
            } else {
                let inbox = clock_words(cx, kernels::INBOX + 1 - cx.turn.parity, at, end);
                let known = earliest(clock_words(cx, kernels::NEXT, at, end)).min(earliest(inbox));
                if known != kernels::INF {
                    kernels::offer(cx, owners[0], known);
                }
            }
        }
        at = end;
    }
}

/// One thread's share of a window.
fn share_window(cx: &Cx, next: &AtomicU32, thread: u32, meeting: &Meeting) {
    let n_switches = cx.turn.n_nodes - cx.turn.n_endpoints;
    let chunks = n_switches + cx.turn.n_endpoints.div_ceil(CHUNK);
    // SAFETY: clocks advance only after the meeting below.
    let horizon = unsafe { horizon(cx) };
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        if i >= chunks {
            break;
        }
        // SAFETY: the buffers outlive the call, and each node is stepped by one thread.
        unsafe {
            if i < n_switches {
                step_switches(cx, i, i + 1);
            } else {
                let from = (i - n_switches) * CHUNK;
                step_endpoints(cx, horizon, from, (from + CHUNK).min(cx.turn.n_endpoints));
            }
        }
    }
    meeting.wait();
    if thread == 0 {
        next.store(0, Ordering::Relaxed);
    }
    let part = cx.turn.n_nodes.div_ceil(meeting.threads);
    // SAFETY: as above.
    unsafe { advance_clock(cx, (thread * part).min(cx.turn.n_nodes), ((thread + 1) * part).min(cx.turn.n_nodes)) }
    meeting.wait();
}

/// Runs windows on one thread until idle or the slice is over.
fn run_alone(contexts: &[Cx; 2]) -> u64 {
    let started = Instant::now();
    let mut windows = 0_u64;
    loop {
        for cx in contexts {
            // SAFETY: the buffers outlive the call and nobody else has them.
            unsafe {
                let horizon = horizon(cx);
                let mut from = 0;
                while from < cx.turn.n_endpoints {
                    let to = (from + CHUNK).min(cx.turn.n_endpoints);
                    step_endpoints(cx, horizon, from, to);
                    from = to;
                }
                step_switches(cx, 0, cx.turn.n_nodes - cx.turn.n_endpoints);
                advance_clock(cx, 0, cx.turn.n_nodes);
            }
        }
        windows += 2;
        // SAFETY: no kernel runs.
        if unsafe { is_idle(&contexts[0]) } || (windows.is_multiple_of(16) && started.elapsed() > SLICE) {
            return windows;
        }
    }
}

/// The same on every thread of a pool.
fn run_together(pool: &rayon::ThreadPool, contexts: &[Cx; 2]) -> u64 {
    let started = Instant::now();
    let threads = u32::try_from(pool.current_num_threads()).unwrap_or(1);
    let meeting = Meeting { threads, arrived: AtomicU32::new(0), round: AtomicU32::new(0) };
    let (next, over) = (AtomicU32::new(0), AtomicU32::new(0));
    let counts = pool.broadcast(|me| {
        let thread = u32::try_from(me.index()).unwrap_or(0);
        let mut windows = 0_u64;
        loop {
            for cx in contexts {
                share_window(cx, &next, thread, &meeting);
            }
            windows += 2;
            // SAFETY: all threads are between the meetings, where no kernel runs.
            if thread == 0 && (unsafe { is_idle(&contexts[0]) } || (windows.is_multiple_of(16) && started.elapsed() > SLICE)) {
                over.store(1, Ordering::Relaxed);
            }
            meeting.wait();
            if over.load(Ordering::Relaxed) != 0 {
                return windows;
            }
        }
    });
    counts[0]
}

impl Device for Native {
    fn info(&self) -> AdapterInfo {
        let threads = self.threads();
        let name = match &self.layout {
            None => "built-in".to_owned(),
            Some(_) => format!("built-in ({threads} thread{})", if threads == 1 { "" } else { "s" }),
        };
        AdapterInfo {
            name,
            kind: "builtin".into(),
            backend: "native".into(),
            driver: concat!("fabricsim ", env!("CARGO_PKG_VERSION")).into(),
            max_binding_bytes: 0,
            max_buffer_bytes: 0,
        }
    }

    fn put(&mut self, buffers: Buffers, layout: &Layout) -> Result<(), Error> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let useful = (layout.n_nodes as usize / NODES_PER_THREAD).max(1);
        let threads = if self.asked_threads == 0 { cores.min(useful) } else { self.asked_threads };
        if threads != self.threads() {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            self.pool = Some(pool.map_err(|e| Error::Capacity(format!("cannot start {threads} threads: {e}")))?);
        }
        self.buffers = buffers;
        self.layout = Some(layout.clone());
        Ok(())
    }

    fn take(&mut self) -> Result<Buffers, Error> {
        Ok(std::mem::take(&mut self.buffers))
    }

    fn windows(&mut self) -> Result<u64, Error> {
        let contexts = [self.context(0)?, self.context(1)?];
        Ok(match &self.pool {
            Some(pool) if pool.current_num_threads() > 1 => run_together(pool, &contexts),
            _ => run_alone(&contexts),
        })
    }

    fn upkeep(&mut self, upkeep: Upkeep) -> Result<(), Error> {
        let work = upkeep.kernels(self.layout()?);
        let cx = self.context(0)?;
        for (name, n) in work {
            // SAFETY: the buffers outlive the call and nobody else has them.
            unsafe {
                match name {
                    "rebase_ports" => kernels::rebase_ports(&cx, 0, n),
                    "rebase_pool" => kernels::rebase_pool(&cx, 0, n),
                    "rebase_nodes" => kernels::rebase_nodes(&cx, 0, n),
                    "rebase_clock" => kernels::rebase_clock(&cx, 0, n),
                    "settle_flows" => kernels::settle_flows(&cx, 0, n),
                    other => return Err(Error::Internal(format!("no kernel `{other}`"))),
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, which: usize, first: usize, words: &mut [u32]) -> Result<(), Error> {
        words.copy_from_slice(&self.buffers.all()[which][first..first + words.len()]);
        Ok(())
    }

    fn write(&mut self, which: usize, first: usize, words: &[u32]) -> Result<(), Error> {
        self.buffers.all_mut()[which][first..first + words.len()].copy_from_slice(words);
        Ok(())
    }
}
