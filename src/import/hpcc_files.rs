//! Topology, flow and path files of the HPCC ns-3 simulator and its relatives.

use std::path::Path;

use crate::case::NodeKind;
use crate::error::InputError;
use crate::fabric::{Channel, Graph, GraphNode, Link};
use crate::units::{Unit, share_q32};
use crate::workload::lists::{Record, mistake};

/// Words of a file with their lines.
struct Words<'a> {
    file: &'a Path,
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(file: &'a Path, text: &'a str) -> Self {
        let words = text.lines().enumerate().flat_map(|(i, l)| l.split_whitespace().map(move |w| (i + 1, w)));
        Self { file, words: Box::new(words), line: 1 }
    }

    fn next(&mut self, what: &str) -> Result<&'a str, InputError> {
        let (line, word) =
            self.words.next().ok_or_else(|| mistake(self.file, self.line, what, "", "is missing: the file ends too early"))?;
        self.line = line;
        Ok(word)
    }

    fn parse(&mut self, what: &str, unit: Unit) -> Result<u64, InputError> {
        let word = self.next(what)?;
        unit.parse(word).map_err(|m| self.wrong(what, word, m))
    }

    fn node(&mut self, what: &str, n_nodes: u64) -> Result<u32, InputError> {
        let id = self.parse(what, Unit::Count)?;
        match u32::try_from(id) {
            Ok(small) if id < n_nodes => Ok(small),
            _ => Err(self.wrong(what, &id.to_string(), format!("is not a node; nodes are 0 to {}", n_nodes.saturating_sub(1)))),
        }
    }

    fn wrong(&self, key: &str, found: &str, message: impl Into<String>) -> InputError {
        mistake(self.file, self.line, key, found, message)
    }
}

/// Reads a topology: `nodes switches links`, the switches' ids, and `from to rate delay loss` for each link.
///
/// Nodes are named `host<id>` and `switch<id>`. Parallel links are kept (the reference reader loses all but one).
///
/// # Errors
/// The first mistake.
pub fn topology(file: &Path, text: &str) -> Result<Graph, InputError> {
    let mut words = Words::new(file, text);
    let n_nodes = words.parse("number of nodes", Unit::Count)?;
    let n_switches = words.parse("number of switches", Unit::Count)?;
    let n_links = words.parse("number of links", Unit::Count)?;
    if n_nodes > 1 << 21 || n_links > 1 << 24 {
        return Err(words.wrong("number of nodes", &n_nodes.to_string(), "is too large; allowed are 2 million nodes and 16 million links"));
    }
    let mut kinds = vec![NodeKind::Endpoint; usize::try_from(n_nodes).unwrap_or(0)];
    for _ in 0..n_switches {
        let id = words.node("switch id", n_nodes)?;
        kinds[id as usize] = NodeKind::Switch;
    }
    let name = |(id, kind): (usize, NodeKind)| GraphNode {
        name: format!("{}{id}", if kind == NodeKind::Switch { "switch" } else { "host" }),
        kind,
    };
    let nodes = kinds.into_iter().enumerate().map(name).collect();
    let mut links = Vec::new();
    for _ in 0..n_links {
        let ends = [words.node("link source", n_nodes)?, words.node("link destination", n_nodes)?];
        if ends[0] == ends[1] {
            return Err(words.wrong("link destination", &ends[1].to_string(), "is the same node as the source"));
        }
        let rate_kbps = words.parse("link rate", Unit::Rate)?;
        let propagation_ps = words.parse("link delay", Unit::Time)?;
        let loss = words.parse("link error rate", Unit::Share)?;
        links.push(Link { ends, channels: [Channel { rate_kbps, propagation_ps, loss_q32: share_q32(loss), drop_every: 0 }; 2] });
    }
    if let Some((line, word)) = words.words.next() {
        return Err(mistake(file, line, "", word, format!("follows the last of {n_links} links")));
    }
    Ok(Graph { nodes, links })
}

/// A flow of a flow file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpccFlow {
    /// Line.
    pub line: usize,
    /// Source node id.
    pub src: u32,
    /// Destination node id.
    pub dst: u32,
    /// Priority group.
    pub priority: u64,
    /// Message size (bytes).
    pub size_bytes: u64,
    /// Start (ps).
    pub start_ps: u64,
    /// How many flows of the same pair come before it.
    pub nth_of_pair: u64,
}

/// Reads a flow file: the number of flows, then `src dst priority dport size start` (HPCC) or the same without `dport`
/// (ConWeave), decided by the first flow's line. Starts are in seconds.
///
/// # Errors
/// The first mistake.
pub fn flows(file: &Path, text: &str) -> Result<Vec<HpccFlow>, InputError> {
    let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l.split_whitespace().collect::<Vec<_>>())).filter(|(_, w)| !w.is_empty());
    let (line, head) = lines.next().ok_or_else(|| mistake(file, 1, "number of flows", "", "is missing"))?;
    let wrong = |line: usize, key: &str, found: &str, m: String| mistake(file, line, key, found, m);
    let count = Unit::Count.parse(head[0]).map_err(|m| wrong(line, "number of flows", head[0], m))?;
    if head.len() != 1 {
        return Err(wrong(line, "number of flows", &head.join(" "), "must stand alone in the first line".to_owned()));
    }
    let mut columns = None;
    let mut pairs = std::collections::BTreeMap::new();
    let mut flows = Vec::new();
    for (line, words) in lines {
        let n = *columns.get_or_insert(words.len());
        if words.len() != n || !(n == 5 || n == 6) {
            return Err(wrong(
                line,
                "",
                &words.join(" "),
                "a flow has six columns, src dst priority dport size start, or five without dport".to_owned(),
            ));
        }
        let number = |at: usize, key: &str, unit: Unit, text: &str| unit.parse(text).map_err(|m| wrong(line, key, words[at], m));
        let node = |at: usize, key: &str| {
            let value = number(at, key, Unit::Count, words[at])?;
            u32::try_from(value).map_err(|_| wrong(line, key, words[at], "is not a node".to_owned()))
        };
        let (src, dst) = (node(0, "src")?, node(1, "dst")?);
        let nth = pairs.entry((src, dst)).or_insert(0_u64);
        flows.push(HpccFlow {
            line,
            src,
            dst,
            priority: number(2, "priority", Unit::Count, words[2])?,
            size_bytes: number(n - 2, "size", Unit::Count, words[n - 2])?,
            start_ps: number(n - 1, "start", Unit::Time, &format!("{} s", words[n - 1]))?,
            nth_of_pair: *nth,
        });
        *nth += 1;
    }
    if u64::try_from(flows.len()).unwrap_or(u64::MAX) != count {
        return Err(wrong(1, "number of flows", head[0], format!("is wrong: {} flows follow", flows.len())));
    }
    Ok(flows)
}

/// Data and acknowledgement paths of one queue pair, as node ids from end to end.
type PinnedPaths = (Vec<u32>, Vec<u32>);

/// Reads pinned paths: lines `src dst sport D nodes A nodes`, where `sport` is 10000 plus the number of earlier flows of the pair.
///
/// # Errors
/// The first mistake.
fn paths(file: &Path, text: &str) -> Result<std::collections::BTreeMap<(u32, u32, u64), PinnedPaths>, InputError> {
    let mut all = std::collections::BTreeMap::new();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let wrong = || mistake(file, i + 1, "", line.trim(), "a path is `src dst sport D nodes A nodes`, nodes from end to end");
        let words: Vec<&str> = line.split_whitespace().collect();
        let at_d = words.iter().position(|w| *w == "D").filter(|at| *at == 3).ok_or_else(wrong)?;
        let at_a = words.iter().position(|w| *w == "A").ok_or_else(wrong)?;
        let numbers = |words: &[&str]| words.iter().map(|w| w.parse::<u32>().map_err(|_| wrong())).collect::<Result<Vec<u32>, _>>();
        let head = numbers(&words[..at_d])?;
        let (data, ack) = (numbers(words.get(at_d + 1..at_a).ok_or_else(wrong)?)?, numbers(&words[at_a + 1..])?);
        let ends = |path: &[u32], from: u32, to: u32| path.first() == Some(&from) && path.last() == Some(&to);
        if !ends(&data, head[0], head[1]) || !ends(&ack, head[1], head[0]) {
            return Err(wrong());
        }
        let nth = u64::from(head[2]).checked_sub(10_000).ok_or_else(wrong)?;
        all.insert((head[0], head[1], nth), (data, ack));
    }
    Ok(all)
}

/// Reads a flow file, and its pinned paths if there are any, as records of a list.
///
/// # Errors
/// The first mistake.
pub fn records(
    file: &Path,
    text: &str,
    pinned: Option<(&Path, &str)>,
    graph: &Graph,
    time_zero_ps: u64,
) -> Result<Vec<Record>, InputError> {
    let flows = flows(file, text)?;
    let paths = pinned.map(|(file, text)| paths(file, text)).transpose()?.unwrap_or_default();
    let name = |id: u32, line: usize, key: &str| {
        let node = graph.nodes.get(id as usize);
        node.map(|n| n.name.clone()).ok_or_else(|| mistake(file, line, key, &id.to_string(), "is not a node of the topology"))
    };
    let mut list = Vec::with_capacity(flows.len());
    for flow in flows {
        let start_ps = flow
            .start_ps
            .checked_sub(time_zero_ps)
            .ok_or_else(|| mistake(file, flow.line, "start", &Unit::Time.format(flow.start_ps), "is before `time_zero`"))?;
        let (data, ack) = paths.get(&(flow.src, flow.dst, flow.nth_of_pair)).cloned().unwrap_or_default();
        let inner = |path: Vec<u32>| {
            let inner = path.get(1..path.len().saturating_sub(1)).unwrap_or_default();
            inner.iter().map(|id| name(*id, flow.line, "path")).collect::<Result<Vec<_>, _>>()
        };
        list.push(Record {
            line: flow.line,
            src: name(flow.src, flow.line, "src")?,
            dst: name(flow.dst, flow.line, "dst")?,
            size_bytes: flow.size_bytes,
            start_ps,
            path: inner(data)?,
            ack_path: inner(ack)?,
            ..Record::default()
        });
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_topologies() {
        let graph = topology(Path::new("t"), "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 0.001ms 0.5\n").expect("valid");
        assert_eq!(graph.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["host0", "host1", "switch2"]);
        assert_eq!(
            graph.links[1].channels[0],
            Channel { rate_kbps: 100_000_000, propagation_ps: 1_000_000, loss_q32: 1 << 31, drop_every: 0 }
        );
        assert!(topology(Path::new("t"), "2 0 1\n0 1 100Gbps 1us 0\n").is_ok());
        for bad in [
            "",
            "3 1",
            "3 1 2\n2\n0 2 100Gbps 1000ns 0",
            "2 0 1\n0 5 1Gbps 1us 0",
            "2 0 1\n0 0 1Gbps 1us 0",
            "2 0 1\n0 1 1 1us 0",
            "2 0 0 9",
        ] {
            assert!(topology(Path::new("t"), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reads_both_forms_of_flows() {
        let six = flows(Path::new("f"), "2 \n1 0 3 100 10000000 2.000000000\n1 0 3 100 5 2.5\n").expect("valid");
        assert_eq!((six[0].size_bytes, six[0].start_ps, six[1].nth_of_pair), (10_000_000, 2_000_000_000_000, 1));
        let five = flows(Path::new("f"), "1\n1 0 3 77 2.0\n").expect("valid");
        assert_eq!(five[0].size_bytes, 77);
        for bad in ["", "2\n1 0 3 77 2.0\n", "1\n1 0 3\n", "x\n", "1\n1 0 3 77 -2\n"] {
            assert!(flows(Path::new("f"), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pins_paths() {
        let graph = topology(Path::new("t"), "4 2 3\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n").expect("valid");
        let paths = "0 1 10000 D 0 2 3 1 A 1 3 2 0\n";
        let list =
            records(Path::new("f"), "1\n0 1 3 100 9 2.0\n", Some((Path::new("p"), paths)), &graph, 2_000_000_000_000).expect("valid");
        assert_eq!(list[0].path, ["switch2", "switch3"]);
        assert_eq!(list[0].ack_path, ["switch3", "switch2"]);
        assert_eq!(list[0].start_ps, 0);
        for bad in ["0 1 10000 D 0 2 3 A 1 3 2 0", "0 1 10000 0 1", "0 1 5 D 0 1 A 1 0", "D A"] {
            assert!(records(Path::new("f"), "1\n0 1 3 100 9 2.0\n", Some((Path::new("p"), bad)), &graph, 0).is_err(), "{bad}");
        }
    }
}
