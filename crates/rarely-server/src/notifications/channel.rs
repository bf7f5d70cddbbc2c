//! The thread of one channel: follows the log, and delivers notices in order until each is delivered or given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use rarely_live::Event;
use rarely_live::event::{NoticeResult, Notified};

use super::notice::Notice;
use super::pause;
use crate::app::App;

/// How often the thread looks for something new.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Entries of the log that are read at a time.
const BLOCK: usize = 1_000;
/// After so many entries without a notice a start records that there was none, so that the next one need not read them again.
const QUIET: u64 = 100_000;

/// Somebody who is told.
pub(super) trait Channel: Send {
    /// Its name in the log, without secrets.
    fn name(&self) -> String;
    /// Delivers a notice once. An error says why it is not known to be delivered.
    fn deliver(&self, notice: &Notice) -> Result<(), String>;
}

pub(super) struct ChannelThread {
    pub(super) app: Arc<App>,
    pub(super) channel: Box<dyn Channel>,
    /// Notices that are no events of the log.
    pub(super) inbox: Receiver<Notice>,
    pub(super) attempts: Vec<Duration>,
    pub(super) stopping: Arc<AtomicBool>,
}

impl ChannelThread {
    pub(super) fn run(self) {
        let (engine, name) = (&self.app.engine, self.channel.name());
        let started = engine.committed();
        let settled = engine.notified(&name);
        let backlog = match settled {
            Some(settled) => self.missed(settled, started),
            None => Vec::new(),
        };
        // What happened before anybody asked to be told is not told.
        if settled.is_none_or(|settled| backlog.is_empty() && started >= settled + QUIET) {
            self.settle(&name, started, NoticeResult::Nothing);
        }
        if !backlog.into_iter().all(|number| self.tell(&name, number)) {
            return;
        }
        let mut seen = started;
        while pause(&self.stopping, LOOK_EVERY) {
            while let Ok(notice) = self.inbox.try_recv() {
                self.deliver(&notice);
            }
            for number in engine.notable_after(seen) {
                if !self.tell(&name, number) {
                    return;
                }
                seen = number;
            }
        }
    }

    /// Events that may have to be told, from after the last settled one until the service started.
    fn missed(&self, settled: u64, started: u64) -> Vec<u64> {
        let (mut found, mut after) = (Vec::new(), settled);
        while after < started && !self.stopping.load(Ordering::SeqCst) {
            let Ok(entries) = self.app.engine.log().entries(after, None, BLOCK) else { break };
            let Some(last) = entries.last() else { break };
            after = last.number;
            let known = entries
                .iter()
                .filter(|entry| entry.number <= started && Event::NOTABLE_KINDS.contains(&entry.kind.as_str()));
            found.extend(known.map(|entry| entry.number));
        }
        found
    }

    /// Tells the channel about an event, if there is something to tell. Returns whether to go on.
    fn tell(&self, name: &str, number: u64) -> bool {
        let entry = self.app.engine.log().entry(number).ok().flatten();
        let notice = entry.and_then(|entry| Notice::of(&entry, &self.app.engine, &self.app.settings));
        let Some(notice) = notice else { return true };
        let Some(result) = self.deliver(&notice) else { return false };
        self.settle(name, number, result);
        true
    }

    /// Delivers a notice, or gives it up; `None` if the service stops before.
    fn deliver(&self, notice: &Notice) -> Option<NoticeResult> {
        let (counts, channel) = (&self.app.notifications, self.channel.name());
        let add = |count: &AtomicU64| _ = count.fetch_add(1, Ordering::Relaxed);
        for wait in &self.attempts {
            if !pause(&self.stopping, *wait) {
                return None;
            }
            match self.channel.deliver(notice) {
                Ok(()) => {
                    add(&counts.delivered);
                    tracing::info!(channel, notice = notice.kind, id = notice.id, "a notice was delivered");
                    return Some(NoticeResult::Delivered);
                }
                Err(problem) => {
                    add(&counts.failed_attempts);
                    tracing::warn!(
                        channel,
                        notice = notice.kind,
                        id = notice.id,
                        problem,
                        "a notice was not delivered"
                    );
                }
            }
        }
        add(&counts.given_up);
        tracing::error!(channel, notice = notice.kind, id = notice.id, "a notice was given up");
        Some(NoticeResult::GivenUp)
    }

    /// Records how far the channel was told. If that fails, a restart tells it again, with the same id.
    fn settle(&self, channel: &str, about: u64, result: NoticeResult) {
        let notified = Notified { channel: channel.to_owned(), about, result };
        if let Err(error) = self.app.engine.record_notice(notified) {
            tracing::warn!(channel, %error, "it cannot be recorded how far a channel was told");
        }
    }
}
