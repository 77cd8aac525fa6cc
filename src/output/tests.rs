//! Whole result folders from a plan and an outcome made by hand.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::*;
use crate::engine::{AdapterInfo, FlowSample, Progress, QueueSample, Sample};
use crate::metrics::testing;

fn report(adapter: &str, outcome: crate::outcome::Outcome) -> Report {
    Report {
        outcome,
        adapter: AdapterInfo { name: adapter.into(), ..AdapterInfo::default() },
        window_ps: 500_000,
        windows: 4,
        state_bytes: 1_000,
        progress: Progress { wall: Duration::from_millis(250), ..Progress::default() },
        interrupted: false,
    }
}

fn record() -> RunRecord {
    RunRecord { started: SystemTime::UNIX_EPOCH, total_wall: Duration::from_millis(300), overrides: vec![("seed".into(), "42".into())] }
}

fn sample() -> Sample {
    Sample {
        time_ps: 100_000,
        queues: vec![QueueSample { port: 3, class: 0, queue_bytes: 12, tx_bytes: 34, paused: true }],
        flows: vec![FlowSample { flow: 0, rate_kbps: 56, alpha_q32: 1 << 30, acked_packets: 7, in_flight_packets: 8 }],
    }
}

fn write_pair(target: &Path, adapter: &str) -> Written {
    let (plan, outcome) = testing::pair();
    let folder = ResultFolder::begin(target, false).expect("free place");
    let mut series = TimeSeries::create(&folder).expect("created");
    series.append(&plan, &sample()).expect("written");
    write(folder, &plan, &report(adapter, outcome), Some(series), &record()).expect("written")
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("file is there")
}

#[test]
fn flows_csv_has_these_bytes() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let expected = "\
flow_id,group,src,dst,priority,size_bytes,status,start_ps,receive_ps,finish_ps,fct_ps,ideal_fct_ps,slowdown,\
goodput_gbps,tx_packets,retx_packets,received_packets,packet_seq_err,local_ack_timeout_err,out_of_sequence,\
duplicate_request,np_ecn_marked_roce_packets,np_cnp_sent,rp_cnp_handled,end_rate_kbps,end_alpha,end_ccti,max_ccti
3,bulk,h0,h1,3,5000,done,0,1990000,2000000,2000000,1000000,2.000000,20.000000,10,3,10,0,0,0,0,2,2,1,100000000,0.500000000,0,0
7,\"web, fast\",h0,h1,3,10000,done,0,990000,1000000,1000000,800000,1.250000,80.000000,10,0,10,0,0,0,0,2,2,1,100000000,0.500000000,0,0
8,bulk,h0,h1,3,10000,running,0,,,,800000,,,10,0,10,0,0,0,0,2,2,1,100000000,0.500000000,0,0
9,\"web, fast\",h1,h0,3,10000,failed,0,,1500000,,800000,,,10,0,10,0,7,0,0,2,2,1,100000000,0.500000000,0,0
";
    assert_eq!(read(&written.folder, FLOWS_CSV), expected);
}

#[test]
fn ports_and_links_csv_have_these_bytes() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let ports = read(&written.folder, PORTS_CSV);
    let lines: Vec<&str> = ports.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * 2);
    assert_eq!(lines[1], "h0/p0,endpoint,pfc,1,64,0,0,0,0,0,0,0,0,0,0,0,0.000,0,0,0,0,0");
    assert_eq!(lines[2], "h0/p0,endpoint,prio3,10,10000,0,0,0,0,2,1,300000,0,0,0,0,0.000,0,0,0,0,0");
    assert_eq!(lines[6], "sw0/p0,switch,prio3,0,0,10,10000,2,1,0,0,0,0,1,1000,0,0.000,900,0,0,0,0");
    assert_eq!(lines[8], "sw0/p1,switch,prio3,10,10000,0,0,0,0,0,0,0,5,0,0,4000,1500.500,0,0,0,0,0");
    let links = read(&written.folder, LINKS_CSV);
    assert_eq!(links.lines().nth(1), Some("h0/p0,sw0/p0,endpoint,100000000,11,10064,10284,822720,0.411360,1,,,,,,,"));
}

#[test]
fn timeseries_csv_has_these_bytes() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let expected = "\
time_ps,port,queue,queue_bytes,tx_bytes,paused,flow_id,rate_kbps,alpha,acked_packets,in_flight_packets
100000,sw0/p1,prio3,12,34,true,,,,,
100000,,,,,,7,56,0.250000000,7,8
";
    assert_eq!(read(&written.folder, TIMESERIES_CSV), expected);
}

#[test]
fn summary_txt_reads_like_this() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let expected = "\
pair: 2 endpoints, 1 switch, 4 flows, seed 42
simulated 2.000 us (events were left at the stop time), 20 packet-hops

flows      all  done  failed  open   fct p50       p95       p99     p99.9       max  slowdown p50    p99    max  goodput p50          p1
all          4     2       1     1  1.000 us  2.000 us  2.000 us  2.000 us  2.000 us         1.250  2.000  2.000   20.00 Gb/s  20.00 Gb/s
web, fast    2     1       1     0  1.000 us  1.000 us  1.000 us  1.000 us  1.000 us         1.250  1.250  1.250   80.00 Gb/s  80.00 Gb/s
bulk         2     1       0     1  2.000 us  2.000 us  2.000 us  2.000 us  2.000 us         2.000  2.000  2.000   20.00 Gb/s  20.00 Gb/s

total  15.00 KB done in 2.000 us, 60.00 Gb/s, Jain index 0.735
PFC    2 pauses and 1 resume sent; 1 of 4 queues paused, 300.0 ns in total, 300.0 ns at h0/p0 prio3
ECN    5 packets marked (20.00 % of those sent), 8 CNPs sent, 4 handled
loss   1 packet dropped in switches, 1 lost on links; 3 retransmitted, 7 timeouts
queues largest 4.000 KB at sw0/p1 prio3; headroom use up to 900 B at sw0/p0 prio3
links  mean utilization 20.48 %, busiest 41.14 % at h0/p0

warning: 1 packet was dropped although PFC protects their class: the headroom is too small
warning: 1 flow gave up after 7 timeouts in a row
warning: 1 flow not finished at the end of the simulated time; completion times are of the others only
";
    assert_eq!(written.summary, expected);
    assert_eq!(read(&written.folder, SUMMARY_TXT), expected);
}

#[test]
fn the_schema_lists_exactly_the_columns_written() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let schema: serde_json::Value = serde_json::from_str(&read(&written.folder, SCHEMA_JSON)).expect("JSON");
    let tables = schema["tables"].as_array().expect("tables");
    let listed: Vec<&str> = tables.iter().map(|t| t["file"].as_str().expect("file")).collect();
    let mut csv_files: Vec<String> = fs::read_dir(&written.folder)
        .expect("readable")
        .map(|e| e.expect("entry").file_name().to_string_lossy().into_owned())
        .filter(|n| n.ends_with(".csv"))
        .collect();
    csv_files.sort();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, csv_files);
    for table in tables {
        let file = table["file"].as_str().expect("file");
        let mut reader = csv::Reader::from_path(written.folder.join(file)).expect("readable");
        let header = reader.headers().expect("header").clone();
        let columns = table["columns"].as_array().expect("columns");
        let names: Vec<&str> = columns.iter().map(|c| c["name"].as_str().expect("name")).collect();
        assert_eq!(header.iter().collect::<Vec<_>>(), names, "{file}");
        for record in reader.records() {
            let record = record.expect("as many cells as columns");
            for (cell, column) in record.iter().zip(columns) {
                check_cell(file, cell, column);
            }
        }
    }
}

/// A cell is of the type that the schema says, and a name that ends in a unit is of that unit.
fn check_cell(file: &str, cell: &str, column: &serde_json::Value) {
    let fits = match column["type"].as_str().expect("type") {
        "integer" => cell.parse::<u64>().is_ok(),
        "decimal" => cell.contains('.') && cell.parse::<f64>().is_ok(),
        "boolean" => ["true", "false"].contains(&cell),
        "string" => true,
        other => panic!("unknown type {other}"),
    };
    assert!(fits || cell.is_empty(), "{file}: `{cell}` in {column}");
    let (name, unit) = (column["name"].as_str().expect("name"), column["unit"].as_str().expect("unit"));
    let by_suffix = [("_ps", "ps"), ("_bytes", "bytes"), ("_packets", "packets"), ("_kbps", "kb/s"), ("_gbps", "Gb/s")];
    for (suffix, expected) in by_suffix {
        assert!(!name.ends_with(suffix) || unit == expected, "{file}: {name} in {unit}");
    }
    assert!(!column["meaning"].as_str().expect("meaning").is_empty());
    assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
}

#[test]
fn only_the_manifest_depends_on_the_engine() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let a = write_pair(&dir.path().join("a"), "one adapter");
    let b = write_pair(&dir.path().join("b"), "another");
    assert_eq!(a.manifest.files, b.manifest.files);
    for file in &a.manifest.files {
        assert_eq!(read(&a.folder, &file.name), read(&b.folder, &file.name), "{}", file.name);
    }
    let mut names: Vec<&str> = a.manifest.files.iter().map(|f| f.name.as_str()).collect();
    names.push(MANIFEST_JSON);
    assert_eq!(fs::read_dir(&a.folder).expect("readable").count(), names.len(), "{names:?}");
    assert_ne!(read(&a.folder, MANIFEST_JSON), read(&b.folder, MANIFEST_JSON));
}

#[test]
fn the_manifest_holds_the_sums_of_the_files() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let written = write_pair(&dir.path().join("out"), "a");
    let manifest: serde_json::Value = serde_json::from_str(&read(&written.folder, MANIFEST_JSON)).expect("JSON");
    for file in manifest["files"].as_array().expect("files") {
        let bytes = fs::read(written.folder.join(file["name"].as_str().expect("name"))).expect("file is there");
        assert_eq!(file["sha256"], table::hex(&Sha256::digest(&bytes)), "{file}");
        assert_eq!(file["bytes"], bytes.len());
    }
    let fields = ["scenario", "seed", "partial", "window_ps", "windows", "packet_hops", "packet_hops_per_s", "started_utc"];
    let values: Vec<String> = fields.iter().map(|f| manifest[f].to_string()).collect();
    assert_eq!(values, ["\"pair\"", "42", "false", "500000", "4", "20", "80", "\"1970-01-01T00:00:00Z\""]);
    assert_eq!(manifest["overrides"], serde_json::json!([["seed", "42"]]));
    assert_eq!(manifest["settings"]["network.rate"], "100 Gb/s");
}

#[test]
fn an_interrupted_run_says_so() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let (plan, outcome) = testing::pair();
    let folder = ResultFolder::begin(&dir.path().join("out"), false).expect("free place");
    let report = Report { interrupted: true, ..report("a", outcome) };
    let written = write(folder, &plan, &report, None, &record()).expect("written");
    assert!(written.summary.contains("PARTIAL: the run was interrupted"));
    assert!(written.manifest.partial);
    assert!(!written.folder.join(TIMESERIES_CSV).exists());
}

#[test]
fn a_wrong_report_leaves_no_folder() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let (plan, mut outcome) = testing::pair();
    outcome.flows.pop();
    let folder = ResultFolder::begin(&dir.path().join("out"), false).expect("free place");
    let error = write(folder, &plan, &report("a", outcome), None, &record()).expect_err("one flow is missing");
    assert_eq!(error.exit_code(), 70);
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
}
