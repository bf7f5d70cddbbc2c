//! The systemd unit, the container file and the configuration of their documentation, as far as they can be checked without systemd and containers.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use insta_cmd::get_cargo_bin;

use crate::operating::Logged;
use crate::program::{Place, talk};

fn of_repository(path: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        skipped("rarely, systemd-analyze: it is not installed (Debian package systemd)");
        return;
    }
    let place = Place::new();
    let program = get_cargo_bin("rarely").display().to_string();
    let unit = of_repository("packaging/rarely.service").replace("/usr/bin/rarely", &program);
    place.write("rarely.service", &unit);
    let analyze = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command.args(arguments).arg(place.path("rarely.service")).output().expect("it runs")
    };
    let checked = analyze(&["verify", "--man=no"]);
    // What it does not know it ignores, with a line on stderr.
    assert!(checked.status.success() && checked.stderr.is_empty(), "{}", talk(&checked));
    let exposed = analyze(&["security", "--offline=yes", "--threshold=20", "--no-pager"]);
    assert!(exposed.status.success(), "an exposure above 2.0: {}", String::from_utf8_lossy(&exposed.stdout));
    place.write("rarely.service", unit.replace("ProtectClock=", "ProtectClok="));
    assert!(talk(&analyze(&["verify", "--man=no"])).contains("ProtectClok"), "this test can fail");
}

#[test]
fn the_documented_configuration_serves() {
    let place = Place::new();
    let text = of_repository("docs/operations/packaging.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    assert!(example.contains("127.0.0.1:8080"), "{example}");
    place.write("rarely.toml", example.replace(":8080", ":0"));
    let unit = of_repository("packaging/rarely.service");
    let command =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/rarely serve ")).expect("a command");
    let server = Logged::start(&place, &command.replace("/etc/rarely/rarely.toml", "rarely.toml"), &[]);
    assert!(place.path("admin.token").exists() && place.path("rarely.db").exists());
    server.stop();
}

/// The instructions of a container file: their names and the rest of the line, with continued lines joined.
fn instructions(text: &str) -> Vec<(String, String)> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

#[test]
fn the_container_file_runs_what_there_is() {
    let all = instructions(&of_repository("packaging/Containerfile"));
    let of =
        |name: &str| all.iter().filter(|(found, _)| found == name).map(|(_, rest)| rest.as_str()).collect::<Vec<_>>();
    let words =
        |text: &str| serde_json::from_str::<Vec<String>>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(of("FROM"), ["scratch"]);
    let copied: Vec<&str> = of("COPY")[0].split_whitespace().collect();
    assert!(of_repository("scripts/static-binary").contains(copied[0]), "{copied:?} is what the script makes");
    let command = [words(of("ENTRYPOINT")[0]), words(of("CMD")[0])].concat();
    assert_eq!(command, [copied[1], "serve"]);
    let (_, check) = of("HEALTHCHECK")[0].split_once("CMD ").expect("a command");
    assert_eq!(words(check), [copied[1], "health"]);

    // Every variable is an option, and with them it serves and is healthy.
    let place = Place::new();
    let help = String::from_utf8(place.done("serve --help").stdout).expect("text");
    let environment: Vec<(String, String)> = of("ENV")
        .iter()
        .flat_map(|line| line.split_whitespace())
        .map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).expect(pair))
        .collect();
    for (name, _) in &environment {
        let option = name.strip_prefix("RARELY_").expect(name).to_lowercase().replace('_', "-");
        assert!(help.contains(&format!("--{option} ")) || help.contains(&format!("--{option}\n")), "--{option}");
    }
    assert!(environment.iter().any(|(name, value)| name == "RARELY_LISTEN" && value.ends_with(of("EXPOSE")[0])));
    let data = place.path("data");
    fs::create_dir(&data).expect("a folder");
    let here: Vec<(String, String)> = environment
        .iter()
        .map(|(name, value)| {
            let value = value.replace("0.0.0.0:8080", "127.0.0.1:0").replace("/data", &data.display().to_string());
            (name.clone(), value)
        })
        .collect();
    let pairs: Vec<(&str, &str)> = here.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let server = Logged::start(&place, "", &pairs);
    let health = place.rarely("health").env("RARELY_HEALTH_URL", &server.url).output().expect("it runs");
    assert!(health.status.success(), "{}", talk(&health));
    server.stop();
    assert!(data.join("admin.token").exists() && data.join("rarely.db").exists());
}

/// Notes a check that could not be made here.
fn skipped(what: &str) {
    let Some(file) = std::env::var_os("RARELY_SKIPPED") else { return };
    let mut file = fs::OpenOptions::new().append(true).create(true).open(file).expect("the list of what was skipped");
    writeln!(file, "{what}").expect("a line");
}
