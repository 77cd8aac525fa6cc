//! Classes, transport and congestion control of a scenario.

use crate::case::{ClassSpec, CnpMode, Dcqcn, Reaction, Recovery, Rules};
use crate::error::InputError;
use crate::scenario::read::{Reader, Sec};
use crate::units::share_q32;

/// Classes in service order, and their names.
pub(crate) struct Classes {
    pub(crate) specs: Vec<ClassSpec>,
    names: Vec<String>,
}

impl Classes {
    /// Data lanes of InfiniBand.
    pub(crate) fn lanes(n: u8) -> Self {
        let spec = |priority| ClassSpec { priority, lossless: true, ecn: true, quantum_bytes: 0 };
        Self { specs: (0..n).map(spec).collect(), names: (0..n).map(|lane| format!("VL{lane}")).collect() }
    }

    /// The class of a name, or an error about `key`.
    pub(crate) fn find(&self, sec: &Sec<'_>, key: &'static str) -> Result<u32, InputError> {
        let name = sec.text(key)?;
        self.position(&name).ok_or_else(|| sec.error(key, format!("there is no class of that name; classes are {}", self.names.join(", "))))
    }

    fn find_or_flow(&self, sec: &Sec<'_>, key: &'static str) -> Result<Option<u32>, InputError> {
        if sec.text(key)? == "flow" { Ok(None) } else { self.find(sec, key).map(Some) }
    }

    fn position(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|n| n == name).and_then(|i| u32::try_from(i).ok())
    }
}

/// Reads the classes; `frame` is the largest data frame (bytes).
pub(crate) fn classes<'a>(reader: &'a Reader<'a>, frame: u32) -> Result<Classes, InputError> {
    let mut rows: Vec<(String, ClassSpec)> = Vec::new();
    for sec in reader.list("class") {
        let name = sec.text("name")?;
        let priority = u8::try_from(sec.num("priority")?).map_err(|_| sec.error("priority", "must be 0 to 7"))?;
        if name == "flow" || rows.iter().any(|(n, _)| *n == name) {
            return Err(sec.error("name", "is taken; class names are unique, and not `flow`"));
        }
        if rows.iter().any(|(_, c)| c.priority == priority) {
            return Err(sec.error("priority", "is taken by another class"));
        }
        let quantum_bytes = match sec.word("service")? {
            "strict" => 0,
            _ => sec.short("weight")?.saturating_mul(frame),
        };
        rows.push((name, ClassSpec { priority, lossless: sec.flag("lossless")?, ecn: sec.flag("ecn")?, quantum_bytes }));
    }
    if rows.is_empty() || rows.len() > 7 {
        return Err(InputError {
            key: "class".to_owned(),
            message: format!("there are {} classes; allowed are 1 to 7", rows.len()),
            ..InputError::default()
        });
    }
    // Strict classes first, by falling priority; the sort is stable, so weighted ones keep the order of the file.
    rows.sort_by_key(|(_, c)| if c.quantum_bytes == 0 { -i16::from(c.priority) - 1 } else { 0 });
    let (names, specs) = rows.into_iter().unzip();
    Ok(Classes { specs, names })
}

/// Largest data frame (bytes).
pub(crate) fn frame_bytes<'a>(reader: &'a Reader<'a>) -> Result<u32, InputError> {
    let sec = reader.section("transport");
    Ok(sec.short("mtu")?.saturating_add(sec.short("data_header")?).saturating_add(sec.short("first_header")?))
}

/// Reads `[transport]`, `[cc]` and `[compat]`; `first_rate_kbps` is the rate of the first endpoint.
pub(crate) fn rules<'a>(reader: &'a Reader<'a>, classes: &Classes, first_rate_kbps: u64) -> Result<Rules, InputError> {
    let (transport, cc, compat) = (reader.section("transport"), reader.section("cc"), reader.section("compat"));
    let reaction = match cc.word("kind")? {
        "none" => Reaction::None,
        "a10" => Reaction::A10,
        _ => match cc.word("variant")? {
            "paper" => Reaction::DcqcnPaper,
            _ => Reaction::DcqcnFirmware,
        },
    };
    let rto_ps = transport.num_or_word("rto")?.unwrap_or(0);
    let cnp_mode = if cc.word("cnp_mode")? == "packet" { CnpMode::Packet } else { CnpMode::AckFlag };
    Ok(Rules {
        mtu_bytes: transport.short("mtu")?,
        data_header_bytes: transport.short("data_header")?,
        first_extra_bytes: transport.short("first_header")?,
        ack_bytes: transport.short("ack_frame")?,
        cnp_bytes: transport.short("cnp_frame")?,
        pfc_bytes: transport.short("pfc_frame")?,
        gap_bytes: transport.short("gap")?,
        grain_ps: compat.short("grain")?,
        ack_class: classes.find_or_flow(&transport, "ack_class")?,
        cnp_class: classes.find_or_flow(&transport, "cnp_class")?,
        ack_ignores_pause: compat.flag("ack_ignores_pause")?,
        eager_start: compat.flag("eager_start")?,
        tie_by_flow: compat.flag("tie_by_flow")?,
        hpcc_wakeup: compat.flag("hpcc_wakeup")?,
        ack_every: transport.short("ack_every")?,
        nak_interval_ps: transport.num("nak_interval")?,
        recovery: match transport.word("recovery")? {
            "go-back-0" => Recovery::GoBackZero,
            "selective-repeat" => Recovery::SelectiveRepeat,
            "out-of-order" => Recovery::OutOfOrder,
            _ => Recovery::GoBackN,
        },
        rto_ps,
        retry_limit: if rto_ps > 0 { transport.short("retry_limit")? } else { 0 },
        variable_window: transport.flag("variable_window")?,
        cnp_mode,
        cnp_interval_ps: if cnp_mode == CnpMode::Packet { cc.num("cnp_interval")? } else { 0 },
        reaction,
        dcqcn: dcqcn(&cc, reaction, first_rate_kbps)?,
    })
}

fn dcqcn(cc: &Sec<'_>, reaction: Reaction, first_rate_kbps: u64) -> Result<Dcqcn, InputError> {
    let idle = Dcqcn { alpha_period_ps: 1, cut_period_ps: 1, increase_period_ps: 1, rate_min_kbps: 1000, ..Dcqcn::default() };
    if matches!(reaction, Reaction::None | Reaction::A10) {
        return Ok(idle);
    }
    let firmware = reaction == Reaction::DcqcnFirmware;
    let at_rate = cc.num_or_word("at_rate")?;
    let step = |name| -> Result<u32, InputError> {
        let value = u128::from(cc.num(name)?);
        let scaled = at_rate.map_or(value, |base| value * u128::from(first_rate_kbps) / u128::from(base.max(1)));
        u32::try_from(scaled).map_err(|_| cc.error(name, "is too large at this link rate"))
    };
    let or_zero = |name| -> Result<u32, InputError> {
        u32::try_from(cc.num_or_word(name)?.unwrap_or(0)).map_err(|_| cc.error(name, "does not fit 32 bits"))
    };
    Ok(Dcqcn {
        g_q32: share_q32(cc.num("g")?),
        alpha_init_q32: share_q32(cc.num("alpha_init")?),
        alpha_period_ps: cc.num("alpha_period")?,
        cut_period_ps: if firmware { cc.num("cut_period")? } else { 1 },
        first_cut_extra_ps: if firmware { cc.num("first_cut_delay")? } else { 0 },
        increase_period_ps: cc.num("increase_period")?,
        byte_counter_bytes: if firmware { 0 } else { or_zero("byte_counter")? },
        fast_recovery: cc.short("fast_recovery")?,
        rate_ai_kbps: step("rate_ai")?,
        rate_hai_kbps: step("rate_hai")?,
        rate_min_kbps: cc.short("rate_min")?,
        rate_max_kbps: or_zero("rate_max")?,
        rate_first_cnp_kbps: if firmware { or_zero("rate_first_cnp")? } else { 0 },
        cut_shift: cc.short("cut_shift")?,
        min_keep_q32: share_q32(cc.num("min_keep")?),
        clamp_target: cc.flag("clamp_target")?,
        clamp_after_time_increase: cc.flag("clamp_after_increase")?,
    })
}
