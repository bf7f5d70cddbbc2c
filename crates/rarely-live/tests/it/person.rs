//! Who people are: names and ids, look-alikes, and the last administrator.

use rarely_live::engine::ChangeError;
use rarely_live::event::Event;
use rarely_live::{PersonError, Role, TokenGrant, clean_person_text, look_alike, person_of};
use rarely_store::NoteSigner;

use crate::support::Bench;

#[test]
fn a_name_is_composed_and_trimmed_and_has_nothing_invisible() {
    for (text, clean) in [
        ("  Ann   Lee ", "Ann Lee"),
        ("Zoe\u{308}", "Zoë"),
        ("Ann\u{a0}Lee", "Ann Lee"),
        ("田中 さくら", "田中 さくら"),
    ] {
        assert_eq!(clean_person_text("name", text).as_deref(), Ok(clean));
    }
    for blank in ["", "  ", "\u{3000}"] {
        assert_eq!(clean_person_text("name", blank), Err(PersonError::Empty { what: "name" }));
    }
    // Zero-width space and joiner, a bidirectional override and isolate, a soft hyphen, a tag, a Hangul filler, a control, braille.
    for unseen in
        ['\u{200b}', '\u{200d}', '\u{202e}', '\u{2067}', '\u{ad}', '\u{e0041}', '\u{3164}', '\u{7}', '\u{2800}']
    {
        let found = clean_person_text("name", &format!("An{unseen}n"));
        assert!(matches!(&found, Err(PersonError::Invisible { character, .. }) if *character == unseen), "{found:?}");
    }
}

#[test]
fn case_and_look_alikes() {
    for (one, other) in [
        ("Ann", "ANN"),
        ("Ann", "\u{410}nn"),
        ("Ian", "lan"),
        ("Ian", "ian"),
        ("Barny", "Bamy"),
        ("Straße", "STRASSE"),
        ("a b", "a  b"),
    ] {
        assert!(look_alike(one, other) && look_alike(other, one), "{one} and {other}");
    }
    assert!(!look_alike("Ann", "Ben") && !look_alike("Zoe", "Zoë"));
    assert_eq!(person_of(" Ann  LEE"), "ann lee");
    assert_ne!(person_of("\u{410}nn"), person_of("Ann"), "it looks alike, but nobody said that it is the same person");
}

fn grant(byte: u8, name: &str, person: Option<&str>, role: Role) -> TokenGrant {
    let (_, mut grant) = TokenGrant::new([byte; 40], name, vec![role], None, None);
    grant.person = person.map(ToOwned::to_owned);
    grant
}

#[test]
fn another_person_cannot_take_a_name_that_looks_alike() {
    let bench = Bench::new();
    let create = |grant| bench.engine.create_token("console", grant);
    create(grant(1, " Ann ", None, Role::Review)).expect("a token");
    create(grant(2, "ann", None, Role::Review)).expect("the same person, spelt otherwise");
    create(grant(3, "Dr. Lee", Some("ann"), Role::Review)).expect("the same person, by another name");
    for (name, person) in
        [("\u{410}nn", None), ("Ann", Some("somebody else")), ("Ben", Some("\u{430}nn")), ("Dr. Iee", None)]
    {
        let refused = create(grant(4, name, person, Role::Read)).expect_err(name);
        assert!(
            matches!(&refused, ChangeError::Person(PersonError::LooksLike { person, .. }) if person == "ann"),
            "{name}: {refused}"
        );
    }
    let key = NoteSigner::generate("ann").key().clone();
    let refused =
        bench.engine.register_person_key("console", "\u{410}nn", None, key.clone()).expect_err("a look-alike");
    assert!(refused.to_string().contains("another person: \"Ann\", with the id \"ann\""), "{refused}");
    bench.engine.register_person_key("console", "Dr. Lee", Some("ann"), key).expect("her key");
    let people: Vec<String> = bench.engine.tokens().iter().map(|token| token.grant.person_id()).collect();
    assert_eq!(people, ["ann"; 3]);
    assert_eq!(bench.engine.tokens().iter().next().map(|token| token.grant.name.clone()).as_deref(), Some("Ann"));
}

#[test]
fn the_last_administrators_token_cannot_be_revoked() {
    let bench = Bench::new();
    let admin = grant(1, "ann", None, Role::Admin);
    let mut expired = grant(2, "ben", None, Role::Admin);
    expired.expires_ms = Some(bench.engine.now_ms() + 10);
    let mut scoped = grant(3, "cem", None, Role::Admin);
    scoped.policies = Some(vec!["screening".to_owned()]);
    for grant in [admin.clone(), expired, scoped] {
        bench.engine.create_token("console", grant).expect("a token");
    }
    bench.pass(10);
    let refused = bench.engine.revoke_token("ann", &admin.id).expect_err("nobody is left");
    assert!(matches!(refused, ChangeError::LastAdmin(_)), "{refused}");
    bench.engine.create_token("ann", grant(4, "dora", None, Role::Admin)).expect("a token");
    bench.engine.revoke_token("ann", &admin.id).expect("dora is left");
}

#[test]
fn tokens_and_signatures_of_old_logs_belong_to_the_person_of_their_name() {
    // Without an id, a grant is written as it always was.
    let body = Event::TokenCreated(grant(1, "Ann Lee", None, Role::Admin)).body();
    assert!(!body.contains("person"), "{body}");
    let Ok(Event::TokenCreated(grant)) = Event::parse("token created", &body) else { panic!("{body}") };
    assert_eq!(grant.person_id(), "ann lee");
    let again = Event::TokenCreated(grant);
    assert_eq!(Event::parse("token created", &again.body()), Ok(again), "it is written as it was read");
    let body = r#"{"meaning":"m","reason":"r"}"#;
    let Ok(Event::Stopped(signature)) = Event::parse("stopped", body) else { panic!("{body}") };
    assert_eq!(signature.person_id("Ann Lee"), "ann lee");
}
