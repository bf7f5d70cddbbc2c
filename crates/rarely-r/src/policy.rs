//! `rarely_policy`: the core's policies, with a generator of their own and the list of their changes.
#![allow(unsafe_code, reason = "what #[extendr] expands to")]

mod settings;

use extendr_api::prelude::*;
use rarely_core::{
    Arm, Change, Contexts, DecideError, Decision, Evidence, Interval, Learner, ObserveError, Parameters, Policy,
    Reason, Rng, Rule, Settings, Snapshot,
};
use rarely_error::Explain;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::arguments::{Arguments, whole_number};
use crate::figure::held;
use crate::json::Json;
use crate::problem::{self, Problem, answer};
use crate::values::{count, data_frame, matrix, named_list, numbers, optional};

/// A policy that decides and learns.
pub(crate) struct Bandit {
    policy: Box<dyn Policy>,
    rng: Rng,
    changes: Vec<Evidence>,
}

/// The same as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedBandit {
    policy: Snapshot,
    rng: Rng,
    changes: Vec<Evidence>,
}

/// What the text of a saved policy begins with.
const HEAD: &str = "rarely policy of R 1\n";

/// A reason's name, as logs have it.
fn reason_name(reason: Reason) -> Result<String, Problem> {
    match Json::of(&reason)? {
        Json::Text(name) => Ok(name),
        other => Err(Problem::new(problem::OBSERVE, format!("{reason} has no name, but {other:?}"))),
    }
}

fn reason_named(name: &str) -> Result<Reason, Problem> {
    let deserializer: StrDeserializer<'_, ValueError> = name.into_deserializer();
    Reason::deserialize(deserializer).map_err(|_| {
        let problem = Problem::new(problem::OBSERVE, format!("there is no reason {name:?}"));
        problem.help("give those that decide() returned")
    })
}

/// An error about a row, which R counts from 1.
fn refused(error: &ObserveError) -> Problem {
    match error {
        ObserveError::Row { row, source } => refused(source).at(&format!("row {}: ", row + 1)),
        ObserveError::Context(_) => Problem::explain(problem::CONTEXT, error),
        _ => Problem::explain(problem::OBSERVE, error),
    }
}

fn context_problem(error: &impl Explain) -> Problem {
    Problem::explain(problem::CONTEXT, error)
}

impl Bandit {
    fn contexts<'a>(&self, rows: &'a [f64]) -> Result<Contexts<'a>, Problem> {
        Contexts::new(rows, self.policy.shape().dimension()).map_err(|error| context_problem(&error))
    }

    fn decide(&mut self, rows: &[f64]) -> Result<Vec<Decision>, Problem> {
        let contexts = self.contexts(rows)?;
        let mut rng = self.rng.clone();
        let mut decisions = vec![Decision::recorded(Arm::new(0)); contexts.len()];
        let decided = self.policy.decide_many(contexts, &mut rng, &mut decisions);
        decided.map_err(|error| context_problem(&error))?;
        self.rng = rng;
        self.policy.set_decisions(self.policy.decisions() + decisions.len() as u64);
        Ok(decisions)
    }

    /// Learns every row, or none.
    fn observe(
        &mut self,
        rows: &[f64],
        decisions: &[Decision],
        rewards: &[f64],
        once: bool,
    ) -> Result<Vec<Evidence>, Problem> {
        let contexts = self.contexts(rows)?;
        let mut found: Vec<Evidence> = Vec::new();
        if once && self.policy.algorithm().is_switching() {
            self.policy.learn_many(contexts, decisions, rewards).map_err(|error| refused(&error))?;
            if let Change::Switched(evidence) = self.policy.reconsider() {
                found.push(*evidence);
            }
        } else {
            let learned = self.policy.observe_many(contexts, decisions, rewards).map_err(|error| refused(&error))?;
            found.extend(learned.into_iter().map(|(_, evidence)| evidence));
        }
        self.changes.extend(found.iter().cloned());
        Ok(found)
    }

    /// The arms that the rule in force plays or, where there is none, those that would be decided next.
    fn predicted(&self, contexts: Contexts<'_>) -> Result<Vec<Arm>, DecideError> {
        if let Some(rule) = self.policy.deployed() {
            return Ok(Rule::new(rule.clone()).choose_many(contexts)?);
        }
        let mut decisions = vec![Decision::recorded(Arm::new(0)); contexts.len()];
        self.policy.decide_many(contexts, &mut self.rng.clone(), &mut decisions)?;
        Ok(decisions.into_iter().map(|decision| decision.arm).collect())
    }

    fn learner(&self) -> Result<&Learner, Problem> {
        let name = self.policy.algorithm().name();
        self.policy.learner().ok_or_else(|| {
            let message = format!("`{name}` has no linear confidence set here");
            Problem::new(problem::CONTEXT, message)
                .help("intervals are for linear regressions in which every outcome counts once")
        })
    }

    fn arm(&self, number: f64, row: usize) -> Result<Arm, Problem> {
        let arms = self.policy.shape().arms();
        let arm = whole_number(number).and_then(|arm| usize::try_from(arm).ok()).filter(|arm| *arm < arms);
        arm.map(Arm::new).ok_or_else(|| {
            let message =
                format!("row {}: arm {number} does not exist: the policy has arms 0 to {}", row + 1, arms - 1);
            Problem::new(problem::OBSERVE, message)
        })
    }
}

/// A row for each arm.
fn parameters(parameters: &Parameters) -> Robj {
    matrix(parameters.values(), parameters.shape().dimension())
}

fn change_table(changes: &[Evidence]) -> Robj {
    let gains = |end: fn(&Interval) -> f64| {
        let certified =
            |change: &Evidence| change.certificate.as_ref().map(|certificate| end(&certificate.gain.interval));
        numbers(changes.iter().map(certified))
    };
    let shares =
        changes.iter().map(|change| change.certificate.as_ref().map(|certificate| certificate.gain.changed_share));
    let certificate = |change: &Evidence| {
        change.certificate.as_ref().map_or_else(Rstr::na, |certificate| Rstr::from(format!("{certificate:#}")))
    };
    data_frame([
        ("version", changes.iter().map(|change| count(change.version)).collect::<Vec<_>>().into()),
        ("round", changes.iter().map(|change| count(change.round)).collect::<Vec<_>>().into()),
        ("cause", changes.iter().map(|change| change.cause.to_string()).collect::<Vec<_>>().into()),
        ("gain", gains(|gain| gain.estimate)),
        ("gain_lower", gains(|gain| gain.lower)),
        ("gain_upper", gains(|gain| gain.upper)),
        ("changed_share", numbers(shares)),
        ("certificate", changes.iter().map(certificate).collect::<Strings>().into()),
    ])
}

fn bandit(handle: &Robj) -> Result<ExternalPtr<Bandit>, Problem> {
    held(handle, "the policy").map_err(|problem| problem.also("a policy is kept by rarely_save() and rarely_restore()"))
}

/// A new policy.
#[extendr]
fn policy(arguments: List) -> Robj {
    let built = settings::of(&Arguments::new(arguments)).and_then(|(settings, seed)| {
        let policy = Settings::build(settings).map_err(|error| Problem::explain(problem::SETTINGS, &error))?;
        Ok(ExternalPtr::new(Bandit { policy, rng: Rng::new(seed, 0), changes: Vec::new() }))
    });
    answer(built)
}

/// Chooses an arm for each row; `rows` has one row after the other.
#[extendr]
fn policy_decide(handle: Robj, rows: Vec<f64>) -> Robj {
    answer(bandit(&handle).and_then(|mut bandit| {
        let decisions = bandit.decide(&rows)?;
        let reasons = decisions.iter().map(|decision| reason_name(decision.reason));
        let reasons = reasons.collect::<Result<Vec<String>, Problem>>()?;
        Ok(data_frame([
            ("arm", decisions.iter().map(|decision| count(decision.arm.index() as u64)).collect::<Vec<_>>().into()),
            ("propensity", decisions.iter().map(|decision| decision.propensity).collect::<Vec<_>>().into()),
            ("reason", reasons.into()),
        ]))
    }))
}

/// Learns from outcomes; the changes that this led to.
#[extendr]
fn policy_observe(handle: Robj, rows: Vec<f64>, arms: Vec<f64>, rewards: Vec<f64>, reasons: Robj, once: bool) -> Robj {
    answer(bandit(&handle).and_then(|mut bandit| {
        let reasons = reasons.as_string_vector();
        let people = bandit.contexts(&rows)?.len();
        if arms.len() != people || rewards.len() != people {
            let lengths = ObserveError::BatchLength { contexts: people, decisions: arms.len(), rewards: rewards.len() };
            return Err(refused(&lengths));
        }
        if let Some(reasons) = reasons.as_ref().filter(|reasons| reasons.len() != people) {
            let problem =
                Problem::new(problem::OBSERVE, format!("{} reasons were given for {people} rows", reasons.len()));
            return Err(problem.help("give one for each row"));
        }
        let decided = arms.iter().enumerate().map(|(row, arm)| {
            let decision = Decision::recorded(bandit.arm(*arm, row)?);
            let reason = reasons.as_ref().map(|reasons| reason_named(&reasons[row])).transpose()?;
            Ok(Decision { reason: reason.unwrap_or(decision.reason), ..decision })
        });
        let decisions = decided.collect::<Result<Vec<_>, Problem>>()?;
        Ok(change_table(&bandit.observe(&rows, &decisions, &rewards, once)?))
    }))
}

/// Tests the rule in force against everything learned so far; the change, if one is justified.
#[extendr]
fn policy_reconsider(handle: Robj) -> Robj {
    answer(bandit(&handle).map(|mut bandit| {
        let found: Vec<Evidence> = match bandit.policy.reconsider() {
            Change::Switched(evidence) => vec![*evidence],
            Change::Kept | Change::Continuous | Change::Renewed(_) => Vec::new(),
        };
        bandit.changes.extend(found.iter().cloned());
        change_table(&found)
    }))
}

/// The arms that the rule in force plays.
#[extendr]
fn policy_predict(handle: Robj, rows: Vec<f64>) -> Robj {
    answer(bandit(&handle).and_then(|bandit| {
        let arms = bandit.predicted(bandit.contexts(&rows)?).map_err(|error| context_problem(&error))?;
        Ok(arms.iter().map(|arm| count(arm.index() as u64)).collect::<Vec<_>>())
    }))
}

/// For each row and each arm the estimated mean reward, its interval, and whether the data leave the arm possible.
#[extendr]
fn policy_intervals(handle: Robj, rows: Vec<f64>) -> Robj {
    answer(bandit(&handle).and_then(|bandit| {
        let (contexts, learner) = (bandit.contexts(&rows)?, bandit.learner()?);
        let (set, region, arms) = (learner.set(), learner.region(), bandit.policy.shape().arms());
        let (mut places, mut intervals, mut plausible) = (Vec::new(), Vec::new(), Vec::new());
        for (row, context) in contexts.iter().enumerate() {
            let possible = region.plausible_arms(context).map_err(|error| context_problem(&error))?;
            for arm in 0..arms {
                places.push((row, arm));
                intervals.push(set.arm_interval(context.values(), arm));
                plausible.push(possible.contains(&Arm::new(arm)));
            }
        }
        let ends = |end: fn(&Interval) -> f64| Robj::from(intervals.iter().map(end).collect::<Vec<f64>>());
        Ok(data_frame([
            ("row", places.iter().map(|(row, _)| count(*row as u64 + 1)).collect::<Vec<_>>().into()),
            ("arm", places.iter().map(|(_, arm)| count(*arm as u64)).collect::<Vec<_>>().into()),
            ("estimate", ends(|interval| interval.estimate)),
            ("lower", ends(|interval| interval.lower)),
            ("upper", ends(|interval| interval.upper)),
            ("plausible", plausible.into()),
        ]))
    }))
}

/// What a policy is and has learned.
#[extendr]
fn policy_state(handle: Robj) -> Robj {
    answer(bandit(&handle).map(|bandit| {
        let policy = &bandit.policy;
        let learner = policy.learner();
        let counts = learner
            .map(|learner| learner.statistics().arms().iter().map(|ridge| count(ridge.count())).collect::<Vec<f64>>());
        let fields: [(&str, Robj); 11] = [
            ("algorithm", policy.algorithm().name().into()),
            ("arms", count(policy.shape().arms() as u64).into()),
            ("dimension", count(policy.shape().dimension() as u64).into()),
            ("rounds", count(policy.rounds()).into()),
            ("decisions", count(policy.decisions()).into()),
            ("counts", optional(counts)),
            ("estimates", optional(policy.estimates().map(|estimates| parameters(&estimates)))),
            ("rule", optional(policy.deployed().map(parameters))),
            ("changes", change_table(&bandit.changes)),
            ("stuck", policy.stuck().iter().map(ToString::to_string).collect::<Vec<_>>().into()),
            ("digest", optional(learner.map(|learner| learner.statistics().digest().to_string()))),
        ];
        let (names, values): (Vec<&str>, Vec<Robj>) = fields.into_iter().unzip();
        named_list(names, values)
    }))
}

/// The whole state as text.
#[extendr]
fn policy_save(handle: Robj) -> Robj {
    answer(bandit(&handle).and_then(|bandit| {
        let saved =
            SavedBandit { policy: bandit.policy.snapshot(), rng: bandit.rng.clone(), changes: bandit.changes.clone() };
        let text = serde_json::to_string(&saved);
        let text = text.map_err(|error| Problem::new(problem::RESTORE, error.to_string()))?;
        Ok(format!("{HEAD}{text}\n"))
    }))
}

/// A policy from the text of its state.
#[extendr]
fn policy_restore(text: &str) -> Robj {
    let restored = || {
        let no_policy =
            || Problem::new(problem::RESTORE, "this is no saved policy of this version: its first line is another");
        let damaged = |error| Problem::new(problem::RESTORE, format!("the saved policy is damaged: {error}"));
        let text = text.strip_prefix(HEAD).ok_or_else(no_policy)?;
        let SavedBandit { policy, rng, changes } = serde_json::from_str(text).map_err(damaged)?;
        let policy = policy.restore().map_err(|error| Problem::explain(problem::RESTORE, &error))?;
        Ok(ExternalPtr::new(Bandit { policy, rng, changes }))
    };
    answer(restored())
}

extendr_module! {
    mod policy;
    fn policy;
    fn policy_decide;
    fn policy_observe;
    fn policy_reconsider;
    fn policy_predict;
    fn policy_intervals;
    fn policy_state;
    fn policy_save;
    fn policy_restore;
}
