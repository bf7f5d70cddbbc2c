//! What can happen to a cluster and to its database, and how it ends.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cluster::{LEASE, Replica, owner, wait_for};
use crate::cluster_load::Load;
use crate::postgres_server::{PostgresServer, SmallDisk};
use crate::slow_proxy::SlowProxy;

/// A kind of harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    OwnerKilled,
    OwnerStopped,
    ConnectionsCut,
    FollowerKilled,
    DatabaseCrashed,
    OwnerTerminated,
    DatabaseFull,
    LogFull,
    DatabaseSlow,
    DatabaseStalled,
}

/// Every kind, in the order in which they happen.
pub(crate) const FAULTS: [Fault; 10] = [
    Fault::OwnerKilled,
    Fault::OwnerStopped,
    Fault::ConnectionsCut,
    Fault::DatabaseFull,
    Fault::LogFull,
    Fault::DatabaseSlow,
    Fault::DatabaseStalled,
    Fault::FollowerKilled,
    Fault::DatabaseCrashed,
    Fault::OwnerTerminated,
];

/// What the replicas run on.
pub(crate) struct Ground {
    pub(crate) server: PostgresServer,
    pub(crate) proxy: SlowProxy,
}

impl Ground {
    /// A server whose tables and whose log are each on a small disk, large enough for the load of so many faults, behind a proxy.
    pub(crate) fn start(faults: usize) -> Self {
        let server = PostgresServer::start_with("-c min_wal_size=32MB -c max_wal_size=64MB");
        server.put_log_on_a_small_disk(192);
        server.put_tables_on_a_small_disk(64 + 4 * faults);
        let proxy = SlowProxy::before(&server.host());
        Self { server, proxy }
    }

    /// The address that the replicas use.
    pub(crate) fn address(&self) -> String {
        format!("postgres://tester@{}/postgres", self.proxy.host)
    }
}

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OwnerKilled => "`kill -9` of the owner",
            Self::OwnerStopped => "`SIGSTOP` of the owner past its lease",
            Self::ConnectionsCut => "all connections to the database cut",
            Self::FollowerKilled => "`kill -9` of a follower",
            Self::DatabaseCrashed => "crash and restart of the database",
            Self::OwnerTerminated => "SIGTERM of the owner",
            Self::DatabaseFull => "the disk of the database full for 3 seconds, from when it has space",
            Self::LogFull => {
                "the disk of its write-ahead log full for 3 seconds, which ends it, from when it has space"
            }
            Self::DatabaseSlow => "every answer of the database late by 100 ms, while it is",
            Self::DatabaseStalled => "no answer of the database for 4 seconds, from when it answers",
        }
    }

    /// Does the harm. Returns the replica that does not answer any more, and the moment from which an answer is awaited.
    pub(crate) fn happens(
        self,
        turn: usize,
        ground: &Ground,
        replicas: &[Replica],
        owner: usize,
    ) -> (Option<usize>, Instant) {
        let server = &ground.server;
        let mut gone = None;
        match self {
            Self::OwnerKilled => {
                replicas[owner].signal("KILL");
                gone = Some(owner);
            }
            Self::OwnerStopped => {
                replicas[owner].signal("STOP");
                gone = Some(owner);
            }
            Self::OwnerTerminated => {
                replicas[owner].signal("TERM");
                gone = Some(owner);
            }
            Self::FollowerKilled => {
                let other = (owner + 1 + turn % 2) % replicas.len();
                replicas[other].signal("KILL");
                gone = Some(other);
            }
            Self::ConnectionsCut => {
                let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                           WHERE datname = current_database() AND pid <> pg_backend_pid()";
                server.query(cut);
            }
            Self::DatabaseCrashed => server.crash(),
            Self::DatabaseFull => {
                let before = server.disk_full_errors();
                server.fill(SmallDisk::Tables);
                wait_for("the database says that its disk is full", || {
                    (server.disk_full_errors() > before).then_some(())
                });
                sleep(Duration::from_secs(3));
                server.free(SmallDisk::Tables);
            }
            Self::LogFull => {
                server.fill(SmallDisk::Log);
                server.use_up_the_log();
                sleep(Duration::from_secs(3));
                server.free(SmallDisk::Log);
            }
            Self::DatabaseSlow => ground.proxy.delay(Duration::from_millis(50)),
            Self::DatabaseStalled => {
                ground.proxy.stall(true);
                sleep(Duration::from_secs(2 * LEASE));
                ground.proxy.stall(false);
            }
        }
        let moment = Instant::now();
        match self {
            Self::DatabaseCrashed => server.launch(),
            Self::LogFull => server.revive(),
            _ => {}
        }
        (gone, moment)
    }

    /// Puts everything back.
    pub(crate) fn ends(
        self,
        ground: &Ground,
        gone: Option<usize>,
        replicas: &mut [Replica],
        former: &str,
        start: impl Fn() -> Replica,
        load: &Load,
    ) {
        match (self, gone) {
            (Self::OwnerStopped, Some(gone)) => {
                assert_ne!(owner(&ground.server), former, "another replica has taken over");
                replicas[gone].signal("CONT");
            }
            (_, Some(gone)) => {
                replicas[gone].wait();
                replicas[gone] = start();
                load.urls.write().expect("not poisoned")[gone].clone_from(&replicas[gone].url);
            }
            (Self::DatabaseSlow, None) => ground.proxy.delay(Duration::ZERO),
            (_, None) => {}
        }
    }
}

/// Least, median and most, for the table in docs/cluster.md.
pub(crate) fn print_table(times: &[(Fault, f64)]) {
    println!("| fault | times | least | median | most |\n|---|---|---|---|---|");
    for fault in FAULTS {
        let mut of_kind: Vec<f64> = times.iter().filter(|(kind, _)| *kind == fault).map(|(_, time)| *time).collect();
        of_kind.sort_by(f64::total_cmp);
        if let (Some(least), Some(most)) = (of_kind.first(), of_kind.last()) {
            let (count, median) = (of_kind.len(), of_kind[of_kind.len() / 2]);
            println!("| {} | {count} | {least:.1} | {median:.1} | {most:.1} |", fault.name());
        }
    }
}
