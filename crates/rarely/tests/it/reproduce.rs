//! `rarely reproduce`, once and small: what is in the folder, and what the report says.

use serde_json::Value;

use crate::ihdp::children;
use crate::program::{Place, data, talk};

const TABLES: [&str; 19] = [
    "evidence",
    "frontier",
    "grid",
    "grid-rigorous",
    "house",
    "ihdp-authors",
    "ihdp-published",
    "ihdp-repaired",
    "ihdp-rigorous",
    "ihdp-rigorous-intercept",
    "main-published",
    "main-rigorous",
    "penalty-published",
    "penalty-repaired",
    "penalty-rigorous",
    "tolerance-published",
    "tolerance-repaired",
    "tolerance-rigorous",
    "variants",
];

const FIGURES: [&str; 25] = [
    "evidence-coverage",
    "evidence-width",
    "figure-1b-threshold",
    "figure-2-cones",
    "figure-3-ours",
    "figure-3-published",
    "figure-3-rigorous",
    "figure-4-authors",
    "figure-4-published",
    "figure-4-repaired",
    "figure-4-rigorous",
    "figure-4-rigorous-intercept",
    "frontier",
    "grid-house",
    "grid-published",
    "grid-rigorous",
    "open-growth",
    "penalty-published",
    "penalty-repaired",
    "penalty-rigorous",
    "schedule-published",
    "theorem-1",
    "tolerance-published",
    "tolerance-repaired",
    "tolerance-rigorous",
];

/// One run, looked at from every side: what one side finds does not hide what another does.
#[test]
fn the_whole_reproduction_at_its_smallest() {
    let place = Place::new();
    let output = place.done("reproduce --runs 1 --rounds 200 --threads 2 --out out");
    let document: Value = serde_json::from_str(&place.text("out/claims.json")).expect("JSON");
    let page = place.text("out/report.html");
    let sides: [(&str, &dyn Fn()); 10] = [
        ("files", &|| files(&place)),
        ("claims", &|| claims(&document)),
        ("page", &|| self_contained(&page)),
        ("captions", &|| captions(&page)),
        ("command", &|| command(&page)),
        ("completeness", &|| complete(&page, &document)),
        ("children", &|| which_children(&page, &document)),
        ("answer", &|| answer(&data(&output), &document)),
        ("extent", &|| extent(&talk(&output), &page)),
        ("the book", &|| quoted_claims(&document)),
    ];
    let failed: Vec<&str> = sides
        .into_iter()
        .filter(|(_, check)| std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err())
        .map(|(name, _)| name)
        .collect();
    assert!(failed.is_empty(), "see above: {failed:?}");
}

/// It says how much was run, which here is one run of everything.
fn extent(said: &str, page: &str) {
    assert!(said.contains("results are in out") && said.contains("out/report.html"), "{said}");
    assert!(!said.contains("50 runs"), "it was one run: {said}");
    assert!(!page.contains("50 runs of"), "it was one run, but the page says 50");
}

fn files(place: &Place) {
    let tables = TABLES.iter().flat_map(|name| ["csv", "md", "tex"].map(|kind| format!("tables/{name}.{kind}")));
    let figures = FIGURES.iter().flat_map(|name| ["pdf", "png", "svg"].map(|kind| format!("figures/{name}.{kind}")));
    let mut expected: Vec<String> =
        tables.chain(figures).chain(["claims.json", "report.html"].map(ToOwned::to_owned)).collect();
    expected.sort();
    let (runs, others): (Vec<String>, Vec<String>) =
        place.names("out").into_iter().partition(|name| name.starts_with("runs/"));
    assert_eq!(others, expected);
    // Every run of every trial is kept.
    assert!(runs.contains(&"runs/main-rigorous.parquet".to_owned()) && runs.len() >= 20, "{runs:?}");
    let files = place.files("out");
    for name in TABLES {
        let text = place.text(&format!("out/tables/{name}.csv"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() > 1 && ["algorithm", "contestant", "method"].iter().any(|name| lines[0].contains(name)),
            "{name}: {}",
            lines[0]
        );
        let fields = lines[0].split(',').count();
        assert!(lines.iter().all(|line| line.contains('"') || line.split(',').count() == fields), "{name}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{name}");
    }
    for name in FIGURES {
        let svg = place.text(&format!("out/figures/{name}.svg"));
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}");
        assert!(!svg.contains("NaN"), "{name}.svg contains NaN");
        assert!(files[&format!("figures/{name}.png")].starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
    }
}

fn claims(document: &Value) {
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&document["seed"], &document["rounds"]), (&1.into(), &200.into()));
    let claims = document["claims"].as_array().expect("claims");
    assert!(claims.len() >= 10, "{}", claims.len());
    let mut ids: Vec<&str> = Vec::new();
    for claim in claims {
        for field in ["id", "text", "figure", "paper"] {
            assert!(claim[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {claim}");
        }
        ids.push(claim["id"].as_str().unwrap_or_default());
        let verdict = claim["verdict"].as_str().expect("a verdict");
        assert!(VERDICTS.contains(&verdict), "{claim}");
        assert!(claim["ours"].is_boolean() && claim["close"] == (verdict == "not settled"), "{claim}");
        readings(claim);
        let measured = claim["measured"].as_array().expect("measurements");
        assert!(!measured.is_empty(), "{claim}");
        for found in measured {
            let profile = found["profile"].as_str().expect("a profile");
            assert!(PROFILES.contains(&profile), "{found}");
            // What is a mean over runs says over how many; one run settles nothing.
            let counted = found["holds_if"] == "never" || found["holds_if"] == "at least once";
            if found["runs"] == 1 && !counted {
                assert!(found["verdict"] == "not settled" && found["low"].is_null(), "{found}");
            }
            assert!(found["runs"].is_u64() || profile == "exact", "{found}");
            for field in ["what", "holds_if"] {
                assert!(found[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {found}");
            }
            assert!(found["value"].is_number(), "{} {found}", claim["id"]);
            assert!(found["holds"].is_boolean() && found["clear"].is_boolean(), "{found}");
            if let (Some(low), Some(high)) = (found["low"].as_f64(), found["high"].as_f64()) {
                assert!(low <= high, "{found}");
            }
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "every claim has a name of its own");
    let errata = document["errata"].as_array().expect("errata");
    assert!(!errata.is_empty());
    for (at, erratum) in errata.iter().enumerate() {
        assert_eq!(erratum["number"], at + 1);
        assert!(erratum["text"].as_str().is_some_and(|text| !text.is_empty()), "{erratum}");
        assert!(["paper", "program"].contains(&erratum["origin"].as_str().unwrap_or_default()), "{erratum}");
        assert!(
            erratum["shown"].is_null() || erratum["shown"].as_str().is_some_and(|text| !text.is_empty()),
            "{erratum}"
        );
    }
}

const VERDICTS: [&str; 3] = ["holds", "does not hold", "not settled"];
const PROFILES: [&str; 4] = ["published", "repaired", "rigorous", "exact"];

/// Each reading has a verdict and its number of runs, and the claim has the verdict of the last.
fn readings(claim: &Value) {
    let readings = claim["readings"].as_array().expect("readings");
    for reading in readings {
        assert!(PROFILES.contains(&reading["profile"].as_str().unwrap_or_default()), "{reading}");
        assert!(VERDICTS.contains(&reading["verdict"].as_str().unwrap_or_default()), "{reading}");
        assert!(reading.get("runs").is_some() && reading.get("runs_needed").is_some(), "{reading}");
    }
    assert_eq!(readings.last().expect("a reading")["verdict"], claim["verdict"], "{claim}");
    assert!(claim.get("runs").is_some() && claim.get("runs_needed").is_some(), "{claim}");
}

/// Figures that look alike say what differs: no two captions are the same.
fn captions(page: &str) {
    let all: Vec<&str> =
        page.split("<figcaption>").skip(1).filter_map(|rest| rest.split("</figcaption>").next()).collect();
    assert_eq!(all.len(), FIGURES.len());
    let mut unique = all.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), all.len(), "{all:#?}");
}

/// “Run it again” has every setting that the report depends on.
fn command(page: &str) {
    let start = page.find("Run it again</h2>").expect("a section");
    let shown = page[start..].split("<code>").nth(1).and_then(|rest| rest.split("</code>").next());
    assert_eq!(shown, Some("rarely reproduce --seed 1 --rounds 200 --runs 1"));
}

/// The page loads nothing.
fn self_contained(page: &str) {
    let lower = page.to_lowercase();
    assert!(lower.starts_with("<!doctype html>"));
    for absent in
        ["<script", "<link", "<img", "<iframe", "<object", "<embed", " src=", "@import", "url(http", "javascript:"]
    {
        assert!(!lower.contains(absent), "the page has {absent}");
    }
    for (at, _) in lower.match_indices("href=") {
        let target = &lower[at + 5..].trim_start_matches(['"', '\'']);
        assert!(target.starts_with('#'), "a link to {}", &target[..target.len().min(40)]);
    }
    // What names a vocabulary is an address that nobody loads.
    let addresses = lower.match_indices("http").map(|(at, _)| lower[at..].chars().take(40).collect::<String>());
    let loaded: Vec<String> = addresses
        .filter(|address| address.starts_with("http://") || address.starts_with("https://"))
        .filter(|address| !address.starts_with("http://www.w3.org/"))
        .collect();
    assert!(loaded.is_empty(), "{loaded:?}");
}

/// Every figure, every claim and every erratum is on it.
fn complete(page: &str, document: &Value) {
    assert_eq!(page.matches("<svg").count(), FIGURES.len(), "every figure is inline");
    assert_eq!(page.matches("</svg>").count(), FIGURES.len());
    assert!(page.trim_end().ends_with("</html>"));
    let mut ids: Vec<&str> =
        page.match_indices(" id=\"").filter_map(|(at, _)| page[at + 5..].split('"').next()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "names on a page are unique, or figures would use each other's parts");
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    for part in ["claims", "errata"] {
        for entry in document[part].as_array().expect("a list") {
            let text = entry["text"].as_str().expect("a text");
            let start: String = escaped(text).split(['"', '\'']).next().unwrap_or_default().to_owned();
            assert!(page.contains(&start), "{part}: {text}");
        }
    }
}

/// The report says which realisations Figure 4 was run on.
fn which_children(page: &str, document: &Value) {
    let (first, last) = ("IHDP, realisation 1", "IHDP, realisation 100");
    assert_eq!(document["ihdp"], serde_json::json!({ "realisations": 100, "first": first, "last": last }));
    assert!(page.contains(&format!("100 realisations (from {first} to {last})")));
}

/// A line for each claim, and the sum.
fn answer(printed: &str, document: &Value) {
    let claims = document["claims"].as_array().expect("claims");
    for claim in claims {
        let text = claim["text"].as_str().expect("a text");
        assert!(printed.contains(text), "{text}");
    }
    let papers: Vec<&Value> = claims.iter().filter(|claim| claim["ours"] == false).collect();
    let count = |verdict: &str| papers.iter().filter(|claim| claim["verdict"] == verdict).count();
    let sum = format!(
        "Of the paper's {} claims {} hold, {} do not hold, {} are not settled;",
        papers.len(),
        count("holds"),
        count("does not hold"),
        count("not settled"),
    );
    assert!(printed.contains(&sum), "{sum} is not in\n{printed}");
}

/// The claims that the book quotes are among those of the program. Their verdicts come from a larger run.
fn quoted_claims(document: &Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/start/which.md");
    let text = std::fs::read_to_string(path).expect("a page");
    let (_, block) = text.split_once("```text\n verdict ").expect("the claims of the page");
    let rows = block.lines().skip(1).take_while(|line| !line.starts_with(" …") && !line.starts_with("```"));
    let claims = document["claims"].as_array().expect("claims");
    let mut quoted = 0;
    for row in rows {
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        // A claim that is not about experiments has no cell under "as published".
        let [.., figure, text] = cells[..] else { panic!("{row}") };
        let start = text.trim_end_matches(" …");
        let known = claims.iter().any(|claim| {
            claim["figure"] == figure && claim["text"].as_str().is_some_and(|text| text.starts_with(start))
        });
        assert!(known, "the book quotes an unknown claim: {row}");
        quoted += 1;
    }
    assert_eq!(quoted, 3);
}

#[test]
fn reads_its_data_before_it_runs_anything() {
    let place = Place::new();
    place.write("ihdp_npci_1.csv", children(746));
    let mut command = place.rarely("reproduce --data ihdp_npci_1.csv --runs 1 --rounds 10");
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("746 rows"), "{}", talk(&output));
    assert_eq!(place.names(""), ["ihdp_npci_1.csv"]);
}
