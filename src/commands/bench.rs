//! `fabricsim bench`.

use crate::bench::{self, Measured, Pattern, Technology};
use crate::cli::BenchArgs;
use crate::commands::terminal;
use crate::engine::Options;
use crate::error::Error;

const HEADER: &str =
    "technology,pattern,endpoints,adapter,setup_s,run_s,packet_hops,data_hops,mega_hops_per_s,ns_per_hop,state_bytes_per_endpoint\n";

/// Measures and prints one CSV row a load.
pub(super) fn bench(args: &BenchArgs) -> Result<(), Error> {
    terminal::print(HEADER)?;
    let options = Options { adapter: args.adapter.clone(), threads: args.threads, ..Options::default() };
    for technology in [Technology::Ethernet, Technology::Infiniband].into_iter().filter(|t| args.technology.is_none_or(|a| a == *t)) {
        for pattern in [Pattern::Permutation, Pattern::Incast].into_iter().filter(|p| args.pattern.is_none_or(|a| a == *p)) {
            for endpoints in &args.endpoints {
                let measured = bench::measure(technology, pattern, *endpoints, args.megabytes * 1_000_000, &options)?;
                terminal::print(&row(technology, pattern, &measured))?;
            }
        }
    }
    Ok(())
}

fn row(technology: Technology, pattern: Pattern, m: &Measured) -> String {
    let (hops, nanos) = (u128::from(m.report.progress.packet_hops.max(1)), m.run.as_nanos().max(1));
    let thousandths = |n: u128| format!("{}.{:03}", n / 1000, n % 1000);
    format!(
        "{},{},{},{},{},{},{hops},{},{},{},{}\n",
        technology.name(),
        pattern.name(),
        m.endpoints,
        m.report.adapter.name.replace(',', ""),
        thousandths(m.setup.as_millis()),
        thousandths(m.run.as_millis()),
        m.report.progress.data_hops,
        thousandths(hops * 1_000_000 / nanos),
        thousandths(nanos * 1000 / hops),
        m.report.state_bytes / u64::from(m.endpoints),
    )
}
