//! Long work in another thread, while R's own thread hears Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use extendr_api::prelude::*;

use crate::problem::{EXPERIMENT, INTERRUPTED, Problem};

/// Time between two checks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Does the work, which looks at the flag now and then and ends early if it is true. `listen` is a function of R's that does nothing:
/// R hears Ctrl-C while it evaluates one.
pub(crate) fn watched<T: Send>(listen: &Function, work: impl FnOnce(&AtomicBool) -> T + Send) -> Result<T, Problem> {
    let stop = AtomicBool::new(false);
    let (finished, finish) = mpsc::channel();
    thread::scope(|scope| {
        let stop = &stop;
        // Sending fails only if R's thread panicked.
        scope.spawn(move || drop(finished.send(work(stop))));
        let mut stopped = false;
        loop {
            match finish.recv_timeout(TICK) {
                Err(RecvTimeoutError::Timeout) if !stopped => {
                    stopped = listen.call(pairlist!()).is_err();
                    stop.store(stopped, Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {}
                _ if stopped => return Err(Problem::new(INTERRUPTED, "stopped by Ctrl-C")),
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Problem::new(EXPERIMENT, "a thread panicked: this is a bug in rarely"));
                }
            }
        }
    })
}
