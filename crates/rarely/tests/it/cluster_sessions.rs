//! Sessions of the dashboard are those of all replicas: they outlive the owner, and end everywhere.

use crate::cluster::{Replica, admin, agent, owner, register, sign_in, wait_for};
use crate::postgres_server::PostgresServer;
use crate::program::Place;

/// The status of the first page, where it leads, and its text.
fn page(agent: &ureq::Agent, replica: &Replica, cookie: &str) -> (u16, String, String) {
    let mut page = agent.get(format!("{}/", replica.url)).header("cookie", cookie).call().expect("an answer");
    let location = page.headers().get("location").map_or("", |value| value.to_str().expect("text")).to_owned();
    (page.status().as_u16(), location, page.body_mut().read_to_string().expect("text"))
}

/// Kills the owner; the others are left.
fn without_owner(replicas: Vec<Replica>, server: &PostgresServer) -> Vec<Replica> {
    let owning = owner(server);
    let (gone, left): (Vec<_>, Vec<_>) = replicas.into_iter().partition(|replica| replica.url == owning);
    assert_eq!(gone.len(), 1, "{owning}");
    gone[0].signal("KILL");
    left
}

#[test]
fn a_session_outlives_the_owner_and_ends_at_every_replica() {
    let (server, place) = (PostgresServer::start(), Place::new());
    let address = server.address();
    let replicas: Vec<Replica> = (0..3).map(|_| Replica::start(&place, &address, "")).collect();
    let token = admin(&place);
    register(&replicas[0].url, &token);
    let agent = agent();
    let cookie = sign_in(&agent, &replicas[1].url, &token);
    assert_eq!(page(&agent, &replicas[2], &cookie).0, 200);
    let left = without_owner(replicas, &server);
    // While nobody owns the store the page fails. It never says that the session has ended.
    for replica in &left {
        let (_, _, text) = wait_for("the new owner", || {
            let (status, location, text) = page(&agent, replica, &cookie);
            assert!(status == 200 || status == 503, "{status} {location} {text}");
            (status == 200).then_some((status, location, text))
        });
        assert!(text.contains("hypertension-treatment"), "{text}");
    }
    let (_, _, text) = page(&agent, &left[0], &cookie);
    let csrf = text.split_once("name=\"csrf\" value=\"").expect("a form").1.split('"').next().expect("a value");
    let form = agent.post(format!("{}/sign-out", left[1].url)).header("cookie", &cookie);
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(form.send(format!("csrf={csrf}")).expect("an answer").status().as_u16(), 303);
    let signed_out = |replica: &Replica| {
        let (status, location, _) = page(&agent, replica, &cookie);
        assert_eq!((status, location.as_str()), (303, "/sign-in"));
    };
    left.iter().for_each(signed_out);
    let other = sign_in(&agent, &left[0].url, &token);
    let last = without_owner(left, &server);
    wait_for("the last one owns the store", || (page(&agent, &last[0], &other).0 == 200).then_some(()));
    last.iter().for_each(signed_out);
    assert_eq!(server.query("SELECT count(*) FROM rarely.sessions"), "1");
}
