//! What shells and `man` get.

use std::process::Command;

use crate::program::{Place, data};

#[test]
fn bash_completes_commands_and_options() {
    let place = Place::new();
    place.write("rarely.bash", data(&place.done("completions bash")));
    // What bash does when somebody presses the tabulator.
    let complete = |words: &[&str]| {
        let script = format!(
            "source rarely.bash; COMP_WORDS=({}); COMP_CWORD={}; _rarely rarely '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let output = Command::new("bash").args(["-c", &script]).current_dir(place.path("")).output();
        data(&output.expect("bash runs"))
    };
    assert_eq!(complete(&["rarely", "repro"]).trim(), "reproduce");
    assert_eq!(complete(&["rarely", "store", "rot"]).trim(), "rotate-key");
    assert!(complete(&["rarely", "review", "--po"]).contains("--policy"));
}

#[test]
fn every_shell_has_its_script() {
    let place = Place::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = data(&place.done(&format!("completions {shell}")));
        for word in ["rarely", "review", "reproduce", "reject-limit"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(place.rarely("completions tcsh").output().expect("it starts").status.code(), Some(2));
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let place = Place::new();
    place.done("man --out man");
    let pages = place.names("man");
    for page in ["rarely.1", "rarely-review.1", "rarely-store-rotate-key.1"] {
        assert!(pages.iter().any(|name| name == page), "{page}: {pages:?}");
    }
    let page = place.text("man/rarely-store-rotate-key.1");
    assert!(page.contains("\\fBrarely store rotate\\-key\\fR"), "{page}");
}
