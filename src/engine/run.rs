//! The loop around the windows: limits, epochs, samples, growth, progress, and the outcome at the end.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::engine::device::{Device, SYNC, Upkeep};
use crate::engine::native::Native;
use crate::engine::{FlowSample, Observer, Options, Progress, QueueSample, Report, Sample, Sampling, select};
use crate::error::Error;
use crate::kernels::{self, Flow, Port, Queue};
use crate::state::buffers::Buffers;
use crate::state::grow::grow;
use crate::state::layout::{EPOCH_LIMIT_PS, Layout, Part, join, pack, pair};
use crate::state::{change, readout};

const BLOCK: usize = kernels::SCENARIO_WORDS as usize;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// A window that starts behind this moves the epoch.
const EPOCH_HALF_PS: u32 = EPOCH_LIMIT_PS / 2;

/// Runs several cases side by side in one state; each one gives what it gives alone.
///
/// # Errors
/// As [`super::run`]; [`Error::Usage`] for a time series of more than one case.
pub fn run_batch(cases: &[&Case], options: &Options, observer: &mut dyn Observer) -> Result<Vec<Report>, Error> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    if options.sampling.is_some() && cases.len() > 1 {
        return Err(Error::Usage("a time series can be recorded for one case at a time".into()));
    }
    let (layout, buffers) = pack(cases, options.window_ps)?;
    let mut device = select::device(options)?;
    let state_bytes = buffers.bytes();
    device.put(buffers, &layout)?;
    let mut run = Run {
        cases,
        device,
        next_sample_ps: options.sampling.as_ref().map(|s| s.interval_ps),
        sampling: options.sampling.as_ref(),
        layout,
        clocks: Vec::new(),
        changed: vec![0; cases.len()],
        ended: vec![false; cases.len()],
        windows: 0,
        state_bytes,
        started: Instant::now(),
        reported: Instant::now(),
        interrupted: false,
    };
    run.advance(observer)?;
    run.reports()
}

/// Clock of a case, as last read.
#[derive(Debug, Clone, Copy)]
struct Clock {
    /// Start of the coming window, near.
    time: u32,
    base_ps: u64,
    /// No event of any kind is left.
    drained: bool,
    /// Nodes in the middle of a window.
    unfinished: u32,
    need: u32,
    wrap: u32,
    hops: u64,
    data_hops: u64,
    ended: u64,
}

impl Clock {
    fn of(block: &[u32]) -> Self {
        let word = |i: u32| block[i as usize];
        let wide = |i: u32| join([word(i), word(i + 1)]);
        Self {
            time: word(kernels::S_TIME),
            base_ps: wide(kernels::S_BASE),
            drained: word(kernels::S_NEXT) == kernels::INF && word(kernels::S_UNFINISHED) == 0,
            unfinished: word(kernels::S_UNFINISHED),
            need: word(kernels::S_NEED),
            wrap: word(kernels::S_WRAP),
            hops: wide(kernels::S_HOPS),
            data_hops: wide(kernels::S_DATA_HOPS),
            ended: u64::from(word(kernels::S_ENDED)),
        }
    }

    fn now_ps(&self) -> u64 {
        self.base_ps + u64::from(self.time)
    }
}

struct Run<'a> {
    cases: &'a [&'a Case],
    device: Box<dyn Device>,
    sampling: Option<&'a Sampling>,
    next_sample_ps: Option<u64>,
    layout: Layout,
    clocks: Vec<Clock>,
    /// Changes applied so far, by case.
    changed: Vec<usize>,
    /// Cases found to be at their end when a change was due.
    ended: Vec<bool>,
    windows: u64,
    state_bytes: u64,
    started: Instant,
    reported: Instant,
    interrupted: bool,
}

impl Run<'_> {
    fn advance(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        self.read_clocks()?;
        self.set_limits()?;
        loop {
            self.windows += self.device.windows()?;
            self.read_clocks()?;
            if self.clocks.iter().any(|c| c.wrap != 0) {
                return Err(Error::Capacity("a 32-bit counter of a port comes close to its end; simulate a shorter time".into()));
            }
            if self.clocks.iter().any(|c| c.need != 0) {
                self.grow()?;
                continue;
            }
            self.report_progress(observer);
            if self.clocks.iter().any(|c| c.unfinished != 0) {
                continue;
            }
            self.sample_if_due(observer)?;
            self.change_if_due()?;
            if self.interrupted || (0..self.cases.len()).all(|s| self.is_over(s)) {
                return Ok(());
            }
            if self.clocks.iter().any(|c| !c.drained && c.time >= EPOCH_HALF_PS) {
                self.device.upkeep(Upkeep::Rebase)?;
                self.read_clocks()?;
            }
            self.set_limits()?;
        }
    }

    fn is_over(&self, s: usize) -> bool {
        let clock = &self.clocks[s];
        clock.drained || self.ended[s] || self.cases[s].stop_ps.is_some_and(|stop| clock.now_ps() >= stop)
    }

    /// The change that comes next in a case, and when it comes.
    fn next_change_ps(&self, s: usize) -> Option<u64> {
        self.cases[s].changes.get(self.changed[s]).map(|c| c.at_ps)
    }

    /// Applies the changes of the fabric whose time has come. One that finds nothing left to do ends the case.
    fn change_if_due(&mut self) -> Result<(), Error> {
        let is_due = |run: &Self, s: usize| !run.is_over(s) && run.next_change_ps(s).is_some_and(|at| at <= run.clocks[s].now_ps());
        if !(0..self.cases.len()).any(|s| is_due(self, s)) {
            return Ok(());
        }
        let mut buffers = self.device.take()?;
        for s in 0..self.cases.len() {
            while is_due(self, s) {
                if !readout::events_left(&mut buffers, &self.layout, &self.layout.parts[s]) {
                    self.ended[s] = true;
                    break;
                }
                let change = &self.cases[s].changes[self.changed[s]];
                change::apply(self.cases[s], s, change, &mut buffers, &self.layout, self.clocks[s].time)?;
                self.changed[s] += 1;
            }
        }
        self.device.put(buffers, &self.layout)?;
        self.read_clocks()
    }

    fn read_clocks(&mut self) -> Result<(), Error> {
        let mut words = vec![0; BLOCK * self.cases.len()];
        self.device.read(SYNC, 0, &mut words)?;
        self.clocks = words.chunks(BLOCK).map(Clock::of).collect();
        Ok(())
    }

    /// No window passes the stop time, the next sample, or what near times can hold.
    fn set_limits(&mut self) -> Result<(), Error> {
        for (s, case) in self.cases.iter().enumerate() {
            let clock = self.clocks[s];
            let ended = self.ended[s].then(|| clock.now_ps());
            let until = [case.stop_ps, self.next_sample_ps, self.next_change_ps(s), ended].into_iter().flatten().min().unwrap_or(u64::MAX);
            let near = until.saturating_sub(clock.base_ps).min(u64::from(EPOCH_LIMIT_PS));
            self.device.write(SYNC, s * BLOCK + kernels::S_LIMIT as usize, &pair(near)[..1])?;
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<(), Error> {
        let mut buffers = self.device.take()?;
        let before = buffers.bytes();
        grow(&mut buffers, &mut self.layout)?;
        self.state_bytes = buffers.bytes();
        if self.state_bytes == before {
            return Err(Error::Internal("a node asked for room and nothing grew".into()));
        }
        log::debug!("state grew from {before} to {} bytes", self.state_bytes);
        self.device.put(buffers, &self.layout)
    }

    fn report_progress(&mut self, observer: &mut dyn Observer) {
        if self.reported.elapsed() >= PROGRESS_INTERVAL {
            self.reported = Instant::now();
            self.interrupted |= observer.progress(&self.progress()) == ControlFlow::Break(());
        }
    }

    /// State of the run. A case that has nothing left to do does not hold back the clock.
    fn progress(&self) -> Progress {
        let sum = |f: &dyn Fn(&Clock) -> u64| self.clocks.iter().map(f).sum();
        Progress {
            now_ps: self.clocks.iter().filter(|c| !c.drained).map(Clock::now_ps).min().unwrap_or(0),
            packet_hops: sum(&|c| c.hops),
            data_hops: sum(&|c| c.data_hops),
            flows_ended: sum(&|c| c.ended),
            wall: self.started.elapsed(),
        }
    }

    fn sample_if_due(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let (Some(sampling), Some(due)) = (self.sampling, self.next_sample_ps) else { return Ok(()) };
        let clock = self.clocks[0];
        if clock.drained || clock.now_ps() < due {
            return Ok(());
        }
        self.device.write(SYNC, kernels::S_SETTLE as usize, &pair(due))?;
        self.device.upkeep(Upkeep::Settle)?;
        let mut sample = Sample { time_ps: due, ..Sample::default() };
        for port in &sampling.ports {
            self.sample_port(*port, &mut sample)?;
        }
        for flow in &sampling.flows {
            let f: Flow = self.record(7, *flow)?;
            sample.flows.push(FlowSample {
                flow: *flow,
                rate_kbps: f.rate,
                alpha_q32: f.alpha,
                acked_packets: f.una,
                in_flight_packets: f.nxt - f.una,
            });
        }
        observer.sample(&sample)?;
        self.next_sample_ps = Some(due + sampling.interval_ps);
        Ok(())
    }

    fn sample_port(&mut self, port: u32, sample: &mut Sample) -> Result<(), Error> {
        let state: Port = self.record(3, port)?;
        for class in 0..self.layout.parts[0].n_queues - 1 {
            let q: Queue = self.record(4, port * self.layout.queue_stride + class + 1)?;
            sample.queues.push(QueueSample {
                port,
                class,
                queue_bytes: q.bytes,
                tx_bytes: join(q.tx_bytes),
                paused: state.paused >> (class + 1) & 1 != 0,
            });
        }
        Ok(())
    }

    fn record<T: bytemuck::Pod>(&mut self, which: usize, i: u32) -> Result<T, Error> {
        let n = size_of::<T>() / 4;
        let mut words = vec![0; n];
        self.device.read(which, i as usize * n, &mut words)?;
        Ok(bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words)))
    }

    fn reports(&mut self) -> Result<Vec<Report>, Error> {
        let mut buffers = self.device.take()?;
        let ends: Vec<(u64, bool)> = (0..self.cases.len()).map(|s| self.end_of(s, &mut buffers)).collect();
        for (s, (end_ps, _)) in ends.iter().enumerate() {
            let at = s * BLOCK + kernels::S_SETTLE as usize;
            buffers.sync[at..at + 2].copy_from_slice(&pair(*end_ps));
        }
        let mut host = Native::new(1);
        host.put(buffers, &self.layout)?;
        host.upkeep(Upkeep::Settle)?;
        let buffers = host.take()?;
        let now_ps = ends.iter().map(|e| e.0).max().unwrap_or(0);
        let progress = Progress { now_ps, ..self.progress() };
        let mut reports = Vec::new();
        for (s, (end_ps, stopped)) in ends.into_iter().enumerate() {
            let (case, part) = (self.cases[s], &self.layout.parts[s]);
            readout::check_conservation(case, &buffers, &self.layout, part)?;
            let outcome = readout::outcome(case, &buffers, &self.layout, part, self.clocks[s].base_ps, end_ps, stopped);
            reports.push(Report {
                outcome,
                adapter: self.device.info(),
                window_ps: part.window_ps,
                windows: self.windows,
                state_bytes: self.state_bytes,
                progress,
                interrupted: self.interrupted && !self.is_over(s),
            });
        }
        Ok(reports)
    }

    /// End of a case, and whether events were left.
    fn end_of(&self, s: usize, buffers: &mut Buffers) -> (u64, bool) {
        let part: &Part = &self.layout.parts[s];
        let clock = &self.clocks[s];
        if clock.drained || !readout::events_left(buffers, &self.layout, part) {
            return (readout::last_event_ps(buffers, part), false);
        }
        (clock.now_ps(), true)
    }
}
