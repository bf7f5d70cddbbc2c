//! The desk: a page for people without a shell. A file in, a review out; nothing leaves the machine.
//!
//! The page drafts a policy document from the columns of a file, as `rarely policy init` does, lets the person correct it, and reviews it by
//! the functions of `rarely review`. It prints the commands that would do the same, and they give the same findings, byte for byte.
//!
//! # Modules, in reading order
//!
//! | module | what it is about |
//! |---|---|
//! | `access` | who may use it: a one-time token, then a cookie; the host and the origin of a request |
//! | `session`, `task` | what the desk knows; work in a thread, with its progress |
//! | `upload`, `multipart` | a file from the browser, written as it comes |
//! | `fields`, `answers`, `rule_answers`, `assumptions` | what the person said, as it was typed |
//! | `document` | the draft with the answers: the policy document |
//! | `sketching`, `reviewing`, `preview` | the columns, the draft and the people; the review; who gets what |
//! | `saving`, `command_line`, `problem` | files that are kept; commands; what went wrong |
//! | `routes`, `pages` | requests and what they return |
#![deny(missing_docs)]

mod access;
mod answers;
mod assumptions;
mod command_line;
mod document;
mod fields;
mod multipart;
mod pages;
mod preview;
mod problem;
mod reviewing;
mod routes;
mod rule_answers;
mod saving;
mod session;
mod sketching;
mod task;
mod upload;

use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use rarely_error::{Explain, Remedy};
use thiserror::Error;
use tokio::net::TcpListener;

use self::access::Access;
use self::session::Shared;

/// Why the desk could not be opened, or ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeskError {
    /// The port cannot be used.
    #[error("127.0.0.1:{port} cannot be listened on")]
    Listen {
        /// The port; 0 for any.
        port: u16,
        /// The error of the operating system.
        source: io::Error,
    },
    /// There is no place for temporary files.
    #[error("the folder of temporary files cannot be created")]
    Temporary {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {reason}")]
    Random {
        /// Why.
        reason: String,
    },
    /// The connection with browsers broke.
    #[error("the desk cannot serve its pages any more")]
    Serve {
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Explain for DeskError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Listen { .. } => Some(Remedy::new("choose another port, or none: then a free one is used")),
            Self::Temporary { .. } => {
                Some(Remedy::new("check the permissions and the free space there, or name another folder in TMPDIR"))
            }
            Self::Random { .. } | Self::Serve { .. } => None,
        }
    }
}

/// The desk of one person. It answers only at this machine's own address.
pub struct Desk {
    shared: Arc<Shared>,
}

impl Desk {
    /// A desk at a port of this machine. `saves_in` is the folder that its page offers for saving.
    ///
    /// # Errors
    /// [`DeskError`] if there are no random numbers, or no place for temporary files.
    pub fn new(port: u16, saves_in: PathBuf) -> Result<Self, DeskError> {
        // Only its owner can read it, as `tempfile` creates it.
        let temporary = tempfile::Builder::new().prefix("rarely-desk-").tempdir();
        let temporary = temporary.map_err(|source| DeskError::Temporary { source })?;
        let shared = Shared::new(Access::new(port)?, temporary, saves_in);
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The address that opens the desk. It is good once: after that there is none.
    pub fn address(&self) -> Option<String> {
        self.shared.access.address()
    }

    /// The folder of its temporary files: it is there until [`Desk::close`].
    pub fn temporary_files(&self) -> &Path {
        &self.shared.folder
    }

    /// Its pages.
    pub fn router(&self) -> Router {
        routes::router(&self.shared)
    }

    /// Cancels what runs, and removes all temporary files.
    pub fn close(&self) {
        self.shared.close();
    }
}

/// Serves the desk until `stopped`, and removes its temporary files. `ready` gets the address that opens it once.
///
/// # Errors
/// [`DeskError`] if it cannot be opened, or pages cannot be served any more.
pub async fn serve(
    port: u16,
    saves_in: PathBuf,
    ready: impl FnOnce(&str),
    stopped: impl Future<Output = ()>,
) -> Result<(), DeskError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(|source| DeskError::Listen { port, source })?;
    let port = listener.local_addr().map_err(|source| DeskError::Listen { port, source })?.port();
    let desk = Desk::new(port, saves_in)?;
    ready(&desk.address().unwrap_or_default());
    let served = tokio::select! {
        served = async { axum::serve(listener, desk.router()).await } => served,
        // An upload or a page that is on its way is not waited for.
        () = stopped => Ok(()),
    };
    desk.close();
    served.map_err(|source| DeskError::Serve { source })
}
