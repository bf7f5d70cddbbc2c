//! Wrong input, and things that are stopped half-way.

use std::fs;

use axum::body::{Body, Bytes};
use axum::http::{Method, StatusCode};
use futures_util::stream;

use crate::support::{Person, THRESHOLD, clinical_log};

#[tokio::test]
async fn a_file_that_is_no_table_is_told_by_its_own_name() {
    let person = Person::new().await;
    for (name, content, words) in [
        ("log.csv", "", "log.csv"),
        ("log.csv", "a,b\n", "log.csv"),
        ("picture.png", "x", "picture.png"),
        ("log.xlsx", "this is no workbook", "log.xlsx"),
        ("log.parquet", "PAR1", "log.parquet"),
        ("log.csv", "a,b\n1,2\n3\n", "log.csv, line 3"),
    ] {
        person.upload(name, content).await;
        let (place, page) = person.finished().await;
        assert_eq!(place, "/", "{name}");
        assert!(page.text.contains("What went wrong") && page.text.contains(words), "{name}: {}", page.text);
        assert!(
            !page.text.contains("rarely-desk-"),
            "the temporary folder is not the person's business: {}",
            page.text
        );
    }
    person.post("/path", &[("path", "/nowhere/log.csv")]).await;
    let (_, page) = person.finished().await;
    assert!(page.text.contains("/nowhere/log.csv"), "{}", page.text);
}

#[tokio::test]
async fn a_bad_row_is_told_and_can_be_left_out() {
    let person = Person::new().await;
    let mut content = fs::read_to_string(clinical_log()).expect("a log");
    content += "9,133,operate,0.2,0.5\n";
    person.upload("log.csv", content).await;
    let (_, _) = person.finished().await;
    person.post("/columns", &[("options", "watch\ntreat")]).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/columns");
    assert!(
        page.text.contains("line 8002") && page.text.contains("operate") && page.text.contains("Bad rows to leave out"),
        "{}",
        page.text
    );
    assert!(page.text.contains(">watch\ntreat</textarea>"), "what was typed is still there: {}", page.text);
    person.post("/columns", &[("reject_limit", "1")]).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/rule", "{}", page.text);
    person.post("/rule", &THRESHOLD).await;
    let (_, page) = person.finished().await;
    assert!(
        page.text.contains("--reject-limit 1") && page.text.contains("Rows that were left out because they are bad"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn pages_that_come_too_early_lead_to_the_step_before() {
    let person = Person::new().await;
    for (path, place) in [("/columns", "/"), ("/rule", "/columns"), ("/review", "/rule"), ("/work", "/")] {
        let reply = person.get(path).await;
        assert_eq!((reply.status, reply.location()), (StatusCode::SEE_OTHER, place), "{path}");
    }
    for path in ["/columns", "/rule", "/assumptions", "/save", "/format", "/cancel"] {
        assert_eq!(person.post(path, &[]).await.status, StatusCode::SEE_OTHER, "{path}");
    }
    assert_eq!(person.get("/files/policy.toml").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let person = Person::new().await;
    let chunks = stream::iter([Ok(Bytes::from_static(b"a,b\n1,2\n")), Err(std::io::Error::other("the cable is out"))]);
    let request = person.request(&Method::PUT, "/upload?name=log.csv").body(Body::from_stream(chunks));
    let reply = person.send(request.expect("a request")).await;
    assert!(reply.text.contains("\"/\""), "{}", reply.text);
    let page = person.get("/").await.text;
    assert!(page.contains("did not arrive whole"), "{page}");
    let left = fs::read_dir(person.desk.temporary_files().join("upload")).expect("a folder").count();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn what_runs_can_be_cancelled_and_closing_removes_every_file() {
    let person = Person::new().await;
    let rows: Vec<String> =
        (0..400_000).map(|at| format!("{},{},0.{}\n", 40 + at % 40, ["wait", "invite"][at % 2], at % 10)).collect();
    person.upload("log.csv", format!("age,given,benefit\n{}", rows.concat())).await;
    let state = person.get("/work.json").await.text;
    assert!(state.contains("phase"), "{state}");
    let reply = person.post("/cancel", &[]).await;
    assert_eq!(reply.location(), "/");
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(person.get("/columns").await.location(), "/", "what was cancelled changes nothing");
    let folder = person.desk.temporary_files().to_owned();
    assert!(folder.is_dir());
    person.desk.close();
    assert!(!folder.exists());
}

#[tokio::test]
async fn hostile_names_and_values_are_text() {
    let person = Person::new().await;
    let content = "<script>alert(1)</script>,given,benefit\n1,<b>a</b>,0.5\n2,b,0.25\n3,b,0.5\n".to_owned();
    person.upload("<img src=x>.csv", content).await;
    let (place, page) = person.finished().await;
    assert_eq!(place, "/columns", "{}", page.text);
    for wrong in ["<script>alert", "<b>a</b>", "<img src=x>"] {
        assert!(!page.text.contains(wrong), "{}", page.text);
    }
    assert!(page.text.contains("--from '&lt;img src=x&gt;.csv'"), "{}", page.text);
}
