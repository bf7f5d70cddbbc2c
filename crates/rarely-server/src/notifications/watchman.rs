//! Looks at what is no event of the log: the free space of the disk, and failures of the store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::notice::Notice;
use super::{NotificationOptions, pause};
use crate::app::App;
use crate::metrics::free_bytes;

pub(super) struct Watchman {
    app: Arc<App>,
    queues: Vec<SyncSender<Notice>>,
    stopping: Arc<AtomicBool>,
    directory: Option<PathBuf>,
    low: u64,
    every: Duration,
}

impl Watchman {
    pub(super) fn new(
        app: Arc<App>,
        options: &NotificationOptions,
        queues: Vec<SyncSender<Notice>>,
        stopping: Arc<AtomicBool>,
    ) -> Self {
        let directory = app.settings.store_directory.clone();
        Self { app, queues, stopping, directory, low: options.low_disk_bytes, every: options.watch_every }
    }

    pub(super) fn run(self) {
        let (mut told_low, mut told_failures) = (false, 0);
        loop {
            let (engine, settings) = (&self.app.engine, &self.app.settings);
            if let Some(free) = self.directory.as_deref().and_then(free_bytes) {
                if free < self.low && !told_low {
                    self.tell(&Notice::low_disk(engine, settings, free));
                }
                // Told again only after there was clearly room in between.
                told_low = free < if told_low { self.low.saturating_add(self.low / 4) } else { self.low };
            }
            let failures = engine.commit_statistics().failures();
            if failures > told_failures {
                if told_failures == 0 || engine.check_writable().is_err() {
                    self.tell(&Notice::store_failing(engine, settings, failures));
                }
                told_failures = failures;
            }
            if !pause(&self.stopping, self.every) {
                return;
            }
        }
    }

    fn tell(&self, notice: &Notice) {
        for queue in &self.queues {
            if queue.try_send(notice.clone()).is_err() {
                tracing::error!(notice = notice.kind, "a notice was left out: a channel does not keep up");
            }
        }
    }
}
