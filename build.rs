//! Joins the shaders into one WGSL module, checks it, and translates it to Rust for the built-in adapter.

use std::path::Path;
use std::{env, fs};

use naga::valid::{Capabilities, ValidationFlags, Validator};

#[path = "build/translate.rs"]
mod translate;

/// Where each line of the joined text comes from.
struct Joined {
    text: String,
    origin: Vec<String>,
}

impl Joined {
    fn read() -> Result<Self, String> {
        let read = |path: &str| {
            println!("cargo::rerun-if-changed={path}");
            fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"))
        };
        let mut joined = Self { text: String::new(), origin: Vec::new() };
        for name in read("shaders/order.txt")?.split_whitespace() {
            let path = format!("shaders/{name}");
            for (i, line) in read(&path)?.lines().enumerate() {
                joined.origin.push(format!("{path}:{}", i + 1));
                joined.text.push_str(line);
                joined.text.push('\n');
            }
        }
        Ok(joined)
    }

    fn blame(&self, location: Option<naga::SourceLocation>, message: &str) -> String {
        let at = location.and_then(|l| self.origin.get(l.line_number.saturating_sub(1) as usize));
        format!("{}: {message}", at.map_or("shaders", String::as_str))
    }
}

fn build(out: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let joined = Joined::read()?;
    let module =
        naga::front::wgsl::parse_str(&joined.text).map_err(|e| joined.blame(e.location(&joined.text), &e.emit_to_string(&joined.text)))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|e| joined.blame(e.location(&joined.text), &e.emit_to_string(&joined.text)))?;
    let rust = translate::module(&module, &info)?;
    let write = |name: &str, text: &str| fs::write(out.join(name), text).map_err(|e| format!("cannot write {name}: {e}"));
    write("model.wgsl", &joined.text)?;
    write("kernels.rs", &rust)
}

fn main() {
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    if let Err(message) = build(Path::new(&out)) {
        eprintln!("{message}");
        std::process::exit(1);
    }
}
