//! `rarely sign`: signatures with a person's own key.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rarely_error::Topic;
use rarely_live::{KeySignature, SignedAct, SignedStatement};
use rarely_store::{Hash, NoteSigner, SigningKeyFile};
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::output::{print, say};
use crate::running_server::RunningServer;

/// What to sign.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a private key in a new file (mode 600), and print the public key, for the administrator to register
    Keygen {
        /// Your name, as it stands in signatures
        #[arg(long)]
        name: String,
        /// The new file
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Register a person's public key at a running server; from then on this person signs only with it
    Register {
        #[command(flatten)]
        place: ServerPlace,
        /// The person's name, as it stands in signatures
        #[arg(long)]
        name: String,
        /// The person's id, as `rarely token list` shows it [default: derived from the name]
        #[arg(long, value_name = "ID")]
        person: Option<String>,
        /// The public key, as name+id+key
        #[arg(long, value_name = "KEY")]
        public_key: String,
    },
    /// Approve a proposal
    Approve {
        #[command(flatten)]
        signing: SigningPlace,
        /// The number of the proposal
        #[arg(long, value_name = "NUMBER")]
        proposal: u64,
    },
    /// Reject a proposal
    Reject {
        #[command(flatten)]
        signing: SigningPlace,
        /// The number of the proposal
        #[arg(long, value_name = "NUMBER")]
        proposal: u64,
    },
    /// Go back to the rule of an older version
    Rollback {
        #[command(flatten)]
        signing: SigningPlace,
        /// The version
        #[arg(long, value_name = "NUMBER")]
        to: u64,
    },
    /// Stop a policy: the last signed rule is in force, without exploration or changes
    Stop {
        #[command(flatten)]
        signing: SigningPlace,
    },
    /// Resume a stopped policy
    Resume {
        #[command(flatten)]
        signing: SigningPlace,
    },
}

/// A running server, and a token for it.
#[derive(Debug, Args)]
struct ServerPlace {
    /// A running server, like http://127.0.0.1:8080
    #[arg(long, value_name = "URL")]
    url: String,
    /// File with a token for the server [default: the environment variable RARELY_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// Where to sign, with which key, and why.
#[derive(Debug, Args)]
struct SigningPlace {
    #[command(flatten)]
    place: ServerPlace,
    /// File of your private key; not needed to stop, or where people sign with tokens
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Your name, as the token has it [default: the name in the key]
    #[arg(long, requires = "key")]
    name: Option<String>,
    /// The policy
    #[arg(long, value_name = "NAME")]
    policy: String,
    /// What the signature means
    #[arg(long, value_name = "TEXT")]
    meaning: String,
    /// Why you sign
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Keygen { name, out } => {
            rarely_server::check_owner(name)?;
            let signer = NoteSigner::generate(name);
            SigningKeyFile::at(out).create(&signer)?;
            print(&format!("{}\n", signer.key()))
        }
        Command::Register { place, name, person, public_key } => {
            let body = json!({ "name": name, "person": person, "key": public_key });
            let made = place.server()?.request("POST", "/v1/keys", Some(&body))?;
            say(&format!("{name} signs with the key {} from now on", made["id"].as_str().unwrap_or_default()));
            Ok(())
        }
        Command::Approve { signing, proposal } => answer(signing, SignedAct::Approve, *proposal),
        Command::Reject { signing, proposal } => answer(signing, SignedAct::Reject, *proposal),
        Command::Rollback { signing, to } => act(signing, SignedAct::RollBack, *to),
        Command::Stop { signing } => act(signing, SignedAct::Stop, 0),
        Command::Resume { signing } => act(signing, SignedAct::Resume, 0),
    }
}

/// Approves or rejects a proposal.
fn answer(signing: &SigningPlace, act: SignedAct, proposal: u64) -> Result<(), Failure> {
    let server = signing.place.server()?;
    let path = format!("/v1/policies/{}/proposals/{proposal}", signing.policy);
    let found = server.request("GET", &path, None)?;
    for line in found["words"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        say(&format!("proposed: {line}"));
    }
    let by_key = signing.sign(act, proposal, &found["hash"])?;
    let answer = server.request("POST", &format!("{path}/{act}"), Some(&signing.body(by_key.as_ref())))?;
    tell(&answer, by_key.as_ref());
    Ok(())
}

/// Rolls a policy back, stops or resumes it.
fn act(signing: &SigningPlace, act: SignedAct, number: u64) -> Result<(), Failure> {
    let server = signing.place.server()?;
    let policy = format!("/v1/policies/{}", signing.policy);
    let found = server.request("GET", &policy, None)?;
    let by_key = signing.sign(act, number, &found["signing_subject"])?;
    let mut body = signing.body(by_key.as_ref());
    if act == SignedAct::RollBack {
        body["to"] = number.into();
    }
    let path = act.name().replace(' ', "");
    let answer = server.request("POST", &format!("{policy}/{path}"), Some(&body))?;
    tell(&answer, by_key.as_ref());
    Ok(())
}

fn tell(answer: &Json, by_key: Option<&KeySignature>) {
    let event = &answer["event"];
    say(&match by_key {
        Some(by_key) => format!("event {event} has the signature of the statement with the hash {}", by_key.digest()),
        None => format!("event {event} has the signature of the token's person"),
    });
}

impl ServerPlace {
    fn server(&self) -> Result<RunningServer, Failure> {
        RunningServer::at(&self.url, self.token_file.as_deref())
    }
}

impl SigningPlace {
    /// `None` without a key: the service then says whether the token is enough.
    fn sign(&self, act: SignedAct, number: u64, subject: &Json) -> Result<Option<KeySignature>, Failure> {
        let Some(key) = &self.key else { return Ok(None) };
        let signer = SigningKeyFile::at(key).read()?;
        let signer = signer.ok_or_else(|| {
            Failure::new(format!("{}: there is no key", key.display()))
                .help("create one with `rarely sign keygen`")
                .see(Topic::PersonKeys)
        })?;
        let subject: Hash = subject
            .as_str()
            .unwrap_or_default()
            .parse()
            .map_err(|error: rarely_store::HashError| Failure::from(error).at("the server's answer"))?;
        let name = self.name.as_deref().unwrap_or_else(|| signer.key().name());
        let (policy, meaning, reason) = (&self.policy, &self.meaning, &self.reason);
        Ok(Some(SignedStatement { act, policy, number, subject, signer: name, meaning, reason }.sign(&signer)))
    }

    fn body(&self, by_key: Option<&KeySignature>) -> Json {
        json!({ "meaning": self.meaning, "reason": self.reason, "by_key": by_key })
    }
}
