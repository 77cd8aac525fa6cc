//! The fabric of a scenario.

use std::path::Path;

use crate::case::{EcnSpec, NodeKind};
use crate::error::{Error, InputError};
use crate::fabric::build::{self, Tiers, TwoTierShape};
use crate::fabric::{Channel, Graph, Headroom, PortRules, buffer, names, size};
use crate::import::hpcc_files;
use crate::scenario::files::Files;
use crate::scenario::infiniband;
use crate::scenario::read::{Amount, Reader, Sec};
use crate::scenario::rules::Classes;
use crate::units::{SHARE_ONE, propagation_ps, share_bits, share_q32};

/// Builds the graph, single-link changes included.
pub(crate) fn graph<'a>(reader: &'a Reader<'a>, files: &mut Files) -> Result<Graph, Error> {
    let sec = reader.section("fabric");
    let mut graph = match sec.word("kind")? {
        "graph" => from_file(&sec, files)?,
        "single" => {
            let endpoints = sec.num("endpoints")?;
            build::single(endpoints, &Tiers { host: channel(&sec, None, "link_rate", "link_length")?, up: BLANK, core: BLANK })
        }
        "fat-tree" => fat_tree(&sec)?,
        kind => two_tier(&sec, kind == "rail")?,
    };
    for link in reader.list("link") {
        change_link(&link, &mut graph)?;
    }
    Ok(graph)
}

const BLANK: Channel = Channel { rate_kbps: 0, propagation_ps: 0, loss_q32: 0, drop_every: 0 };

fn channel(sec: &Sec<'_>, auto: Option<u64>, rate: &'static str, length: &'static str) -> Result<Channel, InputError> {
    Ok(Channel {
        rate_kbps: sec.num_or_word(rate)?.or(auto).unwrap_or(0),
        propagation_ps: propagation_ps(sec.num(length)?),
        loss_q32: share_q32(sec.num("loss")?),
        drop_every: sec.short("drop_every")?,
    })
}

fn two_tiers_of_links(sec: &Sec<'_>) -> Result<Tiers, InputError> {
    let host = channel(sec, None, "link_rate", "link_length")?;
    let up = channel(sec, Some(host.rate_kbps), "uplink_rate", "uplink_length")?;
    Ok(Tiers { host, up, core: BLANK })
}

fn two_tier(sec: &Sec<'_>, rail: bool) -> Result<Graph, InputError> {
    let tiers = two_tiers_of_links(sec)?;
    let endpoints = sec.num("endpoints")?;
    let (rails, rail_only) = if rail { (sec.num("rails")?, sec.flag("rail_only")?) } else { (1, false) };
    if !endpoints.is_multiple_of(rails) {
        return Err(sec.error("endpoints", format!("must be a multiple of the {rails} rails")));
    }
    let [leaves, spines, down, parallel] = ["leaves", "spines", "endpoints_per_leaf", "parallel_links"].map(|name| sec.num_or_word(name));
    let (leaves, spines, down, parallel) = (leaves?, spines?, down?, parallel?);
    if let Some(l) = leaves
        && !l.is_multiple_of(rails)
    {
        return Err(sec.error("leaves", format!("must be a multiple of the {rails} rails")));
    }
    let down = match (down, leaves) {
        (None, Some(l)) => Some(endpoints.div_ceil(l)),
        (down, _) => down,
    };
    let (leaves, down, spines, parallel) = match (leaves, down, spines, parallel) {
        (Some(l), Some(d), Some(s), Some(p)) => (l, d, s, p),
        _ => {
            // Whatever is not stated follows the sizing rules.
            let radix = sec.num("radix")?;
            let over_milli = sec.num("oversubscription")? / (SHARE_ONE / 1000);
            let planes = if rail_only { rails } else { 1 };
            let rails_here = if rail_only { 1 } else { rails };
            let found = size::two_tier(endpoints / planes, radix, over_milli, down, rails_here).map_err(|m| sec.error("endpoints", m))?;
            let leaves = leaves.unwrap_or(found.leaves * planes);
            let default_spines = size::divisor_at_least(found.up, (leaves / planes * found.up).div_ceil(radix));
            let spines = spines.unwrap_or(default_spines * planes);
            let capacity = u128::from(found.up) * u128::from(tiers.host.rate_kbps);
            let one = u128::from((spines / planes).max(1)) * u128::from(tiers.up.rate_kbps.max(1));
            let parallel = parallel.unwrap_or_else(|| u64::try_from(capacity.div_ceil(one)).unwrap_or(1).max(1));
            (leaves, found.down, spines, parallel)
        }
    };
    if (endpoints / rails).div_ceil(down) * rails > leaves {
        return Err(sec.error("leaves", format!("{leaves} leaves of {down} endpoints hold fewer than {endpoints}")));
    }
    if rail_only && !spines.is_multiple_of(rails) {
        return Err(sec.error("spines", format!("must be a multiple of the {rails} rails, which share no spine")));
    }
    if leaves.saturating_mul(spines).saturating_mul(parallel) > 1 << 24 {
        return Err(sec.error("leaves", "makes more than 16 million links"));
    }
    Ok(build::two_tier(&TwoTierShape { endpoints, rails, leaves, down, spines, parallel, rail_only }, &tiers))
}

fn fat_tree(sec: &Sec<'_>) -> Result<Graph, InputError> {
    let mut tiers = two_tiers_of_links(sec)?;
    tiers.core = channel(sec, Some(tiers.up.rate_kbps), "core_rate", "core_length")?;
    let (endpoints, radix) = (sec.num("endpoints")?, sec.num("radix")?);
    let size = size::three_tier(endpoints, radix).map_err(|m| sec.error("endpoints", m))?;
    Ok(build::three_tier(endpoints, radix, &size, &tiers))
}

fn from_file(sec: &Sec<'_>, files: &mut Files) -> Result<Graph, Error> {
    let name = sec.text("topology")?;
    let (path, text) = files.read(sec, "topology", &name)?;
    Ok(hpcc_files::topology(&path, &text)?)
}

fn change_link(sec: &Sec<'_>, graph: &mut Graph) -> Result<(), InputError> {
    let index = names(graph);
    let end = |key: &'static str| -> Result<u32, InputError> {
        let name = sec.text(key)?;
        index.get(name.as_str()).copied().ok_or_else(|| sec.error(key, "there is no node of that name"))
    };
    let ends = [end("from")?, end("to")?];
    let both = sec.flag("both")?;
    let rate = sec.num_or_word("rate")?;
    let length = sec.num_or_word("length")?;
    let loss = sec.num_or_word("loss")?;
    let drop_every = sec.num_or_word("drop_every")?.map(|d| u32::try_from(d).unwrap_or(u32::MAX));
    let mut found = false;
    for link in &mut graph.links {
        for side in 0..2 {
            let way = [link.ends[side], link.ends[1 - side]];
            if way != ends && !(both && way == [ends[1], ends[0]]) {
                continue;
            }
            found = true;
            let channel = &mut link.channels[side];
            channel.rate_kbps = rate.unwrap_or(channel.rate_kbps);
            channel.propagation_ps = length.map_or(channel.propagation_ps, propagation_ps);
            channel.loss_q32 = loss.map_or(channel.loss_q32, share_q32);
            channel.drop_every = drop_every.unwrap_or(channel.drop_every);
        }
    }
    if found { Ok(()) } else { Err(sec.error("to", "there is no link between these nodes")) }
}

/// What all ports have in common.
pub(crate) fn port_rules<'a>(reader: &'a Reader<'a>, classes: &Classes, frame: u32, graph: &Graph) -> Result<PortRules, InputError> {
    let (fabric, switch, transport) = (reader.section("fabric"), reader.section("switch"), reader.section("transport"));
    let has_switches = graph.nodes.iter().any(|n| n.kind == NodeKind::Switch);
    let alpha = |name| -> Result<u32, InputError> { Ok(share_bits(switch.num(name)?, 7).unwrap_or(1024)) };
    let frame_bytes = u64::from(frame);
    if infiniband::is_on(reader)? {
        // Of a switch only its latency and its way of forwarding; buffers belong to lanes.
        return Ok(PortRules {
            phy_ps: fabric.num("phy_latency")?,
            switch_latency_ps: if has_switches { switch.num("latency")? } else { 0 },
            nic_latency_ps: reader.section("nic").num("latency")?,
            frame_bytes,
            gap_bytes: transport.num("gap")?,
            pfc_bytes: transport.num("pfc_frame")?,
            cut_through: switch.flag("cut_through")?,
            hash_seed: fabric.num("hash_seed")?,
            ..PortRules::without_buffers()
        });
    }
    let headroom = match switch.amount("headroom")? {
        Amount::Is(bytes) => Headroom::Bytes(bytes),
        Amount::Word("three-delays") => Headroom::ThreeDelays,
        Amount::Word(_) => Headroom::Auto,
    };
    let count = |f: &dyn Fn(&crate::case::ClassSpec) -> bool| classes.specs.iter().filter(|c| f(c)).map(|_| 1).sum();
    let (ecn, ecn_by_rate) = marking(reader)?;
    Ok(PortRules {
        phy_ps: fabric.num("phy_latency")?,
        switch_latency_ps: if has_switches { switch.num("latency")? } else { 0 },
        nic_latency_ps: reader.section("nic").num("latency")?,
        pfc_response_ps: switch.num_or_word("pfc_response")?,
        frame_bytes,
        gap_bytes: transport.num("gap")?,
        pfc_bytes: transport.num("pfc_frame")?,
        reserve_bytes: switch.num("reserve")?,
        headroom,
        xon_gap_bytes: switch.num_or_word("xon_gap")?.unwrap_or(2 * frame_bytes),
        alpha_q7: alpha("alpha")?,
        alpha_lossy_q7: alpha("alpha_lossy")?,
        alpha_by_rate: switch.word("alpha_scaling")? == "rate",
        ecn_by_rate,
        ecn,
        buffer_bytes: switch.num("buffer")?,
        n_classes: count(&|_| true),
        n_lossless: count(&|c| c.lossless),
        cut_through: switch.flag("cut_through")?,
        hash_seed: fabric.num("hash_seed")?,
    })
}

fn marking<'a>(reader: &'a Reader<'a>) -> Result<(buffer::Marking, Vec<(u64, EcnSpec)>), InputError> {
    let sec = reader.section("ecn");
    let (kmin_bytes, kmax_bytes) = (sec.num("kmin")?, sec.num("kmax")?);
    if kmin_bytes > kmax_bytes {
        return Err(sec.error("kmin", "must not be above `kmax`"));
    }
    let mut by_rate = Vec::new();
    for row in sec.tables("by_rate") {
        let spec = buffer::ecn_spec(row.num("kmin")?, row.num("kmax")?, row.num("pmax")?).map_err(|m| row.error("kmin", m))?;
        by_rate.push((row.num("rate")?, spec));
    }
    Ok((buffer::Marking { kmin_bytes, kmax_bytes, pmax: sec.num("pmax")?, at_rate_kbps: sec.num_or_word("at_rate")? }, by_rate))
}

/// Resolves a path of a scenario.
pub(crate) fn beside(scenario: &Path, name: &str) -> std::path::PathBuf {
    scenario.parent().unwrap_or_else(|| Path::new("")).join(name)
}
