//! What signed checkpoints cost: the same decisions with and without them, in turns, on stores of their own.
//!
//! ```text
//! cargo run --release -p rarely-live --example signing_cost [decisions at a time]
//! ```
//!
//! Prints the processor time of a decision, which other programs on the machine hardly change, and the time on the clock.
//! Everything that the engine does is in it: drawing, encoding, the chain, the disk; but no HTTP, beside which the cost is smaller.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rarely_live::Engine;
use rarely_live::engine::{CHECKPOINT_EVERY, CheckpointOptions, Clock, Durability, EngineOptions};
use rarely_store::SigningKeyFile;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

const LAPS: usize = 7;
const DECISIONS: usize = 60_000;
const DOCUMENT: &str = r#"
policy = "screening"
options = ["wait", "invite"]
outcome = { column = "benefit", range = [-1.0, 2.0] }
[[features]]
column = "age"
range = [40, 90]
[rule]
threshold = { feature = "age", cuts = [80], options = ["wait", "invite"] }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let at_a_time = std::env::args().nth(1).map_or(Ok(64), |text| text.parse())?;
    let mut laps: [Vec<(f64, f64)>; 2] = Default::default();
    for lap in 0..LAPS {
        // Each goes first as often as the other, but for one lap.
        for signed in [lap % 2 == 0, lap % 2 == 1] {
            laps[usize::from(signed)].push(decide(signed, at_a_time)?);
        }
    }
    let median = |mut numbers: Vec<f64>| {
        numbers.sort_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    };
    for (name, column) in [("processor", 0), ("clock", 1)] {
        let of = |signed: usize| -> Vec<f64> {
            laps[signed].iter().map(|lap| if column == 0 { lap.0 } else { lap.1 }).collect()
        };
        let ratios = of(1).iter().zip(of(0)).map(|(with, without)| with / without).collect();
        println!(
            "{name}: {:.2} µs per decision without checkpoints, {:.2} with; median of {LAPS} ratios {:.3}",
            median(of(0)),
            median(of(1)),
            median(ratios)
        );
    }
    Ok(())
}

/// Microseconds per decision: of the processor, and on the clock.
fn decide(signed: bool, at_a_time: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let checkpoints = signed.then(|| CheckpointOptions {
        key_file: SigningKeyFile::at(&folder.path().join("key")),
        every: CHECKPOINT_EVERY,
        publish: Arc::new(|_, _| {}),
    });
    let options = EngineOptions {
        durability: Durability::Full,
        clock: Clock::system(),
        draw: Arc::new(|_, _| Vec::new()),
        snapshot_every: u64::MAX,
        checkpoints,
    };
    let engine = Engine::start(&folder.path().join("rarely.db"), options, |_| {})?;
    let policy = engine.register("owner", DOCUMENT, 42)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let record = json!({ "age": 77 }).as_object().cloned().unwrap_or_default();
    let request = policy.edition().request(None, record)?;
    let (started, used) = (Instant::now(), processor_time());
    for _ in 0..DECISIONS / at_a_time {
        for made in runtime.block_on(engine.decide(&policy, "clinic", vec![request.clone(); at_a_time])) {
            made?;
        }
    }
    engine.stop();
    let per_decision = |spent: Duration| spent.as_secs_f64() * 1e6 / (DECISIONS / at_a_time * at_a_time) as f64;
    Ok((per_decision(processor_time().saturating_sub(used)), per_decision(started.elapsed())))
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}
