//! How many cases with exploration would settle a question that the log leaves open, by simulation.

use rarely_core::{
    Arm, Certificates, Context, Exploration, Parameters, Policy, Ridge, Rng, Round, Rule, Shape, Share, SharpSet,
    Stuck, World, step,
};
use serde::Serialize;

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::judgement::Standing;
use crate::least_squares::dot;
use crate::moments::packed_length;
use crate::normal_equations::NormalEquations;

/// Simulated truths, each drawn from what the data leave possible.
const TRUTHS: u64 = 20;
/// Cases after which a simulation ends unsettled: at most this …
const MOST_CASES: u64 = 50_000;
/// … and at least this; with many features there are fewer, …
const LEAST_CASES: u64 = 500;
/// … so that all simulations together take about this number of multiplications.
const WORK: u64 = 1_500_000_000;
/// Cases before the first test of whether the question is settled; each later one comes after a quarter more cases.
const FIRST_LOOK: u64 = 100;
/// The share of randomised people where the document has no exploration.
const EQUIPOISE: f64 = 0.05;
/// People in the simulation.
const PEOPLE: usize = 1000;
/// An option that was stuck is settled when it may be best for less than this share of the people, or is in use.
const STILL_PLAUSIBLE: f64 = 0.05;
/// Attempts to draw a truth whose mean is in the outcome's range.
const DRAWS: usize = 100;

/// How many cases with exploration would settle an open question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplorationForecast {
    /// The exploration that was simulated, as a document writes it.
    pub explore: String,
    /// Cases after which half of the simulated truths were settled; null if they were not.
    pub cases: Option<u64>,
    /// Cases after which nine tenths were.
    pub cases_nine_tenths: Option<u64>,
    /// Truths that were settled.
    pub settled: usize,
    /// Truths that were simulated.
    pub simulated: usize,
    /// Cases after which a simulation ended.
    pub most_cases: u64,
}

/// Simulates the document's policy with exploration on truths that the data leave possible, until the data distinguish the options
/// in question and no option that may be best for many is left out.
///
/// # Errors
/// [`ReviewError::Settings`] if the document's settings exclude each other.
pub(crate) fn forecast(
    base: &EvidenceBase<'_>,
    standing: &Standing,
    stuck: &[Stuck],
) -> Result<ExplorationForecast, ReviewError> {
    let own = base.document.change().explore;
    let explore = if own == Exploration::NONE {
        Exploration { equipoise: Share::named("equipoise", EQUIPOISE)?, ..own }
    } else {
        own
    };
    let d = base.document.shape().dimension();
    let people = &base.people[..base.people.len().min(PEOPLE * d)];
    let question = Question {
        pairs: standing.boundaries.iter().filter(|pair| !pair.told_apart).map(|pair| pair.options).collect(),
        stuck: stuck.iter().map(|stuck| stuck.arm).collect(),
        people,
        most_cases: most_cases(base.document.shape()),
    };
    let mut settled = Vec::new();
    for truth in 0..TRUTHS {
        let mut rng = Rng::new(truth, 0);
        let mut world = People::draw(base, people, &mut rng);
        let settings = base
            .document
            .settings()?
            .noise(base.confidence().noise.get())?
            .deployed(standing.most_plausible.values().to_vec())?;
        let settings = settings.population(rarely_core::Contexts::new(people, d)?)?.certificates(Certificates::Brief);
        let settings = settings.explore(explore.pilot, explore.equipoise.get())?;
        let mut policy = settings.learned(base.statistics.clone()).build()?;
        settled.extend(question.cases_to_settle(policy.as_mut(), &mut world, &mut rng));
    }
    settled.sort_unstable();
    let after = |share: f64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let needed = (share * TRUTHS as f64).ceil() as usize;
        settled.get(needed - 1).copied()
    };
    Ok(ExplorationForecast {
        explore: explore.to_string(),
        cases: after(0.5),
        cases_nine_tenths: after(0.9),
        settled: settled.len(),
        simulated: usize::try_from(TRUTHS).unwrap_or(usize::MAX),
        most_cases: question.most_cases,
    })
}

/// The cases that can be simulated in a few seconds: a case costs about k·d².
fn most_cases(shape: Shape) -> u64 {
    let square = (shape.arms() * shape.dimension() * shape.dimension()) as u64;
    (WORK / (TRUTHS * square)).clamp(LEAST_CASES, MOST_CASES)
}

/// What is to be settled.
struct Question<'a> {
    /// Options that are not told apart.
    pairs: Vec<(usize, usize)>,
    /// Options that may be best for many but are hardly ever given.
    stuck: Vec<Arm>,
    people: &'a [f64],
    most_cases: u64,
}

impl Question<'_> {
    fn cases_to_settle(&self, policy: &mut dyn Policy, world: &mut People<'_>, rng: &mut Rng) -> Option<u64> {
        let mut round = Round::new(policy.shape());
        let mut look = FIRST_LOOK;
        for case in 1..=self.most_cases {
            let _ = step(policy, world, &mut round, rng, |_, _, _| {}).ok()?;
            if case == look {
                look += look / 4;
                if self.is_settled(&policy.learner()?.sharp(), policy.deployed()?) {
                    return Some(case);
                }
            }
        }
        None
    }

    /// Whether the data distinguish the pairs, and each stuck option is in use or no longer may be best for many.
    fn is_settled(&self, set: &SharpSet, deployed: &Parameters) -> bool {
        let shape = set.shape();
        let nothing = Parameters::zeros(shape);
        let people = self.people.chunks_exact(shape.dimension());
        let few = STILL_PLAUSIBLE * people.len() as f64;
        let rule = Rule::new(deployed.clone());
        let in_use = |arm: Arm| {
            people.clone().any(|person| Context::new(person).is_ok_and(|person| rule.choose(person) == Ok(arm)))
        };
        let may_be_best = |arm: &Arm| {
            let plausible = |person: &&[f64]| {
                Context::new(person)
                    .ok()
                    .and_then(|person| set.plausible_arms(person).ok())
                    .is_some_and(|arms| arms.contains(arm))
            };
            people.clone().filter(plausible).count() as f64 >= few
        };
        self.pairs.iter().all(|&(i, j)| !set.boundary(&nothing, i, j).plausible)
            && !self.stuck.iter().any(|arm| may_be_best(arm) && !in_use(*arm))
    }
}

/// The people of the log, with one possible truth.
struct People<'a> {
    contexts: &'a [f64],
    dimension: usize,
    truth: Vec<f64>,
    noise: f64,
    rng: Rng,
}

impl<'a> People<'a> {
    /// Draws a truth from `N(θ̂, σ²V⁻¹)` that on average stays in the outcome's range.
    fn draw(base: &EvidenceBase<'_>, people: &'a [f64], rng: &mut Rng) -> Self {
        let (d, noise) = (base.document.shape().dimension(), base.confidence().noise.get());
        let sign = base.document.outcome_sign();
        let mut truth = Vec::new();
        for ridge in base.statistics.arms() {
            let equations = NormalEquations::new(&penalised(ridge), &vec![0.0; d]);
            let mut draw = || {
                let normal: Vec<f64> = (0..d).map(|_| noise * rng.normal()).collect();
                let mut arm = equations.unwhitened(&normal);
                arm.iter_mut().zip(ridge.estimate()).for_each(|(value, estimate)| *value += estimate);
                arm
            };
            let likely = |arm: &Vec<f64>| {
                let count = people.len() / d;
                let mean = people.chunks_exact(d).map(|person| dot(person, arm)).sum::<f64>() / count as f64;
                base.document.outcome().range.is_none_or(|(low, high)| low <= sign * mean && sign * mean <= high)
            };
            let drawn = (1..DRAWS).map(|_| draw()).find(likely);
            truth.extend(drawn.unwrap_or_else(|| ridge.estimate().to_vec()));
        }
        Self { contexts: people, dimension: d, truth, noise, rng: Rng::new(rng.bits(), 1) }
    }
}

/// `V` of one arm: the lower triangle by rows.
fn penalised(ridge: &Ridge) -> Vec<f64> {
    let mut packed: Vec<f64> = ridge.information().collect();
    for at in 0..ridge.dimension() {
        packed[packed_length(at + 1) - 1] += ridge.penalty();
    }
    packed
}

impl World for People<'_> {
    fn next(&mut self, round: &mut Round) {
        let d = self.dimension;
        let at = self.rng.below(self.contexts.len() / d);
        round.context.copy_from_slice(&self.contexts[at * d..(at + 1) * d]);
        for (arm, parameters) in self.truth.chunks_exact(d).enumerate() {
            round.means[arm] = dot(parameters, &round.context);
            round.rewards[arm] = round.means[arm] + self.noise * self.rng.normal();
        }
    }
}
