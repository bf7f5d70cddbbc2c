//! `rarely doctor`: what is bad is found, and said with what to do.

use std::fs;

use crate::program::{Place, data};
use crate::server::{Server, used};

/// The lines, and the exit code.
fn doctor(place: &Place, arguments: &str) -> (String, Option<i32>) {
    let output = place.rarely(&format!("doctor {arguments}")).env_remove("RARELY_STORE").output().expect("it starts");
    (data(&output), output.status.code())
}

#[test]
fn a_used_store_is_good() {
    let place = Place::new();
    used(&place);
    let (said, code) = doctor(&place, "--store s.db");
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "good     store        s.db: ",
        "good     witness ",
        "good     clock ",
        "good     signing key  s.db.signing-key: ",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("bad") && !said.contains("warning"), "{said}");
}

#[test]
fn a_running_service_is_asked() {
    let place = Place::new();
    let server = Server::start(&place, "");
    let (said, code) = doctor(&place, &format!("--store s.db --url {}", server.url));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("can serve requests"), "{said}");
    let url = server.url.clone();
    server.stop();
    let (said, code) = doctor(&place, &format!("--store s.db --url {url}"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("bad      service      {url}: not ready")), "{said}");
}

#[test]
fn a_store_that_is_none_or_has_lost_its_end_is_bad() {
    let place = Place::new();
    let (said, code) = doctor(&place, "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("warning  store        rarely.db is not there yet"), "{said}");
    place.write("rarely.db", "no database");
    let (said, code) = doctor(&place, "");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      store        rarely.db: not a rarely store"), "{said}");

    let (full, short) = (Place::new(), Place::new());
    used(&short);
    fs::copy(short.path("s.db"), full.path("s.db")).expect("a store");
    used_again(&short);
    fs::copy(short.path("s.db.head"), full.path("s.db.head")).expect("a witness");
    let (said, code) = doctor(&full, "--store s.db");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      witness"), "{said}");
    assert!(said.contains("rarely store recover"), "{said}");
}

/// Another start is another event.
fn used_again(place: &Place) {
    Server::start(place, "").stop();
    place.done("token create --store s.db --name second --role decide");
}

#[cfg(unix)]
#[test]
fn what_others_can_read_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    used(&place);
    let let_others_read = |name: &str| {
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o644)).expect("a mode");
    };
    let_others_read("s.db");
    let (said, code) = doctor(&place, "--store s.db --format json");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"outcome\": \"warning\"") && said.contains("s.db has mode 644"), "{said}");
    let_others_read("s.db.signing-key");
    let (said, code) = doctor(&place, "--store s.db");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("bad      signing key  s.db.signing-key: other users may read"), "{said}");
}
