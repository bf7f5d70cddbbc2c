//! Options that make no sense: said what, exit code 2, no file.

use crate::program::{Place, assert_snapshot_of, talk};

/// A snapshot of the refusal.
macro_rules! refused {
    ($($name:ident: $arguments:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_snapshot_of!(Place::new().rarely($arguments));
        })*

        /// Refusals and their arguments.
        const REFUSED: &[(&str, &str)] = &[$((stringify!($name), $arguments)),*];
    };
}

refused! {
    no_runs: "simulate --runs 0";
    runs_in_words: "simulate --runs many";
    no_rounds: "reproduce --rounds 0";
    no_threads: "simulate --threads 0";
    a_negative_seed: "simulate --seed -1";
    an_unknown_algorithm: "simulate --algorithms rarely,linucbb";
    no_algorithm: "simulate --algorithms rarely,,linucb";
    an_unknown_environment: "simulate --environment nonsense";
    an_unknown_format: "simulate --format yaml";
    exploration_nonsense: "simulate --explore nonsense";
    exploration_of_more_than_everything: "simulate --explore equipoise:1.5";
    exploration_nan: "simulate --explore equipoise:nan";
    exploration_of_half_a_pilot: "simulate --explore pilot:2.5";
    a_negative_penalty: "simulate --penalty -1 --runs 1 --rounds 10";
    a_penalty_that_is_no_number: "simulate --penalty nan --runs 1 --rounds 10 --algorithms rarely";
    a_negative_penalty_with_an_equals_sign: "simulate --penalty=-1 --runs 1 --rounds 10 --algorithms rarely";
    huge_noise: "simulate --noise 1e300 --runs 1 --rounds 10";
    infinite_noise: "simulate --noise inf --runs 1 --rounds 10";
    noise_that_is_no_number: "simulate --noise nan --runs 1 --rounds 10";
    no_noise: "simulate --noise 0 --runs 1 --rounds 10 --algorithms rarely";
    a_huge_strength: "simulate --environment quadratic --strength 1e300 --runs 1 --rounds 10";
    declared_noise_of_nothing: "simulate --declared-noise 0 --runs 1 --rounds 10 --algorithms rarely";
    a_norm_bound_in_words: "simulate --norm-bound large";
    a_norm_bound_that_is_no_number: "simulate --norm-bound nan --runs 1 --rounds 10 --algorithms rarely";
    a_prior_mean_that_is_no_number: "simulate --prior-mean nan --runs 1 --rounds 10 --algorithms rarely";
    an_error_probability_of_one: "simulate --error-probability 1 --runs 1 --rounds 10 --algorithms rarely";
    an_infinite_tolerance: "simulate --tolerance inf --runs 1 --rounds 10 --algorithms rs-greedy";
    one_arm: "simulate --arms 1";
    no_context_variable: "simulate --dim 0";
    more_rounds_than_children: "ihdp --rounds 748";
    data_and_realisations: "ihdp --data somewhere --realisations 3";
    no_realisation: "ihdp --realisations 0";
    more_realisations_than_there_are: "ihdp --realisations 1001";
    an_intercept_in_other_words: "ihdp --intercept maybe";
    nothing_to_vary: "sweep";
    an_unknown_setting_to_vary: "sweep --vary penaltyy=1";
    a_setting_without_values: "sweep --vary penalty";
    a_setting_with_an_empty_value: "sweep --vary penalty=0.1,";
    a_setting_with_a_word: "sweep --vary penalty=0.1,high";
    a_setting_that_is_no_number: "sweep --vary penalty=nan";
    half_an_arm: "sweep --vary arms=2.5";
    one_arm_in_a_sweep: "sweep --vary arms=2,1 --runs 1 --rounds 10 --algorithms rarely";
    a_share_above_one: "sweep --vary equipoise=2";
    a_bad_value_after_a_good_one: "sweep --vary penalty=0.1,-1 --runs 1 --rounds 10 --algorithms rarely";
    arms_of_a_table: "sweep --ihdp --vary arms=2,3 --runs 1 --rounds 10";
    three_settings: "sweep --vary penalty=0.1 --vary arms=2 --vary dim=2";
    an_unknown_environment_in_a_sweep: "sweep --environment nonsense --vary penalty=0.1";
    data_that_are_not_there: "ihdp --data nowhere --runs 1";
    data_of_reproduce_that_are_not_there: "reproduce --data nowhere --runs 1";
    a_table_that_is_not_there: "simulate --table nowhere.csv --runs 1";
}

#[test]
fn a_refusal_has_exit_code_2_and_leaves_no_file() {
    let mut wrong = Vec::new();
    for (name, arguments) in REFUSED {
        let place = Place::new();
        let output = place.rarely(&format!("{arguments} --out out")).output().expect("it starts");
        let (code, left) = (output.status.code(), place.names(""));
        if code != Some(2) || !output.stdout.is_empty() || output.stderr.is_empty() || !left.is_empty() {
            wrong.push(format!("{name}: exit code {code:?}, {} bytes of data, left {left:?}", output.stdout.len()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What stderr says, as one line.
fn sentence(arguments: &str) -> String {
    let output = Place::new().rarely(arguments).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{arguments}: {}", talk(&output));
    talk(&output).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A cause that the message has already told is not told again.
#[test]
fn a_refusal_says_everything_once() {
    let twice = |&(_, arguments): &&(&str, &str)| {
        let said = sentence(arguments);
        let words: Vec<&str> = said.split(' ').collect();
        words.windows(6).any(|some| said.matches(&some.join(" ")).count() > 1)
    };
    let wrong: Vec<&str> = REFUSED.iter().filter(twice).map(|(name, _)| *name).collect();
    assert!(wrong.is_empty(), "these repeat themselves: {wrong:#?}");
}

#[test]
fn a_refusal_writes_numbers_so_that_they_can_be_read() {
    for arguments in ["simulate --noise 1e300", "simulate --environment quadratic --strength 1e300"] {
        let said = sentence(arguments);
        assert!(said.contains("1e300"), "{said}");
    }
}

/// A negative number is a number out of range, not an unknown option.
#[test]
fn a_negative_number_is_taken_for_a_number() {
    for option in ["penalty", "noise", "declared-noise", "strength", "norm-bound", "error-probability", "tolerance"] {
        let said = sentence(&format!("simulate --{option} -1 --runs 1 --rounds 10 --algorithms rs-greedy"));
        assert!(!said.contains("unexpected argument"), "--{option} -1: {said}");
    }
}

/// The message names what was written, by the name under which it was written.
#[test]
fn a_refusal_names_the_setting() {
    for (arguments, setting) in [
        ("simulate --tolerance 2 --runs 1 --rounds 10 --algorithms rs-greedy", "tolerance"),
        ("simulate --explore equipoise:2", "equipoise"),
        ("sweep --vary equipoise=2 --runs 1 --rounds 10 --algorithms rarely", "equipoise"),
        ("sweep --vary excluded-share=2 --runs 1 --rounds 10 --algorithms population-greedy", "excluded share"),
    ] {
        // What clap repeats of the command line does not count.
        let said = sentence(arguments);
        let reason = said.rsplit("': ").next().unwrap_or_default();
        let named = reason.replace('-', " ");
        assert!(named.contains(&setting.replace('-', " ")), "{arguments}: {said}");
    }
}

/// Which of several contestants is at fault does not depend on which thread is first.
#[test]
fn the_same_mistake_gets_the_same_message() {
    let said = || sentence("simulate --penalty=-1 --runs 1 --rounds 10 --threads 4");
    let first = said();
    for _ in 0..20 {
        assert_eq!(first, said());
    }
}

#[test]
fn one_setting_cannot_be_varied_twice() {
    let said = sentence("sweep --vary penalty=0.1 --vary penalty=0.2 --runs 1 --rounds 10");
    assert!(said.contains("penalty") && said.contains("twice"), "{said}");
}

/// A curvature is that of the quadratic environment: another one that was asked for is not put aside in silence.
#[test]
fn a_curvature_does_not_go_with_another_environment() {
    let said = sentence("sweep --vary curvature=1 --environment drifting --runs 1 --rounds 10");
    assert!(said.contains("curvature"), "{said}");
}

/// What the help says of a range is what the algorithms can do.
#[test]
fn the_largest_number_of_arms_is_that_of_the_core() {
    let said = sentence("simulate --arms 257 --runs 1 --rounds 2 --algorithms fixed");
    assert!(said.contains("--arms") && said.contains("256"), "{said}");
}

/// The shortest run there is, under both profiles.
#[test]
fn one_round_is_enough() {
    for profile in ["rigorous", "published"] {
        let _ = Place::new().done(&format!("simulate --rounds 1 --runs 1 --profile {profile}"));
    }
}

/// A path below a file, which nobody can write to, not even root.
#[test]
fn an_out_that_cannot_be_written() {
    for (at, command) in [
        "simulate --runs 1 --rounds 10",
        "ihdp --runs 1 --rounds 10",
        "sweep --vary penalty=0.1 --runs 1 --rounds 10",
        "frontier --runs 1 --rounds 10",
        "reproduce --runs 1 --rounds 10",
    ]
    .into_iter()
    .enumerate()
    {
        let place = Place::new();
        place.write("file", "a file");
        if at == 0 {
            assert_snapshot_of!(place.rarely(&format!("{command} --out file/out")));
        }
        for out in ["file/out", "file"] {
            let output = place.rarely(&format!("{command} --out {out}")).output().expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{command} --out {out}");
            assert!(output.stdout.is_empty(), "{command}: refused before anything is computed");
            assert!(talk(&output).contains("--out"), "{}", talk(&output));
            assert_eq!(place.names(""), ["file"]);
            assert_eq!(place.text("file"), "a file");
        }
    }
}

/// The folder is tried out before anything is computed, and nothing of the user's is lost by that.
#[test]
fn trying_the_folder_out_spares_what_is_in_it() {
    let place = Place::new();
    std::fs::create_dir(place.path("out")).expect("a folder");
    for name in [".trial", "notes.txt", ".summary.csv"] {
        place.write(&format!("out/{name}"), "the user's own");
    }
    let _ = place.done("simulate --runs 1 --rounds 20 --algorithms fixed --out out");
    for name in ["notes.txt", ".summary.csv", ".trial"] {
        assert!(place.path(&format!("out/{name}")).exists(), "{name} was there before");
        assert_eq!(place.text(&format!("out/{name}")), "the user's own", "{name}");
    }
}
