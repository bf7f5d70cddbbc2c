//! From the file to the saved review, without a browser.

use std::fs;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use rarely_policy::PolicyDocument;

use crate::support::{CLINICAL_COLUMNS, Person, THRESHOLD, clinical_log};

#[tokio::test]
async fn the_columns_are_guessed_sketched_and_counted() {
    let person = Person::new().await;
    person.upload("log.csv", fs::read(clinical_log()).expect("a log")).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/columns");
    for words in [
        "Histogram of systolic from",
        "no value is missing",
        "<option value=\"option\" selected>the option that was given</option>",
        "rarely policy init --from log.csv --option-column treatment --outcome-column wellbeing --out policy.toml",
    ] {
        assert!(page.text.contains(words), "{words}:\n{}", page.text);
    }
}

#[tokio::test]
async fn a_file_also_comes_by_a_form_or_by_its_path() {
    let person = Person::new().await;
    let content = fs::read_to_string(clinical_log()).expect("a log");
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"my log.csv\"\r\nContent-Type: text/csv\r\n\r\n{content}\r\n--b--\r\n"
    );
    let request = person.request(&Method::POST, "/upload");
    let request = request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=b");
    let reply = person.send(request.body(Body::from(body)).expect("a request")).await;
    assert_eq!((reply.status, reply.location()), (StatusCode::SEE_OTHER, "/work"));
    let (place, page) = person.finished().await;
    assert_eq!(place, "/columns");
    assert!(page.text.contains("my log.csv has 8,000 rows and 5 columns"), "{}", page.text);
    assert!(page.text.contains("--from 'my log.csv'"), "{}", page.text);

    let path = clinical_log().canonicalize().expect("a path").display().to_string();
    person.post("/path", &[("path", &path)]).await;
    let (_, page) = person.finished().await;
    assert!(page.text.contains(&format!("--from {path}")), "{}", page.text);
}

#[tokio::test]
async fn the_rule_shows_at_once_who_gets_what() {
    let person = Person::new().await;
    let page = person.at_the_rule("log.csv", fs::read(clinical_log()).expect("a log"), &CLINICAL_COLUMNS).await;
    assert!(page.text.contains("<li>everyone gets watch</li>"), "{}", page.text);
    let shown = person.post("/preview", &THRESHOLD).await.text;
    assert!(shown.contains("treat from 140") && shown.contains("People by systolic"), "{shown}");
    // By hand: the share of rows from the cut on.
    let content = fs::read_to_string(clinical_log()).expect("a log");
    let values: Vec<f64> = content
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).expect("a field").parse().expect("a number"))
        .collect();
    let share = values.iter().filter(|value| **value >= 140.0).count() as f64 / values.len() as f64;
    assert!(shown.contains(&rarely_review::findings::numbers::percent(share)), "{share}: {shown}");

    let wrong = person
        .post("/preview", &[("form", "threshold"), ("feature", "systolic"), ("threshold.cut.1", "high")])
        .await
        .text;
    assert!(wrong.contains("a cut is “high”") && wrong.contains("write a number"), "{wrong}");
    let outside = person
        .post(
            "/preview",
            &[
                ("form", "threshold"),
                ("feature", "systolic"),
                ("threshold.option.0", "watch"),
                ("threshold.cut.1", "9000"),
                ("threshold.option.1", "treat"),
            ],
        )
        .await
        .text;
    assert!(outside.contains("What went wrong"), "{outside}");
}

#[tokio::test]
async fn a_review_is_read_changed_and_saved() {
    let person = Person::new().await;
    let page = person.at_the_review().await;
    let before = person.get("/files/review.json").await.text;
    assert!(page.text.contains("rarely review --policy policy.toml --data log.csv --out review"), "{}", page.text);
    assert!(page.text.contains("<svg") && !page.text.contains("What follows from your change"));

    person
        .post("/assumptions", &[("standard", "once"), ("cost.1", "0.02"), ("worth", "0.005"), ("noise", "0.1")])
        .await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/review", "{}", page.text);
    assert!(page.text.contains("What follows from your change"), "{}", page.text);
    assert_ne!(person.get("/files/review.json").await.text, before);

    let text = person.get("/files/policy.toml").await.text;
    let document = PolicyDocument::parse(&text, "policy.toml").expect("a document");
    assert_eq!(document.change().worth, Some(0.005));
    assert!(
        text.contains("standard = \"once\"")
            && text.contains("cost = { treat = 0.02 }")
            && text.contains("noise = 0.1"),
        "{text}"
    );

    let reply = person.post("/save", &[("folder", "kept")]).await;
    assert_eq!(reply.location(), "/review#save");
    let folder = person.folder.path().join("kept");
    assert_eq!(fs::read_to_string(folder.join("policy.toml")).expect("saved"), text);
    assert_eq!(
        fs::read_to_string(folder.join("review/review.json")).expect("saved"),
        person.get("/files/review.json").await.text
    );
    assert_eq!(
        fs::read_to_string(folder.join("review/review.html")).expect("saved"),
        person.get("/files/review.html").await.text
    );
    assert!(folder.join("state.json").is_file() && folder.join("review/figures").is_dir());
    // Nothing that is there is lost.
    person.post("/save", &[("folder", "kept")]).await;
    let page = person.get("/review").await.text;
    assert!(page.contains("exists already, and its contents would be lost"), "{page}");
}

#[tokio::test]
async fn roles_can_be_corrected() {
    let person = Person::new().await;
    let content = "id,age,sex,given,probability,benefit,side\n".to_owned()
        + &(0..60)
            .map(|at| {
                format!(
                    "{at},{},{},{},0.5,0.{},{}\n",
                    40 + at % 40,
                    ["f", "m"][at % 2],
                    ["wait", "invite"][at / 2 % 2],
                    at % 10,
                    at % 3
                )
            })
            .collect::<Vec<_>>()
            .concat();
    person.upload("log.csv", content).await;
    let (_, page) = person.finished().await;
    assert!(
        page.text.contains("name=\"role.4\"") && page.text.contains("<option value=\"propensity\" selected>"),
        "{}",
        page.text
    );
    // Two outcomes are one too many.
    person.post("/columns", &[("role.6", "outcome")]).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/columns");
    assert!(page.text.contains("benefit and side are both the outcome"), "{}", page.text);
    // The other one, sex compared by, the probability ignored.
    let fields = [
        ("role.6", "outcome"),
        ("role.5", "ignored"),
        ("role.2", "fairness"),
        ("role.4", "ignored"),
        ("role.1", "feature"),
        ("low.1", "30"),
        ("high.1", "90"),
        ("unit.1", "years"),
    ];
    person.post("/columns", &fields).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/rule", "{}", page.text);
    person
        .post(
            "/rule",
            &[
                ("form", "score"),
                ("weight.0", "1"),
                ("score.option.0", "wait"),
                ("score.cut.1", "60"),
                ("score.option.1", "invite"),
            ],
        )
        .await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/review", "{}", page.text);
    let text = person.get("/files/policy.toml").await.text;
    for line in [
        "fairness = [\"sex\"]",
        "range = [30, 90]",
        "unit = \"years\"",
        "column = \"side\"",
        "score = { coefficients = { age = 1 }, cuts = [60], options = [\"wait\", \"invite\"] }",
    ] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
    assert!(!text.contains("\npropensity ="), "{text}");
}

#[tokio::test]
async fn a_column_of_levels_and_missing_values() {
    let person = Person::new().await;
    let content = "age,sex,given,benefit\n".to_owned()
        + &(0..80)
            .map(|at| {
                format!(
                    "{},{},{},0.{}\n",
                    if at == 3 { String::new() } else { (40 + at % 40).to_string() },
                    ["f", "m", ""][at % 3],
                    ["wait", "invite"][at / 2 % 2],
                    at % 10
                )
            })
            .collect::<Vec<_>>()
            .concat();
    let page = person.at_the_rule("log.csv", content, &[]).await;
    assert!(page.text.contains("sex: m"), "{}", page.text);
    let (_, columns) = ("", person.get("/columns").await.text);
    assert!(columns.contains("1 missing") && columns.contains("26 missing"), "{columns}");
}

#[tokio::test]
async fn every_option_can_have_a_score_of_its_own() {
    let person = Person::new().await;
    let page = person.at_the_rule("log.csv", fs::read(clinical_log()).expect("a log"), &CLINICAL_COLUMNS).await;
    assert!(page.text.contains("A score for each option") && page.text.contains("name=\"option.1.constant\""));
    // A tie goes to the option that the document names first, so that people are treated above 140 mmHg.
    let linear = [("form", "linear"), ("option.0.constant", "1.4"), ("option.1.weight.0", "0.01")];
    let shown = person.post("/preview", &linear).await.text;
    let content = fs::read_to_string(clinical_log()).expect("a log");
    let values: Vec<f64> = content
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(1).expect("a field").parse().expect("a number"))
        .collect();
    let share = values.iter().filter(|value| **value > 140.0).count() as f64 / values.len() as f64;
    assert!(shown.contains(&rarely_review::findings::numbers::percent(share)), "{share}: {shown}");

    let wrong = person.post("/preview", &[("form", "linear"), ("option.0.constant", "much")]).await.text;
    assert!(wrong.contains("the constant of watch is “much”"), "{wrong}");

    person.post("/rule", &linear).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/review", "{}", page.text);
    let text = person.get("/files/policy.toml").await.text;
    assert!(text.contains("[rule.linear]\nwatch = { intercept = 1.4 }\ntreat = { systolic = 0.01 }\n"), "{text}");
    let document = PolicyDocument::parse(&text, "policy.toml").expect("a document");
    assert!(matches!(document.rule(), rarely_policy::WrittenRule::Linear(_)), "{text}");
    // What was typed is still in the form.
    let page = person.get("/rule").await.text;
    assert!(page.contains("value=\"1.4\""), "{page}");
}
