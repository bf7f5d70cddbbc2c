//! Plays sequences with the core alone and writes down everything that came of them: what the Python package is compared with,
//! bit for bit. One JSON object a line in, one a line out.
//!
//! ```text
//! {"arms":2,"dimension":1,"algorithm":"rarely","seed":3,"contexts":[[1.0],[1.0]],"rewards":[[0.1,0.4],[0.2,0.3]]}
//! ```
//!
//! `rewards` has what each arm would give. With `"plays":[1,0]` the arms are those of a log; without, the policy decides.

use std::error::Error;
use std::io::{self, BufRead as _, Write as _};

use rarely_core::{Arm, Change, Context, Decision, Rng, Settings, Share};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", transcript(&serde_json::from_str(&line?)?)?)?;
    }
    Ok(())
}

fn settings(given: &Value) -> Result<Settings, Box<dyn Error>> {
    let count = |name: &str| given[name].as_u64().and_then(|count| usize::try_from(count).ok()).ok_or("a count");
    let number = |name: &str, default: f64| given[name].as_f64().unwrap_or(default);
    let mut settings = Settings::new(count("arms")?, count("dimension")?)?
        .algorithm(given["algorithm"].as_str().unwrap_or("rarely").parse()?)
        .noise(number("noise", 1.0))?
        .error_probability(number("error_probability", 0.001))?
        .penalty(number("penalty", 0.01))?;
    if let Some(bound) = given["norm_bound"].as_f64() {
        settings = settings.norm_bound(bound)?;
    }
    if let Some(sets) = given["sets"].as_str() {
        settings = settings.sets(sets.parse()?);
    }
    let tolerance = Share::new(number("tolerance", 0.01))?;
    let share = Share::new(number("excluded_share", 0.01))?;
    settings = settings.tune(|tuning| (tuning.tolerance, tuning.excluded_share) = (tolerance, share));
    if given["prior_mean"].is_array() {
        settings = settings.prior_mean(numbers(&given["prior_mean"]))?;
    }
    if given["deployed"].is_array() {
        settings = settings.deployed(numbers(&given["deployed"]))?;
    }
    if let Some(explore) = given["explore"].as_str() {
        settings = settings.exploration(explore.parse()?);
    }
    if given["baseline_mean"].is_array() {
        settings = settings.baseline(Arm::new(count("baseline")?), &numbers(&given["baseline_mean"]))?;
    }
    Ok(settings)
}

fn transcript(given: &Value) -> Result<Value, Box<dyn Error>> {
    let mut policy = settings(given)?.build()?;
    let mut rng = Rng::new(given["seed"].as_u64().unwrap_or(0), 0);
    let (mut arms, mut propensities, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let rows = |name: &str| given[name].as_array().cloned().unwrap_or_default();
    for (round, (context, rewards)) in rows("contexts").iter().zip(rows("rewards")).enumerate() {
        let values = numbers(context);
        let context = Context::new(&values)?;
        let decision = match given["plays"][round].as_u64() {
            Some(arm) => Decision::recorded(Arm::new(usize::try_from(arm)?)),
            None => policy.decide(context, &mut rng)?,
        };
        arms.push(decision.arm.index());
        propensities.push(decision.propensity);
        let reward = rewards[decision.arm.index()].as_f64().ok_or("a reward")?;
        if let Change::Switched(evidence) = policy.observe(context, &decision, reward)? {
            changes.push(json!({
                "round": evidence.round,
                "cause": evidence.cause.to_string(),
                "after": evidence.to.values(),
                "gain": evidence.certificate.as_ref().map(|certificate| certificate.gain.interval.lower),
            }));
        }
    }
    let learned = policy.learner().map(|learner| {
        json!({
            "estimates": learner.statistics().estimates().values(),
            "radius": learner.set().radius(),
            "digest": learner.statistics().digest().to_string(),
        })
    });
    let rule = policy.deployed().map(rarely_core::Parameters::values);
    let estimates = policy.estimates().map(|estimates| estimates.values().to_vec());
    Ok(json!({
        "arms": arms,
        "propensities": propensities,
        "changes": changes,
        "learned": learned,
        "estimates": estimates,
        "rule": rule,
    }))
}

/// All numbers in nested arrays.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap_or(f64::NAN)],
    }
}
