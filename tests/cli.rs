//! The built program: exit codes, data on standard output, everything else on standard error.

use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Output, Stdio};

fn fabricsim<S: AsRef<OsStr>>(args: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fabricsim")).args(args).stdin(Stdio::null()).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn help_and_version_go_to_standard_output() {
    for args in [["--help"].as_slice(), &["--version"], &["run", "--help"], &["help", "import"]] {
        let out = fabricsim(args);
        assert_eq!(out.status.code(), Some(0), "{args:?}");
        assert!(!out.stdout.is_empty() && out.stderr.is_empty(), "{args:?}");
    }
    let help = text(&fabricsim(&["--help"]).stdout);
    for word in ["run", "check", "topo", "adapters", "presets", "reference", "import", "Exit codes"] {
        assert!(help.contains(word), "`{word}` is missing in:\n{help}");
    }
    assert_eq!(text(&fabricsim(&["--version"]).stdout), format!("fabricsim {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_command_line_is_exit_code_2() {
    let lines: [&[&str]; 6] = [
        &[],
        &["run"],
        &["sprint"],
        &["run", "a.toml", "--nonsense"],
        &["run", "a.toml", "--window", "soon"],
        &["run", "a.toml", "--set", "seed"],
    ];
    for args in lines {
        let out = fabricsim(args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(out.stdout.is_empty() && !out.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn errors_are_one_line_on_standard_error() {
    let out = fabricsim(&["presets", "no-such-preset"]);
    assert_eq!(out.status.code(), Some(65));
    assert!(out.stdout.is_empty());
    let error = text(&out.stderr);
    assert!(error.starts_with("error: `preset` is `no-such-preset`"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn adapters_as_json_are_a_list() {
    let out = fabricsim(&["adapters", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let list: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(list.is_array());
}

#[test]
fn import_does_not_overwrite_a_scenario() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let scenario = dir.path().join("mine.toml");
    fs::write(&scenario, "precious").expect("written");
    let config = dir.path().join("config.txt");
    let out = fabricsim(&["import".as_ref(), "hpcc".as_ref(), config.as_os_str(), "-o".as_ref(), scenario.as_os_str()]);
    assert_eq!(out.status.code(), Some(73), "{}", text(&out.stderr));
    assert_eq!(fs::read_to_string(&scenario).expect("still there"), "precious");
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_error() {
    for args in [["--help"].as_slice(), &["adapters"], &["reference"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fabricsim"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let out = child.wait_with_output().expect("the program ends");
        let talk = text(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {talk}");
        assert!(!talk.contains("panicked"), "{args:?}: {talk}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_74() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let out = Command::new(env!("CARGO_BIN_EXE_fabricsim")).args(["adapters"]).stdout(full).output().expect("starts");
    assert_eq!(out.status.code(), Some(74), "{}", text(&out.stderr));
}

#[test]
fn a_scenario_that_is_not_there_is_named() {
    for command in ["run", "check", "topo"] {
        let out = fabricsim(&[command, "no/such/scenario.toml"]);
        let error = text(&out.stderr);
        assert_eq!(out.status.code(), Some(65), "{command}: {error}");
        assert!(error.contains("no/such/scenario.toml"), "{error}");
        assert!(out.stdout.is_empty(), "{command}");
    }
}
