//! The time of the service: the system's clock, as long as that can be believed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rarely_store::{PolicyRef, Stamp};

use super::{ChangeError, Engine, PendingEvent, draft};
use crate::event::{ClockCorrected, ClockJumped, Event};
use crate::live_policy::ENGINE_ACTOR;

/// A step of the system's clock, forward or back, that is followed. One that is longer is refused: time goes on by what has
/// elapsed.
const LONGEST_STEP_MS: u64 = 10_000;

/// What tells the time: the system's clock, which somebody may set, and the time that has elapsed, which nobody can.
#[derive(Clone)]
pub struct Clock {
    wall_ms: Arc<dyn Fn() -> u64 + Send + Sync>,
    elapsed_ms: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        let started = elapsed_ms();
        Self::new(rarely_store::now_ms, move || elapsed_ms().saturating_sub(started))
    }

    /// A clock of milliseconds since 1970 UTC, and one of milliseconds since some moment, which never goes back.
    pub fn new(
        wall_ms: impl Fn() -> u64 + Send + Sync + 'static,
        elapsed_ms: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self { wall_ms: Arc::new(wall_ms), elapsed_ms: Arc::new(elapsed_ms) }
    }

    /// A clock that is believed whenever it goes forward, for simulations and tests.
    pub fn simulated(time_ms: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        let time_ms = Arc::new(time_ms);
        let last = Mutex::new(0);
        Self {
            wall_ms: time_ms.clone(),
            elapsed_ms: Arc::new(move || {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                *last = time_ms().max(*last);
                *last
            }),
        }
    }
}

/// The time that has elapsed since some moment. Where the system can tell, the time of sleep counts.
fn elapsed_ms() -> u64 {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let now = clock_gettime(ClockId::Boottime);
        u64::try_from(now.tv_sec).unwrap_or(0) * 1000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1_000_000
    }
    #[cfg(not(target_os = "linux"))]
    {
        use std::sync::LazyLock;
        use std::time::Instant;
        static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
        u64::try_from(STARTED.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A clock that never goes back and never jumps. Expiry times are compared with event times, so one wrong moment would spoil a
/// store for as long as the clock was wrong.
#[derive(Clone)]
pub(super) struct SteadyClock {
    clock: Clock,
    state: Arc<Mutex<Steady>>,
}

struct Steady {
    /// The time when nothing had elapsed, in milliseconds since 1970.
    origin_ms: i64,
    last_ms: u64,
    /// How far the system's clock is ahead of this one, if it is not believed.
    offset_ms: Option<i64>,
    /// The last change of that, until somebody asks for it.
    news: Option<i64>,
}

impl SteadyClock {
    /// A clock that goes on after an event at `last_ms`, or from the system's clock if that is later.
    pub(super) fn after(last_ms: u64, clock: Clock) -> Self {
        let (wall_ms, elapsed_ms) = ((clock.wall_ms)(), (clock.elapsed_ms)());
        let start_ms = wall_ms.max(last_ms);
        let steady = Steady { origin_ms: minus(start_ms, elapsed_ms), last_ms: start_ms, offset_ms: None, news: None };
        Self { clock, state: Arc::new(Mutex::new(steady)) }
    }

    /// The time, and what has elapsed since the start.
    pub(super) fn stamp(&self) -> Stamp {
        let (wall_ms, elapsed_ms) = ((self.clock.wall_ms)(), (self.clock.elapsed_ms)());
        let mut steady = self.lock();
        let expected_ms = plus(elapsed_ms, steady.origin_ms).max(steady.last_ms);
        let ahead_ms = minus(wall_ms, expected_ms);
        if ahead_ms.unsigned_abs() <= LONGEST_STEP_MS {
            steady.origin_ms = minus(wall_ms, elapsed_ms);
            steady.last_ms = steady.last_ms.max(wall_ms);
            steady.tell(None);
        } else {
            steady.last_ms = expected_ms;
            steady.tell(Some(ahead_ms));
        }
        Stamp { time_ms: steady.last_ms, elapsed_ms: Some(elapsed_ms) }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.stamp().time_ms
    }

    /// How far the system's clock is ahead, if it jumped and is not believed; otherwise 0.
    pub(super) fn offset_ms(&self) -> i64 {
        self.stamp();
        self.lock().offset_ms.unwrap_or(0)
    }

    /// The last jump, or 0 for its end, if there was one since the last call.
    pub(super) fn take_news(&self) -> Option<i64> {
        self.stamp();
        self.lock().news.take()
    }

    fn lock(&self) -> MutexGuard<'_, Steady> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Steady {
    fn tell(&mut self, offset_ms: Option<i64>) {
        let jumped = match (self.offset_ms, offset_ms) {
            (Some(before), Some(now)) => before.abs_diff(now) > LONGEST_STEP_MS,
            (before, now) => before.is_some() != now.is_some(),
        };
        if jumped {
            self.news = Some(offset_ms.unwrap_or(0));
        }
        self.offset_ms = offset_ms;
    }
}

impl Engine {
    /// How far the system's clock is ahead of [`now_ms`](Engine::now_ms), in milliseconds, if it jumped and is not believed; otherwise 0.
    pub fn clock_offset_ms(&self) -> i64 {
        self.clock.offset_ms()
    }

    /// Records it if the system's clock has jumped since the last call, or is right again. Returns the new offset.
    ///
    /// # Errors
    /// [`ChangeError`] if it cannot be stored.
    pub fn watch_clock(&self) -> Result<Option<i64>, ChangeError> {
        let Some(offset_ms) = self.clock.take_news() else { return Ok(None) };
        self.record(ENGINE_ACTOR, PolicyRef::None, Event::ClockJumped(ClockJumped { offset_ms }))?;
        Ok(Some(offset_ms))
    }

    /// Sets the time of the log back to that of the system's clock, and records it, signed with the key of this log.
    ///
    /// # Errors
    /// [`ChangeError`] if the log is not signed, or the event cannot be stored.
    pub fn correct_clock(&self, actor: &str, time_ms: u64, reason: &str) -> Result<u64, ChangeError> {
        let signer = self.notary().map(|notary| notary.signer()).ok_or(ChangeError::NoSigningKey)?;
        let event = Event::ClockCorrected(ClockCorrected::sign(signer, self.now_ms(), time_ms, reason));
        self.append_and_apply(|turn| {
            turn.correct_time(time_ms);
            turn.push_deferred(draft(actor, PolicyRef::None, &event, None), PendingEvent::of(event))
        })
    }
}

/// `a − b`. No clock shows times near 2⁶³.
fn minus(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(i64::MAX)
}

fn plus(a: u64, b: i64) -> u64 {
    a.saturating_add_signed(b)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const YEARS: u64 = 10 * 365 * 86_400_000;

    /// A clock, its wall and what elapses.
    fn manual(last_ms: u64) -> (SteadyClock, Arc<AtomicU64>, Arc<AtomicU64>) {
        let (wall, elapsed) = (Arc::new(AtomicU64::new(1_000_000)), Arc::new(AtomicU64::new(0)));
        let (shown, run) = (wall.clone(), elapsed.clone());
        let clock = Clock::new(move || shown.load(Ordering::SeqCst), move || run.load(Ordering::SeqCst));
        (SteadyClock::after(last_ms, clock), wall, elapsed)
    }

    fn pass(clocks: &[&AtomicU64], milliseconds: u64) {
        for clock in clocks {
            clock.fetch_add(milliseconds, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_jump_ahead_is_refused_and_its_end_too() {
        let (steady, wall, elapsed) = manual(0);
        assert_eq!(steady.now_ms(), 1_000_000);
        pass(&[&wall], YEARS);
        pass(&[&wall, &elapsed], 2_000);
        assert_eq!(steady.stamp(), Stamp { time_ms: 1_002_000, elapsed_ms: Some(2_000) });
        assert_eq!(steady.offset_ms(), i64::try_from(YEARS).expect("a time"));
        wall.fetch_sub(YEARS, Ordering::SeqCst);
        pass(&[&wall, &elapsed], 1_000);
        assert_eq!((steady.now_ms(), steady.offset_ms()), (1_003_000, 0));
        assert_eq!(steady.take_news(), Some(0), "the last of the two");
        assert_eq!(steady.take_news(), None);
    }

    #[test]
    fn small_steps_are_followed_and_time_never_goes_back() {
        let (steady, wall, elapsed) = manual(0);
        pass(&[&wall], 9_000);
        assert_eq!(steady.now_ms(), 1_009_000);
        wall.fetch_sub(5_000, Ordering::SeqCst);
        assert_eq!((steady.now_ms(), steady.offset_ms()), (1_009_000, 0), "it waits for the system's clock");
        pass(&[&wall, &elapsed], 6_000);
        assert_eq!(steady.now_ms(), 1_010_000);
        assert_eq!(steady.take_news(), None);
    }

    #[test]
    fn after_a_start_in_the_past_time_goes_on_from_the_last_event() {
        let (steady, wall, elapsed) = manual(1_000_000 + YEARS);
        assert_eq!(steady.now_ms(), 1_000_000 + YEARS);
        assert_eq!(steady.take_news(), Some(-i64::try_from(YEARS).expect("a time")));
        pass(&[&wall, &elapsed], 5_000);
        assert_eq!(steady.now_ms(), 1_005_000 + YEARS, "it does not stand still");
    }
}
