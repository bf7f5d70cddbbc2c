//! Damaged snapshots: every place in the JSON of a state is damaged in turn. It is refused with a typed error, or it restores
//! to a policy that works; never a panic, never NaN.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rarely_core::conformance::learnable;
use rarely_core::{Algorithm, Context, Policy, RestoreError, Rng, SNAPSHOT_FORMAT, Snapshot};
use serde_json::{Value, json};

use crate::sample;

/// A policy that has lived for a while.
fn lived(algorithm: Algorithm) -> Box<dyn Policy> {
    let mut policy = sample::settings(algorithm, 2, 2).build().expect("compatible");
    live(&mut *policy).expect("an ordinary life");
    policy
}

/// Forty rounds; what went wrong.
fn live(policy: &mut dyn Policy) -> Result<(), String> {
    let mut rng = Rng::new(31, 0);
    let truth = sample::parameters(policy.shape(), &mut rng);
    let (arms, dimension) = (policy.shape().arms(), policy.shape().dimension());
    for _ in 0..40 {
        let values = sample::context(dimension, &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).map_err(|error| error.to_string())?;
        let propensity = decision.propensity;
        if !(propensity > 0.0 && propensity <= 1.0) || decision.arm.index() >= arms {
            return Err(format!("decided {decision:?}"));
        }
        let reward = sample::dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let reward = learnable(policy.algorithm(), reward);
        // A sum that was damaged upwards may leave no room for more: that is a typed error.
        if policy.observe(context, &decision, reward).is_err() {
            return Ok(());
        }
        let shown = policy.learner().map(|learner| (learner.statistics().estimates(), learner.set().radius()));
        if let Some((estimates, radius)) = shown
            && (!estimates.values().iter().all(|value| value.is_finite()) || radius.is_nan())
        {
            return Err(format!("estimates {:?}, radius {radius}", estimates.values()));
        }
        if policy.estimates().is_some_and(|estimates| !estimates.values().iter().all(|value| value.is_finite())) {
            return Err("the estimates are not finite".to_owned());
        }
        if policy.deployed().is_some_and(|parameters| !parameters.values().iter().all(|value| value.is_finite())) {
            return Err("the policy in force is not finite".to_owned());
        }
    }
    Ok(())
}

/// Pointers to every place of a JSON value; of long arrays only the first and last entries.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| places(field, &format!("{at}/{name}"), found)),
        Value::Array(entries) => {
            let last = entries.len().saturating_sub(1);
            let chosen = entries.iter().enumerate().filter(|(place, _)| *place < 2 || *place == last);
            chosen.for_each(|(place, entry)| places(entry, &format!("{at}/{place}"), found));
        }
        _ => {}
    }
}

/// Damage to the structure of a value.
fn broken(value: &Value) -> Vec<Value> {
    let mut forms = vec![Value::Null, json!("x"), json!({}), json!([])];
    match value {
        Value::Array(entries) if !entries.is_empty() => {
            let mut longer = entries.clone();
            longer.push(entries[0].clone());
            forms.extend([json!(entries[1..]), Value::Array(longer)]);
        }
        Value::Object(fields) => forms.extend(fields.keys().map(|name| {
            let mut fewer = fields.clone();
            fewer.remove(name);
            Value::Object(fewer)
        })),
        _ => {}
    }
    forms
}

/// Numbers that do not belong where they are.
fn misplaced(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) if number.is_u64() => {
            let number = number.as_u64().expect("an integer");
            vec![json!(0), json!(number + 1), json!(number + 1000), json!(-1), json!(u64::MAX)]
        }
        Value::Number(_) => vec![json!(0.0), json!(-1.0), json!(1e-300), json!(1e300), json!(-1e300), json!(f64::MAX)],
        _ => Vec::new(),
    }
}

/// Damages every place of every algorithm's state; lists what was neither refused nor harmless.
#[track_caller]
fn check(damage: fn(&Value) -> Vec<Value>) {
    let mut harmed = Vec::new();
    for algorithm in Algorithm::all() {
        let whole = serde_json::to_value(lived(algorithm).snapshot()).expect("plain data");
        let mut pointers = Vec::new();
        places(&whole, "", &mut pointers);
        for pointer in pointers {
            let original = whole.pointer(&pointer).expect("was just found");
            for replacement in damage(original).into_iter().filter(|replacement| replacement != original) {
                let mut damaged = whole.clone();
                *damaged.pointer_mut(&pointer).expect("was just found") = replacement.clone();
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    let Ok(snapshot) = serde_json::from_value::<Snapshot>(damaged) else { return Ok(()) };
                    snapshot.restore().map_or(Ok(()), |mut policy| live(&mut *policy))
                }));
                let harm = match outcome {
                    Ok(Ok(())) => continue,
                    Ok(Err(harm)) => harm,
                    Err(_) => "a panic".to_owned(),
                };
                let mut replacement = replacement.to_string();
                replacement.truncate(60);
                harmed.push(format!("{algorithm}: {pointer} = {replacement}: {harm}"));
            }
        }
    }
    let count = harmed.len();
    harmed.truncate(40);
    assert!(count == 0, "{count} damaged snapshots were neither refused nor harmless, such as {harmed:#?}");
}

#[test]
fn broken_structure_is_refused() {
    check(broken);
}

#[test]
fn misplaced_numbers_are_refused_or_harmless() {
    check(misplaced);
}

/// Restores a snapshot with one place replaced.
fn restored(policy: &dyn Policy, pointer: &str, value: Value) -> Result<Box<dyn Policy>, RestoreError> {
    let mut whole = serde_json::to_value(policy.snapshot()).expect("plain data");
    *whole.pointer_mut(pointer).unwrap_or_else(|| panic!("there is no {pointer}")) = value;
    serde_json::from_value::<Snapshot>(whole).expect("well formed").restore()
}

#[test]
fn other_formats_are_named() {
    for algorithm in Algorithm::all() {
        for found in [0, SNAPSHOT_FORMAT + 1, u32::MAX] {
            let Err(error) = restored(&*lived(algorithm), "/format", json!(found)) else { panic!("format {found}") };
            assert_eq!(error, RestoreError::Format { found, expected: SNAPSHOT_FORMAT });
            let message = error.to_string();
            assert!(message.contains(&format!("format {found},")) && message.contains("reads format 1"), "{message}");
        }
    }
}

#[test]
fn counts_that_disagree_are_damage() {
    for (pointer, value) in [
        ("/state/Switching/learner/statistics/rounds", json!(41)),
        ("/state/Switching/learner/statistics/ridges/0/count", json!(1)),
        ("/state/Switching/learner/statistics/ridges/1/sums/moment", json!([1.0])),
        ("/state/Switching/learner/statistics/ridges/1/inverse", json!([1.0, 2.0])),
        ("/state/Switching/learner/statistics/ridges/0/penalty", json!(-0.5)),
    ] {
        let Err(error) = restored(&*lived(Algorithm::Rarely), pointer, value) else { panic!("{pointer} was accepted") };
        assert!(matches!(error, RestoreError::Damaged(_)), "{pointer}: {error:?}");
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}
