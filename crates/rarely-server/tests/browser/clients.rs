//! Programs of other people against the service: OpenFeature's SDK, and a TypeScript client generated from the OpenAPI document.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::is_disabled;
use crate::service::{BLOOD_PRESSURE, Service};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/node_modules");

/// What a program of Node prints. It must succeed.
fn node(folder: &Path, arguments: &[&str]) -> String {
    let run = Command::new("node").args(arguments).current_dir(folder).stdin(Stdio::null()).output();
    let run = run.unwrap_or_else(|error| {
        panic!("node cannot be started ({error}): run scripts/test, which installs it, or set RARELY_NO_BROWSER=1")
    });
    let (out, talk) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(
        run.status.success(),
        "{arguments:?}: {out}\n{talk}\nrun scripts/test, which installs what it needs into target/tools"
    );
    out.into_owned()
}

fn with_service(test: impl FnOnce(&Service)) {
    if is_disabled() {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Service::start().await;
        tokio::task::block_in_place(|| {
            let text = BLOOD_PRESSURE.replace("pilot:6+equipoise:0.2", "none").replace("[160]", "[140]");
            service.engine.register("test", &text, 1).expect("a policy");
            test(&service);
            service.engine.stop();
        });
    });
}

#[test]
fn openfeature_evaluates_a_policy_as_a_flag() {
    with_service(|service| {
        let script = format!("{HERE}/openfeature.mjs");
        let printed = node(Path::new(HERE), &[&script, MODULES, &service.address, &service.ann, "blood pressure"]);
        let got: Json = serde_json::from_str(&printed).expect("JSON");
        let first = &got["first"];
        assert_eq!((&first["value"], &first["variant"]), (&json!("treat"), &json!("treat")), "{got:#}");
        assert_eq!((&first["reason"], &first["flagMetadata"]["version"]), (&json!("TARGETING_MATCH"), &json!(1)));
        assert_eq!(got["again"], *first, "the same person gets the same decision");
        assert_eq!(
            (&got["beyond"]["value"], &got["beyond"]["errorCode"]),
            (&json!("nothing"), &json!("INVALID_CONTEXT"))
        );
        assert_eq!(got["unknown"]["errorCode"], "FLAG_NOT_FOUND");
    });
}

#[test]
fn a_typescript_client_is_generated_compiled_and_run() {
    with_service(|service| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        std::os::unix::fs::symlink(MODULES, path.join("node_modules")).expect("a link");
        std::fs::write(path.join("api.json"), rarely_server::openapi("0.0.0").to_string()).expect("a file");
        std::fs::copy(format!("{HERE}/client.ts"), path.join("client.ts")).expect("a copy");
        node(path, &["node_modules/openapi-typescript/bin/cli.js", "api.json", "-o", "api.ts"]);
        let strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--skipLibCheck"];
        let modules =
            ["--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022", "--types", "node"];
        let compiler = ["node_modules/typescript/bin/tsc", "client.ts"];
        node(path, &[&compiler[..], &strict[..], &modules[..]].concat());
        let printed = node(path, &["client.js", &service.address, &service.ann, "blood pressure"]);
        let got: Json = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(
            (&got["option"], &got["version"], &got["repeated"]),
            (&json!("treat"), &json!(1), &json!(false)),
            "{got}"
        );
        assert!(got["detail"].as_str().is_some_and(|detail| detail.contains("high")), "{got}");
        assert_eq!(got["names"], json!(["blood pressure"]));
    });
}
