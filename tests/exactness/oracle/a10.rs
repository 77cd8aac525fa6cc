//! Reaction point of annex A10: a table of injection delays and a timer.

use std::collections::BTreeMap;

use fabricsim::case::{A10, Case, Reaction};

use super::Oracle;

/// A congestion control table index, of a flow or of an endpoint and service level.
#[derive(Debug, Default, Clone)]
pub struct Cct {
    pub ccti: u32,
    pub ccti_max: u32,
    timer: Option<u64>,
}

/// The index that each flow uses, and all of them at the start.
pub fn indices(case: &Case) -> (Vec<usize>, Vec<Cct>) {
    let Some(a10) = case.credits.as_ref().map(|c| &c.a10).filter(|_| case.rules.reaction == Reaction::A10) else {
        return ((0..case.flows.len()).collect(), vec![Cct::default(); case.flows.len()]);
    };
    let mut known = BTreeMap::new();
    let of = |(i, f): (usize, &fabricsim::case::FlowSpec)| {
        let key = if a10.by_sl { (f.src, usize::from(f.sl)) } else { (f.src, i) };
        let next = known.len();
        *known.entry(key).or_insert(next)
    };
    let of: Vec<usize> = case.flows.iter().enumerate().map(of).collect();
    let least = u32::from(a10.ccti_min);
    (of, vec![Cct { ccti: least, ccti_max: least, timer: None }; known.len()])
}

impl Oracle<'_> {
    fn a10(&self) -> &A10 {
        &self.case.credits.as_ref().expect("InfiniBand").a10
    }

    /// Expiries due by now.
    pub fn run_ccti(&mut self, f: usize) {
        if self.case.rules.reaction != Reaction::A10 {
            return;
        }
        let (period, least) = (self.a10().ccti_timer_ps, u32::from(self.a10().ccti_min));
        let cct = &mut self.ccts[self.cct_of[f]];
        while let Some(at) = cct.timer.filter(|at| *at <= self.now) {
            cct.ccti -= 1;
            cct.timer = (cct.ccti > least).then_some(at + period);
        }
    }

    pub fn becn(&mut self, f: usize) {
        self.run_ccti(f);
        let (step, limit) = (u32::from(self.a10().ccti_increase), u32::from(self.a10().ccti_limit));
        let (period, least) = (self.a10().ccti_timer_ps, u32::from(self.a10().ccti_min));
        let cct = &mut self.ccts[self.cct_of[f]];
        cct.ccti = (cct.ccti + step).min(limit);
        cct.ccti_max = cct.ccti_max.max(cct.ccti);
        if cct.timer.is_none() && cct.ccti > least {
            cct.timer = Some(self.now + period);
        }
    }

    /// From the start of a frame of a flow to the earliest start of its next one.
    pub fn injection_gap(&mut self, f: usize, serialization: u64) -> u64 {
        self.run_ccti(f);
        let (shift, multiplier) = self.a10().cct[self.ccts[self.cct_of[f]].ccti as usize];
        serialization + (serialization >> shift) * u64::from(multiplier)
    }
}
