//! Pages of the book that are written by the program itself: its commands, its policy documents, its HTTP API, its algorithms.
//!
//! The tests compare them with the files in `docs/reference`. After a change of the program write them again:
//! `RARELY_WRITE_PAGES=1 cargo nextest run --workspace --all-features -E 'test(book_pages)'`.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Map, Value as Json};

use crate::documents::root;
use crate::program::{Place, data};

const NOTE: &str =
    "<!-- Written by crates/rarely/tests/it/book_pages.rs, which says how to write it again. Do not edit it. -->";

fn assert_page(name: &str, text: &str) {
    let path = root().join("docs/reference").join(name);
    let text = format!("{NOTE}\n\n{}\n", text.trim_end());
    if std::env::var_os("RARELY_WRITE_PAGES").is_some() {
        fs::write(&path, &text).expect("a file");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored.lines().zip(text.lines()).position(|(one, other)| one != other);
    assert!(
        stored == text,
        "docs/reference/{name} is not what the program says, from line {}\nhelp: write it again: RARELY_WRITE_PAGES=1 cargo nextest \
         run --workspace --all-features -E 'test(book_pages)'",
        differs.unwrap_or(stored.lines().count().min(text.lines().count())) + 1
    );
}

/// The help of a command and of all below it.
fn commands(place: &Place, words: &str, page: &mut String) {
    let help = data(&place.done(&format!("{words} --help")));
    let name = format!("rarely {words}").trim_end().to_owned();
    let level = "#".repeat(1 + name.split(' ').count());
    let trimmed: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = writeln!(page, "{level} {name}\n\n```text\n{}\n```\n", trimmed.join("\n").trim_end());
    let listed = help.split("\nCommands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    for line in listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let command = line.split_whitespace().next().expect("a word");
        if command != "help" {
            commands(place, format!("{words} {command}").trim_start(), page);
        }
    }
}

#[test]
fn the_page_of_commands() {
    let mut page = String::from(
        "# Commands\n\nEvery command with its options, as `--help` prints them; `-h` is shorter. Data go to standard output, messages to \
         standard error. Exit codes:\n\n| code | meaning |\n|---|---|\n| 0 | done; the answer is yes (a rule is kept, a document is \
         valid, a log is consistent) |\n| 1 | done; the answer is no, or not yet (change, cannot tell) |\n| 2 | it could not run; the \
         message says why and what to do |\n\n",
    );
    commands(&Place::new(), "", &mut page);
    assert_page("commands.md", &page);
}

#[test]
fn the_page_of_algorithms() {
    let place = Place::new();
    let mut page = String::from(
        "# Algorithms, settings and worlds\n\nWhat `rarely simulate` and `rarely.Policy` know, as `rarely algorithms` prints it. The \
         sources are in `REFERENCES.bib`, the formulas in [the mathematics](../mathematics.md).\n\n",
    );
    for table in data(&place.done("algorithms")).trim_end().split("\n\n") {
        let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
        let _ = writeln!(page, "```text\n{}\n```\n", lines.join("\n"));
    }
    let _ = writeln!(page, "## The worlds, exactly\n\nAs `rarely algorithms --world all` prints them.\n");
    let worlds = data(&place.done("algorithms --world all"));
    let lines: Vec<&str> = worlds.lines().map(str::trim_end).collect();
    let _ = writeln!(page, "```text\n{}\n```", lines.join("\n").trim_end());
    assert_page("algorithms.md", &page);
}

/// A cell of a table: one line, without what would end the cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn described(schema: &Json) -> String {
    cell(schema["description"].as_str().unwrap_or_default())
}

/// The type of a value, in words, with links to the sections of types that have a name.
fn kind(schema: &Json) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(constant) = schema.get("const") {
        return format!("`{}`", cell(&constant.to_string()));
    }
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<String> = values.iter().map(|value| format!("`{}`", cell(&value.to_string()))).collect();
        return words.join(", ");
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            let words: Vec<String> = parts.iter().filter(|part| part["type"] != "null").map(kind).collect();
            return words.join(" or ");
        }
    }
    let one = match &schema["type"] {
        Json::Array(kinds) => kinds.iter().filter_map(Json::as_str).find(|kind| *kind != "null").unwrap_or("value"),
        other => other.as_str().unwrap_or("value"),
    };
    match one {
        "array" if schema.get("items").is_some() => format!("list of {}", kind(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("table of {}", kind(&schema["additionalProperties"]))
        }
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "object" => "table".to_owned(),
        other => other.to_owned(),
    }
}

/// What one writes for a key that may be left out.
fn default(key: &str, schema: &Json, required: &[&str]) -> String {
    match schema.get("default") {
        _ if required.contains(&key) => "required".to_owned(),
        Some(Json::Array(values)) if values.is_empty() => "none".to_owned(),
        Some(Json::Object(values)) if values.is_empty() => "none".to_owned(),
        Some(value) => format!("`{}`", cell(&value.to_string())),
        None => String::new(),
    }
}

/// The keys of an object as a table.
fn keys(schema: &Json, page: &mut String) {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    if properties.is_empty() {
        return;
    }
    let _ = writeln!(page, "| key | value | default | meaning |\n|---|---|---|---|");
    for (key, value) in properties {
        let default = default(key, value, &required);
        let _ = writeln!(page, "| `{key}` | {} | {default} | {} |", kind(value), described(value));
    }
    page.push('\n');
}

/// The forms that a value may have, as a list.
fn forms(schema: &Json, page: &mut String) {
    let parts = ["oneOf", "anyOf"].iter().filter_map(|key| schema[*key].as_array()).flatten();
    let mut any = false;
    for part in parts {
        let required = || part["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let form = if part.get("required").is_some() {
            let named: Vec<String> = required().map(|key| format!("`{key}`")).collect();
            let one = required().next().unwrap_or_default();
            let target = part["properties"].get(one).map(|value| format!(": {}", kind(value))).unwrap_or_default();
            format!("{}{target}", named.join(" and "))
        } else {
            kind(part)
        };
        let meaning = described(part);
        let _ = writeln!(page, "- {form}{}", if meaning.is_empty() { String::new() } else { format!(". {meaning}") });
        any = true;
    }
    if any {
        page.push('\n');
    }
}

fn sections(schemas: &Map<String, Json>, page: &mut String) {
    for (name, schema) in schemas {
        let _ = writeln!(page, "### {name}\n");
        let meaning = schema["description"].as_str().unwrap_or_default();
        if !meaning.is_empty() {
            let _ = writeln!(page, "{meaning}\n");
        }
        let has_form =
            schema.get("properties").is_some() || schema.get("oneOf").is_some() || schema.get("anyOf").is_some();
        if !has_form {
            let _ = writeln!(page, "A {}.\n", kind(schema));
        }
        keys(schema, page);
        forms(schema, page);
    }
}

#[test]
fn the_page_of_policy_documents() {
    let schema: Json = serde_json::from_str(&data(&Place::new().done("policy schema"))).expect("JSON");
    let mut page = format!(
        "# The policy document\n\n{}\n\nIt is a TOML file. `rarely policy init` writes a commented draft, `rarely policy check` says \
         what is wrong with one and where, and `rarely policy schema` prints the JSON Schema from which this page is made, for \
         editors. [Policies by example](policies-by-example.md) shows the keys in use.\n\n## Keys\n\n",
        schema["description"].as_str().expect("a description")
    );
    keys(&schema, &mut page);
    let _ = writeln!(page, "## Tables and values\n");
    sections(schema["$defs"].as_object().expect("definitions"), &mut page);
    assert_page("policy-document.md", &page);
}

/// The body or the answer of an operation: its types of content, and what they hold.
fn contents(value: &Json) -> String {
    let content = value["content"].as_object().into_iter().flatten();
    let parts: Vec<String> = content
        .map(|(name, content)| match kind(&content["schema"]).as_str() {
            "text" | "value" => format!("`{name}`"),
            kind => format!("`{name}`: {kind}"),
        })
        .collect();
    parts.join("; ")
}

fn operation(method: &str, path: &str, operation: &Json, page: &mut String) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let meaning = operation["description"].as_str().unwrap_or_default();
    let _ = writeln!(page, "### {} {path}\n\n{summary} {meaning}\n", method.to_uppercase());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let (name, place) =
            (parameter["name"].as_str().unwrap_or_default(), parameter["in"].as_str().unwrap_or_default());
        if place != "path" {
            let _ = writeln!(page, "- `{name}` ({place}): {}", described(parameter));
        }
    }
    if operation.get("requestBody").is_some() {
        let _ = writeln!(page, "- Body: {}", contents(&operation["requestBody"]));
    }
    for (status, reply) in operation["responses"].as_object().expect("responses") {
        if status.starts_with('2') {
            let held = contents(reply);
            let held = if held.is_empty() { held } else { format!(" ({held})") };
            let _ = writeln!(page, "- {status}: {}{held}", described(reply));
        }
    }
    // Those that any request may get are in errors.md.
    let errors: Vec<String> = operation["responses"]
        .as_object()
        .expect("responses")
        .iter()
        .filter(|(status, _)| ["404", "409", "410", "422"].contains(&status.as_str()))
        .map(|(status, reply)| format!("{status} {}", described(reply)))
        .collect();
    if !errors.is_empty() {
        let _ = writeln!(page, "- Errors: {}", errors.join("; "));
    }
    page.push('\n');
}

#[test]
fn the_page_of_the_http_api() {
    let api = rarely_server::openapi(env!("CARGO_PKG_VERSION"));
    let mut page = format!(
        "# HTTP API\n\n{}\n\nA running service shows this page at `/docs`, and has it as OpenAPI 3.1 at `/openapi.json`. Send the \
         token as `Authorization: Bearer rarely_…`. Roles are explained in [the service](../service.md#roles), errors in \
         [errors](errors.md#the-service).\n\n## Requests\n\n",
        api["info"]["description"].as_str().expect("a description")
    );
    for (path, methods) in api["paths"].as_object().expect("paths") {
        for (method, described) in methods.as_object().expect("methods") {
            operation(method, path, described, &mut page);
        }
    }
    let _ = writeln!(page, "## Bodies\n");
    sections(api["components"]["schemas"].as_object().expect("schemas"), &mut page);
    assert_page("http-api.md", &page);
}
