//! A store in a database: its server, its logs, and who owns them.

use std::collections::BTreeMap;

use rarely_store::{Durability, EventLog as _, PostgresAddress, PostgresLog, ServerStatus, StoreError, now_ms};

use super::{Checkup, clock};

/// Connections to a database that a replica with a few chains uses.
const ENOUGH_CONNECTIONS: u64 = 20;
/// Clocks that are set by NTP are nearer to each other.
const MOST_APART_MS: u64 = 1_000;

pub(super) fn checks(address: &PostgresAddress) -> Vec<Checkup> {
    let status = match ServerStatus::of(address.clone()) {
        Ok(status) => status,
        Err(error) => return vec![Checkup::failed("database", error.into())],
    };
    let mut checks = vec![server(&status), durability(&status, address), connections(&status), clocks(&status)];
    match PostgresLog::open_chains_read_only(address.clone()) {
        Ok(logs) => checks.extend(chains(address, &logs)),
        Err(StoreError::Missing { path }) => checks.push(Checkup::warning(
            "store",
            format!("{}: no store is in it yet", path.display()),
            "`rarely serve` creates it; name another with --store",
        )),
        Err(error) => checks.push(Checkup::failed("store", error.into())),
    }
    checks
}

fn server(status: &ServerStatus) -> Checkup {
    let version = &status.version;
    if status.is_standby {
        let help = "a service needs the primary, too: name both hosts in --store";
        return Checkup::warning("database", format!("PostgreSQL {version}, a standby"), help);
    }
    Checkup::good("database", format!("PostgreSQL {version}"))
}

fn durability(status: &ServerStatus, address: &PostgresAddress) -> Checkup {
    const NAME: &str = "durability";
    if let Err(error) = status.settings.check(address, Durability::Full) {
        return Checkup::failed(NAME, error.into());
    }
    let standbys = match status.settings.synchronous_standby_names.trim() {
        "" => "no standby; an acknowledged event is on the disk of one machine".to_owned(),
        names => format!("synchronous standbys {names}"),
    };
    Checkup::good(NAME, format!("synchronous_commit = {}; {standbys}", status.settings.synchronous_commit))
}

fn connections(status: &ServerStatus) -> Checkup {
    const NAME: &str = "connections";
    let found = format!("{} of {} are in use", status.connections, status.most_connections);
    if status.connections + ENOUGH_CONNECTIONS > status.most_connections {
        let help = "raise max_connections of PostgreSQL: a replica needs one for each chain that it owns, and some for reading";
        return Checkup::warning(NAME, found, help);
    }
    Checkup::good(NAME, found)
}

/// The clock of the database beside that of this machine: times of events are this machine's, limits of leases the database's.
fn clocks(status: &ServerStatus) -> Checkup {
    const NAME: &str = "clocks";
    let apart_ms = status.time_ms.abs_diff(now_ms());
    let found = format!("the database's and this machine's are {:.1} seconds apart", apart_ms as f64 / 1e3);
    if apart_ms > MOST_APART_MS {
        return Checkup::warning(NAME, found, "set both by NTP: times of events are this machine's");
    }
    Checkup::good(NAME, found)
}

/// The logs of a store in a database, and who owns them.
fn chains(address: &PostgresAddress, logs: &[PostgresLog]) -> Vec<Checkup> {
    let read = |log: &PostgresLog| {
        let number = log.head()?.map_or(0, |(number, _)| number);
        Ok::<_, StoreError>((number, log.last_time_ms()?, log.lease()?))
    };
    let read: Result<Vec<_>, StoreError> = logs.iter().map(read).collect();
    let states = match read {
        Ok(states) => states,
        Err(error) => return vec![Checkup::failed("store", error.into())],
    };
    let events: u64 = states.iter().map(|(number, ..)| number).sum();
    let divided = if logs.len() > 1 { format!(" in {} chains", logs.len()) } else { String::new() };
    let last_ms = states.iter().map(|(_, last_ms, _)| *last_ms).max().unwrap_or(0);
    let mut owners = BTreeMap::<&str, usize>::new();
    let mut without = 0;
    for (.., lease) in &states {
        if lease.expired {
            without += 1;
        } else {
            *owners.entry(if lease.address.is_empty() { "a command" } else { &lease.address }).or_default() += 1;
        }
    }
    let owners: Vec<String> = owners
        .into_iter()
        .map(|(owner, count)| if logs.len() > 1 { format!("{owner} ({count})") } else { owner.to_owned() })
        .collect();
    let owned = match without {
        0 => Checkup::good("owners", owners.join(", ")),
        _ if owners.is_empty() => Checkup::warning("owners", "no replica owns the store", "start `rarely serve`"),
        _ => Checkup::warning(
            "owners",
            format!("{}; {without} of {} chains have none", owners.join(", "), logs.len()),
            "wait for the lease time; if it stays so, look at stderr of the replicas",
        ),
    };
    vec![Checkup::good("store", format!("{address}: {events} events{divided}")), clock(last_ms), owned]
}
