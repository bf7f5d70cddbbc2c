//! The ratio table: everything is measured in turn, again and again, so that noise hits all alike.

mod race;
mod review;
mod serve;

use std::hint::black_box;

use rarely_bench::many::{self, CACHED, MILLION, Many};
use rarely_bench::{
    BenchProblem, ContextKind, Implausible, Irithyll, Kernels, Learning, Observing, Playing, SHAPES, Trashpanda,
    Workload,
};
use rarely_core::Algorithm;

use crate::race::Race;

const KERNEL: &str = "bare kernel";
const UPDATES: [&str; 2] = ["update: Statistics::observe", "update: boundary-greedy observe"];
const ROUNDS: [(&str, Algorithm); 6] = [
    ("round: rs-greedy", Algorithm::RsGreedy),
    ("round: boundary-greedy", Algorithm::BoundaryGreedy),
    ("round: linucb", Algorithm::LinUcb),
    ("round: greedy", Algorithm::Greedy),
    ("round: rarely", Algorithm::Rarely),
    ("round: rarely-quick", Algorithm::RarelyQuick),
];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("review") => return review::run(),
        Some("serve") => return serve::run(),
        Some("serve-postgres") => return serve::run_on_postgres(),
        _ => {}
    }
    for (arms, dimension) in SHAPES {
        rounds(arms, dimension);
    }
    our_default();
    peers();
    updates();
    decisions();
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT met" }
}

fn rounds(arms: usize, dimension: usize) {
    let problem = BenchProblem::new(arms, dimension);
    // Long enough at d = 100 to hold several of the scheduled factorisations (one in 3,200 updates of an arm).
    let (batch, repetitions) = if dimension < 100 { (4096, 151) } else { (16384, 9) };
    let mut race = Race::default();
    let mut enter = |name, mut workload: Box<dyn Workload>| race.enter(name, batch, move || workload.run(batch));
    enter(KERNEL, Box::new(Kernels::new(problem)));
    enter(UPDATES[0], Box::new(Learning::new(problem)));
    enter(UPDATES[1], Box::new(Observing::new(problem, Algorithm::BoundaryGreedy)));
    for (name, algorithm) in ROUNDS {
        enter(name, Box::new(Playing::new(problem, algorithm)));
    }
    race.run(repetitions);

    println!("\n### k = {arms}, d = {dimension}\n");
    println!("| | ns | × kernel | target | |\n|---|---:|---:|---|---|");
    let kernel = race.median(KERNEL);
    println!("| {KERNEL} | {kernel:.1} | 1.00 | | |");
    for name in UPDATES {
        let (time, ratio) = (race.median(name), race.ratio(name, KERNEL));
        let (target, verdict) = match dimension {
            25.. => ("≤ 2 × kernel", verdict(ratio <= 2.0)),
            5 => ("≤ 150 ns or 3 × kernel", verdict(time <= 150.0 || ratio <= 3.0)),
            _ => ("", ""),
        };
        println!("| {name} | {time:.1} | {ratio:.2} | {target} | {verdict} |");
    }
    for (name, _) in ROUNDS {
        println!("| {name} | {:.1} | {:.2} | | |", race.median(name), race.ratio(name, KERNEL));
    }
}

/// Rounds of our default beside greedy's, where an arm is clearly best and where none is.
fn our_default() {
    const NAMES: [[&str; 3]; 2] = [
        ["greedy, clear", "rarely, clear", "rarely-quick, clear"],
        ["greedy, near ties", "rarely, near ties", "rarely-quick, near ties"],
    ];
    println!("\n### Our default: rounds at clear contexts and near ties\n");
    println!("| k, d | contexts of 256 | | ns | × greedy | target | |\n|---|---:|---|---:|---:|---|---|");
    for (arms, dimension) in SHAPES.into_iter().filter(|&(_, dimension)| dimension < 100) {
        let problem = BenchProblem::new(arms, dimension);
        for (rows, names) in [ContextKind::Clear, ContextKind::NearTies].into_iter().zip(NAMES) {
            let mut race = Race::default();
            for (name, algorithm) in
                names.into_iter().zip([Algorithm::Greedy, Algorithm::Rarely, Algorithm::RarelyQuick])
            {
                let mut workload = Playing::at(problem, algorithm, rows);
                race.enter(name, 1024, move || workload.run(1024));
            }
            race.run(51);
            for name in names {
                let ratio = race.ratio(name, names[0]);
                let (target, verdict) =
                    if rows == ContextKind::Clear { ("≤ 2 × greedy", verdict(ratio <= 2.0)) } else { ("", "") };
                let (time, contexts) = (race.median(name), rows.of(problem).len());
                println!(
                    "| {arms}, {dimension} | {contexts} | {name} | {time:.1} | {ratio:.2} | {target} | {verdict} |"
                );
            }
        }
    }
}

fn peers() {
    const OURS: &str = "linucb";
    const PEERS: [&str; 2] = ["irithyll", "trashpanda"];
    let problem = BenchProblem::new(4, 5);
    let mut race = Race::default();
    let mut enter = |name, mut workload: Box<dyn Workload>| race.enter(name, 4096, move || workload.run(4096));
    enter(OURS, Box::new(Playing::new(problem, Algorithm::LinUcb)));
    enter(PEERS[0], Box::new(Irithyll::new(problem)));
    enter(PEERS[1], Box::new(Trashpanda::new(problem)));
    race.run(151);

    println!("\n### LinUCB at k = 4, d = 5: one decision and one update\n");
    println!("| | ns | × ours | target | |\n|---|---:|---:|---|---|");
    println!("| {OURS} | {:.1} | 1.00 | | |", race.median(OURS));
    for name in PEERS {
        let ratio = race.ratio(name, OURS);
        println!("| {name} | {:.1} | {ratio:.2} | ≥ 2 × ours | {} |", race.median(name), verdict(ratio >= 2.0));
    }
}

fn updates() {
    println!("\n### A switch: the exact conservative update and the projected gradient\n");
    println!("| k, d | exact µs | gradient µs | exact ÷ gradient | cosine exact | cosine gradient |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (arms, dimension) in SHAPES {
        let case = Implausible::new(BenchProblem::new(arms, dimension));
        let batch = if dimension < 100 { 20 } else { 1 };
        let mut race = Race::default();
        race.enter("exact", batch, || (0..batch).for_each(|_| drop(black_box(case.exact()))));
        race.enter("gradient", batch, || (0..batch).for_each(|_| drop(black_box(case.gradient()))));
        race.run(31);
        println!(
            "| {arms}, {dimension} | {:.1} | {:.1} | {:.2} | {:.4} | {:.4} |",
            race.median("exact") / 1e3,
            race.median("gradient") / 1e3,
            race.ratio("exact", "gradient"),
            case.exact().cosine,
            case.gradient().cosine,
        );
    }
}

fn decisions() {
    const DECIDE: &str = "decide_many";
    const TRAFFIC: &str = "the same memory read and written, nothing decided";
    const CACHE: &str = "decide_many, block in cache";
    let (block, small) = (many::block(MILLION), many::block(CACHED));
    let (contexts, small_contexts) = (many::check(&block), many::check(&small));
    let held = || Many::new(MILLION, Algorithm::BoundaryGreedy);
    let (mut deciding, mut checking, mut writing) = (held(), held(), held());
    let mut cached = Many::new(CACHED, Algorithm::BoundaryGreedy);
    let mut exploring = Many::new(MILLION, Algorithm::Rarely);
    let mut race = Race::default();
    race.enter(DECIDE, MILLION, || deciding.decide(contexts));
    race.enter("Contexts::new and decide_many", MILLION, || checking.decide(many::check(&block)));
    race.enter("Contexts::new", MILLION, || {
        black_box(many::check(&block));
    });
    race.enter("the contexts read, nothing else", MILLION, || many::read(&block));
    race.enter(TRAFFIC, MILLION, || writing.read_and_write(&block));
    race.enter(CACHE, 20 * CACHED, || (0..20).for_each(|_| cached.decide(small_contexts)));
    race.enter("decide_many of rarely, with equipoise", MILLION, || exploring.decide(contexts));
    race.run(15);

    println!("\n### A million decisions at k = 4, d = 5, one core\n");
    println!("| | million contexts per second | time ÷ decide_many |\n|---|---:|---:|");
    for name in race.names() {
        println!("| {name} | {:.1} | {:.2} |", 1e3 / race.median(name), race.ratio(name, DECIDE));
    }
    let rate = 1e3 / race.median(DECIDE);
    let bound = race.ratio(DECIDE, TRAFFIC) < 1.25 && race.ratio(CACHE, DECIDE) < 0.8;
    let kind = if bound { "memory-bound" } else { "bound by arithmetic, not by memory" };
    println!(
        "\nTarget: ≥ 50 million per second, or memory-bound: {rate:.0} million, {kind}: {}.",
        verdict(rate >= 50.0 || bound)
    );
}
