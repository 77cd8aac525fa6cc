//! The `fabricsim` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn"))
        .format(|out, record| {
            use std::io::Write;
            writeln!(out, "{}: {}", record.level().as_str().to_lowercase(), record.args())
        })
        .init();
    fabricsim::commands::main(std::env::args_os())
}
