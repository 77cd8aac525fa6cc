//! Packet-hops per second of the standard loads on the built-in adapter, one thread and all cores.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fabricsim::bench::{Pattern, SIZES, Technology, plan};
use fabricsim::engine::{AdapterChoice, Options, Silent, run};

/// Payload of a load (bytes): some 100,000 packet-hops to a million, by the length of paths.
const LOAD_BYTES: u64 = 400_000_000;

fn hops(c: &mut Criterion) {
    let both = [Technology::Ethernet, Technology::Infiniband];
    for (technology, pattern) in both.into_iter().flat_map(|t| [(t, Pattern::Permutation), (t, Pattern::Incast)]) {
        let mut group = c.benchmark_group(format!("{}, {}", technology.name(), pattern.name()));
        group.sample_size(10).measurement_time(Duration::from_secs(5));
        for endpoints in SIZES {
            let plan = plan(technology, pattern, endpoints, LOAD_BYTES).expect("the standard loads are valid");
            for threads in [1, 0] {
                let options = Options { adapter: AdapterChoice::BuiltIn, threads, ..Options::default() };
                let report = run(&plan.case, &options, &mut Silent).expect("the standard loads run");
                group.throughput(Throughput::Elements(report.progress.packet_hops));
                group.bench_function(BenchmarkId::new(report.adapter.name, endpoints), |b| {
                    b.iter(|| run(&plan.case, &options, &mut Silent).expect("the standard loads run"));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, hops);
criterion_main!(benches);
