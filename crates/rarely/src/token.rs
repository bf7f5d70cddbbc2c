//! `rarely token`: access tokens, in a store that no server uses or through a running server.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rarely_live::engine::{CheckpointOptions, StartError};
use rarely_live::{Engine, Role};
use rarely_output::{TextTable, utc};
use rarely_store::StoreError;
use serde_json::{Value as Json, json};

use crate::failure::{Failure, parse};
use crate::offline::{OfflineLog, OfflineStore, signing_if_possible};
use crate::output::{OutputFormat, print, print_json, say, width};
use crate::running_server::RunningServer;
use crate::serve::new_token;

/// What to do with tokens.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a token and print it, alone, on stdout; it is shown only this once
    Create(Create),
    /// List all tokens ever created, without their secrets
    List {
        #[command(flatten)]
        place: TokenPlace,
        /// What stdout gets
        #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
        format: OutputFormat,
    },
    /// Revoke a token
    Revoke {
        #[command(flatten)]
        place: TokenPlace,
        /// The token's id, as shown by `rarely token list`
        #[arg(value_name = "ID")]
        id: String,
    },
}

#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    place: TokenPlace,
    /// Name of its owner, as it stands in signatures
    #[arg(long)]
    name: String,
    /// Id of its owner, the same for all tokens of one person; two signatures need two [default: derived from the name]
    #[arg(long, value_name = "ID")]
    person: Option<String>,
    /// What it allows: decide, observe, read, auditor, review, admin; may be given several times
    #[arg(long, value_name = "ROLE", required = true, num_args = 1.., value_parser = parse::<Role>)]
    role: Vec<Role>,
    /// Only for these policies [default: all]
    #[arg(long, value_name = "NAME", num_args = 1..)]
    policy: Vec<String>,
    /// Days until it expires [default: never]
    #[arg(long, value_name = "DAYS")]
    expires: Option<f64>,
}

/// Where the tokens are, or the people.
#[derive(Debug, Args)]
pub(crate) struct TokenPlace {
    /// A store that no server uses: a file, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE", required_unless_present = "url", conflicts_with = "url")]
    store: Option<PathBuf>,
    /// File of the private key of the store, so that its last snapshot is believed and the log need not be read from its start
    /// [default: beside a store that is a file, named STORE.signing-key]
    #[arg(long, value_name = "FILE", requires = "store")]
    signing_key: Option<PathBuf>,
    /// A running server, like http://127.0.0.1:8080
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// File with an admin token for the server [default: the environment variable RARELY_TOKEN]
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Create(create) => create_token(create),
        Command::List { place, format } => {
            let tokens = list(place)?;
            match format {
                OutputFormat::Json => print_json(&tokens),
                OutputFormat::Table => print(&table(&tokens)),
            }
        }
        Command::Revoke { place, id } => {
            match place.server()? {
                Some(server) => drop(server.request("DELETE", &format!("/v1/tokens/{id}"), None)?),
                None => on_store(place, |engine| Ok(engine.revoke_token("console", id).map(|_| ())?))?,
            }
            say(&format!("the token {id} is revoked"));
            Ok(())
        }
    }
}

fn create_token(create: &Create) -> Result<(), Failure> {
    rarely_server::check_owner(&create.name)?;
    rarely_server::check_person(create.person.as_deref())?;
    for name in &create.policy {
        rarely_server::check_name(name)?;
    }
    if let Some(days) = create.expires.filter(|days| !(*days > 0.0 && *days <= 36_525.0)) {
        return Err(
            Failure::new(format!("--expires is {days}")).help("give a number of days above 0 and at most 36525")
        );
    }
    let policies = (!create.policy.is_empty()).then(|| create.policy.clone());
    let token = if let Some(server) = create.place.server()? {
        let mut body = json!({ "name": create.name, "roles": create.role });
        if let Some(person) = &create.person {
            body["person"] = person.as_str().into();
        }
        if let Some(policies) = policies {
            body["policies"] = policies.into();
        }
        if let Some(days) = create.expires {
            body["expires"] = days.into();
        }
        let made = server.request("POST", "/v1/tokens", Some(&body))?;
        made["token"]
            .as_str()
            .map(ToOwned::to_owned)
            .ok_or_else(|| Failure::new("the server answered without a token"))?
    } else {
        on_store(&create.place, |engine| {
            let expires_ms = create.expires.map(|days| engine.now_ms().saturating_add(milliseconds(days)));
            let (token, mut grant) = new_token(&create.name, create.role.clone(), policies, expires_ms)?;
            grant.person.clone_from(&create.person);
            engine.create_token("console", grant)?;
            Ok(token)
        })?
    };
    print(&format!("{token}\n"))
}

/// Days as milliseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0 and at most a hundred years")]
fn milliseconds(days: f64) -> u64 {
    (days * 86_400_000.0).ceil() as u64
}

fn list(place: &TokenPlace) -> Result<Json, Failure> {
    match place.server()? {
        Some(server) => server.request("GET", "/v1/tokens", None),
        None => on_store(place, |engine| {
            let tokens: Vec<Json> = engine
                .tokens()
                .iter()
                .map(|kept| {
                    let grant = &kept.grant;
                    let mut token = json!({ "id": grant.id, "name": grant.name, "person": grant.person_id(), "roles": grant.roles, "created_ms": kept.created_ms });
                    let beside = [("expires_ms", grant.expires_ms), ("revoked_ms", kept.revoked_ms)];
                    for (name, time) in beside.into_iter().filter_map(|(name, time)| Some((name, time?))) {
                        token[name] = time.into();
                    }
                    if let Some(policies) = &grant.policies {
                        token["policies"] = policies.clone().into();
                    }
                    token
                })
                .collect();
            Ok(json!({ "tokens": tokens }))
        }),
    }
}

fn table(tokens: &Json) -> String {
    let header = ["id", "name", "person", "roles", "policies", "created", "expires", "revoked"];
    let mut table = TextTable::new(&header, &[1, 2, 3, 4, 5, 6, 7]);
    let words =
        |list: &Json| list.as_array().into_iter().flatten().filter_map(Json::as_str).collect::<Vec<_>>().join(", ");
    let time = |time: &Json| time.as_u64().map_or_else(|| "–".to_owned(), |time| utc(time)[..16].to_owned());
    for token in tokens["tokens"].as_array().into_iter().flatten() {
        let policies = if token["policies"].is_null() { "all".to_owned() } else { words(&token["policies"]) };
        let text = |name: &str| token[name].as_str().unwrap_or_default().to_owned();
        table.row([
            text("id"),
            text("name"),
            text("person"),
            words(&token["roles"]),
            policies,
            time(&token["created_ms"]),
            time(&token["expires_ms"]),
            time(&token["revoked_ms"]),
        ]);
    }
    table.text(width())
}

/// Acts on the service's own log of a store that no server uses.
fn on_store<R>(place: &TokenPlace, act: impl FnOnce(&Engine) -> Result<R, Failure>) -> Result<R, Failure> {
    let (store, signing) = reserved(place)?;
    on_log(store.service(), signing, act)
}

/// Reserves a store that no server uses. Says also how it is signed, if that is possible.
pub(crate) fn reserved(place: &TokenPlace) -> Result<(OfflineStore, Option<CheckpointOptions>), Failure> {
    let path = place.store.as_deref();
    let path = path
        .ok_or_else(|| Failure::new("there is neither a store nor a server").help("name one with --store or --url"))?;
    let signing = signing_if_possible(path, place.signing_key.as_deref());
    Ok((OfflineStore::reserve(path).map_err(|error| refused(error.into()))?, signing))
}

/// Acts on one of its logs.
pub(crate) fn on_log<R>(
    log: &OfflineLog,
    signing: Option<CheckpointOptions>,
    act: impl FnOnce(&Engine) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let engine = log.start(signing).map_err(refused)?;
    let done = act(&engine);
    engine.stop();
    done
}

fn refused(error: StartError) -> Failure {
    let in_use = "if it is the server, let it do this: --url http://127.0.0.1:8080, with --token-file or RARELY_TOKEN";
    match error {
        StartError::Store(used @ (StoreError::Locked { .. } | StoreError::Owned { .. })) => {
            Failure::from(used).help(in_use)
        }
        other => other.into(),
    }
}

impl TokenPlace {
    pub(crate) fn server(&self) -> Result<Option<RunningServer>, Failure> {
        self.url.as_deref().map(|url| RunningServer::at(url, self.token_file.as_deref())).transpose()
    }
}
