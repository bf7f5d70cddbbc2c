//! What is wrong in the paper and in its program, each with the experiment that shows it where one can.

mod demonstrations;

use rarely_core::SettingsError;
use serde::Serialize;

use self::demonstrations::{Demonstrations, angles, gradient_sign, none};
use super::ReproductionEvidence;

/// Where a mistake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErratumOrigin {
    /// In the paper.
    Paper,
    /// In its authors' program.
    Program,
}

/// One mistake.
#[derive(Debug, Clone, Serialize)]
pub struct Erratum {
    /// Its number.
    pub number: usize,
    /// Where it is.
    pub origin: ErratumOrigin,
    /// What is wrong, and what is right.
    pub text: &'static str,
    /// The experiment that shows it, with its numbers; `None` if it is a matter of reading.
    pub shown: Option<String>,
}

/// A mistake with the experiment that shows it.
struct ErratumEntry {
    origin: ErratumOrigin,
    text: &'static str,
    demonstration: fn(&Demonstrations<'_>) -> Result<Option<String>, SettingsError>,
}

/// Every erratum, with its demonstration.
///
/// # Errors
/// [`SettingsError`] if a demonstration cannot be built.
pub fn errata(evidence: &ReproductionEvidence<'_>) -> Result<Vec<Erratum>, SettingsError> {
    let demonstrations = Demonstrations { evidence };
    let numbered = ERRATA.iter().enumerate();
    numbered
        .map(|(at, entry)| {
            let shown = (entry.demonstration)(&demonstrations)?;
            Ok(Erratum { number: at + 1, origin: entry.origin, text: entry.text, shown })
        })
        .collect()
}

const ERRATA: [ErratumEntry; 21] = [
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "Theorem 1 does not hold. Its proof bounds regret by the uncertainty of arms that are plausible, and sums it with a lemma about arms that are played; an arm that is never played stays plausible for ever. (And d should be kd in the theorem and its corollary.) Repaired by drawing a plausible arm with probability ε (equipoise).",
        demonstration: |shown| Ok(shown.theorem_one()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "The gradient of the cosine is printed with the opposite sign.",
        demonstration: |_| gradient_sign(),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "β is a radius in Theorem B1 but a squared radius in the confidence set; Algorithm 1 compares it with a norm, Algorithm 2 with a squared norm; λ^d should be λ^(kd), σ is missing, and sub-gaussianity needs c²σ²/2. Sets built that way do not hold.",
        demonstration: |shown| Ok(shown.coverage()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "The projected gradient does not solve the stated problem: a Euclidean gradient with a radial projection has other fixed points than the optimum. Solved exactly and without exploration the RS algorithms switch less and do worse: the published regret depends on the solver not converging.",
        demonstration: |shown| shown.solver(),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "Δ = 0.01 on one joint cosine is not Theorem 2's condition on every pair: the RS algorithms as run are not shown to be feasible.",
        demonstration: |shown| Ok(shown.not_feasible()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "The angle that belongs to a tolerance Δ is arccos(1−Δ), not arccos(Δ).",
        demonstration: |_| Ok(Some(angles())),
    },
    ErratumEntry {
        origin: ErratumOrigin::Paper,
        text: "Theorem 3's four conditions do not suffice: if the old boundary is plausible with its two arms exchanged, the boundary can sweep over the true one on its way and regret can rise. A fifth condition repairs it. (MeasuredValue here.)",
        demonstration: |shown| Ok(shown.theorem_three()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "The vector b starts at ones: an optimistic prior mean of 1/λ that the paper does not mention and the results depend on.",
        demonstration: |shown| Ok(shown.start_at_ones()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "LinUCB's width uses β where the RS sets use √β: most of the reported gap between them.",
        demonstration: |shown| Ok(shown.widths()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "L = 1 is declared where the norm of the parameters is about 4.6, and the sets do not hold.",
        demonstration: |shown| Ok(shown.coverage()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "The “projection” θ̂ + (β/‖φ−θ̂‖²)(φ−θ̂) is not the projection: it puts a point from outside well inside the set.",
        demonstration: |shown| shown.projection(),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "ln λ is counted d times instead of kd times: on IHDP the radius is not a number in the first rounds.",
        demonstration: |shown| shown.radius(),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "IHDP: each child's covariates are paired with the next child's results. Harmless on the one realisation used, where treating everyone is nearly optimal; ruinous on others.",
        demonstration: |shown| Ok(shown.pairing()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "IHDP: the “100 realisations” are shuffles of the first one.",
        demonstration: |shown| Ok(shown.one_realisation()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "λ is multiplied by the number of rounds before it is used.",
        demonstration: |shown| Ok(shown.penalty()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "Figure 3c counts rounds below 0.9 × the baseline, and its RS bars are the feasible algorithms'.",
        demonstration: |shown| Ok(shown.nine_tenths()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "Figure 3d divides n−1 differences by n, so that five changes cannot exceed 80 %, and compares independent samples, so that changes which alter nothing count as coin flips.",
        demonstration: |shown| Ok(shown.shares()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "CLUCB adds per-arm widths and bounds arms not yet played by 0: most of “CLUCB is slow”.",
        demonstration: |shown| Ok(shown.clucb()),
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "Every algorithm had its own draw of the arms.",
        demonstration: none,
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "The program's gradient also lacks its divisor ‖θ̃‖_J, so that step sizes depend on the scale of the policy. (MeasuredValue here.)",
        demonstration: none,
    },
    ErratumEntry {
        origin: ErratumOrigin::Program,
        text: "The program's CLUCB does not learn from the rounds in which it plays the baseline. (MeasuredValue here.)",
        demonstration: none,
    },
];

#[cfg(test)]
mod tests {
    use super::{ERRATA, ErratumOrigin};

    /// docs/mathematics.md §11 numbers the same mistakes, first the paper's and then the program's.
    #[test]
    fn the_specification_has_the_same_numbers() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mathematics.md");
        let text = std::fs::read_to_string(path).expect("docs/mathematics.md");
        let (_, section) = text.split_once("\n## 11. Errata\n").expect("section 11");
        let section = section.split("\n#").next().expect("an end");
        let (paper, program) = section.split_once("*In the authors' program*").expect("two parts");
        let numbers = |part: &str| -> Vec<usize> {
            part.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
        };
        let ours = |origin: ErratumOrigin| -> Vec<usize> {
            ERRATA.iter().zip(1..).filter(|(entry, _)| entry.origin == origin).map(|(_, number)| number).collect()
        };
        assert_eq!(numbers(paper), ours(ErratumOrigin::Paper));
        assert_eq!(numbers(program), ours(ErratumOrigin::Program));
    }
}
