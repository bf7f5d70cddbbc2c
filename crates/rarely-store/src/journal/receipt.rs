//! A promise that something is on disk.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::error::StoreError;

/// Tells when everything that one [`append`](crate::Journal::append) pushed is on disk. If it pushed nothing that is
/// at once, except that after [`Lookup::Pending`](crate::Lookup::Pending) it waits for the entry that was found.
///
/// Dropping it takes nothing back.
#[must_use = "an entry is on disk only when the receipt says so"]
#[derive(Debug)]
pub struct Receipt(Inner);

/// How a waiting receipt is told.
pub(super) type Teller = oneshot::Sender<Result<(), Arc<StoreError>>>;

#[derive(Debug)]
enum Inner {
    Settled,
    Refused,
    Waiting(oneshot::Receiver<Result<(), Arc<StoreError>>>),
}

impl Receipt {
    /// The receipt for nothing: there is nothing to wait for.
    pub fn settled() -> Self {
        Self(Inner::Settled)
    }

    pub(super) fn refused() -> Self {
        Self(Inner::Refused)
    }

    pub(super) fn waiting() -> (Teller, Self) {
        let (teller, waiting) = oneshot::channel();
        (teller, Self(Inner::Waiting(waiting)))
    }

    /// Waits until it is on disk.
    ///
    /// # Errors
    /// If it could not be written, or it is not known whether it was: send the request again with the same mark.
    pub async fn wait(self) -> Result<(), Arc<StoreError>> {
        match self.0 {
            Inner::Settled => Ok(()),
            Inner::Refused => Err(Arc::new(StoreError::Stopped)),
            Inner::Waiting(answer) => answer.await.unwrap_or_else(|_| Err(Arc::new(StoreError::Stopped))),
        }
    }

    /// As [`wait`](Self::wait), for a thread that may block; in an asynchronous task it panics.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_blocking(self) -> Result<(), Arc<StoreError>> {
        match self.0 {
            Inner::Settled => Ok(()),
            Inner::Refused => Err(Arc::new(StoreError::Stopped)),
            Inner::Waiting(answer) => answer.blocking_recv().unwrap_or_else(|_| Err(Arc::new(StoreError::Stopped))),
        }
    }
}
