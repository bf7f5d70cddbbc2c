//! Criterion: rounds beside the bare kernel, peers, switches, a million decisions. `cargo bench -p rarely-bench --bench rounds`.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use rarely_bench::many::{self, MILLION, Many};
use rarely_bench::{
    BenchProblem, Implausible, Irithyll, Kernels, Learning, Observing, Playing, SHAPES, Trashpanda, Workload,
};
use rarely_core::Algorithm;

/// Rounds in one measured call: a call of a single round would measure the clock.
const ROUNDS: usize = 256;

fn bench(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut workload: impl Workload) {
    group.throughput(Throughput::Elements(ROUNDS as u64));
    group.bench_function(name, |bencher| bencher.iter(|| workload.run(ROUNDS)));
}

fn rounds(criterion: &mut Criterion) {
    for (arms, dimension) in SHAPES {
        let problem = BenchProblem::new(arms, dimension);
        let mut group = criterion.benchmark_group(format!("k={arms} d={dimension}"));
        bench(&mut group, "kernel", Kernels::new(problem));
        bench(&mut group, "update statistics", Learning::new(problem));
        bench(&mut group, "update boundary-greedy", Observing::new(problem, Algorithm::BoundaryGreedy));
        for algorithm in [Algorithm::RsGreedy, Algorithm::BoundaryGreedy, Algorithm::LinUcb, Algorithm::Greedy] {
            bench(&mut group, &format!("round {}", algorithm.name()), Playing::new(problem, algorithm));
        }
        if (arms, dimension) == (4, 5) {
            bench(&mut group, "peer irithyll", Irithyll::new(problem));
            bench(&mut group, "peer trashpanda", Trashpanda::new(problem));
        }
        group.finish();
    }
}

fn updates(criterion: &mut Criterion) {
    for (arms, dimension) in SHAPES {
        let case = Implausible::new(BenchProblem::new(arms, dimension));
        let mut group = criterion.benchmark_group(format!("switch k={arms} d={dimension}"));
        group.bench_function("exact", |bencher| bencher.iter(|| black_box(case.exact())));
        group.bench_function("projected gradient", |bencher| bencher.iter(|| black_box(case.gradient())));
        group.finish();
    }
}

fn decisions(criterion: &mut Criterion) {
    let block = many::block(MILLION);
    let contexts = many::check(&block);
    let mut many = Many::new(MILLION, Algorithm::BoundaryGreedy);
    let mut group = criterion.benchmark_group("a million contexts k=4 d=5");
    group.throughput(Throughput::Elements(MILLION as u64));
    group.bench_function("decide_many", |bencher| bencher.iter(|| many.decide(contexts)));
    group.bench_function("check and decide_many", |bencher| bencher.iter(|| many.decide(many::check(&block))));
    group.bench_function("read", |bencher| bencher.iter(|| many::read(&block)));
    group.bench_function("read and write", |bencher| bencher.iter(|| many.read_and_write(&block)));
    group.finish();
}

fn short() -> Criterion {
    let seconds = Duration::from_secs;
    Criterion::default().sample_size(20).warm_up_time(seconds(1)).measurement_time(seconds(2))
}

criterion_group! {
    name = all;
    config = short();
    targets = rounds, updates, decisions
}
criterion_main!(all);
