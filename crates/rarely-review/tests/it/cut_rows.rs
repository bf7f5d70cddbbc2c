//! The rows next to a rule's cuts: what a pass over a log keeps, and what the checks make of them.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_review::findings::CheckFinding;
use rarely_review::{Check, Cut, CutRows, EvidenceBase, Findings, JumpCheck, ROWS_KEPT, ReviewJson, Tally, review};

use crate::logs::{age_and_smoker, threshold};

const CUT: f64 = 60.0;
const CUTS: [Cut; 2] = [Cut { at: 10.0, lower: 0, upper: 1 }, Cut { at: 20.0, lower: 1, upper: 2 }];

fn document() -> PolicyDocument {
    age_and_smoker("", &threshold(CUT))
}

/// A log of people of any age. Treating gives 0.3 more at the cut; the outcome bends with age.
struct Log {
    /// The share that does not get the option of the rule.
    against: f64,
    /// The share of those up to three years too young who say that they are old enough.
    sorted: f64,
    /// Whether ages are whole numbers.
    whole: bool,
}

const FOLLOWED: Log = Log { against: 0.0, sorted: 0.0, whole: false };

impl Log {
    fn added(&self, mut tally: Tally, rows: u64, seed: u64) -> Tally {
        let mut rng = Rng::new(seed, 0);
        for row in 0..rows {
            let mut age = 100.0 * rng.uniform();
            if (CUT - 3.0..CUT).contains(&age) && rng.uniform() < self.sorted {
                age = 2.0 * CUT - age;
            }
            if self.whole {
                age = age.floor();
            }
            let followed = rng.uniform() >= self.against;
            let arm = usize::from((age >= CUT) == followed);
            let mean = 0.002 * age + 0.000_04 * (age - CUT) * (age - CUT) + 0.3 * arm as f64;
            tally.add(row, &[1.0, age / 100.0, 0.0], Arm::new(arm), mean + 0.1 * rng.normal());
        }
        tally
    }

    fn tally(&self, rows: u64) -> Tally {
        self.added(Tally::keeping_rows(&document()), rows, 5)
    }
}

fn findings(tally: &Tally) -> Findings {
    let document = document();
    let base = EvidenceBase::of(&document, tally, None).expect("it fits");
    Findings::new(&document, &review(&base, tally).expect("it runs"))
}

fn jump(findings: &Findings) -> (&JumpCheck, &CheckFinding) {
    let found = findings.checks.iter().find_map(|found| match &found.check {
        Check::Jump(jump) => Some((jump, found)),
        _ => None,
    });
    found.expect("the rule has a cut")
}

#[test]
fn a_review_of_a_log_says_what_its_rows_show() {
    let findings = findings(&FOLLOWED.tally(4000));
    let (check, found) = jump(&findings);
    let rows = check.from_rows.expect("the rows were kept");
    assert!(rows.interval[0] < 0.3 && 0.3 < rows.interval[1] && rows.not_followed == 0.0, "{check:?}");
    assert!(check.bandwidth.is_some_and(|width| width < 40.0), "{check:?}");
    assert!(rows.largest_curvature.is_some_and(|curvature| curvature > 0.000_08), "{check:?}");
    assert!(rows.density_p_value.is_some_and(|p| p > 0.05), "{check:?}");
    let sentence = &found.sentence;
    assert!(sentence.starts_with("treat minus wait at 60 years: 0.") && !sentence.contains('±'), "{sentence}");
    for part in
        ["y (95 % interval 0.2", " from people within ", "stays above zero up to a curvature of ", "years squared"]
    {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    assert_eq!(found.warning, None);
    let json = serde_json::to_value(ReviewJson::new(&findings)).expect("JSON");
    let check = json["checks"].as_array().expect("checks").iter().find(|check| check["check"] == "jump");
    let numbers = &check.expect("a jump")["from_rows"];
    assert_eq!(numbers["interval"][0].as_f64(), Some(rows.interval[0]));
    assert_eq!(numbers["largest_curvature"].as_f64(), rows.largest_curvature);
}

#[test]
fn without_rows_the_sums_answer_and_say_so() {
    let kept = FOLLOWED.tally(4000);
    let document = document();
    let saved = Tally::from_text(&kept.to_text().expect("text")).and_then(|saved| saved.revive(&document));
    let saved = saved.expect("the same document");
    assert!(saved.cut_rows().is_none());
    let findings = findings(&saved);
    let (check, found) = jump(&findings);
    assert!(check.from_rows.is_none() && check.local.is_some());
    assert!(found.sentence.contains(" ± ") && found.sentence.contains("rests on sums in bins"), "{}", found.sentence);
    let mut merged = kept;
    let other = FOLLOWED.added(Tally::new(&document), 100, 6);
    merged.merge(&other).expect("another log");
    assert!(merged.cut_rows().is_none(), "some rows are missing");
}

#[test]
fn a_rule_that_was_not_followed_is_named() {
    for (against, expected) in [(0.05, "they are left out"), (0.3, "the estimate compares those who got its option")] {
        let findings = findings(&Log { against, ..FOLLOWED }.tally(6000));
        let (check, found) = jump(&findings);
        let share = check.from_rows.expect("the rows were kept").not_followed;
        assert!((share - against).abs() < 0.06, "{share}");
        assert!(found.sentence.contains(expected), "{}", found.sentence);
        assert_eq!(found.sentence.contains("curvature"), against < 0.1, "{}", found.sentence);
    }
}

#[test]
fn people_sorted_around_a_cut_are_a_warning() {
    let findings = findings(&Log { sorted: 0.6, ..FOLLOWED }.tally(5000));
    let warning = jump(&findings).1.warning.as_ref().expect("the number of people jumps");
    assert!(warning.contains("People seem to have been sorted around the cut at 60 years"), "{warning}");
}

/// Scaling 60 of 0 to 100 and back is not exact: whoever is 60 is above the cut all the same.
#[test]
fn whole_numbers_at_the_cut_are_above_it() {
    let findings = findings(&Log { whole: true, ..FOLLOWED }.tally(4000));
    let rows = jump(&findings).0.from_rows.expect("the rows were kept");
    assert_eq!(rows.not_followed, 0.0);
    assert!(rows.interval[0] < 0.3 && 0.3 < rows.interval[1], "{rows:?}");
    let mut rows = CutRows::new();
    for (priority, z) in [0.1 + 0.2, 0.3, 0.0, 1.0].into_iter().enumerate() {
        rows.offer(priority as u64, z - 1e-15, usize::from(z > 0.2), 0.0);
    }
    let near = rows.near(&[Cut { at: 0.3, lower: 0, upper: 1 }], 0);
    assert_eq!((near.x.len(), near.not_followed(2.0)), (4, 0.0));
}

#[test]
fn kept_rows_merge_into_those_of_one_pass() {
    let document = document();
    let first = FOLLOWED.added(Tally::keeping_rows(&document), 700, 7);
    let second = FOLLOWED.added(Tally::keeping_rows(&document), 900, 8);
    let mut merged = first.clone();
    merged.merge(&second).expect("two logs");
    let whole = FOLLOWED.added(first, 900, 8);
    assert!(merged.cut_rows().is_some() && merged.cut_rows() == whole.cut_rows());
    let mut corrected = whole.clone();
    corrected.correct(&[1.0, 0.5, 0.0], Arm::new(0), 0.1, 0.2, 0);
    assert!(corrected.cut_rows().is_none(), "the rows do not know of the correction");
    let mut followed = whole;
    followed.follow(&age_and_smoker("", &threshold(70.0)));
    assert!(followed.cut_rows().is_none());
}

#[test]
fn of_many_rows_a_uniform_sample_is_kept() {
    let mut rng = Rng::new(9, 0);
    let mut rows = CutRows::new();
    let offered = ROWS_KEPT + 50_000;
    for row in 0..offered {
        let z = row as f64 / offered as f64;
        rows.offer(rng.below(1 << 60) as u64, z, usize::from(z >= 0.5), 0.0);
    }
    assert_eq!(rows.len(), ROWS_KEPT);
    let near = rows.near(&[Cut { at: 0.5, lower: 0, upper: 1 }], 0);
    // A mean of 200,000 of 250,000 has a deviation of 0.29/√200,000·√0.2 = 0.0003; the bound is five of them.
    let mean = near.x.iter().sum::<f64>() / near.x.len() as f64;
    assert!((mean - 0.5).abs() < 0.0015, "{mean}");
}

#[test]
fn only_rows_between_the_neighbouring_cuts_belong_to_a_cut() {
    let mut rows = CutRows::new();
    for (priority, (z, option)) in
        [(5.0, 0), (9.0, 1), (10.0, 1), (15.0, 1), (19.0, 0), (25.0, 2)].into_iter().enumerate()
    {
        rows.offer(priority as u64, z, option, z);
    }
    let first = rows.near(&CUTS, 0);
    assert_eq!((first.x.as_slice(), first.y.as_slice()), ([5.0, 10.0, 15.0].as_slice(), [5.0, 10.0, 15.0].as_slice()));
    assert_eq!(first.everybody.len(), 6);
    assert_eq!((first.not_followed(2.0), first.not_followed(100.0)), (0.5, 0.4));
    assert_eq!(rows.near(&CUTS, 1).x, [10.0, 15.0, 25.0]);
}
