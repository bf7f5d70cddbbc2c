//! Figure 3.

use super::trial_view::{TrialView, Values, gather, main_views, mean};
use super::{Claim, Condition, Unjudged, claim};
use crate::contestant_result::ContestantResult;
use crate::metrics::Estimate;
use crate::reproduction::TrialResults;

pub(super) const RS: [&str; 2] = ["rs-greedy", "rs-conservative"];
const FEASIBLE: [&str; 2] = ["feasible-greedy", "feasible-conservative"];
const LINUCB: [&str; 2] = ["linucb", "rs-linucb"];
/// “Almost as well” and “similar”: at most half as much again.
pub(super) const SIMILAR: f64 = 1.5;

/// Figure 3a.
pub(super) fn regret(trials: &TrialResults) -> Vec<Claim> {
    let views = main_views(trials);
    let pairs = |view: TrialView<'_>, lower: &[&str]| -> Vec<Option<Unjudged>> {
        lower.iter().flat_map(|one| LINUCB.map(|other| view.regret_above(other, one))).collect()
    };
    let almost = |view: TrialView<'_>, name: &str| {
        let what = format!("regret per step of {name} over that of greedy");
        view.is(what, view.ratio(name, "greedy", ContestantResult::regrets), Condition::AtMost(SIMILAR))
    };
    let rest =
        ["linucb", "rs-linucb", "rs-greedy", "rs-conservative", "feasible-greedy", "feasible-conservative", "clucb"];
    vec![
        claim(
            ("greedy-lowest", "Figure 3a"),
            "Following the estimate every round (greedy) has the lowest regret per step of all.",
            "greedy lowest",
            gather(&views, |view| view.lowest("greedy", &rest)),
        ),
        claim(
            ("rs-almost-greedy", "Figure 3a"),
            "The rarely-switching algorithms do almost as well as greedy: at most 1.5 × its regret per step.",
            "almost as well as greedy",
            gather(&views, |view| RS.iter().map(|name| almost(view, name)).collect()),
        ),
        claim(
            ("rs-beat-linucb", "Figure 3a"),
            "The rarely-switching algorithms do better than LinUCB and RS-LinUCB.",
            "RS below LinUCB and RS-LinUCB",
            gather(&views, |view| pairs(view, &RS)),
        ),
        claim(
            ("feasible-good-regret", "Figure 3a"),
            "The feasible algorithms have good regret per step, too: below that of LinUCB and RS-LinUCB.",
            "good per-step regret",
            gather(&views, |view| pairs(view, &FEASIBLE)),
        ),
        claim(
            ("clucb-worst", "Figure 3a"),
            "CLUCB is the slowest to learn and ends with the highest regret per step.",
            "CLUCB highest",
            gather(&views, |view| LINUCB.iter().chain(&RS).map(|other| view.regret_above("clucb", other)).collect()),
        ),
        claim(
            ("handful-of-changes", "Figure 3b"),
            "RS-greedy reaches low regret with about five changes of policy.",
            "about 5 changes",
            gather(&views, |view| {
                vec![
                    view.is("changes of rs-greedy", view.changes("rs-greedy"), Condition::AtMost(10.0)),
                    view.regret_above("linucb", "rs-greedy"),
                ]
            }),
        ),
    ]
}

/// A line below which Figure 3c counts rounds.
struct Line {
    /// In words.
    words: &'static str,
    /// The percentage of each run's rounds below it.
    percent: Values,
}

/// As the figure is printed.
const BASELINE: Line = Line { words: "the best fixed arm", percent: ContestantResult::below_baseline_percents };
/// As the authors' program counts.
const NINE_TENTHS: Line =
    Line { words: "0.9 × the best fixed arm", percent: ContestantResult::below_nine_tenths_percents };

impl Line {
    fn below(&self, view: TrialView<'_>, name: &str, is: Condition) -> Option<Unjudged> {
        let percents = (self.percent)(view.find(name)?);
        let found = mean(Estimate::of(&percents), percents.len());
        view.is(format!("% of rounds of {name} below {}", self.words), Some(found), is)
    }

    fn sooner(&self, view: TrialView<'_>, name: &str) -> Option<Unjudged> {
        let what = format!("% of rounds below {} of linucb minus that of {name}", self.words);
        view.is(what, view.difference("linucb", name, self.percent), Condition::Above(0.0))
    }
}

/// Figure 3c, as printed and as its program counts.
pub(super) fn safety(trials: &TrialResults) -> Vec<Claim> {
    const PRINTED: &str = "Figure 3c";
    const COUNTED: &str = "Figure 3c, as its program counts";
    let views = main_views(trials);
    let at_most = |line: &Line, names: &[&str], limit: f64| {
        let below = |view: TrialView<'_>| -> Vec<Option<Unjudged>> {
            names.iter().map(|name| line.below(view, name, Condition::AtMost(limit))).collect()
        };
        gather(&views, below)
    };
    let about_six = |line: &Line| {
        gather(&views, |view| LINUCB.iter().map(|name| line.below(view, name, Condition::Within(3.0, 12.0))).collect())
    };
    vec![
        claim(
            ("seldom-below-baseline", PRINTED),
            "The rarely-switching algorithms are seldom below the cumulative reward of the best fixed arm.",
            "a few per cent of rounds",
            at_most(&BASELINE, &RS, 10.0),
        ),
        claim(
            ("seldom-below-nine-tenths", COUNTED),
            "They are seldom below 0.9 × the cumulative reward of the best fixed arm.",
            "about 1 % of rounds",
            at_most(&NINE_TENTHS, &RS, 10.0),
        ),
        claim(
            ("linucb-below-baseline", PRINTED),
            "LinUCB and RS-LinUCB are below the best fixed arm in about 6 % of rounds.",
            "around 6 %",
            about_six(&BASELINE),
        ),
        claim(
            ("linucb-below-nine-tenths", COUNTED),
            "LinUCB and RS-LinUCB are below 0.9 × the best fixed arm in about 6 % of rounds.",
            "around 6 %",
            about_six(&NINE_TENTHS),
        ),
        claim(
            ("clucb-never-below-baseline", PRINTED),
            "CLUCB essentially never falls below the best fixed arm, its baseline.",
            "0 %",
            at_most(&BASELINE, &["clucb"], 1.0),
        ),
        claim(
            ("clucb-never-below", COUNTED),
            "CLUCB essentially never falls below (1−α) of the baseline.",
            "0 %",
            at_most(&NINE_TENTHS, &["clucb"], 1.0),
        ),
        claim(
            ("quicker-above-baseline", "Discussion"),
            "The rarely-switching algorithms are quicker than LinUCB to perform above the baseline: they spend fewer rounds below it, \
             and below 0.9 × it.",
            "more quick in general",
            gather(&views, |view| {
                RS.iter().flat_map(|name| [&BASELINE, &NINE_TENTHS].map(|line| line.sooner(view, name))).collect()
            }),
        ),
    ]
}

/// Figures 3b and 3d.
pub(super) fn changes(trials: &TrialResults) -> Vec<Claim> {
    let views = main_views(trials);
    let about_half = |view: TrialView<'_>, name: &str| {
        view.is(format!("% improving of {name}"), view.improving(name), Condition::Within(40.0, 60.0))
    };
    vec![
        claim(
            ("fewer-than-rs-linucb", "Figure 3b"),
            "Both rarely-switching algorithms change far less often than RS-LinUCB.",
            "about 250 changes for RS-LinUCB",
            gather(&views, |view| {
                vec![
                    view.changes_above("rs-linucb", "rs-greedy"),
                    view.changes_above("rs-linucb", "rs-conservative"),
                    view.is("changes of rs-linucb", view.changes("rs-linucb"), Condition::Within(150.0, 400.0)),
                ]
            }),
        ),
        claim(
            ("conservative-improves-more", "Figure 3d"),
            "A larger share of RS-conservative's changes lowers expected regret than of RS-greedy's or RS-LinUCB's.",
            "RS-conservative highest",
            gather(&views, |view| {
                ["rs-greedy", "rs-linucb"].map(|other| view.improving_above("rs-conservative", other)).to_vec()
            }),
        ),
        claim(
            ("greedy-changes-are-chance", "Figure 3d"),
            "Of RS-greedy's and RS-LinUCB's changes about half are improvements.",
            "about 50 % each",
            gather(&views, |view| ["rs-greedy", "rs-linucb"].map(|name| about_half(view, name)).to_vec()),
        ),
        claim(
            ("feasible-change-more", "Figure 3b"),
            "The feasible algorithms change more often than the rarely-switching ones.",
            "more changes for both",
            gather(&views, |view| view.feasible_change_more()),
        ),
        claim(
            ("feasible-conservative-improves-less", "Figure 3d"),
            "Feasible-conservative's changes are less often improvements than RS-conservative's.",
            "clearly lower",
            gather(&views, |view| vec![view.improving_above("rs-conservative", "feasible-conservative")]),
        ),
    ]
}
