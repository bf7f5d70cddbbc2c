//! Many threads, one log: order, atomicity, delivery and time.

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use rarely_store::{Durability, EventLog, LogWriter, MemoryLog, SqliteLog, Store, StoreError, verify_chain};

use crate::support::{Folder, all, said, say, writer};

/// Runs 16 threads that each append groups of three, and checks the log and the deliveries.
fn many_threads(log: &Arc<dyn EventLog>) {
    let delivered = Arc::new(Mutex::new(Vec::new()));
    let on_commit = {
        let delivered = Arc::clone(&delivered);
        move |committed| delivered.lock().unwrap().extend::<Vec<_>>(committed)
    };
    let writer: LogWriter<String> = LogWriter::start(Arc::clone(log), None, || 5, on_commit).unwrap();
    thread::scope(|scope| {
        for name in 0..16 {
            let (writer, delivered) = (&writer, &delivered);
            scope.spawn(move || {
                for round in 0..20 {
                    let (first, receipt) = writer.append(|turn| {
                        let first = turn.number();
                        for part in 0..3 {
                            let text = format!("{name} {round} {part}");
                            assert_eq!(turn.push(said(&text), text), first + part);
                        }
                        first
                    });
                    receipt.wait_blocking().unwrap();
                    assert!(writer.committed() >= first + 2, "a receipt came before the published number");
                    let delivered = delivered.lock().unwrap();
                    assert!(delivered.len() as u64 >= first + 2, "a receipt came before the delivery");
                }
            });
        }
    });
    assert_eq!(*writer.subscribe().borrow(), 960);
    writer.stop();
    let entries = all(&**log);
    assert_eq!(entries.len(), 960);
    let delivered = delivered.lock().unwrap();
    for (entry, (shown, payload)) in entries.iter().zip(delivered.iter()) {
        assert_eq!(entry, shown);
        assert_eq!(entry.body, said(payload.as_deref().unwrap()).body);
    }
    // The three entries of a group are adjacent.
    let groups: HashSet<_> = delivered
        .chunks(3)
        .map(|group| {
            let stems: HashSet<_> =
                group.iter().map(|(_, text)| text.as_deref().unwrap().rsplit_once(' ').unwrap().0.to_owned()).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
            stems.into_iter().next().unwrap()
        })
        .collect();
    assert_eq!(groups.len(), 320);
    assert_eq!(verify_chain(&**log, |_| ()).unwrap().number, 960);
}

#[test]
fn many_threads_in_memory() {
    let log = Arc::new(MemoryLog::new());
    many_threads(&(Arc::clone(&log) as Arc<dyn EventLog>));
    assert!(log.appends() < 320 + 1, "a group was split over commits");
}

#[test]
fn many_threads_on_disk() {
    let folder = Folder::new();
    many_threads(&(Arc::new(SqliteLog::open(&folder.store(), Durability::Full).unwrap()) as Arc<dyn EventLog>));
}

#[test]
fn many_threads_on_disk_with_relaxed_durability() {
    let folder = Folder::new();
    many_threads(&(Arc::new(SqliteLog::open(&folder.store(), Durability::Relaxed).unwrap()) as Arc<dyn EventLog>));
}

#[test]
fn entries_of_a_panicking_turn_are_not_committed() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let writer: LogWriter<()> = LogWriter::start(Arc::clone(&log), None, || 5, |_| ()).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        writer.append(|turn| {
            turn.push(said("never"), ());
            panic!("in the middle of a turn");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(say(&writer, said("instead"), ()), 1);
    assert_eq!(all(&*log).len(), 1);
}

#[test]
fn a_panic_in_on_commit_fails_all_waiting_receipts() {
    let writer: LogWriter<()> =
        LogWriter::start(Arc::new(MemoryLog::new()), None, || 5, |_| panic!("on purpose")).unwrap();
    let (_, receipt) = writer.append(|turn| turn.push(said("one"), ()));
    assert!(matches!(*receipt.wait_blocking().unwrap_err(), StoreError::Closed));
    // The thread may close the queue before or after this append; in both cases the receipt fails.
    let (_, receipt) = writer.append(|turn| turn.push(said("two"), ()));
    assert!(matches!(*receipt.wait_blocking().unwrap_err(), StoreError::Closed));
}

#[test]
fn stopping_commits_pending_entries_and_refuses_later_ones() {
    let log: Arc<dyn EventLog> = Arc::new(MemoryLog::new());
    let writer: LogWriter<()> = LogWriter::start(Arc::clone(&log), None, || 5, |_| ()).unwrap();
    let receipts: Vec<_> = (0..50).map(|_| writer.append(|turn| turn.push(said("before"), ())).1).collect();
    writer.close();
    for receipt in receipts {
        receipt.wait_blocking().unwrap();
    }
    let (_, receipt) = writer.append(|turn| turn.push(said("after"), ()));
    assert!(matches!(*receipt.wait_blocking().unwrap_err(), StoreError::Closed));
    writer.append(|_| ()).1.wait_blocking().unwrap();
    assert_eq!(all(&*log).len(), 50);
}

#[test]
fn time_never_decreases() {
    let folder = Folder::new();
    let clock = Arc::new(AtomicU64::new(100));
    let start = |clock: &Arc<AtomicU64>| -> LogWriter<()> {
        let clock = Arc::clone(clock);
        let store = Store::open(&folder.store(), Durability::Full).unwrap();
        store.start(move || clock.load(Ordering::Relaxed), |_| ()).unwrap()
    };
    let writer = start(&clock);
    for time in [100, 90, 120, 5] {
        clock.store(time, Ordering::Relaxed);
        say(&writer, said("the time"), ());
    }
    writer.stop();
    // Nor across a restart.
    let writer = start(&clock);
    assert_eq!(writer.append(|turn| turn.time_ms()).0, 120);
    say(&writer, said("the time"), ());
    let times: Vec<_> = all(&**writer.log()).iter().map(|entry| entry.time_ms).collect();
    assert_eq!(times, [100, 100, 120, 120, 120]);
    verify_chain(&**writer.log(), |_| ()).unwrap();
}

#[test]
fn a_receipt_can_be_awaited() {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let folder = Folder::new();
    let writer = writer(&folder.store());
    let (_, receipt) = writer.append(|turn| turn.push(said("one"), ()));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut waiting = pin!(receipt.wait());
    let answer = loop {
        match waiting.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(answer) => break answer,
            Poll::Pending => thread::park(),
        }
    };
    answer.unwrap();
    assert_eq!(writer.committed(), 1);
}
