//! Cases that several threads read: each reads a piece of the log and works on it, and pieces are put in order in between.

use std::convert::Infallible;
use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::block::{Before, Block};
use super::encoding::Encoding;
use super::{Cases, LoggedCase};
use crate::DataError;
use crate::log::{LogPieces, Piece};

impl Cases {
    /// Reads every case and gives it to one of the workers, each of which reads and works on a thread of its own; the first on this one.
    /// Which worker gets a case is not known beforehand. `watch` is called now and then with the bytes read and the bytes in total (of a table,
    /// rows), and stops the reading by an error.
    ///
    /// # Errors
    /// As [`Cases::next`], and what `watch` returns. Cases before the error were given to workers, or are lost.
    ///
    /// # Panics
    /// If there is no worker, or one panics.
    pub fn share<W: Send, E: From<DataError>>(
        &mut self,
        workers: &mut [W],
        work: impl Fn(&mut W, &LoggedCase) + Sync,
        watch: impl FnMut((u64, u64)) -> Result<(), E>,
    ) -> Result<(), E> {
        self.each_block(workers, |_| {}, |worker, block| block.iter().for_each(|case| work(worker, case)), watch)
    }

    /// Reads every case, on as many threads as there are processors, and works on the cases in their order, on any of the threads. `watch` is as in
    /// [`Cases::share`].
    ///
    /// # Errors
    /// As [`Cases::next`], and what `watch` returns.
    ///
    /// # Panics
    /// If the work panics.
    pub fn read_ahead<E: From<DataError>>(
        &mut self,
        mut work: impl FnMut(&LoggedCase) + Send,
        watch: impl FnMut((u64, u64)) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut readers = vec![(); thread::available_parallelism().map_or(1, NonZero::get)];
        self.each_block(&mut readers, |block| block.iter().for_each(&mut work), |(), _| {}, watch)
    }

    /// Reads log after log in blocks: `in_order` gets them one after the other, `work` at the same time.
    fn each_block<W: Send, E: From<DataError>>(
        &mut self,
        workers: &mut [W],
        mut in_order: impl FnMut(&[LoggedCase]) + Send,
        work: impl Fn(&mut W, &[LoggedCase]) + Sync,
        mut watch: impl FnMut((u64, u64)) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.sources.advance()? {
            let Some(log) = self.sources.log.take() else { continue };
            let (before, total) = self.sources.progress();
            let queue = Queue::new(Ordered {
                before: Before {
                    order: &mut self.order,
                    rejections: &mut self.sources.rejections,
                    missing: &mut self.gaps.counts,
                    accepted: &mut self.accepted,
                    file: self.sources.current,
                    rows: log.rows(),
                    lines: log.lines(),
                },
                in_order: &mut in_order,
                error: None,
            });
            let pieces = LogPieces::of(log);
            let (encoding, work) = (&self.encoding, &work);
            let (own, helpers) = workers.split_first_mut().expect("a worker");
            let watched = thread::scope(|scope| {
                for helper in helpers {
                    let (pieces, queue) = (&pieces, &queue);
                    scope.spawn(move || {
                        let work = |block: &[LoggedCase]| work(helper, block);
                        read_pieces(pieces, encoding, queue, work, || Ok::<(), Infallible>(()))
                    });
                }
                let watch = || watch((before + pieces.progress().0, total));
                read_pieces(&pieces, encoding, &queue, |block| work(own, block), watch)
            });
            let error = queue.into_inner().error;
            watched?;
            error.map_or(Ok(()), Err)?;
            self.sources.close();
        }
        if self.accepted == 0 {
            return Err(self.sources.no_row().into());
        }
        Ok(())
    }
}

/// What is done with blocks in their order.
struct Ordered<'a, F> {
    before: Before<'a>,
    in_order: F,
    /// The first error.
    error: Option<DataError>,
}

/// Takes pieces, reads them, puts them in order and works on them until there are no more.
fn read_pieces<F: FnMut(&[LoggedCase]), E>(
    pieces: &LogPieces,
    encoding: &Encoding,
    queue: &Queue<Ordered<'_, F>>,
    mut work: impl FnMut(&[LoggedCase]),
    mut watch: impl FnMut() -> Result<(), E>,
) -> Result<(), E> {
    // However this ends: nobody waits for a piece that is not read.
    let ending = EndQueue(queue);
    let (mut log, mut block) = (pieces.reader(), Block::default());
    loop {
        let Piece { number, found } = pieces.take(&mut log);
        match found {
            Ok(false) => break,
            Ok(true) => block.read(&mut log, encoding),
            Err(error) => block.fail(error),
        }
        let settled = queue.at_turn(number, |ordered| {
            ordered.error = block.settle(&mut ordered.before).err();
            if ordered.error.is_none() {
                (ordered.in_order)(block.cases());
            }
            ordered.error.is_none()
        });
        if !settled {
            return Ok(());
        }
        work(block.cases());
        watch()?;
    }
    // Others may still be at their last piece.
    std::mem::forget(ending);
    Ok(())
}

/// Lets threads in one after the other, by number.
struct Queue<T> {
    turn: Mutex<ReadingTurn<T>>,
    moved: Condvar,
}

struct ReadingTurn<T> {
    /// Whose turn it is.
    number: u64,
    has_ended: bool,
    guarded: T,
}

impl<T> Queue<T> {
    fn new(guarded: T) -> Self {
        Self { turn: Mutex::new(ReadingTurn { number: 0, has_ended: false, guarded }), moved: Condvar::new() }
    }

    /// Calls a function when all with a smaller number have had their turn. The queue ends if it returns false. False if the queue has ended.
    fn at_turn(&self, number: u64, call: impl FnOnce(&mut T) -> bool) -> bool {
        let waits = |turn: &mut ReadingTurn<T>| turn.number != number && !turn.has_ended;
        let mut turn = self.moved.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        if !turn.has_ended {
            turn.has_ended = !call(&mut turn.guarded);
            turn.number += 1;
            self.moved.notify_all();
        }
        !turn.has_ended
    }

    fn lock(&self) -> MutexGuard<'_, ReadingTurn<T>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_inner(self) -> T {
        self.turn.into_inner().unwrap_or_else(PoisonError::into_inner).guarded
    }
}

/// Ends a queue when it is dropped.
struct EndQueue<'a, T>(&'a Queue<T>);

impl<T> Drop for EndQueue<'_, T> {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.moved.notify_all();
    }
}
