//! Embeds the engine in a program: registers a policy, decides, reports outcomes, reviews, signs and audits.
//!
//! ```text
//! cargo run -p rarely-live --example embed_engine
//! ```
//!
//! A clinic invites people to a screening from age 80 on. In truth inviting helps from 65 on; the clinic does not know that.
//! The engine explores a little, learns from the outcomes, and proposes a lower cut.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use rarely_core::Rng;
use rarely_live::audit::AuditSummary;
use rarely_live::engine::{Clock, Durability, EngineOptions, NewOutcome, SNAPSHOT_EVERY};
use rarely_live::event::Signature;
use rarely_live::{Engine, audit};
use rarely_store::SqliteLog;
use serde_json::json;

/// What the owner writes: options, outcome, features, assumptions, plan and the rule in force.
const DOCUMENT: &str = r#"
policy = "screening"
options = ["wait", "invite"]
outcome = { column = "benefit", range = [-1.0, 2.0] }

[[features]]
column = "age"
range = [40, 90]

[evidence]
noise = 0.1

[change]
# One decision in five is drawn at random among the options that the data do not rule out.
explore = "equipoise:0.2"

[control]
approval = "one"
# This program knows who its users are; otherwise they would sign with keys of their own.
signatures = "token"

[rule]
threshold = { feature = "age", cuts = [80], options = ["wait", "invite"] }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    run(&directory.path().join("rarely.db"))?;
    Ok(())
}

/// Runs everything over the store at this path, and returns what the audit verified.
pub(crate) fn run(store: &Path) -> Result<AuditSummary, Box<dyn Error>> {
    let options = EngineOptions {
        // Every response is on disk before it is returned.
        durability: Durability::Full,
        clock: Clock::system(),
        // This program draws no pictures for proposals.
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every: SNAPSHOT_EVERY,
        checkpoints: None,
    };
    // Opens or creates the store, and replays what is already in its log.
    let engine = Engine::start(store, options, |_| {})?;
    let policy = engine.register("owner", DOCUMENT, 42)?;

    // Decisions and outcomes are asynchronous; everything else blocks.
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut people = Rng::new(1, 0);
    for batch in 0..40 {
        // 1. Ask for decisions. The key makes a repeated request return the same decision.
        let mut ages = Vec::new();
        let mut requests = Vec::new();
        for case in 0..100 {
            let age = (40.0 + 50.0 * people.uniform()).round();
            let record = json!({ "age": age }).as_object().cloned().unwrap_or_default();
            requests.push(policy.edition().request(Some(format!("{batch}/{case}")), record)?);
            ages.push(age);
        }
        let decisions = runtime.block_on(engine.decide(&policy, "clinic", requests));

        // 2. Report the outcomes, in any order and as late as they come.
        let mut outcomes = Vec::new();
        for (age, decision) in ages.into_iter().zip(decisions) {
            let decision = decision?;
            let mean = if decision.option == "invite" { (age - 65.0) / 50.0 } else { 0.0 };
            let outcome = (mean + 0.1 * people.normal()).clamp(-1.0, 2.0);
            outcomes.push(NewOutcome::OfDecision {
                decision: decision.decision,
                outcome,
                guardrails: BTreeMap::new(),
                correction: None,
            });
        }
        for recorded in runtime.block_on(engine.observe(&policy, "clinic", outcomes)) {
            recorded?;
        }
    }

    // 3. Review the rule in force. The review is recorded, and so is the proposal that follows from it.
    let review = engine.review(&policy, Some(("ann", None)))?;
    println!("verdict: {}", review.verdict.name());
    let open = policy.live.lock().open_proposal().cloned();
    if let Some(proposal) = open {
        println!("proposal {}: {}", proposal.number, proposal.rule.words(&policy.edition().document).join("; "));

        // 4. A person signs, and the new rule decides from now on.
        let signature = Signature::by_token("I approve this change", "the evidence is clear");
        engine.approve(&policy, "ann", proposal.number, signature)?;
        println!("version in force: {}", policy.decider().version);
    }

    // 5. Stop: everything is committed, and a snapshot makes the next start fast.
    engine.stop();

    // 6. Anyone with the file can audit it: repeat every decision and recompute every review.
    let summary = audit::verify(&SqliteLog::open_read_only(store)?, None, |_| {})?;
    println!("audited: {} events, {} decisions, {} outcomes", summary.head.number, summary.decisions, summary.outcomes);
    Ok(summary)
}
