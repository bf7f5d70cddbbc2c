//! `rarely review --data postgres://…`: a server of the test's own computes the sums, and the review is that of the file, byte for byte.

use std::fs;
use std::process::Output;

use crate::postgres_server::PostgresServer;
use crate::program::{Place, data, talk};
use crate::sums::{POLICY, log};

const PASSWORD: &str = "not-a-secret";

/// A certificate and its key.
struct Certificate {
    certificate: String,
    key: String,
}

/// A server where the user `reader` needs the password. With a certificate, the connections of this user must be encrypted.
fn started(certificate: Option<&Certificate>) -> PostgresServer {
    let server = PostgresServer::start_with("-c fsync=off -c extra_float_digits=0");
    server.query(&format!("CREATE ROLE reader SUPERUSER LOGIN PASSWORD '{PASSWORD}'"));
    if let Some(certificate) = certificate {
        server.write_private("data/server.crt", &certificate.certificate);
        server.write_private("data/server.key", &certificate.key);
        server.query("ALTER SYSTEM SET ssl = on");
    }
    let kind = if certificate.is_some() { "hostssl" } else { "host" };
    let who = format!("host all tester 127.0.0.1/32 trust\n{kind} all reader 127.0.0.1/32 scram-sha-256\n");
    server.write_private("data/pg_hba.conf", &who);
    server.crash();
    server.launch();
    server
}

/// A table with a log.
fn load(server: &PostgresServer, table: &str, columns: &str, log: &str) {
    let file = server.path("log.csv");
    fs::write(&file, log).expect("a file");
    server.query(&format!("CREATE TABLE {table} ({columns})"));
    server.query(&format!("\\copy {table} FROM '{file}' CSV HEADER"));
}

fn address(server: &PostgresServer) -> String {
    format!("postgres://reader@{}/postgres", server.host())
}

/// A certificate for a server's name by an authority of its own, and the authority's certificate.
fn signed(name: &str) -> (Certificate, String) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().expect("a key");
    let root = authority.self_signed(&authority_key).expect("a certificate").pem();
    let (key, issuer) = (KeyPair::generate().expect("a key"), Issuer::new(authority, authority_key));
    let certificate = CertificateParams::new(vec![name.to_owned()]).expect("a name").signed_by(&key, &issuer);
    (Certificate { certificate: certificate.expect("a certificate").pem(), key: key.serialize_pem() }, root)
}

fn reviewed(place: &Place, arguments: &str) -> Output {
    place
        .rarely(&format!("review --policy policy.toml --format json {arguments}"))
        .env("PGPASSWORD", PASSWORD)
        .output()
        .expect("it starts")
}

const COLUMNS: &str = "decision bigint, decided_at timestamp, systolic double precision, clinic text, treatment text, wellbeing double precision";

#[test]
fn a_log_in_postgresql_is_reviewed_like_the_file() {
    let (server, place) = (started(None), Place::new());
    place.write("policy.toml", POLICY);
    place.write("log.csv", log(4000));
    load(&server, "decisions", COLUMNS, &place.text("log.csv"));
    let file = reviewed(&place, "--data log.csv");
    let table = reviewed(&place, &format!("--data {} --table decisions", address(&server)));
    assert_eq!(data(&file), data(&table), "{}", talk(&table));
    assert!(data(&file).contains("\"verdict\""), "{}", talk(&file));
    assert!(talk(&table).contains("4000 rows were read"), "{}", talk(&table));
    bad_rows_are_counted(&server, &place);
    later_copies_replace_earlier_ones(&server, &place, &data(&file));
    what_goes_wrong_is_said(&server, &place);
}

/// Rows that our reader rejects are rejected there, too; rows without an outcome wait.
fn bad_rows_are_counted(server: &PostgresServer, place: &Place) {
    let mut lines: Vec<String> = log(3000).lines().map(ToOwned::to_owned).collect();
    for (at, (column, value)) in [(2, "300"), (3, "east"), (4, "none"), (5, "7"), (2, "")].into_iter().enumerate() {
        let mut fields: Vec<&str> = lines[10 + at].split(',').collect();
        fields[column] = value;
        lines[10 + at] = fields.join(",");
    }
    place.write("bad.csv", lines.join("\n") + "\n");
    load(server, "bad", COLUMNS, &(lines.join("\n") + "\n"));
    let address = address(server);
    let file = reviewed(place, "--data bad.csv --reject-limit 5");
    let table = reviewed(place, &format!("--data {address} --table bad --reject-limit 5"));
    assert_eq!(data(&file), data(&table), "{}", talk(&table));
    let refused = reviewed(place, &format!("--data {address} --table bad"));
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("5 rows of the log cannot be used"), "{}", talk(&refused));
    server.query("INSERT INTO bad SELECT 9000, '2026-08-01', 120, 'north', 'treat', NULL");
    let waiting = reviewed(place, &format!("--data {address} --table bad --reject-limit 5"));
    assert_eq!(data(&file), data(&waiting), "{}", talk(&waiting));
    assert!(talk(&waiting).contains("1 row without an outcome yet"), "{}", talk(&waiting));
}

/// Of several rows with one key the latest counts; without that the review is refused.
fn later_copies_replace_earlier_ones(server: &PostgresServer, place: &Place, expected: &str) {
    server.query("CREATE TABLE copies AS SELECT *, 2 AS version FROM decisions");
    server.query("INSERT INTO copies SELECT decision, decided_at, systolic, clinic, treatment, 0.5, 1 FROM decisions WHERE decision % 3 = 0");
    let address = address(server);
    let latest = reviewed(place, &format!("--data {address} --table copies --latest-by version"));
    assert_eq!(data(&latest), expected, "{}", talk(&latest));
    let all = reviewed(place, &format!("--data {address} --table copies"));
    assert!(talk(&all).contains("does not tell rows apart"), "{}", talk(&all));
}

fn what_goes_wrong_is_said(server: &PostgresServer, place: &Place) {
    let address = address(server);
    let missing = reviewed(place, &format!("--data {address} --table nowhere"));
    assert!(talk(&missing).contains("relation \"nowhere\" does not exist"), "{}", talk(&missing));
    let table = reviewed(place, &format!("--data {address}"));
    assert!(talk(&table).contains("no table is named"), "{}", talk(&table));
    let wrong = address.replace("reader@", "reader:wrong-password@");
    let refused = reviewed(place, &format!("--data {wrong} --table decisions"));
    assert!(talk(&refused).contains("password authentication failed"), "{}", talk(&refused));
    assert!(!talk(&refused).contains("wrong-password"), "{}", talk(&refused));
    // The report names the command, not the password.
    let with_password = address.replace("reader@", &format!("reader:{PASSWORD}@"));
    let output = place
        .rarely(&format!("review --policy policy.toml --data {with_password} --table decisions --out report"))
        .output()
        .expect("it starts");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", talk(&output));
    for (name, bytes) in place.files("report") {
        assert!(!String::from_utf8_lossy(&bytes).contains(PASSWORD), "{name}");
    }
    // A statement cannot change anything.
    let mut command = place.rarely(&format!("review --policy policy.toml --data {address} --table decisions --where"));
    let output =
        command.arg("true); DELETE FROM decisions; --").env("PGPASSWORD", PASSWORD).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    let unchanged = reviewed(place, &format!("--data {address} --table decisions"));
    assert!(talk(&unchanged).contains("4000 rows were read"), "{}", talk(&unchanged));
}

#[test]
fn the_servers_certificate_is_checked() {
    let ((certificate, authority), (_, stranger)) = (signed("127.0.0.1"), signed("127.0.0.1"));
    let (server, place) = (started(Some(&certificate)), Place::new());
    place.write("policy.toml", POLICY);
    place.write("log.csv", log(500));
    place.write("authority.pem", authority);
    place.write("stranger.pem", stranger);
    load(&server, "decisions", COLUMNS, &place.text("log.csv"));
    let file = reviewed(&place, "--data log.csv");
    let asked = |host: &str, mode: &str| {
        let address = address(&server).replace("127.0.0.1", host);
        reviewed(&place, &format!("--data {address}?sslmode={mode} --table decisions"))
    };
    for mode in ["verify-full&sslrootcert=authority.pem", "require", "prefer"] {
        let table = asked("127.0.0.1", mode);
        assert_eq!(data(&file), data(&table), "{mode}: {}", talk(&table));
    }
    // Signed by another authority, by none that browsers trust, or for another name.
    for (host, mode) in [
        ("127.0.0.1", "verify-full&sslrootcert=stranger.pem"),
        ("127.0.0.1", "verify-full"),
        ("localhost", "verify-full&sslrootcert=authority.pem"),
    ] {
        let refused = asked(host, mode);
        assert_eq!(refused.status.code(), Some(2), "{mode}: {}", talk(&refused));
        assert!(talk(&refused).contains("certificate"), "{mode}: {}", talk(&refused));
    }
    let open = asked("127.0.0.1", "disable");
    assert!(talk(&open).contains("no encryption"), "{}", talk(&open));
}
