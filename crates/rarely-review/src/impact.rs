//! The impact of a change: who gets another option, band by band.

use rarely_core::{Arm, Interval};
use serde::{Deserialize, Serialize};

use crate::bands::{Band, Bands};
use crate::candidate_gain::part_gain;
use crate::design_effect::DesignEffect;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::jump::Jumps;
use crate::running_variable::RunningVariable;
use crate::tally::Tally;

/// An option counts as tried if at least this number of independent rows have it.
pub(crate) const TRIED: f64 = 5.0;

/// The impact of a change on one band.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BandImpact {
    /// The band.
    pub band: Band,
    /// People in it, of the sample.
    pub people: usize,
    /// Those who get another option.
    pub changed: usize,
    /// Those of them whose new option was hardly ever tried on people like them.
    pub untried: usize,
    /// How many pass from one option to another: `(from, to, people)`, with options as indices into the document's.
    pub moves: Vec<(usize, usize, usize)>,
    /// The average gain over all people of the band.
    pub gain: Interval,
}

/// The impact of a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// All people.
    pub people: usize,
    /// Those who get another option.
    pub changed: usize,
    /// Those of them whose new option was hardly ever tried on people like them: their gain is extrapolated.
    pub untried: usize,
    /// The part of the average gain that comes from those.
    pub untried_gain: Interval,
    /// Every band with people.
    pub bands: Vec<BandImpact>,
}

/// Computes the impact of a change to a candidate.
///
/// # Errors
/// [`ReviewError::Context`] if the people do not fit.
pub(crate) fn impact(base: &EvidenceBase<'_>, tally: &Tally, candidate: usize) -> Result<Impact, ReviewError> {
    let (document, d) = (base.document, base.document.shape().dimension());
    let (before, after) = base.decisions(candidate);
    let bands = Bands::of(document);
    let support = Support::new(base, tally, &bands);
    let people: Vec<&[f64]> = base.people.chunks_exact(d).collect();
    let untried: Vec<bool> = (people.iter().zip(before.iter().zip(after)))
        .map(|(person, (old, new))| old != new && !support.has(person, new.index()))
        .collect();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); bands.all().len()];
    for (at, person) in people.iter().enumerate() {
        bands.of_person(person).for_each(|band| members[band].push(at));
    }
    let gain = |chosen: &[usize]| -> Result<Interval, ReviewError> {
        let contexts: Vec<f64> = chosen.iter().flat_map(|&at| people[at]).copied().collect();
        let arms = |arms: &[Arm]| -> Vec<Arm> { chosen.iter().map(|&at| arms[at]).collect() };
        let contexts = rarely_core::Contexts::new(&contexts, d)?;
        part_gain(base, contexts, &arms(before), &arms(after))
    };
    let mut changes = Vec::new();
    for (band, members) in bands.all().iter().zip(&members).filter(|(_, members)| !members.is_empty()) {
        let changed: Vec<usize> = members.iter().copied().filter(|&at| before[at] != after[at]).collect();
        changes.push(BandImpact {
            band: band.clone(),
            people: members.len(),
            changed: changed.len(),
            untried: changed.iter().filter(|&&at| untried[at]).count(),
            moves: moves(changed.iter().map(|&at| (before[at].index(), after[at].index()))),
            gain: gain(members)?,
        });
    }
    let alone: Vec<usize> = (0..people.len()).filter(|&at| untried[at]).collect();
    let share = alone.len() as f64 / people.len() as f64;
    let Interval { estimate, lower, upper } =
        if alone.is_empty() { Interval { estimate: 0.0, lower: 0.0, upper: 0.0 } } else { gain(&alone)? };
    Ok(Impact {
        people: people.len(),
        changed: before.iter().zip(after).filter(|(old, new)| old != new).count(),
        untried: alone.len(),
        untried_gain: Interval { estimate: share * estimate, lower: share * lower, upper: share * upper },
        bands: changes,
    })
}

/// Counts the moves from each option to each other.
fn moves(changes: impl Iterator<Item = (usize, usize)>) -> Vec<(usize, usize, usize)> {
    let mut counted: Vec<(usize, usize, usize)> = Vec::new();
    for (from, to) in changes {
        match counted.iter_mut().find(|(old, new, _)| (*old, *new) == (from, to)) {
            Some((_, _, count)) => *count += 1,
            None => counted.push((from, to, 1)),
        }
    }
    counted.sort_unstable();
    counted
}

/// Where which option was tried.
struct Support<'a> {
    tally: &'a Tally,
    bands: &'a Bands,
    effect: DesignEffect,
    /// The sums at the cuts with their running variable, if they are of the whole log.
    near: Option<(&'a Jumps, RunningVariable)>,
}

impl<'a> Support<'a> {
    fn new(base: &EvidenceBase<'_>, tally: &'a Tally, bands: &'a Bands) -> Self {
        // Sums that were restarted for another rule cover few rows, and would call tried options untried; then the bands alone decide.
        let whole = |jumps: &&Jumps| jumps.rows().is_none_or(|rows| rows == tally.rows());
        let jumps = tally.jumps().filter(whole);
        let effect = base.known_design_effect();
        Self { tally, bands, effect, near: jumps.zip(RunningVariable::of(base.document, base.document.rule())) }
    }

    /// Whether an option was tried on people like this one: in every band that the person is in, and near the person's score.
    fn has(&self, person: &[f64], option: usize) -> bool {
        let tried = |rows: u64| self.effect.effective(rows) >= TRIED;
        let near = |(jumps, running): &(&Jumps, RunningVariable)| tried(jumps.tried(option, running.at(person)));
        self.bands.of_person(person).all(|band| tried(self.tally.tried(option, band)))
            && self.near.as_ref().is_none_or(near)
    }
}
