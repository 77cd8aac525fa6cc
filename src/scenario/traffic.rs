//! The traffic of a scenario: groups of flows, made or read.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::{NodeKind, NodeSpec, PortSpec};
use crate::error::{Error, InputError};
use crate::fabric::Graph;
use crate::import::hpcc_files;
use crate::scenario::files::Files;
use crate::scenario::read::{Reader, Sec};
use crate::scenario::rules::Classes;
use crate::workload::generate::{self, MOST_FLOWS, Pair, Poisson, Sizes};
use crate::workload::lists::{self, Record, mistake};
use crate::workload::rng::mix;

/// A flow on its way to the case: node indices, but `after` still an id.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) id: u32,
    pub(crate) group: u32,
    pub(crate) src: u32,
    pub(crate) dst: u32,
    pub(crate) class: u32,
    pub(crate) sl: u8,
    pub(crate) size_bytes: u64,
    pub(crate) start_ps: u64,
    pub(crate) after: Option<(u32, Option<bool>)>,
    pub(crate) hash_data: u32,
    pub(crate) hash_ack: u32,
    pub(crate) path_data: Vec<u32>,
    pub(crate) path_ack: Vec<u32>,
}

/// All groups' names and flows.
pub(crate) struct Traffic {
    pub(crate) groups: Vec<String>,
    pub(crate) flows: Vec<Draft>,
}

/// What traffic refers to.
pub(crate) struct Place<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) nodes: &'a [NodeSpec],
    pub(crate) ports: &'a [PortSpec],
    pub(crate) classes: &'a Classes,
    /// InfiniBand: lane of each service level.
    pub(crate) lanes: Option<[u8; 16]>,
    pub(crate) seed: u64,
}

/// Where a flow was stated, for errors.
struct Origin<'a> {
    sec: &'a Sec<'a>,
    file: Option<std::path::PathBuf>,
}

impl Origin<'_> {
    fn wrong(&self, line: usize, key: &str, found: &str, message: impl Into<String>) -> InputError {
        match &self.file {
            Some(file) => mistake(file, line, key, found, message),
            None => mistake(self.sec.file(), if line > 0 { line } else { self.sec.line() }, &self.sec.path(key), found, message),
        }
    }
}

/// Reads all `[[traffic]]`.
pub(crate) fn traffic<'a>(reader: &'a Reader<'a>, place: &Place<'_>, files: &mut Files) -> Result<Traffic, Error> {
    let mut all = Traffic { groups: Vec::new(), flows: Vec::new() };
    let mut builder = Builder { place, endpoints: Vec::new(), index: BTreeMap::new(), taken: BTreeSet::new(), next_id: 0 };
    builder.endpoints = (0_u32..).zip(place.nodes).filter(|(_, n)| n.kind == NodeKind::Endpoint).map(|(i, _)| i).collect();
    builder.index = crate::fabric::names(place.graph).into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
    let sections = reader.list("traffic");
    let mut lists = Vec::new();
    for (i, sec) in sections.iter().enumerate() {
        let kind = sec.word("kind")?;
        let name = sec.text_if_set("name")?.unwrap_or_else(|| format!("{kind}{i}"));
        if all.groups.contains(&name) {
            return Err(sec.error("name", "is taken by another traffic group").into());
        }
        all.groups.push(name);
        let (records, file) = builder.records(sec, kind, files)?;
        // Ids that lists state are taken before others are given out.
        builder.taken.extend(records.iter().filter_map(|r| r.id));
        lists.push((records, file));
    }
    for (i, (sec, (records, file))) in sections.iter().zip(lists).enumerate() {
        let origin = Origin { sec, file };
        let group = u32::try_from(i).unwrap_or(u32::MAX);
        builder.add(&origin, group, records, &mut all.flows)?;
        if all.flows.len() > MOST_FLOWS {
            return Err(sec.error("kind", format!("makes more than {MOST_FLOWS} flows in all")).into());
        }
    }
    Ok(all)
}

type Listed = (Vec<Record>, Option<std::path::PathBuf>);

struct Builder<'a> {
    place: &'a Place<'a>,
    /// Nodes of the endpoints by number.
    endpoints: Vec<u32>,
    index: BTreeMap<String, u32>,
    taken: BTreeSet<u32>,
    next_id: u32,
}

impl Builder<'_> {
    fn records(&self, sec: &Sec<'_>, kind: &str, files: &mut Files) -> Result<Listed, Error> {
        match kind {
            "flows" => Ok((inline(sec)?, None)),
            "csv" => {
                let name = sec.text("file")?;
                let (path, text) = files.read(sec, "file", &name)?;
                Ok((lists::csv(&path, &text)?, Some(path)))
            }
            "hpcc" => {
                let name = sec.text("file")?;
                let (path, text) = files.read(sec, "file", &name)?;
                let pinned = sec.text_if_set("paths")?.map(|name| files.read(sec, "paths", &name)).transpose()?;
                let pinned = pinned.as_ref().map(|(p, t)| (p.as_path(), t.as_str()));
                let records = hpcc_files::records(&path, &text, pinned, self.place.graph, sec.num("time_zero")?)?;
                Ok((records, Some(path)))
            }
            _ => {
                let pairs = self.pairs(sec, kind, files)?;
                let record = |p: Pair| Record {
                    src: p.src.to_string(),
                    dst: p.dst.to_string(),
                    size_bytes: p.size_bytes,
                    start_ps: p.start_ps,
                    after_record: p.after,
                    ..Record::default()
                };
                Ok((pairs.into_iter().map(record).collect(), None))
            }
        }
    }

    fn pairs(&self, sec: &Sec<'_>, kind: &str, files: &mut Files) -> Result<Vec<Pair>, Error> {
        let n = u64::try_from(self.endpoints.len()).unwrap_or(0);
        if kind == "poisson" {
            return self.poisson(sec, n, files);
        }
        let (size, repeat) = (sec.num("size")?, sec.num("repeat")?);
        let interval = if repeat > 1 { sec.num("interval")? } else { 0 };
        let seed = seed(sec, self.place.seed)?;
        let mut pairs: Vec<Pair> = Vec::new();
        for round in 0..repeat {
            let start = interval.saturating_mul(round);
            let seed = mix(seed, round);
            let more = match kind {
                "incast" => {
                    let receiver = self.number_of(sec, "receiver")?;
                    let stride = sec.num_if_set("stride")?.unwrap_or(0);
                    generate::incast(n, receiver, sec.num("senders")?, stride, size, start, seed).map_err(|m| sec.error("senders", m))
                }
                "permutation" => generate::permutation(n, sec.num("shift")?, size, start, seed).map_err(|m| sec.error("shift", m)),
                _ => {
                    let group = sec.num_or_word("group")?.unwrap_or(n);
                    let stride = sec.num_if_set("stride")?.unwrap_or(1);
                    if n.saturating_mul(group) > u64::try_from(MOST_FLOWS / 2).unwrap_or(0) {
                        return Err(sec.error("group", format!("makes more than {MOST_FLOWS} flows")).into());
                    }
                    let make = if kind == "ring" { generate::ring } else { generate::all_to_all };
                    make(n, group, stride, size, start).map_err(|m| sec.error("group", m))
                }
            }?;
            let base = pairs.len();
            pairs.extend(more.into_iter().map(|p| Pair { after: p.after.map(|a| a + base), ..p }));
            if pairs.len() > MOST_FLOWS {
                return Err(sec.error("repeat", format!("makes more than {MOST_FLOWS} flows")).into());
            }
        }
        Ok(pairs)
    }

    fn poisson(&self, sec: &Sec<'_>, endpoints: u64, files: &mut Files) -> Result<Vec<Pair>, Error> {
        let sizes = match sec.text_if_set("cdf")? {
            Some(name) => {
                let (path, text) = files.read(sec, "cdf", &name)?;
                lists::cdf(&path, &text)?
            }
            None => Sizes::fixed(sec.num("size")?),
        };
        let first = self.endpoints.first().map_or(0, |e| self.place.nodes[*e as usize].first_port);
        let poisson = Poisson {
            endpoints,
            sizes,
            load: sec.num("load")?,
            rate_kbps: self.place.ports.get(first as usize).map_or(0, |p| p.rate_kbps),
            start_ps: 0,
            duration_ps: sec.num("duration")?,
            seed: seed(sec, self.place.seed)?,
        };
        Ok(poisson.flows().map_err(|m| sec.error("load", m))?)
    }

    /// Node of an endpoint by name or number.
    fn endpoint(&self, text: &str) -> Result<u32, String> {
        if let Ok(number) = text.parse::<usize>() {
            let last = self.endpoints.len().saturating_sub(1);
            return self.endpoints.get(number).copied().ok_or_else(|| format!("is not an endpoint; they are numbered 0 to {last}"));
        }
        match self.index.get(text) {
            Some(node) if self.place.nodes[*node as usize].kind == NodeKind::Endpoint => Ok(*node),
            Some(_) => Err("is a switch; flows run between endpoints".to_owned()),
            None => Err(format!(
                "is not an endpoint; names are like `{}`",
                self.endpoints.first().map_or("", |e| &self.place.nodes[*e as usize].name)
            )),
        }
    }

    fn number_of(&self, sec: &Sec<'_>, key: &'static str) -> Result<u64, InputError> {
        let node = self.endpoint(&sec.text(key)?).map_err(|m| sec.error(key, m))?;
        Ok(self.endpoints.iter().position(|e| *e == node).and_then(|p| u64::try_from(p).ok()).unwrap_or(0))
    }

    fn add(&mut self, origin: &Origin<'_>, group: u32, records: Vec<Record>, flows: &mut Vec<Draft>) -> Result<(), InputError> {
        let (class, sl) = match self.place.lanes {
            Some(lanes) => {
                let sl = origin.sec.num("sl")?;
                let lane = u32::from(lanes[usize::try_from(sl).unwrap_or(0)]);
                if lane == 15 {
                    return Err(origin.sec.error("sl", "is mapped to lane 15, which drops"));
                }
                (lane, u8::try_from(sl).unwrap_or(0))
            }
            None => (self.place.classes.find(origin.sec, "class")?, 0),
        };
        let start = origin.sec.num("start")?;
        let seed = seed(origin.sec, self.place.seed)?;
        let mut ids: Vec<u32> = Vec::with_capacity(records.len());
        for r in records {
            let src = self.endpoint(&r.src).map_err(|m| origin.wrong(r.line, "src", &r.src, m))?;
            let dst = self.endpoint(&r.dst).map_err(|m| origin.wrong(r.line, "dst", &r.dst, m))?;
            if src == dst {
                return Err(origin.wrong(r.line, "dst", &r.dst, "is the source too"));
            }
            if r.size_bytes == 0 {
                return Err(origin.wrong(r.line, "size", "0", "a message has at least 1 byte"));
            }
            let id = r.id.unwrap_or_else(|| self.free_id());
            ids.push(id);
            let after = r.after_record.map(|at| (ids[at], Some(true))).or(r.after.map(|a| (a, r.on_received)));
            let pin = |path: &[String], from: u32, to: u32, key: &str| {
                self.pin(path, from, to).map_err(|m| origin.wrong(r.line, key, &path.join(" "), m))
            };
            let hash = |from: u32, to: u32, salt: u64| {
                let ends = (u64::from(from) << 32) | u64::from(to);
                u32::try_from(mix(mix(seed ^ salt, ends), u64::from(id)) >> 32).unwrap_or(0)
            };
            flows.push(Draft {
                id,
                group,
                src,
                dst,
                class,
                sl,
                size_bytes: r.size_bytes,
                start_ps: if after.is_some() { r.start_ps } else { start.saturating_add(r.start_ps) },
                after,
                hash_data: hash(src, dst, 0),
                hash_ack: hash(dst, src, 0xAC4B),
                path_data: pin(&r.path, src, dst, "path")?,
                path_ack: pin(&r.ack_path, dst, src, "ack_path")?,
            });
        }
        Ok(())
    }

    fn free_id(&mut self) -> u32 {
        while self.taken.contains(&self.next_id) {
            self.next_id += 1;
        }
        self.next_id += 1;
        self.next_id - 1
    }

    /// Egress ports at the switches of a path, but for the last switch, which knows its endpoint.
    fn pin(&self, path: &[String], from: u32, to: u32) -> Result<Vec<u32>, String> {
        let mut at = self.peer_of(from);
        let mut ports = Vec::new();
        for (i, name) in path.iter().enumerate() {
            let next = *self.index.get(name).ok_or_else(|| format!("there is no node `{name}`"))?;
            let node = &self.place.nodes[next as usize];
            if node.kind == NodeKind::Endpoint {
                return Err(format!("`{name}` is an endpoint; a path lists the switches between source and destination"));
            }
            if i == 0 {
                if next != at {
                    return Err(format!("the source is not connected to `{name}`"));
                }
                continue;
            }
            let here = &self.place.nodes[at as usize];
            let own = here.first_port..here.first_port + here.n_ports;
            let port = own.into_iter().find(|p| self.place.ports[self.place.ports[*p as usize].peer as usize].node == next);
            ports.push(port.ok_or_else(|| format!("`{}` and `{name}` are not connected", here.name))?);
            if path[..i].contains(name) {
                return Err(format!("`{name}` occurs twice"));
            }
            at = next;
        }
        if !path.is_empty() && at != self.peer_of(to) {
            return Err("the path does not end at the destination's switch".to_owned());
        }
        Ok(ports)
    }

    fn peer_of(&self, endpoint: u32) -> u32 {
        let port = self.place.nodes[endpoint as usize].first_port;
        self.place.ports[self.place.ports[port as usize].peer as usize].node
    }
}

fn seed(sec: &Sec<'_>, scenario: u64) -> Result<u64, InputError> {
    Ok(sec.num_or_word("seed")?.unwrap_or(scenario))
}

fn inline(sec: &Sec<'_>) -> Result<Vec<Record>, InputError> {
    let rows = sec.tables("flows");
    if rows.is_empty() {
        return Err(sec.error("flows", "is missing or empty; write e.g. [{ src = 0, dst = 1, size = \"1 MB\" }]"));
    }
    let words = |text: Option<String>| text.map(|t| t.split_whitespace().map(str::to_owned).collect()).unwrap_or_default();
    let id =
        |row: &Sec<'_>, value: Option<u64>, key| value.map(|v| u32::try_from(v).map_err(|_| row.error(key, "is too large"))).transpose();
    let read = |row: Sec<'_>| {
        Ok(Record {
            line: row.line(),
            id: id(&row, row.num_or_word("id")?, "id")?,
            src: row.text("src")?,
            dst: row.text("dst")?,
            size_bytes: row.num("size")?,
            start_ps: row.num("start")?,
            after: id(&row, row.num_if_set("after")?, "after")?,
            after_record: None,
            on_received: if row.has("after") { row.word_if_set("on")?.map(|w| w == "received") } else { None },
            path: words(row.text_if_set("path")?),
            ack_path: words(row.text_if_set("ack_path")?),
        })
    };
    rows.into_iter().map(read).collect()
}
