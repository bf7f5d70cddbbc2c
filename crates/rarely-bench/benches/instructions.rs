//! Instruction counts of the same rounds, by callgrind: the same number in every run, whatever else the machine does.
//! `cargo install gungraun-runner --version 0.20.0`, then `cargo bench -p rarely-bench --bench instructions`.
//!
//! Each count is for 256 rounds. What happens before (drawing the problem, learning its lessons) is not counted.

use gungraun::{library_benchmark, library_benchmark_group, main};
use rarely_bench::{BenchProblem, ContextKind, Irithyll, Kernels, Learning, Observing, Playing, Trashpanda, Workload};
use rarely_core::Algorithm;

const ROUNDS: usize = 256;

fn kernel(arms: usize, dimension: usize) -> Kernels {
    Kernels::new(BenchProblem::new(arms, dimension))
}

fn statistics(arms: usize, dimension: usize) -> Learning {
    Learning::new(BenchProblem::new(arms, dimension))
}

fn observing(arms: usize, dimension: usize) -> Observing {
    Observing::new(BenchProblem::new(arms, dimension), Algorithm::BoundaryGreedy)
}

fn playing(algorithm: Algorithm, arms: usize, dimension: usize) -> Playing {
    Playing::new(BenchProblem::new(arms, dimension), algorithm)
}

fn playing_at(algorithm: Algorithm, rows: ContextKind, arms: usize, dimension: usize) -> Playing {
    Playing::at(BenchProblem::new(arms, dimension), algorithm, rows)
}

fn irithyll(arms: usize, dimension: usize) -> Irithyll {
    Irithyll::new(BenchProblem::new(arms, dimension))
}

fn trashpanda(arms: usize, dimension: usize) -> Trashpanda {
    Trashpanda::new(BenchProblem::new(arms, dimension))
}

fn run<S: Workload>(mut workload: S) -> S {
    workload.run(ROUNDS);
    workload
}

#[library_benchmark(setup = kernel)]
#[bench::k4_d5(4, 5)]
#[bench::k2_d25(2, 25)]
#[bench::k10_d100(10, 100)]
#[bench::k2_d2(2, 2)]
fn bare_kernel(workload: Kernels) -> Kernels {
    run(workload)
}

#[library_benchmark(setup = statistics)]
#[bench::k4_d5(4, 5)]
#[bench::k2_d25(2, 25)]
#[bench::k10_d100(10, 100)]
#[bench::k2_d2(2, 2)]
fn update_statistics(workload: Learning) -> Learning {
    run(workload)
}

#[library_benchmark(setup = observing)]
#[bench::k4_d5(4, 5)]
#[bench::k2_d25(2, 25)]
#[bench::k10_d100(10, 100)]
#[bench::k2_d2(2, 2)]
fn update_boundary_greedy(workload: Observing) -> Observing {
    run(workload)
}

#[library_benchmark(setup = playing)]
#[bench::rs_greedy_k4_d5(Algorithm::RsGreedy, 4, 5)]
#[bench::rs_greedy_k2_d25(Algorithm::RsGreedy, 2, 25)]
#[bench::rs_greedy_k10_d100(Algorithm::RsGreedy, 10, 100)]
#[bench::rs_greedy_k2_d2(Algorithm::RsGreedy, 2, 2)]
#[bench::boundary_greedy_k4_d5(Algorithm::BoundaryGreedy, 4, 5)]
#[bench::boundary_greedy_k2_d25(Algorithm::BoundaryGreedy, 2, 25)]
#[bench::boundary_greedy_k10_d100(Algorithm::BoundaryGreedy, 10, 100)]
#[bench::boundary_greedy_k2_d2(Algorithm::BoundaryGreedy, 2, 2)]
#[bench::linucb_k4_d5(Algorithm::LinUcb, 4, 5)]
#[bench::linucb_k2_d25(Algorithm::LinUcb, 2, 25)]
#[bench::linucb_k10_d100(Algorithm::LinUcb, 10, 100)]
#[bench::linucb_k2_d2(Algorithm::LinUcb, 2, 2)]
#[bench::greedy_k4_d5(Algorithm::Greedy, 4, 5)]
#[bench::greedy_k2_d25(Algorithm::Greedy, 2, 25)]
#[bench::greedy_k10_d100(Algorithm::Greedy, 10, 100)]
#[bench::greedy_k2_d2(Algorithm::Greedy, 2, 2)]
#[bench::rarely_k4_d5(Algorithm::Rarely, 4, 5)]
#[bench::rarely_k2_d25(Algorithm::Rarely, 2, 25)]
#[bench::rarely_k10_d100(Algorithm::Rarely, 10, 100)]
#[bench::rarely_k2_d2(Algorithm::Rarely, 2, 2)]
#[bench::rarely_quick_k4_d5(Algorithm::RarelyQuick, 4, 5)]
fn round(workload: Playing) -> Playing {
    run(workload)
}

#[library_benchmark(setup = playing_at)]
#[bench::greedy_clear_k4_d5(Algorithm::Greedy, ContextKind::Clear, 4, 5)]
#[bench::greedy_clear_k2_d25(Algorithm::Greedy, ContextKind::Clear, 2, 25)]
#[bench::greedy_clear_k2_d2(Algorithm::Greedy, ContextKind::Clear, 2, 2)]
#[bench::rarely_clear_k4_d5(Algorithm::Rarely, ContextKind::Clear, 4, 5)]
#[bench::rarely_clear_k2_d25(Algorithm::Rarely, ContextKind::Clear, 2, 25)]
#[bench::rarely_clear_k2_d2(Algorithm::Rarely, ContextKind::Clear, 2, 2)]
#[bench::rarely_quick_clear_k4_d5(Algorithm::RarelyQuick, ContextKind::Clear, 4, 5)]
#[bench::rarely_quick_clear_k2_d25(Algorithm::RarelyQuick, ContextKind::Clear, 2, 25)]
#[bench::rarely_quick_clear_k2_d2(Algorithm::RarelyQuick, ContextKind::Clear, 2, 2)]
#[bench::greedy_near_ties_k4_d5(Algorithm::Greedy, ContextKind::NearTies, 4, 5)]
#[bench::greedy_near_ties_k2_d25(Algorithm::Greedy, ContextKind::NearTies, 2, 25)]
#[bench::greedy_near_ties_k2_d2(Algorithm::Greedy, ContextKind::NearTies, 2, 2)]
#[bench::rarely_near_ties_k4_d5(Algorithm::Rarely, ContextKind::NearTies, 4, 5)]
#[bench::rarely_near_ties_k2_d25(Algorithm::Rarely, ContextKind::NearTies, 2, 25)]
#[bench::rarely_near_ties_k2_d2(Algorithm::Rarely, ContextKind::NearTies, 2, 2)]
#[bench::rarely_quick_near_ties_k4_d5(Algorithm::RarelyQuick, ContextKind::NearTies, 4, 5)]
#[bench::rarely_quick_near_ties_k2_d25(Algorithm::RarelyQuick, ContextKind::NearTies, 2, 25)]
#[bench::rarely_quick_near_ties_k2_d2(Algorithm::RarelyQuick, ContextKind::NearTies, 2, 2)]
fn round_at(workload: Playing) -> Playing {
    run(workload)
}

#[library_benchmark(setup = irithyll)]
#[bench::k4_d5(4, 5)]
fn peer_irithyll(workload: Irithyll) -> Irithyll {
    run(workload)
}

#[library_benchmark(setup = trashpanda)]
#[bench::k4_d5(4, 5)]
fn peer_trashpanda(workload: Trashpanda) -> Trashpanda {
    run(workload)
}

library_benchmark_group!(
    name = rounds,
    benchmarks =
        [bare_kernel, update_statistics, update_boundary_greedy, round, round_at, peer_irithyll, peer_trashpanda]
);
main!(library_benchmark_groups = rounds);
