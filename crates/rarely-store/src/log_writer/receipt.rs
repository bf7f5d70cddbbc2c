//! Tells when entries are on disk.

use std::sync::Arc;

use tokio::sync::oneshot;

use crate::error::StoreError;

/// Tells when everything that one [`append`](crate::LogWriter::append) pushed is on disk. If it pushed nothing, the
/// receipt is settled at once, except that after [`Lookup::Pending`](crate::Lookup::Pending) it waits for the entry that
/// was found.
///
/// Dropping a receipt does not cancel anything.
#[must_use = "an entry is on disk only after the receipt succeeds"]
#[derive(Debug)]
pub struct Receipt(Inner);

/// Completes a waiting receipt.
pub(super) type ReceiptSender = oneshot::Sender<Result<(), Arc<StoreError>>>;

#[derive(Debug)]
enum Inner {
    Settled,
    Refused,
    Waiting(oneshot::Receiver<Result<(), Arc<StoreError>>>),
}

impl Receipt {
    /// A receipt that has nothing to wait for.
    pub fn settled() -> Self {
        Self(Inner::Settled)
    }

    pub(super) fn refused() -> Self {
        Self(Inner::Refused)
    }

    pub(super) fn waiting() -> (ReceiptSender, Self) {
        let (sender, waiting) = oneshot::channel();
        (sender, Self(Inner::Waiting(waiting)))
    }

    /// Waits until the entries are on disk.
    ///
    /// # Errors
    /// If they were not written, or it is unknown whether they were: repeat the request with the same key.
    pub async fn wait(self) -> Result<(), Arc<StoreError>> {
        match self.0 {
            Inner::Settled => Ok(()),
            Inner::Refused => Err(Arc::new(StoreError::Closed)),
            Inner::Waiting(answer) => answer.await.unwrap_or_else(|_| Err(Arc::new(StoreError::Closed))),
        }
    }

    /// As [`wait`](Self::wait), but blocks the thread. Panics in an asynchronous task.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_blocking(self) -> Result<(), Arc<StoreError>> {
        match self.0 {
            Inner::Settled => Ok(()),
            Inner::Refused => Err(Arc::new(StoreError::Closed)),
            Inner::Waiting(answer) => answer.blocking_recv().unwrap_or_else(|_| Err(Arc::new(StoreError::Closed))),
        }
    }
}
