//! Folders of the HPCC ns-3 simulator: a configuration with a topology and a flow file.
//!
//! The result is a scenario with the profile `hpcc-ns3`, which copies that simulator's frames, rounding, buffer and PFC
//! rules and its DCQCN (`CC_MODE 1`), or no congestion control (`CC_MODE 0`). Other modes, and settings that this
//! simulator cannot honour, are errors rather than silently different runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, InputError};
use crate::import::hpcc_files;
use crate::units::Unit;
use crate::workload::lists::mistake;

/// Keys that only say where output goes, or tune what is not simulated in modes 0 and 1: read and ignored.
const IGNORED: [&str; 28] = [
    "TRACE_FILE",
    "TRACE_OUTPUT_FILE",
    "FCT_OUTPUT_FILE",
    "PFC_OUTPUT_FILE",
    "ENABLE_TRACE",
    "QLEN_MON_FILE",
    "QLEN_MON_START",
    "QLEN_MON_END",
    "QLEN_MON_INTERVAL",
    "DCTCP_RATE_AI",
    "U_TARGET",
    "MI_THRESH",
    "INT_MULTI",
    "MULTI_RATE",
    "SAMPLE_FEEDBACK",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "FAST_REACT",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "L2_CHUNK_SIZE",
    "PAUSE_TIME",
    "BW_MON_FILE",
    "RATE_MON_FILE",
    "CNP_MON_FILE",
    "MON_START",
    "MON_END",
    "QP_MON_INTERVAL",
    "BW_MON_INTERVAL",
];

/// Keys that are honoured.
const KNOWN: [&str; 31] = [
    "ENABLE_QCN",
    "PACKET_PAYLOAD_SIZE",
    "TOPOLOGY_FILE",
    "FLOW_FILE",
    "SIMULATOR_STOP_TIME",
    "CC_MODE",
    "ALPHA_RESUME_INTERVAL",
    "RATE_DECREASE_INTERVAL",
    "CLAMP_TARGET_RATE",
    "RP_TIMER",
    "EWMA_GAIN",
    "FAST_RECOVERY_TIMES",
    "RATE_AI",
    "RATE_HAI",
    "MIN_RATE",
    "ERROR_RATE_PER_LINK",
    "L2_ACK_INTERVAL",
    "L2_BACK_TO_ZERO",
    "HAS_WIN",
    "GLOBAL_T",
    "VAR_WIN",
    "RATE_BOUND",
    "ACK_HIGH_PRIO",
    "LINK_DOWN",
    "KMAX_MAP",
    "KMIN_MAP",
    "PMAX_MAP",
    "BUFFER_SIZE",
    "PATH_FILE",
    "ENABLE_PFC",
    "ENABLE_IRN",
];

/// Instant at which the generators of this lineage start flows.
const BASE_PS: u64 = 2_000_000_000_000;

/// A configuration: values by key, with lines.
struct Config<'a> {
    file: &'a Path,
    values: BTreeMap<&'a str, (usize, Vec<&'a str>)>,
}

impl<'a> Config<'a> {
    /// `KEY value...`, one key a line.
    fn parse(file: &'a Path, text: &'a str) -> Result<Self, InputError> {
        let mut values = BTreeMap::new();
        for (i, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let Some(key) = words.next().filter(|k| !k.starts_with('#')) else { continue };
            if !KNOWN.contains(&key) && !IGNORED.contains(&key) {
                let near =
                    crate::scenario::did_you_mean(key, KNOWN.iter().copied()).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                return Err(mistake(file, i + 1, key, "", format!("is not a key that is known here{near}")));
            }
            let rest: Vec<&str> = words.collect();
            if rest.is_empty() {
                return Err(mistake(file, i + 1, key, "", "has no value"));
            }
            values.insert(key, (i + 1, rest));
        }
        Ok(Self { file, values })
    }

    fn wrong(&self, key: &str, message: impl Into<String>) -> InputError {
        let (line, found) = self.values.get(key).map_or((0, String::new()), |(line, words)| (*line, words.join(" ")));
        mistake(self.file, line, key, &found, message)
    }

    fn text(&self, key: &str) -> Result<&'a str, InputError> {
        self.values.get(key).map(|(_, w)| w[0]).ok_or_else(|| mistake(self.file, 0, key, "", "is missing"))
    }

    fn or(&self, key: &str, default: &'a str) -> &'a str {
        self.values.get(key).map_or(default, |(_, w)| w[0])
    }

    fn quantity(&self, key: &str, unit: Unit, suffix: &str, default: &'a str) -> Result<u64, InputError> {
        let text = format!("{}{suffix}", self.or(key, default));
        unit.parse(&text).map_err(|m| self.wrong(key, m))
    }

    fn flag(&self, key: &str, default: &'a str) -> Result<bool, InputError> {
        match self.or(key, default) {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(self.wrong(key, "must be 0 or 1")),
        }
    }

    /// A whole number of microseconds: fractions are cut off there.
    fn micros(&self, key: &str, default: &'a str) -> Result<String, InputError> {
        let ps = self.quantity(key, Unit::Time, " us", default)?;
        if ps < 1_000_000 {
            return Err(self.wrong(key, "comes to 0 us there, as fractions are cut off; at least 1 is needed"));
        }
        Ok(format!("{} us", ps / 1_000_000))
    }

    /// A map `n (rate value){n}`.
    fn map(&self, key: &str) -> Result<BTreeMap<u64, &'a str>, InputError> {
        let Some((_, words)) = self.values.get(key) else { return Ok(BTreeMap::new()) };
        let count = words[0].parse::<usize>().map_err(|_| self.wrong(key, "must begin with the number of entries"))?;
        let pairs: Vec<&[&str]> = words[1..].chunks(2).collect();
        if pairs.len() != count || pairs.iter().any(|p| p.len() != 2) {
            return Err(self.wrong(
                key,
                format!(
                    "has {} words after the number; {count} entries of a rate in b/s and a value need {}",
                    words.len() - 1,
                    count.saturating_mul(2)
                ),
            ));
        }
        let rate = |p: &&[&'a str]| Ok((Unit::Rate.parse(&format!("{} bps", p[0])).map_err(|m| self.wrong(key, m))?, p[1]));
        pairs.iter().map(rate).collect()
    }

    /// Refuses what cannot be honoured.
    fn supported(&self) -> Result<(), InputError> {
        if !matches!(self.text("CC_MODE")?, "0" | "1") {
            return Err(self.wrong("CC_MODE", "is not supported; supported are 1 (DCQCN) and 0 (none)"));
        }
        for (key, value, why) in [
            ("L2_BACK_TO_ZERO", "0", "go-back-0 there restarts chunks; only 0 (go-back-N) is supported"),
            ("RATE_BOUND", "1", "only 1 (paced senders) is supported"),
            ("ENABLE_PFC", "1", "only 1 is supported; for lossy classes edit the scenario"),
            ("ENABLE_IRN", "0", "only 0 is supported; for selective repeat edit the scenario"),
        ] {
            if self.or(key, value) != value {
                return Err(self.wrong(key, why));
            }
        }
        if let Some((_, words)) = self.values.get("LINK_DOWN")
            && words.iter().any(|w| *w != "0")
        {
            return Err(self.wrong("LINK_DOWN", "failing links are not supported; write 0 0 0"));
        }
        if self.quantity("ERROR_RATE_PER_LINK", Unit::Share, "", "0")? > 0 {
            return Err(self.wrong("ERROR_RATE_PER_LINK", "is not supported; give the loss of each link in the topology"));
        }
        let interval = self.quantity("L2_ACK_INTERVAL", Unit::Count, "", "1")?;
        if interval > self.payload()? {
            return Err(self.wrong("L2_ACK_INTERVAL", "is longer than a packet; only acknowledgements of every packet are supported"));
        }
        Ok(())
    }

    fn payload(&self) -> Result<u64, InputError> {
        self.quantity("PACKET_PAYLOAD_SIZE", Unit::Bytes, " B", "1000")
    }
}

/// Turns the configuration `config` and the files beside it into the scenario file `scenario`.
///
/// The topology and flow files that the configuration names, and a `paths.txt` beside it (or the file of a `PATH_FILE` key),
/// stay where they are; the scenario refers to them.
///
/// # Errors
/// [`Error::Input`] for the first mistake found, [`Error::Io`] and [`Error::Create`] for files.
pub fn import(config: &Path, scenario: &Path) -> Result<(), Error> {
    let text = read(config)?;
    let config = Config::parse(config, &text)?;
    config.supported()?;
    let toml = convert(&config, scenario)?;
    std::fs::write(scenario, toml).map_err(|e| Error::Create(scenario.to_owned(), e))
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::InvalidData => {
            Error::Input(InputError { file: path.to_owned(), message: format!("cannot be read: {e}"), ..InputError::default() })
        }
        _ => Error::Io(path.to_owned(), e),
    })
}

fn convert(config: &Config<'_>, scenario: &Path) -> Result<String, Error> {
    let folder = config.file.parent().unwrap_or_else(|| Path::new(""));
    let (topology_file, flow_file) = (folder.join(config.text("TOPOLOGY_FILE")?), folder.join(config.text("FLOW_FILE")?));
    let graph = hpcc_files::topology(&topology_file, &read(&topology_file)?)?;
    let flows = hpcc_files::flows(&flow_file, &read(&flow_file)?)?;
    let priority = flows.first().map_or(3, |f| f.priority);
    if let Some(other) = flows.iter().find(|f| f.priority != priority) {
        let message = format!("differs from the first flow's, {priority}; only one priority is supported");
        return Err(mistake(&flow_file, other.line, "priority", &other.priority.to_string(), message).into());
    }
    if !(1..=7).contains(&priority) {
        return Err(
            mistake(&flow_file, 2, "priority", &priority.to_string(), "must be 1 to 7; priority 0 bypasses the buffer there").into()
        );
    }
    let zero = if flows.iter().all(|f| f.start_ps >= BASE_PS) { BASE_PS } else { 0 };
    let paths_file = folder.join(config.or("PATH_FILE", "paths.txt"));
    let mut out = String::new();
    let name = folder.file_name().map_or_else(|| "hpcc".to_owned(), |n| n.to_string_lossy().into_owned());
    let _ = writeln!(out, "# From {} of the HPCC ns-3 simulator.\n", config.file.display());
    let _ = writeln!(out, "[scenario]\nname = {}\nprofile = \"hpcc-ns3\"", quoted(&name));
    if let Some((_, words)) = config.values.get("SIMULATOR_STOP_TIME") {
        let stop = Unit::Time.parse(&format!("{} s", words[0])).map_err(|m| config.wrong("SIMULATOR_STOP_TIME", m))?;
        let stop =
            stop.checked_sub(zero).filter(|s| *s > 0).ok_or_else(|| config.wrong("SIMULATOR_STOP_TIME", "is before the first flow"))?;
        let _ = writeln!(out, "stop = \"{}\"", Unit::Time.format(stop));
    }
    let _ = writeln!(out, "\n[fabric]\nkind = \"graph\"\ntopology = {}", quoted(&relative(&topology_file, scenario)));
    let buffer = config.quantity("BUFFER_SIZE", Unit::Bytes, " MiB", "16")?;
    let _ = writeln!(out, "\n[switch]\nbuffer = \"{}\"", Unit::Bytes.format(buffer));
    marking(config, &graph, &mut out)?;
    let _ = writeln!(
        out,
        "\n[[class]]\nname = \"data\"\npriority = {priority}\nlossless = true\necn = {}\nservice = \"strict\"",
        config.flag("ENABLE_QCN", "1")?
    );
    transport(config, &mut out)?;
    reaction(config, &mut out)?;
    let _ = writeln!(out, "\n[compat]\nack_ignores_pause = {}", config.flag("ACK_HIGH_PRIO", "0")?);
    let _ = writeln!(out, "\n[[traffic]]\nname = \"flows\"\nkind = \"hpcc\"\nfile = {}", quoted(&relative(&flow_file, scenario)));
    let _ = writeln!(out, "time_zero = \"{}\"", Unit::Time.format(zero));
    if paths_file.is_file() {
        let _ = writeln!(out, "paths = {}", quoted(&relative(&paths_file, scenario)));
    } else if config.values.contains_key("PATH_FILE") {
        return Err(config.wrong("PATH_FILE", "is not a file beside the configuration").into());
    }
    Ok(out)
}

/// Marking for every rate of the topology; the reference needs an entry for each, too.
fn marking(config: &Config<'_>, graph: &crate::fabric::Graph, out: &mut String) -> Result<(), InputError> {
    let maps = [config.map("KMIN_MAP")?, config.map("KMAX_MAP")?, config.map("PMAX_MAP")?];
    let is_switch = |n: u32| graph.nodes[n as usize].kind == crate::case::NodeKind::Switch;
    let rates: std::collections::BTreeSet<u64> =
        graph.links.iter().filter(|l| l.ends.iter().any(|n| is_switch(*n))).flat_map(|l| l.channels.map(|c| c.rate_kbps)).collect();
    if !config.flag("ENABLE_QCN", "1")? && maps.iter().all(BTreeMap::is_empty) {
        return Ok(());
    }
    let _ = writeln!(out, "\n[ecn]\nby_rate = [");
    for rate in rates {
        let entry = |map: &BTreeMap<u64, &str>, key: &str| {
            map.get(&rate)
                .map(|s| (*s).to_owned())
                .ok_or_else(|| config.wrong(key, format!("has no entry for {}, a rate of the topology", Unit::Rate.format(rate))))
        };
        let (kmin, kmax, pmax) = (entry(&maps[0], "KMIN_MAP")?, entry(&maps[1], "KMAX_MAP")?, entry(&maps[2], "PMAX_MAP")?);
        let size = |text: &str, key: &str| {
            Unit::Bytes.parse(&format!("{text} KB")).map(|b| Unit::Bytes.format(b)).map_err(|m| config.wrong(key, m))
        };
        let share = Unit::Share.parse(&pmax).map_err(|m| config.wrong("PMAX_MAP", m))?;
        let _ = writeln!(
            out,
            "  {{ rate = \"{}\", kmin = \"{}\", kmax = \"{}\", pmax = {} }},",
            Unit::Rate.format(rate),
            size(&kmin, "KMIN_MAP")?,
            size(&kmax, "KMAX_MAP")?,
            Unit::Share.format(share)
        );
    }
    out.push_str("]\n");
    Ok(())
}

fn transport(config: &Config<'_>, out: &mut String) -> Result<(), InputError> {
    let window = match (config.flag("HAS_WIN", "0")?, config.flag("GLOBAL_T", "1")?) {
        (false, _) => "none",
        (true, true) => "bdp-max",
        (true, false) => "bdp",
    };
    let _ = writeln!(out, "\n[transport]\nmtu = \"{} B\"\nwindow = \"{window}\"", config.payload()?);
    let _ = writeln!(out, "variable_window = {}", config.flag("VAR_WIN", "0")?);
    Ok(())
}

fn reaction(config: &Config<'_>, out: &mut String) -> Result<(), InputError> {
    if config.text("CC_MODE")? == "0" {
        out.push_str("\n[cc]\nkind = \"none\"\n");
        return Ok(());
    }
    let rate = |key: &str, default| -> Result<String, InputError> { Ok(Unit::Rate.format(config.quantity(key, Unit::Rate, "", default)?)) };
    let _ = writeln!(out, "\n[cc]\nkind = \"dcqcn\"");
    let _ = writeln!(out, "alpha_period = \"{}\"", config.micros("ALPHA_RESUME_INTERVAL", "55")?);
    let _ = writeln!(out, "cut_period = \"{}\"", config.micros("RATE_DECREASE_INTERVAL", "4")?);
    let _ = writeln!(out, "increase_period = \"{}\"", config.micros("RP_TIMER", "1500")?);
    let _ = writeln!(out, "g = {}", Unit::Share.format(config.quantity("EWMA_GAIN", Unit::Share, "", "0.0625")?));
    let _ = writeln!(out, "fast_recovery = {}", config.quantity("FAST_RECOVERY_TIMES", Unit::Count, "", "5")?);
    let _ = writeln!(out, "rate_ai = \"{}\"\nrate_hai = \"{}\"", rate("RATE_AI", "5Mb/s")?, rate("RATE_HAI", "50Mb/s")?);
    let _ = writeln!(out, "at_rate = \"any\"\nrate_min = \"{}\"", rate("MIN_RATE", "100Mb/s")?);
    let _ = writeln!(out, "clamp_target = {}", config.flag("CLAMP_TARGET_RATE", "0")?);
    Ok(())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// `file` as seen from the folder of `scenario`.
fn relative(file: &Path, scenario: &Path) -> String {
    let absolute = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_owned());
    let file = absolute(file);
    let base = absolute(scenario).parent().map(Path::to_owned).unwrap_or_default();
    let common = file.components().zip(base.components()).take_while(|(a, b)| a == b).count();
    let up = base.components().skip(common).map(|_| std::path::Component::ParentDir);
    let path: PathBuf = up.chain(file.components().skip(common)).collect();
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{CnpMode, Reaction};
    use crate::scenario;

    const CONFIG: &str =
        "ENABLE_QCN 1\nPACKET_PAYLOAD_SIZE 1000\nTOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nSIMULATOR_STOP_TIME 4.00\nCC_MODE 1
ALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nCLAMP_TARGET_RATE 0\nRP_TIMER 300\nEWMA_GAIN 0.00390625\nFAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s\nRATE_HAI 200Mb/s\nMIN_RATE 1000Mb/s\nERROR_RATE_PER_LINK 0.0000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\nHAS_WIN 1\nGLOBAL_T 1
VAR_WIN 1\nRATE_BOUND 1\nACK_HIGH_PRIO 0\nLINK_DOWN 0 0 0\nKMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600\nPMAX_MAP 2 100000000000 0.2 400000000000 0.2\nBUFFER_SIZE 32\nTRACE_FILE t\n";
    const TOPOLOGY: &str = "5 2 4\n3 4\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 4 100Gbps 1000ns 0\n3 4 400Gbps 1000ns 0\n";
    const FLOWS: &str = "2\n1 0 3 100 10000000 2.000000000\n0 2 3 100 1000 2.5\n";

    fn folder(config: &str, paths: bool) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in [("config.txt", config), ("topology.txt", TOPOLOGY), ("flow.txt", FLOWS)] {
            std::fs::write(dir.path().join(name), text).expect("writes");
        }
        if paths {
            std::fs::write(dir.path().join("paths.txt"), "0 2 10000 D 0 3 4 2 A 2 4 3 0\n").expect("writes");
        }
        std::fs::create_dir(dir.path().join("out")).expect("creates");
        dir
    }

    #[test]
    fn imports_a_folder() {
        let dir = folder(CONFIG, true);
        let target = dir.path().join("out/s.toml");
        import(&dir.path().join("config.txt"), &target).expect("imports");
        let plan = scenario::load(&target, &[]).expect("loads");
        let case = &plan.case;
        // (N - 1) * tx + links * (tx + delay) + links * (tx of the ACK + delay), all cut to nanoseconds, as that simulator measures.
        let big = case.flows.iter().position(|f| f.size_bytes == 10_000_000).expect("is there");
        assert_eq!(plan.ideal_fct_ps[big], 834_091_000);
        assert_eq!(case.stop_ps, Some(2_000_000_000_000));
        assert_eq!((case.rules.reaction, case.rules.cnp_mode), (Reaction::DcqcnFirmware, CnpMode::AckFlag));
        let d = case.rules.dcqcn;
        assert_eq!((d.g_q32, d.alpha_init_q32, d.first_cut_extra_ps), (1 << 24, u32::MAX, 1000));
        assert_eq!((d.rate_ai_kbps, d.rate_hai_kbps, d.rate_min_kbps), (20_000, 200_000, 1_000_000));
        let switch = &case.nodes[3];
        assert_eq!(switch.pool_bytes, 32 * 1_048_576 - 3 * 4096 - 2 * 37_500 - 150_000);
        let up = case.ports.iter().find(|p| p.rate_kbps == 400_000_000).expect("is there");
        assert_eq!((up.alpha_q7, up.ecn.kmin_bytes, up.ecn.kmax_bytes, up.xon_gap_bytes), (64, 1_600_000, 6_400_000, 3072));
        assert_eq!((up.delay_ps, up.pfc_delay_ps, up.headroom_bytes), (1_000_000, 1_000_000, 150_000));
        // Largest round trip: three links each way, 80 + 20 + 80 ns of payload.
        assert!(case.flows.iter().all(|f| f.window_bytes == 77_250));
        let pinned = case.flows.iter().find(|f| f.size_bytes == 1000).expect("is there");
        assert_eq!((pinned.path_data.len(), pinned.path_ack.len()), (1, 1));
        assert_eq!(plan.inputs.len(), 4);
    }

    #[test]
    fn refuses_what_it_cannot_honour() {
        for (from, to, key) in [
            ("CC_MODE 1", "CC_MODE 3", "CC_MODE"),
            ("CC_MODE 1", "CC_MOD 1", "CC_MOD"),
            ("RATE_BOUND 1", "RATE_BOUND 0", "RATE_BOUND"),
            ("LINK_DOWN 0 0 0", "LINK_DOWN 5 1 2", "LINK_DOWN"),
            ("KMIN_MAP 2", "KMIN_MAP 3", "KMIN_MAP"),
            ("400000000000 1600", "200000000000 1600", "KMIN_MAP"),
            ("RP_TIMER 300", "RP_TIMER 0.5", "RP_TIMER"),
            ("HAS_WIN 1", "HAS_WIN yes", "HAS_WIN"),
            ("ERROR_RATE_PER_LINK 0.0000", "ERROR_RATE_PER_LINK 0.1", "ERROR_RATE_PER_LINK"),
            ("BUFFER_SIZE 32", "BUFFER_SIZE x", "BUFFER_SIZE"),
            ("L2_ACK_INTERVAL 1", "L2_ACK_INTERVAL 4000", "L2_ACK_INTERVAL"),
        ] {
            let dir = folder(&CONFIG.replace(from, to), false);
            match import(&dir.path().join("config.txt"), &dir.path().join("s.toml")) {
                Err(Error::Input(e)) => assert!(e.key == key && (e.line.is_some() || key == "CC_MODE"), "{to}: {e}"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }

    #[test]
    fn no_congestion_control() {
        let dir = folder(&CONFIG.replace("CC_MODE 1", "CC_MODE 0").replace("ENABLE_QCN 1", "ENABLE_QCN 0"), false);
        let target = dir.path().join("s.toml");
        import(&dir.path().join("config.txt"), &target).expect("imports");
        let plan = scenario::load(&target, &[]).expect("loads");
        assert_eq!(plan.case.rules.reaction, Reaction::None);
        assert!(!plan.case.classes[0].ecn);
    }
}
