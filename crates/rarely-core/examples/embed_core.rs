//! Embeds the core: decide, observe, read the certificate of a change, save the state and continue from it.
//!
//! A clinic treats patients above a threshold of a risk score and wants to know whether the threshold is right.
//! Run it with `cargo run -p rarely-core --example embed_core --features serde`.

use rarely_core::{Context, Policy, Rng, Settings, Snapshot};

/// The mean outcome if a patient waits (arm 0) or is treated (arm 1). The policy does not know it.
fn mean_outcome(arm: usize, risk: f64) -> f64 {
    if arm == 1 { 0.2 + 0.6 * risk } else { 0.5 }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run()?;
    Ok(())
}

/// Returns the outcomes learned and the changes made.
pub(crate) fn run() -> Result<(u64, u64), Box<dyn std::error::Error>> {
    // Two arms; two context variables: an intercept and the risk. The rule in force treats from a risk of 0.8:
    // the score of waiting is 0.8, that of treating is the risk itself.
    let mut policy = Settings::new(2, 2)?
        .noise(0.1)? // outcomes scatter around their mean with a standard deviation of 0.1
        .norm_bound(2.0)? // a bound on the length of all true coefficients together
        .deployed(vec![0.8, 0.0, 0.0, 1.0])?
        .build()?;

    let mut rng = Rng::new(1, 0); // seed and stream: the same numbers on every machine
    live(policy.as_mut(), &mut rng, 2_000)?;

    // The state is plain data. Any serde format that keeps f64 exactly can carry it.
    let saved = serde_json::to_string(&policy.snapshot())?;
    let snapshot: Snapshot = serde_json::from_str(&saved)?;
    let mut restored = snapshot.restore()?;
    println!("saved {} bytes after {} outcomes and {} changes", saved.len(), policy.rounds(), policy.changes());

    // The restored policy continues bit for bit as the original does.
    let mut same_rng = rng.clone();
    live(policy.as_mut(), &mut rng, 500)?;
    live(restored.as_mut(), &mut same_rng, 500)?;
    assert_eq!(policy.snapshot(), restored.snapshot());
    println!("the restored policy learned the same from the next 500 patients");
    Ok((policy.rounds(), policy.changes()))
}

/// Patients come one by one: decide, act, observe.
fn live(policy: &mut dyn Policy, rng: &mut Rng, patients: usize) -> Result<(), Box<dyn std::error::Error>> {
    for _ in 0..patients {
        let values = [1.0, rng.uniform()];
        let context = Context::new(&values)?;

        // A decision names the arm, the reason and the probability with which the arm was chosen.
        let decision = policy.decide(context, rng)?;
        let outcome = mean_outcome(decision.arm.index(), values[1]) + 0.1 * rng.normal();

        // Most outcomes change nothing. A change comes with its evidence; {:#} prints the whole certificate.
        if let Some(evidence) = policy.observe(context, &decision, outcome)?.evidence() {
            println!("{evidence:#}\n");
        }
    }
    Ok(())
}
