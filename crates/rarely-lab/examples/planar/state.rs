//! Figures of the state of real, small simulations.

use std::error::Error;

use rarely_core::{Algorithm, Context, Evidence, Parameters, Policy, Rng, Sets, Settings, Shape};
use rarely_lab::report::{ConeState, ThresholdState, cone_picture, threshold_picture};
use rarely_plot::Figure;

/// Every figure with its name.
pub(crate) fn simulated() -> Result<Vec<(&'static str, Figure)>, Box<dyn Error>> {
    let mut figures = thresholds()?;
    figures.extend(cones()?);
    Ok(figures)
}

/// Plays until the change with this number (or to the last round); what it was.
fn play(
    policy: &mut dyn Policy,
    truth: &Parameters,
    contexts: impl Fn(&mut Rng) -> [f64; 2],
    (rounds, stop_at): (u32, u64),
) -> Result<Option<Evidence>, Box<dyn Error>> {
    let mut rng = Rng::new(11, 3);
    for _ in 0..rounds {
        let context = contexts(&mut rng);
        let decision = policy.decide(Context::new(&context)?, &mut rng)?;
        let vector = truth.arm(decision.arm.index());
        let reward = context[0] * vector[0] + context[1] * vector[1] + 0.1 * rng.normal();
        let change = policy.observe(Context::new(&context)?, &decision, reward)?;
        if let Some(evidence) = change.evidence()
            && evidence.version == stop_at
        {
            return Ok(Some(evidence.clone()));
        }
    }
    Ok(None)
}

fn thresholds() -> Result<Vec<(&'static str, Figure)>, Box<dyn Error>> {
    let truth = Parameters::new(Shape::new(2, 2)?, vec![1.0, -0.2, 0.4, 0.9])?;
    let settings = || -> Result<Settings, Box<dyn Error>> {
        let settings = Settings::new(2, 2)?.noise(0.1)?.norm_bound(2.0)?.explore(20, 0.1)?;
        Ok(settings.deployed(vec![0.0, 1.0, 0.95, 0.0])?.algorithm(Algorithm::BoundaryConservative).sets(Sets::Joint))
    };
    let contexts = |rng: &mut Rng| [1.0, rng.uniform()];
    let arms = vec!["usual care".to_owned(), "new treatment".to_owned()];
    let picture = |policy: &dyn Policy, change: Option<(&Parameters, &Parameters)>| -> Option<Figure> {
        Some(threshold_picture(&ThresholdState {
            set: policy.learner()?.set(),
            deployed: change.map_or(policy.deployed(), |(_, after)| Some(after))?,
            before: change.map(|(before, _)| before),
            truth: Some(&truth),
            range: (0.0, 1.0),
            variable: "severity".into(),
            outcome: "mean outcome".into(),
            arms: arms.clone(),
        }))
    };
    let mut held = settings()?.build()?;
    play(held.as_mut(), &truth, contexts, (4000, 0))?;
    let mut early = settings()?.build()?;
    play(early.as_mut(), &truth, contexts, (60, 0))?;
    // What an owner proposes, and what the core makes of it.
    let proposed = Parameters::new(truth.shape(), vec![0.2, 0.0, 0.0, 1.0])?;
    let nearest = held.learner().ok_or("it learns")?.set().conservative(&proposed).parameters;
    let figures = [
        ("threshold-held", picture(held.as_ref(), None)),
        ("threshold-early", picture(early.as_ref(), None)),
        ("threshold-change", picture(held.as_ref(), Some((&proposed, &nearest)))),
        ("threshold-three-arms", three_arms()?),
    ];
    Ok(figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect())
}

fn three_arms() -> Result<Option<Figure>, Box<dyn Error>> {
    let truth = Parameters::new(Shape::new(3, 2)?, vec![1.0, -1.0, 0.62, 0.2, 0.0, 1.1])?;
    let mut policy = Settings::new(3, 2)?.noise(0.1)?.norm_bound(3.0)?.explore(20, 0.1)?.build()?;
    play(policy.as_mut(), &truth, |rng| [1.0, rng.uniform()], (6000, 0))?;
    let (Some(learner), Some(deployed)) = (policy.learner(), policy.deployed()) else { return Ok(None) };
    Ok(Some(threshold_picture(&ThresholdState {
        set: learner.set(),
        deployed,
        before: None,
        truth: Some(&truth),
        range: (0.0, 1.0),
        variable: "need".into(),
        outcome: "mean outcome".into(),
        arms: Vec::new(),
    })))
}

fn cones() -> Result<Vec<(&'static str, Figure)>, Box<dyn Error>> {
    let contexts = |rng: &mut Rng| [rng.normal(), rng.normal()];
    let cases = [
        (
            "cone-four-arms",
            vec![1.0, 0.2, -0.3, 1.0, -0.9, -0.5, 0.5, -0.9],
            vec![1.0, 0.45, -0.6, 1.0, -0.8, -0.6, 0.6, -0.8],
        ),
        ("cone-three-arms", vec![1.0, 0.0, -0.5, 0.9, -0.4, -0.8], vec![1.0, 0.25, -0.7, 0.8, -0.3, -0.9]),
        (
            "cone-five-arms",
            vec![1.0, 0.1, 0.2, 1.0, -0.9, 0.5, -0.5, -0.9, 0.6, -0.7],
            vec![1.0, 0.25, 0.1, 1.05, -0.95, 0.35, -0.5, -0.9, 0.65, -0.6],
        ),
    ];
    let mut figures = Vec::new();
    for (name, truth, deployed) in cases {
        let shape = Shape::new(truth.len() / 2, 2)?;
        let truth = Parameters::new(shape, truth)?;
        let settings =
            Settings::new(shape.arms(), 2)?.noise(0.1)?.norm_bound(3.0)?.explore(10, 0.1)?.deployed(deployed)?;
        let mut policy = settings.algorithm(Algorithm::BoundaryConservative).sets(Sets::Joint).build()?;
        let evidence = play(policy.as_mut(), &truth, contexts, (5000, 1))?.ok_or("the policy never changed")?;
        let learner = policy.learner().ok_or("it learns")?;
        let state = ConeState {
            set: learner.set(),
            deployed: &evidence.from,
            next: Some(&evidence.to),
            truth: Some(&truth),
            arms: ["A", "B", "C", "D", "E"].map(String::from).into(),
        };
        figures.push((name, cone_picture(&state)));
    }
    Ok(figures)
}
