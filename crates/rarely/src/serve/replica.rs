//! The options of a service on several machines.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use rarely_error::Topic;
use rarely_server::{ReplicaOptions, ServedStore};

use crate::failure::Failure;
use crate::postgres::store_address;

const HEADING: &str = "Several machines, on PostgreSQL";

/// A replica of the service.
#[derive(Debug, Args)]
pub(super) struct ReplicaArguments {
    /// Address at which the other replicas reach this one, like http://10.0.0.7:8080 [default: the address it listens on]
    #[arg(long, value_name = "URL", help_heading = HEADING)]
    advertise: Option<String>,
    /// Seconds after which another replica takes over from one that is not heard of, from 1 to 300
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, help_heading = HEADING)]
    lease: f64,
    /// Spread policies over this many chains, each with an owner of its own, beside the service's own chain. Chains are never removed
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=64), help_heading = HEADING)]
    chains: u64,
    /// Authorities that sign the certificates of the replicas, as a PEM file [default: those that browsers trust]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    replica_ca: Option<PathBuf>,
}

impl ReplicaArguments {
    /// Where the store is.
    pub(super) fn store(&self, store: &Path, key_named: bool) -> Result<ServedStore, Failure> {
        let Some(database) = store_address(store)? else {
            if self.advertise.is_some() || self.replica_ca.is_some() || self.chains > 0 {
                let failure =
                    Failure::new("--advertise, --replica-ca and --chains are about a service on several machines");
                let failure =
                    failure.help("give a database that they share with --store postgres://USER@HOST/DATABASE");
                return Err(failure.see(Topic::Ownership));
            }
            return Ok(ServedStore::File(store.to_owned()));
        };
        if !key_named {
            let failure = Failure::new(format!("{database}: there is no file of the key that signs checkpoints"));
            let help =
                "name it with --signing-key FILE; the first replica creates it, and each of the others needs a copy";
            return Err(failure.help(help).see(Topic::Checkpoints));
        }
        if !(1.0..=300.0).contains(&self.lease) {
            return Err(Failure::new(format!("--lease is {}", self.lease)).help("give seconds from 1 to 300"));
        }
        Ok(ServedStore::Database(Box::new(ReplicaOptions {
            database,
            advertise: self.advertise.clone(),
            term: Duration::from_secs_f64(self.lease),
            authorities: self.replica_ca.clone(),
            chains: self.chains,
        })))
    }
}
