//! The help texts, the version and the tables of `rarely algorithms`.

use rarely_lab::environment::REGISTRY;

use crate::program::{Place, assert_snapshot_of, data, talk};

#[test]
fn help_of_the_program() {
    assert_snapshot_of!(Place::new().rarely("--help"));
}

#[test]
fn without_a_command_the_help_is_talk_and_nothing_was_done() {
    assert_snapshot_of!(Place::new().rarely(""));
}

#[test]
fn a_misspelt_command_is_guessed() {
    assert_snapshot_of!(Place::new().rarely("reproduse"));
}

/// Each command that cannot be read names its own section of the book.
#[test]
fn an_unreadable_command_names_its_page() {
    let (place, page) = (Place::new(), include_str!("../../../../docs/reference/commands.md"));
    let commands = page.lines().filter_map(|line| line.trim_start_matches('#').strip_prefix(" rarely"));
    for command in commands {
        let refused = place.rarely(&format!("{command} --no-such-option")).output().expect("it starts");
        let expected = format!("see: docs/reference/commands.md#rarely{}", command.replace(' ', "-"));
        assert_eq!(refused.status.code(), Some(2), "rarely{command}");
        assert_eq!(talk(&refused).lines().last(), Some(&*expected), "rarely{command}: {}", talk(&refused));
    }
}

#[test]
fn help_of_reproduce() {
    assert_snapshot_of!(Place::new().rarely("reproduce --help"));
}

#[test]
fn help_of_simulate() {
    assert_snapshot_of!(Place::new().rarely("simulate --help"));
}

#[test]
fn help_of_ihdp() {
    assert_snapshot_of!(Place::new().rarely("ihdp --help"));
}

#[test]
fn help_of_grid() {
    assert_snapshot_of!(Place::new().rarely("grid --help"));
}

#[test]
fn help_of_sweep() {
    assert_snapshot_of!(Place::new().rarely("sweep --help"));
}

#[test]
fn help_of_frontier() {
    assert_snapshot_of!(Place::new().rarely("frontier --help"));
}

#[test]
fn help_of_lab_merge() {
    assert_snapshot_of!(Place::new().rarely("lab merge --help"));
}

#[test]
fn help_of_algorithms() {
    assert_snapshot_of!(Place::new().rarely("algorithms --help"));
}

#[test]
fn help_of_serve() {
    assert_snapshot_of!(Place::new().rarely("serve --help"));
}

#[test]
fn help_of_desk() {
    assert_snapshot_of!(Place::new().rarely("desk --help"));
}

#[test]
fn help_of_token_create() {
    assert_snapshot_of!(Place::new().rarely("token create --help"));
}

#[test]
fn help_of_audit_verify() {
    assert_snapshot_of!(Place::new().rarely("audit verify --help"));
}

#[test]
fn help_of_audit_report() {
    assert_snapshot_of!(Place::new().rarely("audit report --help"));
}

#[test]
fn help_of_store_restore() {
    assert_snapshot_of!(Place::new().rarely("store restore --help"));
}

#[test]
fn help_of_sign() {
    assert_snapshot_of!(Place::new().rarely("sign --help"));
}

#[test]
fn the_tables_of_algorithms_settings_and_environments() {
    assert_snapshot_of!(Place::new().rarely("algorithms"));
}

#[test]
fn the_exact_distribution_of_a_world() {
    let place = Place::new();
    let linear = data(&place.done("algorithms --world linear"));
    let words = linear.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(linear.starts_with("linear: ") && words.contains("truncated to [−2, 2]"), "{linear}");
    let all = data(&place.done("algorithms --world all"));
    for entry in REGISTRY {
        assert!(all.contains(&format!("{}: {}", entry.name, entry.summary)), "{}", entry.name);
    }
}

#[test]
fn the_version_is_that_of_the_crate() {
    let said = data(&Place::new().done("--version"));
    assert_eq!(said, format!("rarely {}\n", env!("CARGO_PKG_VERSION")));
}

/// Options on how to run are not under the heading of the assumptions.
#[test]
fn the_seed_is_not_among_the_assumptions() {
    for command in ["simulate", "ihdp", "sweep"] {
        let said = data(&Place::new().done(&format!("{command} -h")));
        let (before, assumed) = said.split_once("Assumptions:").expect("the heading");
        let assumed = assumed.split("\n\n").next().unwrap_or_default();
        for option in ["--seed", "--threads", "--out", "--format"] {
            assert!(!assumed.contains(option), "{command}: {option} is under the wrong heading");
        }
        assert!(before.contains("--runs") && assumed.contains("--penalty"), "{said}");
    }
}
