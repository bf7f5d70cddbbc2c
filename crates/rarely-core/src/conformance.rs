//! The laws every [`Policy`] obeys, as functions that a test calls.
//!
//! Each takes a function that builds the policy under test, the same every time, runs it for some rounds, and
//! panics if the law is broken, naming the law, the algorithm and what was found. [`check`] runs them all, except
//! [`arms_are_interchangeable`], which holds only for some policies.
#![allow(clippy::missing_panics_doc, reason = "a panic is how every function here reports a broken law")]

use std::fmt;
use std::ops::Range;

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Shape};
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{MAX_CONTEXT_ENTRY, MAX_REWARD};
use crate::logistic::mean_outcome;
use crate::policy::Policy;
use crate::rng::Rng;
use crate::snapshot::Snapshot;

/// Builds the policy under test, the same every time.
pub type Build<'a> = dyn Fn() -> Box<dyn Policy> + 'a;

/// Builds the policy under test with its arms in another order: its arm `i` is what arm `order[i]` was.
pub type BuildInOrder<'a> = dyn Fn(&[usize]) -> Box<dyn Policy> + 'a;

/// Rounds of a run: enough for pilots to end and for most triggers to fire.
const ROUNDS: usize = 240;
const SEED: u64 = 20_190_529;

/// Every law but [`arms_are_interchangeable`].
pub fn check(build: &Build<'_>) {
    deciding_is_pure(build);
    same_seed_same_run(build);
    replay_rebuilds_the_state(build);
    restored_policies_continue(build);
    blocks_are_decided_row_by_row(build);
    blocks_are_learned_row_by_row(build);
    counts_add_up(build);
    propensities_are_frequencies(build);
    extremes_do_no_harm(build);
    errors_change_nothing(build);
}

/// Deciding learns nothing, and depends on nothing but the state, the context and the random numbers.
pub fn deciding_is_pure(build: &Build<'_>) {
    let law = "deciding is pure";
    let (mut policy, world) = start(build);
    let mut rng = Rng::new(SEED, 1);
    for segment in segments() {
        let before = policy.snapshot();
        for round in segment.clone() {
            let (mut one, mut again) = (Rng::new(SEED, round as u64), Rng::new(SEED, round as u64));
            let first = decide(&*policy, world.context(round), &mut one);
            let second = decide(&*policy, world.context(round), &mut again);
            assert_eq!(first, second, "{law}: {} decided differently the second time", policy.algorithm());
            assert_eq!(one, again, "{law}: {} drew a different number of random numbers", policy.algorithm());
        }
        same_state(&policy.snapshot(), &before, law, &*policy);
        run(&mut *policy, &world, &mut rng, segment);
    }
}

/// The same seed gives the same decisions, the same changes and the same state.
pub fn same_seed_same_run(build: &Build<'_>) {
    let law = "same seed, same run";
    let (mut one, world) = start(build);
    let mut two = build();
    let first = run(&mut *one, &world, &mut Rng::new(SEED, 1), 0..ROUNDS);
    let second = run(&mut *two, &world, &mut Rng::new(SEED, 1), 0..ROUNDS);
    same_log(&first, &second, law, &*one);
    same_state(&two.snapshot(), &one.snapshot(), law, &*one);
}

/// A new policy that learns a recorded log is, bit for bit, the policy that wrote it, and changes at the same rounds.
pub fn replay_rebuilds_the_state(build: &Build<'_>) {
    let law = "replay rebuilds the state";
    let (mut policy, world) = start(build);
    let log = run(&mut *policy, &world, &mut Rng::new(SEED, 1), 0..ROUNDS);
    let mut replayed = build();
    for (round, entry) in log.iter().enumerate() {
        let change = observe(&mut *replayed, world.context(round), &entry.decision, entry.reward);
        assert_eq!(change, entry.change, "{law}: {} changed differently in round {round}", policy.algorithm());
    }
    same_state(&replayed.snapshot(), &policy.snapshot(), law, &*policy);
}

/// A policy restored from a snapshot continues, bit for bit, as the one that was not interrupted.
pub fn restored_policies_continue(build: &Build<'_>) {
    let law = "a restored policy continues";
    let (mut policy, world) = start(build);
    let mut rng = Rng::new(SEED, 1);
    for segment in segments() {
        let mut copy = restore(policy.snapshot(), law, &*policy);
        same_state(&copy.snapshot(), &policy.snapshot(), law, &*policy);
        let copied = run(&mut *copy, &world, &mut rng.clone(), segment.clone());
        let original = run(&mut *policy, &world, &mut rng, segment);
        same_log(&original, &copied, law, &*policy);
        same_state(&copy.snapshot(), &policy.snapshot(), law, &*policy);
    }
}

/// A block of contexts is decided as its rows are, one after the other, with the same random numbers.
pub fn blocks_are_decided_row_by_row(build: &Build<'_>) {
    let law = "a block is decided row by row";
    let (mut policy, world) = start(build);
    let mut rng = Rng::new(SEED, 1);
    for segment in segments() {
        let (mut by_row, mut by_block) = (Rng::new(SEED, 2), Rng::new(SEED, 2));
        // Each decision counts, although its outcome is out.
        let mut one_by_one = policy.snapshot().restore().expect("a policy's own snapshot");
        let expected: Vec<Decision> = (0..ROUNDS)
            .map(|round| {
                let decision = decide(&*one_by_one, world.context(round), &mut by_row);
                one_by_one.set_decisions(one_by_one.decisions() + 1);
                decision
            })
            .collect();
        let mut found = vec![Decision::recorded(Arm::new(0)); ROUNDS];
        policy.decide_many(world.block(0..ROUNDS), &mut by_block, &mut found).expect("the block fits the policy");
        assert_eq!(found, expected, "{law}: {}", policy.algorithm());
        assert_eq!(by_block, by_row, "{law}: {} drew a different number of random numbers", policy.algorithm());
        run(&mut *policy, &world, &mut rng, segment);
    }
}

/// A block of outcomes is learned as its rows are, with the same changes at the same rows.
pub fn blocks_are_learned_row_by_row(build: &Build<'_>) {
    let law = "a block is learned row by row";
    let (mut policy, world) = start(build);
    let log = run(&mut *policy, &world, &mut Rng::new(SEED, 1), 0..ROUNDS);
    let mut by_block = build();
    let mut found = Vec::new();
    for segment in segments() {
        let decisions: Vec<Decision> = log[segment.clone()].iter().map(|entry| entry.decision).collect();
        let rewards: Vec<f64> = log[segment.clone()].iter().map(|entry| entry.reward).collect();
        let changes = by_block.observe_many(world.block(segment.clone()), &decisions, &rewards);
        let changes = changes.expect("the block was learned row by row before");
        found.extend(changes.into_iter().map(|(row, evidence)| (segment.start + row, evidence)));
    }
    let evidence = |(round, entry): (usize, &Entry)| Some((round, entry.change.evidence()?.clone()));
    let expected: Vec<(usize, Evidence)> = log.iter().enumerate().filter_map(evidence).collect();
    assert_eq!(found, expected, "{law}: {}", policy.algorithm());
    same_state(&by_block.snapshot(), &policy.snapshot(), law, &*policy);
}

/// Rounds and changes are counted, a change starts from what was in force, and afterwards the new parameters are.
pub fn counts_add_up(build: &Build<'_>) {
    let (mut policy, world) = start(build);
    let name = policy.algorithm();
    let mut rng = Rng::new(SEED, 1);
    let (mut changes, rounds_before) = (policy.changes(), policy.rounds());
    for round in 0..ROUNDS {
        let before = policy.deployed().cloned();
        let entry = play(&mut *policy, &world, &mut rng, round);
        assert_eq!(policy.rounds(), rounds_before + round as u64 + 1, "{name} counts its rounds");
        if let Some(evidence) = entry.change.evidence() {
            changes += 1;
            assert_eq!((evidence.version, evidence.round), (changes, policy.rounds()), "{name} numbers its changes");
            assert_ne!(evidence.from, evidence.to, "{name}: a change changes something");
            if before.is_some() {
                assert_eq!(before.as_ref(), Some(&evidence.from), "{name}: a change starts from what was in force");
                assert_eq!(policy.deployed(), Some(&evidence.to), "{name}: a change puts its parameters in force");
            }
        } else if entry.change == Change::Kept {
            assert_eq!(policy.deployed(), before.as_ref(), "{name}: kept is kept");
        }
        assert_eq!(policy.changes(), changes, "{name} counts its changes");
    }
}

/// A propensity is a probability above 0, the same whenever the same arm is drawn at the same context, and the frequency
/// with which the arm is drawn.
///
/// By Bernstein's inequality the frequency of an arm of probability `p` in `n` draws is within
/// `√(2p(1−p)l/n) + 2l/(3n)` of it with probability `1 − 2e^{−l}`, and arms of probability `m` together all stay undrawn with
/// probability at most `e^{−nm}`: `l = 20` makes either failure rarer than one in 10⁸ by chance.
pub fn propensities_are_frequencies(build: &Build<'_>) {
    const DRAWS: u32 = 4000;
    const LOG: f64 = 20.0;
    let law = "propensities are frequencies";
    let (mut policy, world) = start(build);
    let (name, arms) = (policy.algorithm(), policy.shape().arms());
    let mut rng = Rng::new(SEED, 1);
    run(&mut *policy, &world, &mut rng, 0..ROUNDS);
    for round in 0..3 {
        let mut drawn = vec![(0_u32, 0.0); arms];
        for _ in 0..DRAWS {
            let Decision { arm, propensity, .. } = decide(&*policy, world.context(round), &mut rng);
            let (count, before) = &mut drawn[arm.index()];
            assert!(
                *count == 0 || *before == propensity,
                "{law}: {name} reports {before}, then {propensity} for {arm}"
            );
            (*count, *before) = (*count + 1, propensity);
        }
        let mut total = 0.0;
        for (arm, (count, p)) in drawn.into_iter().enumerate() {
            let found = f64::from(count) / f64::from(DRAWS);
            let tolerance =
                (2.0 * p * (1.0 - p) * LOG / f64::from(DRAWS)).sqrt() + 2.0 * LOG / (3.0 * f64::from(DRAWS));
            assert!((found - p).abs() <= tolerance, "{law}: {name} reports {p} for arm {arm}, drawn at {found}");
            total += p;
        }
        let undrawn = LOG / f64::from(DRAWS);
        assert!(total <= 1.0 + 1e-8 && total >= 1.0 - undrawn, "{law}: {name}'s propensities add up to {total}");
    }
}

/// Extreme but allowed contexts and rewards are decided on, and either learned or refused: nothing becomes NaN, and
/// the state can still be saved and restored.
pub fn extremes_do_no_harm(build: &Build<'_>) {
    const ENTRIES: [f64; 10] = [0.0, 1e-300, -1e-150, 1e-9, 0.1, 1e3, -1e5, 1e6, MAX_CONTEXT_ENTRY, -MAX_CONTEXT_ENTRY];
    const REWARDS: [f64; 5] = [1.0, 0.0, 1e-300, -MAX_REWARD, MAX_REWARD];
    let law = "extremes do no harm";
    let (mut policy, world) = start(build);
    let (arms, dimension) = (policy.shape().arms(), policy.shape().dimension());
    let mut rng = Rng::new(SEED, 1);
    run(&mut *policy, &world, &mut rng, 0..ROUNDS / 4);
    let mut turn = 0;
    for entry in ENTRIES {
        for reward in REWARDS {
            let everywhere = vec![entry; dimension];
            let mut once = vec![1.0; dimension];
            once[turn % dimension] = entry;
            for values in [everywhere, once] {
                let context = Context::new(&values).expect("an allowed context");
                let own = decide(&*policy, context, &mut rng);
                turn += 1;
                for decision in [own, Decision::recorded(Arm::new(turn % arms))] {
                    let before = policy.snapshot();
                    if let Err(error) = policy.observe(context, &decision, reward) {
                        assert!(policy.snapshot() == before, "{law}: {} changed by {error}", policy.algorithm());
                    }
                    sound(&*policy, &world, law, format_args!("context {values:?}, {decision:?}, reward {reward:e}"));
                }
            }
        }
    }
}

/// An error leaves the state unchanged.
pub fn errors_change_nothing(build: &Build<'_>) {
    let law = "an error changes nothing";
    let (mut policy, world) = start(build);
    let name = policy.algorithm();
    let (arms, dimension) = (policy.shape().arms(), policy.shape().dimension());
    let mut rng = Rng::new(SEED, 1);
    run(&mut *policy, &world, &mut rng, 0..ROUNDS / 2);
    let before = policy.snapshot();
    let fitting = world.context(0);
    let (too_long, known, unknown) =
        (vec![1.0; dimension + 1], Decision::recorded(Arm::new(0)), Decision::recorded(Arm::new(arms)));
    let wrong = Context::new(&too_long).expect("finite");
    assert!(policy.decide(wrong, &mut rng).is_err(), "{law}: {name} decided on a context that does not fit");
    assert!(policy.observe(wrong, &known, 1.0).is_err(), "{law}: {name} learned a context that does not fit");
    assert!(policy.observe(fitting, &unknown, 1.0).is_err(), "{law}: {name} learned of an arm it does not have");
    let bad_rewards = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0 * MAX_REWARD, -2.0 * MAX_REWARD, f64::MAX];
    for reward in bad_rewards {
        assert!(policy.observe(fitting, &known, reward).is_err(), "{law}: {name} learned the reward {reward}");
        let (decisions, rewards) = ([known; 3], [1.0, 1.0, reward]);
        assert!(
            policy.observe_many(world.block(0..3), &decisions, &rewards).is_err(),
            "{law}: {name} learned {reward}"
        );
    }
    assert!(policy.observe_many(world.block(0..3), &[known; 3], &[1.0; 2]).is_err(), "{law}: {name}: a reward short");
    assert!(policy.observe_many(world.block(0..3), &[known; 2], &[1.0; 3]).is_err(), "{law}: {name}: a decision short");
    assert!(policy.decide_many(world.block(0..3), &mut rng, &mut [known; 2]).is_err(), "{law}: {name}: no room");
    same_state(&policy.snapshot(), &before, law, &*policy);
    let huge = vec![MAX_CONTEXT_ENTRY; dimension];
    let huge = Context::new(&huge).expect("allowed, though no policy with a usual penalty can learn it");
    if policy.learner().is_some() {
        assert!(policy.observe(huge, &known, 1.0).is_err(), "{law}: {name} learned what f64 cannot resolve");
        same_state(&policy.snapshot(), &before, law, &*policy);
    }
}

/// Numbering the arms differently numbers the decisions differently and alters nothing else.
///
/// This is a law only for policies that draw no random numbers (which arm a number stands for depends on the order), have no
/// pilot (it takes the arms in order), and whose starting parameters differ between arms (ties go to the lowest). Decisions
/// and each arm's statistics must agree; sums over arms are taken in another order, so that their last bits may not.
pub fn arms_are_interchangeable(arms: usize, build: &BuildInOrder<'_>) {
    let law = "arms are interchangeable";
    let same: Vec<usize> = (0..arms).collect();
    let mut policy = build(&same);
    let name = policy.algorithm();
    let world = DrawnWorld::new(policy.shape());
    let log = run(&mut *policy, &world, &mut Rng::new(SEED, 1), 0..ROUNDS);
    let reversed: Vec<usize> = same.iter().rev().copied().collect();
    let rotated: Vec<usize> = same.iter().cycle().skip(1).take(same.len()).copied().collect();
    for order in [reversed, rotated] {
        let mut other = build(&order);
        for (round, entry) in log.iter().enumerate() {
            assert!(
                entry.decision.propensity == 1.0 && entry.decision.reason != Reason::Pilot,
                "{law}: is not a law for {name}, which randomises or has a pilot"
            );
            let decision = decide(&*other, world.context(round), &mut Rng::new(SEED, 2));
            let found = order[decision.arm.index()];
            let expected = entry.decision.arm.index();
            assert_eq!(found, expected, "{law}: {name} decided differently in round {round} in the order {order:?}");
            let change = observe(&mut *other, world.context(round), &decision, entry.reward);
            let (changed, expected) = (change.evidence().is_some(), entry.change.evidence().is_some());
            assert_eq!(changed, expected, "{law}: {name} changed differently in round {round} in the order {order:?}");
        }
        if let (Some(one), Some(two)) = (policy.learner(), other.learner()) {
            for (arm, ridge) in two.statistics().arms().iter().enumerate() {
                assert_eq!(ridge, one.statistics().arm(order[arm]), "{law}: {name}, statistics of arm {arm}");
            }
        }
    }
}

/// Contexts and noise that do not depend on what a policy does.
struct DrawnWorld {
    shape: Shape,
    truth: Vec<f64>,
    contexts: Vec<f64>,
    noise: Vec<f64>,
}

impl DrawnWorld {
    fn new(shape: Shape) -> Self {
        let mut rng = Rng::new(SEED, 0);
        let dimension = shape.dimension();
        let mut entry = |at: usize| if at.is_multiple_of(dimension) && dimension > 1 { 1.0 } else { rng.uniform() };
        let contexts = (0..ROUNDS * dimension).map(&mut entry).collect();
        let mut normals = |count: usize| (0..count).map(|_| rng.normal()).collect();
        Self { shape, truth: normals(shape.parameters()), contexts, noise: normals(ROUNDS) }
    }

    fn block(&self, rounds: Range<usize>) -> Contexts<'_> {
        let dimension = self.shape.dimension();
        let values = &self.contexts[rounds.start * dimension..rounds.end * dimension];
        Contexts::new(values, dimension).expect("a world's contexts are finite")
    }

    fn context(&self, round: usize) -> Context<'_> {
        self.block(round..round + 1).iter().next().expect("a block of one context")
    }

    fn reward(&self, round: usize, arm: Arm) -> f64 {
        let dimension = self.shape.dimension();
        let truth = &self.truth[arm.index() * dimension..];
        let mean: f64 = self.context(round).values().iter().zip(truth).map(|(s, theta)| s * theta).sum();
        mean + 0.1 * self.noise[round]
    }
}

/// One round of a log.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    decision: Decision,
    reward: f64,
    change: Change,
}

/// A run in uneven pieces, between which laws are tested: nothing yet, a few rounds, most of them.
fn segments() -> [Range<usize>; 3] {
    [0..7, 7..ROUNDS / 2, ROUNDS / 2..ROUNDS]
}

fn start(build: &Build<'_>) -> (Box<dyn Policy>, DrawnWorld) {
    let policy = build();
    let world = DrawnWorld::new(policy.shape());
    (policy, world)
}

fn decide(policy: &dyn Policy, context: Context<'_>, rng: &mut Rng) -> Decision {
    let decision = policy.decide(context, rng).expect("the context fits the policy");
    let (name, p) = (policy.algorithm(), decision.propensity);
    assert!(p > 0.0 && p <= 1.0, "{name} reports a propensity of {p} at {context:?}");
    assert!(decision.arm.index() < policy.shape().arms(), "{name} chose {}, which does not exist", decision.arm);
    decision
}

fn observe(policy: &mut dyn Policy, context: Context<'_>, decision: &Decision, reward: f64) -> Change {
    match policy.observe(context, decision, reward) {
        Ok(change) => change,
        Err(error) => panic!("{} refused an ordinary outcome: {error}", policy.algorithm()),
    }
}

fn play(policy: &mut dyn Policy, world: &DrawnWorld, rng: &mut Rng, round: usize) -> Entry {
    let context = world.context(round);
    let decision = decide(policy, context, rng);
    let reward = learnable(policy.algorithm(), world.reward(round, decision.arm));
    let change = observe(policy, context, &decision, reward);
    Entry { decision, reward, change }
}

/// A reward as an algorithm can learn it: from 0 to 1 where it needs that.
pub fn learnable(algorithm: Algorithm, reward: f64) -> f64 {
    if algorithm.is_logistic() { mean_outcome(reward) } else { reward }
}

fn run(policy: &mut dyn Policy, world: &DrawnWorld, rng: &mut Rng, rounds: Range<usize>) -> Vec<Entry> {
    rounds.map(|round| play(policy, world, rng, round)).collect()
}

fn restore(snapshot: Snapshot, law: &str, policy: &dyn Policy) -> Box<dyn Policy> {
    match snapshot.restore() {
        Ok(copy) => copy,
        Err(error) => panic!("{law}: {}'s own snapshot was refused: {error}", policy.algorithm()),
    }
}

/// No number that a policy shows or decides with is NaN, and its state restores.
fn sound(policy: &dyn Policy, world: &DrawnWorld, law: &str, after: fmt::Arguments<'_>) {
    let name = policy.algorithm();
    if let Some(learner) = policy.learner() {
        let (set, context) = (learner.set(), world.context(0).values());
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        assert!(finite(learner.statistics().estimates().values()), "{law}: {name}'s estimates after {after}");
        assert!(learner.statistics().log_growth() >= 0.0, "{law}: {name}'s log-determinant after {after}");
        assert!(set.radius() >= 0.0, "{law}: {name}'s radius is {} after {after}", set.radius());
        for arm in 0..policy.shape().arms() {
            let interval = set.arm_interval(context, arm);
            assert!(interval.lower <= interval.upper, "{law}: {name}'s {interval:?} of arm {arm} after {after}");
        }
        let deployed = policy.deployed().is_none_or(|parameters| finite(parameters.values()));
        assert!(deployed, "{law}: {name}'s parameters in force after {after}");
    }
    decide(policy, world.context(0), &mut Rng::new(SEED, 3));
    let snapshot = policy.snapshot();
    match snapshot.clone().restore() {
        Ok(copy) => assert!(copy.snapshot() == snapshot, "{law}: {name} restores to another state after {after}"),
        Err(error) => panic!("{law}: {name}'s own snapshot was refused after {after}: {error}"),
    }
}

fn same_log(expected: &[Entry], found: &[Entry], law: &str, policy: &dyn Policy) {
    let name = policy.algorithm();
    assert_eq!(expected.len(), found.len(), "{law}: {name}");
    for (round, (expected, found)) in expected.iter().zip(found).enumerate() {
        assert_eq!(expected, found, "{law}: {name}, round {round}");
    }
}

/// Bit for bit: `==` finds NaN, which equals nothing, and the printed form tells 0 from −0.
fn same_state(found: &Snapshot, expected: &Snapshot, law: &str, policy: &dyn Policy) {
    let (printed, wanted) = (format!("{found:?}"), format!("{expected:?}"));
    if found == expected && printed == wanted {
        return;
    }
    let at = printed.bytes().zip(wanted.bytes()).position(|(a, b)| a != b);
    let at = at.or_else(|| printed.find("NaN")).unwrap_or(printed.len().min(wanted.len()));
    let near = |text: &str| text.chars().skip(at.saturating_sub(120)).take(240).collect::<String>();
    panic!(
        "{law}: {} has another state than expected, or one with NaN\n   found … {} …\nexpected … {} …",
        policy.algorithm(),
        near(&printed),
        near(&wanted)
    );
}
