//! `rarely desk`: what its page shows is what the commands that it prints say.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use insta_cmd::get_cargo_bin;

use crate::program::{Place, assert_same_files};

/// A running desk, and a browser's cookie for it.
struct RunningDesk {
    child: Child,
    origin: String,
    cookie: String,
    agent: ureq::Agent,
}

impl RunningDesk {
    fn start(place: &Place) -> Self {
        fs::create_dir_all(place.path("temporary")).expect("a folder");
        let mut command = place.rarely("desk --no-open");
        command.env("TMPDIR", place.path("temporary"));
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("its talk")).lines();
        let first = lines.next().expect("a line").expect("text");
        std::thread::spawn(move || lines.for_each(drop));
        let address = first.strip_prefix("the desk is open at ").expect("an address").to_owned();
        let at = address.find("/start").expect("the way in");
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
        let agent: ureq::Agent = config.into();
        let response = agent.get(&address).call().expect("an answer");
        let cookie = response.headers()["set-cookie"].to_str().expect("text");
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Self { child, origin: address[..at].to_owned(), cookie, agent }
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        let request = self.agent.get(format!("{}{path}", self.origin)).header("cookie", &self.cookie);
        let mut response = request.call().expect("an answer");
        let to = response.headers().get("location").map_or("", |to| to.to_str().expect("text")).to_owned();
        let limit = 1 << 30;
        let text = response.body_mut().with_config().limit(limit).read_to_string().expect("text");
        (response.status().as_u16(), to, text)
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) {
        let request = self.agent.post(format!("{}{path}", self.origin)).header("cookie", &self.cookie);
        let fields = fields.iter().map(|(name, value)| (*name, *value));
        let response = request.header("origin", &self.origin).send_form(fields).expect("an answer");
        assert_eq!(response.status().as_u16(), 303, "{path}");
    }

    fn upload(&self, name: &str, path: &Path) {
        let request = self
            .agent
            .put(format!("{}/upload?name={}", self.origin, name.replace(' ', "%20")))
            .header("cookie", &self.cookie);
        let file = fs::File::open(path).expect("a file");
        let response = request.header("origin", &self.origin).send(file).expect("an answer");
        assert_eq!(response.status().as_u16(), 200);
    }

    /// Waits for the page that a task leads to.
    #[track_caller]
    fn finished(&self, expected: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(300);
        loop {
            let (status, to, _) = self.get("/work");
            if status == 303 {
                let page = self.get(&to).2;
                assert_eq!(to, expected, "{page}");
                return page;
            }
            assert!(Instant::now() < deadline, "the task does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it as Ctrl-C does.
    fn interrupt(mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
        assert!(self.child.wait().expect("its end").success(), "Ctrl-C is a good end");
    }
}

impl Drop for RunningDesk {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The commands that a page prints.
fn commands(page: &str) -> Vec<String> {
    let (_, aside) = page.split_once("<aside").expect("commands");
    let parts = aside.split("<code>").skip(1).filter_map(|rest| rest.split("</code>").next());
    parts
        .map(|command| command.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
        .collect()
}

/// Runs a printed command in a shell, in a folder.
fn shell(folder: &Path, command: &str) -> String {
    let program = get_cargo_bin("rarely");
    let path =
        format!("{}:{}", program.parent().expect("a folder").display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("sh").args(["-c", command]).env("PATH", path).current_dir(folder).output().expect("a shell");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{command}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Goes through the desk with a log, and compares what it shows with what its commands print.
fn check(name: &str, content: &[u8], columns: &[(&str, &str)], rule: &[(&str, &str)], assumptions: &[(&str, &str)]) {
    let place = Place::new();
    let desk = RunningDesk::start(&place);
    place.write("given", content);
    desk.upload(name, &place.path("given"));
    let page = desk.finished("/columns");
    fs::create_dir_all(place.path("elsewhere")).expect("a folder");
    place.write(&format!("elsewhere/{name}"), content);
    // The draft: the command of the page writes one that is valid.
    shell(&place.path("elsewhere"), &commands(&page)[0]);
    shell(&place.path("elsewhere"), "rarely policy check policy.toml");
    desk.post("/columns", columns);
    desk.finished("/rule");
    desk.post("/rule", rule);
    let mut page = desk.finished("/review");
    if !assumptions.is_empty() {
        desk.post("/assumptions", assumptions);
        page = desk.finished("/review");
    }
    desk.post("/save", &[("folder", "kept")]);
    let shown = desk.get("/files/review.json").2;
    let kept = place.files("kept");
    let again = place.path("again");
    fs::create_dir_all(&again).expect("a folder");
    fs::write(again.join(name), content).expect("a file");
    fs::write(again.join("policy.toml"), &kept["policy.toml"]).expect("a file");
    let commands = commands(&page);
    assert_eq!(commands.len(), 3, "{commands:?}");
    shell(&again, &commands[0]);
    assert_eq!(shell(&again, &commands[1]), shown, "the findings differ");
    shell(&again, &commands[2]);
    let mut made = place.files("again");
    made.remove(name);
    assert_same_files(&made, &kept);
    desk.interrupt();
    assert_eq!(place.names("temporary"), Vec::<String>::new(), "temporary files are left");
    assert!(fs::read_dir(place.path("temporary")).expect("a folder").next().is_none());
}

#[test]
fn the_clinical_example_says_the_same_on_the_page_and_by_its_commands() {
    let rule = [
        ("form", "threshold"),
        ("feature", "systolic"),
        ("threshold.option.0", "watch"),
        ("threshold.cut.1", "140"),
        ("threshold.option.1", "treat"),
    ];
    let assumptions = [("standard", "looks"), ("looks", "4"), ("cost.1", "0.01"), ("noise", "0.1"), ("worth", "0.005")];
    let log = include_bytes!("../../../../examples/clinical/log.csv");
    let columns =
        [("role.0", "ignored"), ("options", "watch\ntreat"), ("low.1", "80"), ("high.1", "230"), ("unit.1", "mmHg")];
    check("log.csv", log, &columns, &rule, &assumptions);
}

#[test]
fn a_score_with_three_options_says_the_same_on_the_page_and_by_its_commands() {
    let log = include_bytes!("../../../../examples/pricing/log.csv");
    let columns = [
        ("policy", "It's a price list"),
        ("role.0", "ignored"),
        ("role.4", "feature"),
        ("role.5", "option"),
        ("options", "basic\nstandard\npremium"),
        ("levels.4", "no\nyes"),
    ];
    let rule = [
        ("form", "score"),
        ("weight.0", "1"),
        ("weight.1", "20"),
        ("weight.3.1", "60"),
        ("score.option.0", "basic"),
        ("score.cut.1", "200"),
        ("score.option.1", "standard"),
        ("score.cut.2", "350"),
        ("score.option.2", "premium"),
    ];
    check("price list, 2026.csv", log, &columns, &rule, &[]);
}

#[test]
fn a_file_with_decimal_commas_says_the_same_on_the_page_and_by_its_commands() {
    let mut text = String::from("Alter;Gruppe;Nutzen\n");
    for at in 0..600_u32 {
        let (age, group) = (f64::from(40 + at * 7 % 45) + 0.5, if at * 3 % 7 < 3 { "wait" } else { "invite" });
        let benefit = 0.3 + f64::from(at * 11 % 17) / 40.0;
        let row = format!("{age};{group};{benefit:.3}\n");
        text.push_str(&row.replace('.', ","));
    }
    let rule = [
        ("form", "score"),
        ("weight.0", "1"),
        ("score.option.0", "wait"),
        ("score.cut.1", "60"),
        ("score.option.1", "invite"),
    ];
    check("Größen.csv", text.as_bytes(), &[], &rule, &[("standard", "once")]);
}

/// A file of 20 MB goes through the desk with memory that does not follow its size.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_file() {
    let place = Place::new();
    let mut peaks = Vec::new();
    for rows in [20_000_u32, 700_000] {
        let desk = RunningDesk::start(&place);
        let mut text = String::from("age,weight,given,benefit\n");
        for at in 0..rows {
            let mixed = at.wrapping_mul(2_654_435_761) >> 8;
            let row = writeln!(
                text,
                "{},{}.{:02},{},0.{:06}",
                40 + mixed % 45,
                50 + mixed % 60,
                mixed % 100,
                ["wait", "invite"][(mixed >> 5) as usize % 2],
                mixed % 1_000_000
            );
            row.expect("a string");
        }
        place.write("log.csv", &text);
        desk.upload("log.csv", &place.path("log.csv"));
        desk.finished("/columns");
        desk.post("/columns", &[]);
        desk.finished("/rule");
        desk.post("/rule", &[("form", "everyone"), ("everyone", "wait")]);
        desk.finished("/review");
        let status = fs::read_to_string(format!("/proc/{}/status", desk.child.id())).expect("its status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
        peaks.push(
            peak.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number"),
        );
        desk.interrupt();
    }
    // The larger file has 19 MB more; what is kept of a column is bounded, and allocators keep what they had.
    assert!(peaks[1] < peaks[0] + 60_000, "the peaks are {peaks:?} kB");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let place = Place::new();
    let output = place.rarely("desk --no-open --folder nowhere").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("nowhere: cannot be used") && said.contains("help: name a folder that exists with --folder"),
        "{said}"
    );
}

#[test]
fn a_folder_that_is_a_file_is_refused() {
    let place = Place::new();
    place.write("afile", "");
    let output = place.rarely("desk --no-open --folder afile").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("afile: is not a folder"), "{said}");
}
