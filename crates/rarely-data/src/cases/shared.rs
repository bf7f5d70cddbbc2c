//! Cases in blocks, so that reading them and working on them happen at the same time.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;

use super::{Cases, LoggedCase};
use crate::DataError;

/// Cases of a block: enough that handing it over costs nothing beside reading it, few enough to stay in the cache.
const BLOCK: usize = 512;
/// Blocks that wait for each helper.
const WAITING: usize = 2;

/// Cases that are handed over together. The memory is used again.
struct Block {
    cases: Vec<LoggedCase>,
    filled: usize,
}

impl Block {
    fn filled(&self) -> &[LoggedCase] {
        &self.cases[..self.filled]
    }
}

impl Cases {
    /// Reads every case and gives it to one of the workers. The first works on this thread, which also reads, when the others are all busy;
    /// the others have threads of their own. Which worker gets a case is not known beforehand. `watch` is called after every few hundred
    /// cases, and stops the reading by an error.
    ///
    /// # Errors
    /// As [`Cases::next`], and what `watch` returns.
    ///
    /// # Panics
    /// If there is no worker, or one panics.
    pub fn share<W: Send, E: From<DataError>>(
        &mut self,
        workers: &mut [W],
        work: impl Fn(&mut W, &LoggedCase) + Sync,
        mut watch: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let (own, helpers) = workers.split_first_mut().expect("a worker");
        let (hand_over, blocks) = sync_channel::<Block>(WAITING * helpers.len());
        let (give_back, empty) = channel::<Block>();
        let blocks = Mutex::new(blocks);
        thread::scope(|scope| {
            for helper in helpers {
                let (blocks, give_back, work) = (&blocks, give_back.clone(), &work);
                // Another helper panicked if the lock is poisoned; the end of the scope reports it.
                let next = || blocks.lock().ok()?.recv().ok();
                scope.spawn(move || help(next, &give_back, |case| work(helper, case)));
            }
            // Dropped at the end of this closure, however it ends: then the helpers end, too.
            let hand_over: SyncSender<Block> = hand_over;
            loop {
                let (block, is_last) = self.read_block(&empty)?;
                match hand_over.try_send(block) {
                    Ok(()) => {}
                    Err(TrySendError::Full(block) | TrySendError::Disconnected(block)) => {
                        block.filled().iter().for_each(|case| work(own, case));
                        _ = give_back.send(block);
                    }
                }
                watch(self)?;
                if is_last {
                    return Ok(());
                }
            }
        })
    }

    /// Reads every case and works on it in its order, on another thread. `watch` is called after every few hundred cases, and stops the reading by
    /// an error.
    ///
    /// # Errors
    /// As [`Cases::next`], and what `watch` returns.
    ///
    /// # Panics
    /// If the work panics.
    pub fn read_ahead<E: From<DataError>>(
        &mut self,
        work: impl FnMut(&LoggedCase) + Send,
        mut watch: impl FnMut(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let (hand_over, blocks) = sync_channel::<Block>(WAITING);
        let (give_back, empty) = channel::<Block>();
        thread::scope(|scope| {
            // The receiver goes with the thread: if the work panics, handing over fails instead of waiting.
            scope.spawn(move || help(|| blocks.recv().ok(), &give_back, work));
            let hand_over: SyncSender<Block> = hand_over;
            loop {
                let (block, is_last) = self.read_block(&empty)?;
                // It fails only if the work panicked, which the end of the scope reports.
                let goes_on = hand_over.send(block).is_ok();
                watch(self)?;
                if is_last || !goes_on {
                    return Ok(());
                }
            }
        })
    }

    /// The next block, and whether it is the last.
    fn read_block(&mut self, empty: &Receiver<Block>) -> Result<(Block, bool), DataError> {
        let mut block = empty.try_recv().unwrap_or_else(|_| Block {
            cases: (0..BLOCK).map(|_| LoggedCase::blank(self.encoding.encoder.blank())).collect(),
            filled: 0,
        });
        block.filled = 0;
        for case in &mut block.cases {
            if !self.next(case)? {
                return Ok((block, true));
            }
            block.filled += 1;
        }
        Ok((block, false))
    }
}

/// Works on blocks until there are no more.
fn help(mut next: impl FnMut() -> Option<Block>, give_back: &Sender<Block>, mut work: impl FnMut(&LoggedCase)) {
    while let Some(block) = next() {
        block.filled().iter().for_each(&mut work);
        // The reader may have ended.
        _ = give_back.send(block);
    }
}
