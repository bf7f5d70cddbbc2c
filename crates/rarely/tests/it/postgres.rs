//! `rarely review --data postgres://…`: a server of the test's own computes the sums, and the review is that of the file, byte for byte.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::{Place, data, talk};
use crate::sums::{POLICY, log};

const PASSWORD: &str = "not-a-secret";

/// A server on a loopback port of its own, which ends with the test.
struct Server {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

/// A certificate and its key.
struct Certificate {
    certificate: String,
    key: String,
}

impl Server {
    fn start() -> Self {
        Self::started(None)
    }

    /// With a certificate, connections without encryption are refused.
    fn started(certificate: Option<&Certificate>) -> Self {
        let programs = programs();
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("its permissions");
        fs::write(folder.path().join("password"), PASSWORD).expect("a file");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
        let server = Self { folder, programs, port };
        let data = server.path("data");
        server.run(
            "initdb",
            &[
                "-D",
                &data,
                "-U",
                "reader",
                "--auth=scram-sha-256",
                "--pwfile",
                &server.path("password"),
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
            ],
        );
        let mut options = format!("-p {port} -h 127.0.0.1 -k '' -c fsync=off -c extra_float_digits=0");
        if let Some(certificate) = certificate {
            server.write_private("data/server.crt", &certificate.certificate);
            server.write_private("data/server.key", &certificate.key);
            server.write_private("data/pg_hba.conf", "hostssl all all 127.0.0.1/32 scram-sha-256\n");
            options += " -c ssl=on";
        }
        server.run("pg_ctl", &["-D", &data, "-w", "-l", &server.path("log"), "-o", &options, "start"]);
        server
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Writes a file that only the server's user can read.
    fn write_private(&self, name: &str, text: &str) {
        let from = self.path("handed-over");
        fs::write(&from, text).expect("a file");
        let copied = self.command("install").args(["-m", "600", &from, &self.path(name)]).status();
        assert!(copied.expect("it starts").success(), "{name}");
    }

    /// Runs one of the server's programs.
    fn program(&self, name: &str) -> Command {
        self.command(self.programs.join(name))
    }

    /// Runs a program as a user that is not root: the server refuses to be run by root.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        let mut command = if root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path()).env("PGPASSWORD", PASSWORD);
        command
    }

    fn run(&self, name: &str, arguments: &[&str]) {
        // Not its output: the server would keep the pipe open.
        let status =
            self.program(name).args(arguments).stdout(std::process::Stdio::null()).status().expect("it starts");
        assert!(status.success(), "{name} {arguments:?}: {status}");
    }

    fn query(&self, statement: &str) {
        let port = self.port.to_string();
        let arguments = [
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "reader",
            "-d",
            "postgres",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
        ];
        self.run("psql", &arguments);
    }

    /// A table with a log.
    fn load(&self, table: &str, columns: &str, log: &str) {
        let file = self.folder.path().join("log.csv");
        fs::write(&file, log).expect("a file");
        self.query(&format!("CREATE TABLE {table} ({columns})"));
        self.query(&format!("\\copy {table} FROM '{}' CSV HEADER", file.display()));
    }

    fn address(&self) -> String {
        format!("postgres://reader@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.path("data");
        let _ = self.program("pg_ctl").args(["-D", &data, "-m", "immediate", "stop"]).output();
    }
}

/// Where Debian puts the server's programs, the newest version.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path()).filter(|path| path.join("bin/initdb").exists()).max();
    let newest =
        newest.expect("PostgreSQL is not installed: run scripts/test, which installs it (Debian's package postgresql)");
    newest.join("bin")
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
    let (server, place) = (Server::start(), Place::new());
    place.write("policy.toml", POLICY);
    place.write("log.csv", log(4000));
    server.load("decisions", COLUMNS, &place.text("log.csv"));
    let file = reviewed(&place, "--data log.csv");
    let table = reviewed(&place, &format!("--data {} --table decisions", server.address()));
    assert_eq!(data(&file), data(&table), "{}", talk(&table));
    assert!(data(&file).contains("\"verdict\""), "{}", talk(&file));
    assert!(talk(&table).contains("4000 rows were read"), "{}", talk(&table));
    bad_rows_are_counted(&server, &place);
    later_copies_replace_earlier_ones(&server, &place, &data(&file));
    what_goes_wrong_is_said(&server, &place);
}

/// Rows that our reader rejects are rejected there, too; rows without an outcome wait.
fn bad_rows_are_counted(server: &Server, place: &Place) {
    let mut lines: Vec<String> = log(3000).lines().map(ToOwned::to_owned).collect();
    for (at, (column, value)) in [(2, "300"), (3, "east"), (4, "none"), (5, "7"), (2, "")].into_iter().enumerate() {
        let mut fields: Vec<&str> = lines[10 + at].split(',').collect();
        fields[column] = value;
        lines[10 + at] = fields.join(",");
    }
    place.write("bad.csv", lines.join("\n") + "\n");
    server.load("bad", COLUMNS, &(lines.join("\n") + "\n"));
    let address = server.address();
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
fn later_copies_replace_earlier_ones(server: &Server, place: &Place, expected: &str) {
    server.query("CREATE TABLE copies AS SELECT *, 2 AS version FROM decisions");
    server.query("INSERT INTO copies SELECT decision, decided_at, systolic, clinic, treatment, 0.5, 1 FROM decisions WHERE decision % 3 = 0");
    let address = server.address();
    let latest = reviewed(place, &format!("--data {address} --table copies --latest-by version"));
    assert_eq!(data(&latest), expected, "{}", talk(&latest));
    let all = reviewed(place, &format!("--data {address} --table copies"));
    assert!(talk(&all).contains("does not tell rows apart"), "{}", talk(&all));
}

fn what_goes_wrong_is_said(server: &Server, place: &Place) {
    let address = server.address();
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
    assert!(Path::new(&server.path("data")).exists());
}

#[test]
fn the_servers_certificate_is_checked() {
    let ((certificate, authority), (_, stranger)) = (signed("127.0.0.1"), signed("127.0.0.1"));
    let (server, place) = (Server::started(Some(&certificate)), Place::new());
    place.write("policy.toml", POLICY);
    place.write("log.csv", log(500));
    place.write("authority.pem", authority);
    place.write("stranger.pem", stranger);
    server.load("decisions", COLUMNS, &place.text("log.csv"));
    let file = reviewed(&place, "--data log.csv");
    let asked = |host: &str, mode: &str| {
        let address = server.address().replace("127.0.0.1", host);
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
