//! LinUCB and rs-linucb decide blocks as they decide rows.

use rarely_core::{Algorithm, Arm, Context, Contexts, Decision, Rng, Sets, Settings};

use crate::sample;

/// Blocks of every length, decided at once and one by one.
fn check_blocks(settings: &Settings, seed: u64) {
    let mut policy = settings.clone().build().expect("compatible");
    let (shape, mut rng) = (policy.shape(), Rng::new(seed, 0));
    let truth = sample::parameters(shape, &mut rng);
    for outcome in sample::outcomes(&truth, 120, &mut rng) {
        let context = Context::new(&outcome.context).expect("finite");
        let change = policy.observe(context, &Decision::recorded(outcome.arm), outcome.reward);
        let _ = change.expect("an ordinary outcome");
    }
    for count in [0, 1, 7, 8, 9, 61] {
        let values = sample::block(count, shape.dimension(), &mut rng);
        let contexts = Contexts::new(&values, shape.dimension()).expect("whole rows");
        let mut decisions = vec![Decision::recorded(Arm::new(0)); count];
        policy.decide_many(contexts, &mut rng, &mut decisions).expect("fits");
        for (context, decision) in contexts.iter().zip(&decisions) {
            assert_eq!(policy.decide(context, &mut rng).expect("fits"), *decision, "{shape:?}");
        }
    }
}

#[test]
fn a_block_is_decided_as_its_rows() {
    for algorithm in [Algorithm::LinUcb, Algorithm::RsLinUcb] {
        for arms in 2..=8 {
            for dimension in 1..=30 {
                let settings = sample::settings(algorithm, arms, dimension);
                check_blocks(&settings, 29);
                check_blocks(&settings.sets(Sets::PerArm), 30);
                // 100 rounds: a penalty so small that the authors' radius is infinite at first.
                for rounds in [100, 100_000] {
                    let published = Settings::published(arms, dimension, rounds).expect("in range");
                    check_blocks(&sample::furnished(published, algorithm), 31);
                }
            }
        }
    }
}

#[test]
fn without_data_the_lowest_arm_is_played() {
    for rounds in [100, 100_000] {
        let settings = Settings::published(3, 4, rounds).expect("in range").algorithm(Algorithm::LinUcb);
        let policy = settings.build().expect("compatible");
        let values = sample::block(11, 4, &mut Rng::new(32, 0));
        let mut decisions = vec![Decision::recorded(Arm::new(2)); 11];
        let contexts = Contexts::new(&values, 4).expect("whole rows");
        policy.decide_many(contexts, &mut Rng::new(0, 0), &mut decisions).expect("fits");
        assert!(decisions.iter().all(|decision| decision.arm == Arm::new(0)));
    }
}
