//! A PostgreSQL server of a test's own, on a loopback port. It ends with the test.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What is on a small disk of its own.
#[allow(dead_code, reason = "each test uses some of it")]
#[derive(Clone, Copy)]
pub(crate) enum SmallDisk {
    /// Tables.
    Tables,
    /// The write-ahead log.
    Log,
}

impl SmallDisk {
    fn name(self) -> &'static str {
        match self {
            Self::Tables => "small-tables",
            Self::Log => "small-log",
        }
    }
}

/// A server that anybody on this machine may use as `tester`, without a password.
pub(crate) struct PostgresServer {
    folder: TempDir,
    port: u16,
    options: String,
}

#[allow(dead_code, reason = "each test uses some of it")]
impl PostgresServer {
    /// With the server's own defaults: commits are synced to disk.
    pub(crate) fn start() -> Self {
        Self::start_with("")
    }

    /// With more options, like `-c fsync=off`.
    pub(crate) fn start_with(more: &str) -> Self {
        let server = Self::prepare(more);
        let data = server.path("data");
        server.run("initdb", &["-D", &data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8"]);
        server.launch();
        server
    }

    /// A standby of this server, which replicates synchronously from now on.
    pub(crate) fn start_standby(&self) -> Self {
        let standby = Self::prepare("-c hot_standby=on");
        let (data, port) = (standby.path("data"), self.port.to_string());
        standby.run(
            "pg_basebackup",
            &["-D", &data, "-h", "127.0.0.1", "-p", &port, "-U", "tester", "-R", "-X", "stream", "-c", "fast"],
        );
        let line = format!("primary_conninfo = 'host=127.0.0.1 port={port} user=tester application_name=standby'\n");
        let config = standby.path("data/postgresql.auto.conf");
        let append = format!("echo \"{line}\" >> {config}");
        assert!(standby.command("sh").args(["-c", &append]).status().expect("it starts").success());
        standby.launch();
        self.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        self.query("ALTER SYSTEM SET synchronous_commit = 'remote_apply'");
        self.query("SELECT pg_reload_conf()");
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while self.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1" {
            assert!(std::time::Instant::now() < until, "the standby replicates synchronously");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        standby
    }

    fn prepare(more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("its permissions");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").port();
        let options = format!("-p {port} -h 127.0.0.1 -k '' -c max_connections=60 -c shared_buffers=32MB {more}");
        Self { folder, port, options }
    }

    pub(crate) fn launch(&self) {
        let (data, log) = (self.path("data"), self.path("log"));
        self.run("pg_ctl", &["-D", &data, "-w", "-l", &log, "-o", &self.options, "start"]);
    }

    /// Ends it like a power failure: nothing is written any more.
    pub(crate) fn crash(&self) {
        let data = self.path("data");
        self.run("pg_ctl", &["-D", &data, "-w", "-m", "immediate", "stop"]);
    }

    /// Puts tables that are created from now on onto a small disk.
    pub(crate) fn put_tables_on_a_small_disk(&self, megabytes: usize) {
        self.mount(SmallDisk::Tables, megabytes);
        let tables = self.path("small-tables/tables");
        assert!(self.command("mkdir").arg(&tables).status().expect("it starts").success());
        self.query(&format!("CREATE TABLESPACE small LOCATION '{tables}'"));
        self.query("ALTER DATABASE postgres SET default_tablespace = small");
    }

    /// Puts the write-ahead log onto a small disk.
    pub(crate) fn put_log_on_a_small_disk(&self, megabytes: usize) {
        let data = self.path("data");
        self.run("pg_ctl", &["-D", &data, "-w", "stop"]);
        self.mount(SmallDisk::Log, megabytes);
        let (log, on_disk) = (self.path("data/pg_wal"), self.path("small-log/pg_wal"));
        for (program, arguments) in [("mv", &[&log, &on_disk][..]), ("ln", &[&"-s".to_owned(), &on_disk, &log])] {
            assert!(self.command(program).args(arguments).status().expect("it starts").success(), "{program}");
        }
        self.launch();
    }

    /// A small disk: memory that the system gives out as one.
    fn mount(&self, disk: SmallDisk, megabytes: usize) {
        let place = self.path(disk.name());
        fs::create_dir(&place).expect("a folder");
        let options = format!("size={megabytes}m,mode=0777");
        as_administrator(&["mount", "-t", "tmpfs", "-o", &options, "tmpfs", &place]);
    }

    /// Leaves no space on a disk.
    pub(crate) fn fill(&self, disk: SmallDisk) {
        let (file, bytes) = (self.path(&format!("{}/filling", disk.name())), vec![0; 1 << 16]);
        let mut filling = fs::File::create(file).expect("a file");
        while std::io::Write::write(&mut filling, &bytes).is_ok_and(|written| written > 0) {}
    }

    /// Gives the space back.
    pub(crate) fn free(&self, disk: SmallDisk) {
        fs::remove_file(self.path(&format!("{}/filling", disk.name()))).expect("it was full");
    }

    /// Uses up the space that the write-ahead log has already. The server ends when it needs more and there is none.
    pub(crate) fn use_up_the_log(&self) {
        let statement = "SELECT pg_logical_emit_message(false, '', 'x'), pg_switch_wal() FROM generate_series(1, 1000)";
        while self.ask("postgres", statement).status.success() {}
    }

    /// Starts it again if it has ended, and waits until it answers.
    pub(crate) fn revive(&self) {
        let data = self.path("data");
        while !self.ask("postgres", "SELECT 1").status.success() {
            if !self.program("pg_ctl").args(["-D", &data, "status"]).output().expect("it starts").status.success() {
                self.launch();
            }
        }
    }

    /// How often the server could not write because a disk was full.
    pub(crate) fn disk_full_errors(&self) -> usize {
        let log = self.command("cat").arg(self.path("log")).output().expect("it starts");
        String::from_utf8_lossy(&log.stdout).matches("No space left on device").count()
    }

    /// Makes a standby the primary, which waits for nobody.
    pub(crate) fn promote(&self) {
        let data = self.path("data");
        self.run("pg_ctl", &["-D", &data, "-w", "promote"]);
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn address(&self) -> String {
        self.database("postgres")
    }

    /// The address of a database.
    pub(crate) fn database(&self, name: &str) -> String {
        format!("postgres://tester@{}/{name}", self.host())
    }

    /// The first column of the result, a line per row.
    pub(crate) fn query(&self, statement: &str) -> String {
        self.query_in("postgres", statement)
    }

    pub(crate) fn query_in(&self, database: &str, statement: &str) -> String {
        let output = self.ask(database, statement);
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    fn ask(&self, database: &str, statement: &str) -> Output {
        let port = self.port.to_string();
        let arguments = ["-h", "127.0.0.1", "-p", &port, "-U", "tester", "-d", database, "-qtA"];
        let output = self.program("psql").args(arguments).args(["-v", "ON_ERROR_STOP=1", "-c", statement]).output();
        output.expect("it starts")
    }

    /// A file of the server's folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Writes a file that only the server's user can read.
    pub(crate) fn write_private(&self, name: &str, text: &str) {
        let from = self.path("handed-over");
        fs::write(&from, text).expect("a file");
        let copied = self.command("install").args(["-m", "600", &from, &self.path(name)]).status();
        assert!(copied.expect("it starts").success(), "{name}");
    }

    fn program(&self, name: &str) -> Command {
        self.command(programs().join(name))
    }

    /// A program run by a user who is not root: the server refuses root.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path());
        command
    }

    fn run(&self, name: &str, arguments: &[&str]) {
        // Not its output: the server would keep the pipe open.
        let status = self.program(name).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.expect("it starts");
        assert!(status.success(), "{name} {arguments:?}: {status}");
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let data = self.path("data");
        let _ = self.program("pg_ctl").args(["-D", &data, "-m", "immediate", "stop"]).output();
        for disk in [SmallDisk::Tables, SmallDisk::Log].map(|disk| self.path(disk.name())) {
            if fs::exists(&disk).unwrap_or(false) {
                as_administrator(&["umount", &disk]);
            }
        }
    }
}

/// Runs a program as root.
fn as_administrator(command: &[&str]) {
    let before: &[&str] = if is_root() { &[] } else { &["sudo", "-n"] };
    let words: Vec<&str> = before.iter().chain(command).copied().collect();
    let done = Command::new(words[0]).args(&words[1..]).status().is_ok_and(|status| status.success());
    assert!(done, "{words:?}: a full disk is made by mounting one, which needs root or sudo without a password");
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

/// Where Debian puts the server's programs, the newest version.
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions.map(|entry| entry.path()).filter(|path| path.join("bin/initdb").exists()).max();
    let newest =
        newest.expect("PostgreSQL is not installed: run scripts/test, which installs it (Debian's package postgresql)");
    newest.join("bin")
}
