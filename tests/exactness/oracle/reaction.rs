//! Reaction point of DCQCN, timer by timer.

use fabricsim::case::Reaction;

use super::Oracle;

#[derive(Debug, Default, Clone)]
pub struct ReactionPoint {
    pub rate: u64,
    target: u64,
    pub alpha: u64,
    started: bool,
    alpha_at: Option<u64>,
    cut_at: Option<u64>,
    increase_at: Option<u64>,
    alpha_flag: bool,
    cut_flag: bool,
    time_stage: u64,
    byte_stage: u64,
    bytes: u64,
}

const STAGE_MAX: u64 = 1 << 20;
const ONE: u64 = (1 << 32) - 1;

impl ReactionPoint {
    pub fn start(line: u64) -> Self {
        Self { rate: line, target: line, ..Self::default() }
    }
}

impl Oracle<'_> {
    fn increase(&mut self, f: usize, add: u64) {
        let line = self.flows[f].line;
        let cc = &mut self.flows[f].cc;
        cc.target = (cc.target + add).min(line);
        cc.rate = (cc.rate / 2 + cc.target / 2 + ((cc.rate | cc.target) & 1)).min(line);
    }

    fn increase_by_phase(&mut self, f: usize) {
        let d = &self.case.rules.dcqcn;
        let (time, byte) = (self.flows[f].cc.time_stage, self.flows[f].cc.byte_stage);
        let (high, low, fast) = (time.max(byte), time.min(byte), u64::from(d.fast_recovery));
        let add = if high < fast {
            0
        } else if low >= fast {
            (low - fast + 1) * u64::from(d.rate_hai_kbps)
        } else {
            u64::from(d.rate_ai_kbps)
        };
        self.increase(f, add);
    }

    fn cut(&mut self, f: usize) {
        let d = &self.case.rules.dcqcn;
        let cc = &mut self.flows[f].cc;
        let mut keep = cc.rate - ((cc.rate * (cc.alpha >> d.cut_shift)) >> 32);
        if d.min_keep_q32 > 0 {
            keep = keep.max((cc.rate * u64::from(d.min_keep_q32)) >> 32);
        }
        cc.rate = cc.rate.min(keep.max(u64::from(d.rate_min_kbps)));
    }

    fn alpha_step(&mut self, f: usize, with_cnp: bool) {
        let g = u64::from(self.case.rules.dcqcn.g_q32);
        let cc = &mut self.flows[f].cc;
        cc.alpha -= (cc.alpha * g) >> 32;
        if with_cnp {
            cc.alpha = (cc.alpha + g).min(ONE);
        }
    }

    fn lowers_target(&self, f: usize) -> bool {
        let d = &self.case.rules.dcqcn;
        let cc = &self.flows[f].cc;
        d.clamp_target || (d.clamp_after_time_increase && cc.time_stage > 0)
    }

    /// Processes all timers of a flow that are due by now.
    pub fn run_timers(&mut self, f: usize) {
        let d = self.case.rules.dcqcn;
        let firmware = self.case.rules.reaction == Reaction::DcqcnFirmware;
        loop {
            let cc = &self.flows[f].cc;
            let due = |t: Option<u64>| t.unwrap_or(u64::MAX);
            let at = due(cc.alpha_at).min(due(cc.cut_at)).min(due(cc.increase_at));
            if at == u64::MAX || at > self.now {
                return;
            }
            if cc.alpha_at == Some(at) {
                let flag = cc.alpha_flag;
                self.alpha_step(f, flag);
                self.flows[f].cc.alpha_flag = false;
                self.flows[f].cc.alpha_at = Some(at + d.alpha_period_ps);
            } else if cc.cut_at == Some(at) {
                if cc.cut_flag {
                    if self.lowers_target(f) {
                        self.flows[f].cc.target = self.flows[f].cc.rate;
                    }
                    self.cut(f);
                    let cc = &mut self.flows[f].cc;
                    cc.time_stage = 0;
                    cc.cut_flag = false;
                    cc.increase_at = Some(at + d.increase_period_ps);
                }
                self.flows[f].cc.cut_at = Some(at + d.cut_period_ps);
            } else {
                self.flows[f].cc.increase_at = Some(at + d.increase_period_ps);
                if firmware {
                    let (stage, fast) = (self.flows[f].cc.time_stage, u64::from(d.fast_recovery));
                    let add = match stage.cmp(&fast) {
                        std::cmp::Ordering::Less => 0,
                        std::cmp::Ordering::Equal => d.rate_ai_kbps,
                        std::cmp::Ordering::Greater => d.rate_hai_kbps,
                    };
                    self.increase(f, u64::from(add));
                    self.flows[f].cc.time_stage = (stage + 1).min(STAGE_MAX);
                } else {
                    self.flows[f].cc.time_stage = (self.flows[f].cc.time_stage + 1).min(STAGE_MAX);
                    self.increase_by_phase(f);
                }
            }
        }
    }

    pub fn react(&mut self, f: usize) {
        let d = self.case.rules.dcqcn;
        let now = self.now;
        self.flows[f].out.cnps_handled += 1;
        if self.case.rules.reaction == Reaction::A10 {
            self.becn(f);
        }
        if matches!(self.case.rules.reaction, Reaction::None | Reaction::A10) {
            return;
        }
        self.run_timers(f);
        let first = !self.flows[f].cc.started;
        let line = self.flows[f].line;
        self.flows[f].cc.started = true;
        if first {
            self.flows[f].cc.alpha = u64::from(d.alpha_init_q32);
        }
        if self.case.rules.reaction == Reaction::DcqcnPaper {
            if first || self.lowers_target(f) || self.flows[f].cc.byte_stage > 0 {
                self.flows[f].cc.target = self.flows[f].cc.rate;
            }
            self.cut(f);
            self.alpha_step(f, true);
            let cc = &mut self.flows[f].cc;
            (cc.time_stage, cc.byte_stage, cc.bytes) = (0, 0, 0);
            cc.alpha_at = Some(now + d.alpha_period_ps);
            cc.increase_at = Some(now + d.increase_period_ps);
            return;
        }
        let cc = &mut self.flows[f].cc;
        cc.cut_flag = true;
        if !first {
            cc.alpha_flag = true;
            return;
        }
        cc.target = cc.rate;
        if d.rate_first_cnp_kbps > 0 {
            cc.rate = line.min(u64::from(d.rate_min_kbps).max(cc.rate.min(u64::from(d.rate_first_cnp_kbps))));
            cc.target = cc.rate;
        }
        cc.alpha_at = Some(now + d.alpha_period_ps);
        cc.cut_at = Some(now + d.cut_period_ps + d.first_cut_extra_ps);
    }

    /// Byte counter, after a data packet of `size` frame bytes.
    pub fn count_bytes(&mut self, f: usize, size: u64) {
        let limit = u64::from(self.case.rules.dcqcn.byte_counter_bytes);
        let cc = &mut self.flows[f].cc;
        if limit == 0 || !cc.started || self.case.rules.reaction != Reaction::DcqcnPaper {
            return;
        }
        cc.bytes += size;
        if cc.bytes >= limit {
            cc.bytes -= limit;
            cc.byte_stage = (cc.byte_stage + 1).min(STAGE_MAX);
            self.increase_by_phase(f);
        }
    }
}
