//! Tells people outside when a proposal waits or expires, a policy is stopped, the disk fills, or events cannot be written: by webhooks and by mail.
//!
//! Each channel has a thread that follows the log. How far it was told is an event of the log, so that a restart, or another replica
//! that takes over, goes on where it ended; the log itself is the queue. Notices that are no events (a full disk) are kept in memory.

mod channel;
mod mail;
mod notice;
mod watchman;
mod webhook;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use crate::app::App;
use channel::{Channel, ChannelThread};
use mail::Mailbox;
use watchman::Watchman;

pub use mail::{MailServer, MailTls};
pub use webhook::{Webhook, WebhookSecret};

/// How long to wait before each attempt to deliver a notice: 16 hours in all.
const ATTEMPTS_S: [u64; 10] = [0, 5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800];
/// Notices outside the log that may wait for a slow channel. More are left out, and counted.
const WAITING: usize = 16;

/// Who is told, and when.
#[derive(Debug, Clone)]
pub struct NotificationOptions {
    /// Addresses that get a POST.
    pub webhooks: Vec<Webhook>,
    /// The mail server, and who gets mail from it.
    pub mail: Option<(MailServer, Vec<String>)>,
    /// The free space of the store's disk below which people are told.
    pub low_disk_bytes: u64,
    /// How long to wait before each attempt to deliver a notice.
    pub attempts: Vec<Duration>,
    /// How often the disk is looked at.
    pub watch_every: Duration,
}

impl Default for NotificationOptions {
    fn default() -> Self {
        Self {
            webhooks: Vec::new(),
            mail: None,
            low_disk_bytes: 2_000_000_000,
            attempts: ATTEMPTS_S.map(Duration::from_secs).to_vec(),
            watch_every: Duration::from_secs(60),
        }
    }
}

impl NotificationOptions {
    fn channels(&self) -> Vec<Box<dyn Channel>> {
        let webhooks = self.webhooks.iter().map(|webhook| Box::new(webhook.clone()) as Box<dyn Channel>);
        let mail = self.mail.iter().flat_map(|(server, people)| {
            people.iter().map(|to| Box::new(Mailbox::new(server.clone(), to.clone())) as Box<dyn Channel>)
        });
        webhooks.chain(mail).collect()
    }
}

/// What became of notices since the start.
#[derive(Debug, Default)]
pub(crate) struct NotificationCounts {
    pub(crate) delivered: AtomicU64,
    pub(crate) failed_attempts: AtomicU64,
    pub(crate) given_up: AtomicU64,
}

/// The running threads. They end when this is dropped.
pub struct Notifications {
    stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Notifications {
    /// Starts to tell people what happens to the policies of a service.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(app: &Arc<App>, options: &NotificationOptions) -> std::io::Result<Self> {
        let mut started = Self { stopping: Arc::default(), threads: Vec::new() };
        let mut queues = Vec::new();
        for channel in options.channels() {
            let (queue, inbox) = sync_channel(WAITING);
            queues.push(queue);
            let thread = ChannelThread {
                app: app.clone(),
                channel,
                inbox,
                attempts: options.attempts.clone(),
                stopping: started.stopping.clone(),
            };
            started.spawn("notifier", move || thread.run())?;
        }
        if !queues.is_empty() {
            let watchman = Watchman::new(app.clone(), options, queues, started.stopping.clone());
            started.spawn("watchman", move || watchman.run())?;
        }
        Ok(started)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        self.threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(work)?);
        Ok(())
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        for thread in self.threads.drain(..) {
            // A thread that panicked has been reported.
            drop(thread.join());
        }
    }
}

/// Waits, and ends early if the service stops. Returns whether it goes on.
fn pause(stopping: &AtomicBool, length: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut left = length;
    while !left.is_zero() && !stopping.load(Ordering::SeqCst) {
        let step = left.min(STEP);
        std::thread::sleep(step);
        left -= step;
    }
    !stopping.load(Ordering::SeqCst)
}
