//! Experiments: threads, the journal, stopping, and what the loop records.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rarely_core::{Algorithm, Arm, Certificates, Delay, Profile, Round, Shape};
use rarely_lab::{Contestant, ContestantResult, Experiment, ExperimentError, Judge, Linear, RunContext, play};
use rarely_lab::{Environment as _, RunJournal, WorldSource};
use rarely_output::OutputDirectory;

fn run_all(algorithms: &[Algorithm], threads: usize, context: &RunContext<'_>) -> Vec<ContestantResult> {
    try_all(algorithms, 2_000, threads, context).expect("it runs")
}

fn try_all(
    algorithms: &[Algorithm],
    rounds: u64,
    threads: usize,
    context: &RunContext<'_>,
) -> Result<Vec<ContestantResult>, ExperimentError> {
    let environment = Linear { shape: Shape::new(4, 5).expect("a shape"), noise: 0.1 };
    let contestants: Vec<Contestant> =
        algorithms.iter().map(|&algorithm| Contestant::new(algorithm, Profile::Rigorous)).collect();
    let experiment = Experiment {
        rounds: Some(rounds),
        judged_on: 5_000,
        certificates: Certificates::Full,
        ..Experiment::new(WorldSource::of(environment), 6, 9)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| experiment.run(&contestants, context))
}

fn kept_in(journal: &RunJournal) -> RunContext<'_> {
    RunContext { journal, ..RunContext::quiet() }
}

fn runs_of(results: &[ContestantResult]) -> Vec<&rarely_lab::Run> {
    results.iter().flat_map(|outcome| &outcome.runs).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let algorithms: Vec<Algorithm> = WorldSource::linear(4, 5).algorithms();
    let (one, many) = (run_all(&algorithms, 1, &RunContext::quiet()), run_all(&algorithms, 3, &RunContext::quiet()));
    assert_eq!(runs_of(&one), runs_of(&many));
}

/// An interrupted command goes on where it was: runs from the journal are those that would have been played.
#[test]
fn finished_runs_are_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = OutputDirectory::create(folder.path()).expect("a directory");
    let path = folder.path().join("unfinished.ndjson");
    let algorithms = [Algorithm::Rarely, Algorithm::RsConservative, Algorithm::Thompson];
    let fresh = run_all(&algorithms, 2, &RunContext::quiet());
    run_all(&algorithms, 2, &kept_in(&RunJournal::open(&directory).expect("a journal")));

    // Half of it is lost, the last line cut in its middle.
    let text = std::fs::read_to_string(&path).expect("lines");
    assert_eq!(text.lines().count(), 18);
    std::fs::write(&path, &text[..text.len() / 2]).expect("a shorter file");
    let journal = RunJournal::open(&directory).expect("a journal");
    let found = journal.found();
    assert!(found > 2 && found < 18, "{found}");
    let resumed = run_all(&algorithms, 2, &kept_in(&journal));
    assert_eq!(runs_of(&fresh), runs_of(&resumed));

    // Now it has all of them again, each on a line of its own, and other settings find none of them.
    let journal = RunJournal::open(&directory).expect("a journal");
    assert_eq!(journal.found(), 18);
    run_all(&[Algorithm::Greedy], 1, &kept_in(&journal));
    assert_eq!(journal.found(), 18);
    journal.finish().expect("it is written");
    let journal = RunJournal::open(&directory).expect("a journal");
    assert_eq!(journal.found(), 18, "runs of other commands stay");
    run_all(&algorithms, 1, &kept_in(&journal));
    journal.finish().expect("it is removed");
    assert!(!path.exists());
}

/// Stopped between runs or in the middle of one, an experiment ends with an error that says so, and goes on later as if it had not been.
#[test]
fn a_stopped_experiment_goes_on_to_the_same_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = OutputDirectory::create(folder.path()).expect("a directory");
    let algorithms = [Algorithm::Rarely, Algorithm::RsConservative];
    let journal = RunJournal::open(&directory).expect("a journal");
    let (stop, finished) = (AtomicBool::new(false), AtomicUsize::new(0));
    let progress = || {
        stop.fetch_or(finished.fetch_add(1, Ordering::Relaxed) >= 4, Ordering::Relaxed);
    };
    let stopped = try_all(&algorithms, 2_000, 2, &RunContext { journal: &journal, progress: &progress, stop: &stop });
    let error = stopped.expect_err("it was stopped");
    assert!(matches!(error, ExperimentError::Stopped), "{error}");
    assert!(error.to_string().starts_with("stopped before all runs were finished"), "{error}");

    // With two threads at most one run more was under way.
    let journal = RunJournal::open(&directory).expect("a journal");
    assert!((5..=6).contains(&journal.found()), "{}", journal.found());
    let resumed = run_all(&algorithms, 2, &kept_in(&journal));
    assert_eq!(runs_of(&run_all(&algorithms, 2, &RunContext::quiet())), runs_of(&resumed));
}

/// A run that would take minutes is given up at its next checkpoint.
#[test]
fn a_long_run_is_stopped_in_its_middle() {
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    let stopped = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
        });
        try_all(&[Algorithm::Rarely], 10_000_000, 1, &RunContext { stop: &stop, ..RunContext::quiet() })
    });
    assert!(matches!(stopped, Err(ExperimentError::Stopped)));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// Our default against LinUCB, as docs/mathematics.md §8 saw it at full size; here a smoke test of the whole loop.
#[test]
fn the_house_default_learns_with_few_changes() {
    let outcome = run_all(&[Algorithm::Rarely], 2, &RunContext::quiet()).remove(0);
    let summary = outcome.summary();
    assert!(summary.regret_per_step.mean < summary.regret_per_step_tenth.mean);
    let changes = outcome.altering().count();
    assert!((6..=60).contains(&changes), "{changes}");
    assert!(summary.improving_percent.expect("changes").mean >= 80.0, "{summary:?}");
}

/// Two ways to the same number: the regret that the loop adds up, and the regret of the decisions, replayed from the recorded
/// changes of policy in a second copy of the world.
#[test]
fn regret_by_the_loop_is_regret_of_the_recorded_policies() {
    let shape = Shape::new(3, 4).expect("a shape");
    let environment = Linear { shape, noise: 0.1 };
    for algorithm in [Algorithm::BoundaryGreedy, Algorithm::FeasibleConservative, Algorithm::PopulationConservative] {
        for run in 0..4 {
            let mut world = environment.world(5, run);
            let judge = Judge::new(&*world, shape, 1_000);
            let contestant = Contestant::new(algorithm, Profile::Rigorous);
            let mut policy = contestant.build(&*world, &judge, 3_000, Certificates::Brief).expect("a policy");
            let checkpoints = [1, 100, 2_999, 3_000];
            let mut rng = rarely_core::Rng::new(5, 3);
            let played = play(
                policy.as_mut(),
                &mut *world,
                (&judge, Delay::Any),
                &checkpoints,
                &mut rng,
                RunContext::quiet().stop,
            )
            .expect("it plays");

            let mut again = environment.world(5, run);
            let mut in_force = again.initial().to_vec();
            let mut changes = played.changes.iter().peekable();
            let (mut regret, mut round, mut at) = (0.0, Round::new(shape), 0);
            for number in 1..=3_000 {
                again.next(&mut round);
                let score = |arm: usize| -> f64 {
                    in_force[arm * 4..(arm + 1) * 4].iter().zip(&round.context).map(|(t, s)| t * s).sum()
                };
                let arm = (1..3).fold(0, |best, arm| if score(arm) > score(best) { arm } else { best });
                let best = round.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                regret += best - round.means[arm];
                if let Some(change) = changes.next_if(|change| change.round == number) {
                    in_force.clone_from(&change.parameters);
                }
                if number == checkpoints[at] {
                    assert!((regret - played.regret[at]).abs() < 1e-9, "{algorithm}: {regret} {}", played.regret[at]);
                    at += 1;
                }
            }
            assert!(changes.next().is_none());
        }
    }
}

/// Improving changes by sampling and by exact integration, d = 2: a rule is a piecewise constant function of x on [0,1], and
/// gains are integrals of linear functions between the places where either rule changes arms.
#[test]
fn improving_by_sampling_is_improving_by_integration() {
    let shape = Shape::new(4, 2).expect("a shape");
    let environment = Linear { shape, noise: 0.1 };
    let mut contestant = Contestant::new(Algorithm::BoundaryConservative, Profile::Rigorous);
    contestant.declared.sets = Some(rarely_core::Sets::Joint);
    contestant.explore = Some("pilot:6+equipoise:0.02".parse().expect("a way to explore"));
    let experiment = Experiment { rounds: Some(3_000), ..Experiment::new(WorldSource::of(environment), 40, 21) };
    let outcome = experiment.run(&[contestant], &RunContext::quiet()).expect("it runs").remove(0);
    let (mut sampled, mut exact, mut total) = (0, 0, 0);
    for (number, run) in outcome.runs.iter().enumerate() {
        let world = environment.world(21, number as u64);
        let truth = world.truth().expect("linear").to_vec();
        let mut before = world.initial().to_vec();
        for change in &run.changes {
            let gain = integral(&truth, &change.parameters) - integral(&truth, &before);
            // The sampled gain is a mean of 20,000 values, nearly all zero: its error is below 4·sd/√20000, and sd is at most
            // the largest difference of two arms' rewards (8) times the root of the share that changes.
            let error = 4.0 * 8.0 * (change.changed_share.max(5e-5) / 20_000.0).sqrt();
            assert!((gain - change.gain).abs() < error, "{gain} {} ± {error}", change.gain);
            if change.alters() {
                total += 1;
                sampled += usize::from(change.gain > 0.0);
                exact += usize::from(gain > 0.0);
            }
            before.clone_from(&change.parameters);
        }
    }
    println!("{total} changes: {sampled} improve by sampling, {exact} by integration");
    assert!(total > 100 && sampled.abs_diff(exact) * 50 <= total, "{sampled} {exact} of {total}");
}

/// `∫₀¹ (1,x)ᵀθ_{π(x)} dx` of the rule with these parameters.
fn integral(truth: &[f64], rule: &[f64]) -> f64 {
    let score = |parameters: &[f64], arm: usize, x: f64| parameters[2 * arm] + parameters[2 * arm + 1] * x;
    let mut places = vec![0.0, 1.0];
    for i in 0..4 {
        for j in 0..i {
            let slope = rule[2 * i + 1] - rule[2 * j + 1];
            let x = -(rule[2 * i] - rule[2 * j]) / slope;
            if x > 0.0 && x < 1.0 {
                places.push(x);
            }
        }
    }
    places.sort_by(f64::total_cmp);
    let pieces = places.windows(2).map(|piece| {
        let middle = f64::midpoint(piece[0], piece[1]);
        let arm =
            (1..4).fold(0, |best, arm| if score(rule, arm, middle) > score(rule, best, middle) { arm } else { best });
        (piece[1] - piece[0]) * score(truth, Arm::new(arm).index(), middle)
    });
    pieces.sum()
}
