//! The model's clock, and how long to wait until the next event.
//!
//! | clock | the model's time |
//! |---|---|
//! | `real` | that of the machine |
//! | `xN` | N times as fast: a second of the machine is N seconds of the model |
//! | `skip` | that of the machine; while a request is in flight and no input comes for 30 us, jumps to the next event |
//! | `untimed` | that of the machine, and the target completes at once: the speed of the transport |
use drivelab_units::{Instant, Span};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant as Moment};

/// The last time before a due instant is spent polling, because a sleep ends late.
const SPIN: Duration = Duration::from_micros(150);
/// `skip` jumps after this time without input.
const QUIET: Duration = Duration::from_micros(30);
/// The same where a workload reports its progress: output that a reply causes arrives before the model continues.
const QUIET_WATCHED: Duration = Duration::from_millis(1);
/// The longest time between two checks of the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The fastest clock.
const FACTOR_MAX: u32 = 1_000;

/// Which clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// A multiple of the machine's speed: 1 is real time.
    Times(u32),
    Skip,
    Untimed,
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "real" => Ok(Pace::Times(1)),
            "skip" => Ok(Pace::Skip),
            "untimed" => Ok(Pace::Untimed),
            _ => text
                .strip_prefix('x')
                .and_then(|factor| factor.parse().ok())
                .filter(|factor| (1..=FACTOR_MAX).contains(factor))
                .map(Pace::Times)
                .ok_or_else(|| {
                    format!(
                        "no clock is called {text}: there are real, x2 to x{FACTOR_MAX}, skip and untimed"
                    )
                }),
        }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Times(1) => f.write_str("real"),
            Pace::Times(factor) => write!(f, "x{factor}"),
            Pace::Skip => f.write_str("skip"),
            Pace::Untimed => f.write_str("untimed"),
        }
    }
}

/// How to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Check for input, and return at once.
    Spin,
    /// Wait until input arrives, at most this long.
    Sleep(Duration),
}

/// The model's clock.
pub struct Clock {
    pace: Pace,
    began: Moment,
    /// The total time that `skip` has jumped over.
    skipped: Span,
    /// When input last arrived.
    last_input: Moment,
    /// The time without input after which `skip` jumps.
    quiet: Duration,
    /// The last returned time: time never goes back.
    last: Instant,
}

impl Clock {
    /// Begins at zero, now.
    pub fn new(pace: Pace) -> Self {
        let now = Moment::now();
        Clock { pace, began: now, skipped: Span::ZERO, last_input: now, quiet: QUIET, last: Instant::ZERO }
    }

    /// A workload reports its progress: `skip` waits longer for it.
    pub fn is_watched(&mut self) {
        self.quiet = QUIET_WATCHED;
    }

    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The model's time now.
    pub fn now(&mut self) -> Instant {
        let passed = self.began.elapsed().as_nanos() as u64;
        let factor = if let Pace::Times(factor) = self.pace { u64::from(factor) } else { 1 };
        let now = Instant::from_ns(passed.saturating_mul(factor)) + self.skipped;
        self.last = self.last.max(now);
        self.last
    }

    /// The machine's time since the beginning.
    pub fn real(&self) -> Duration {
        self.began.elapsed()
    }

    /// Records that input has arrived.
    pub fn input_arrived(&mut self) {
        if self.pace == Pace::Skip {
            self.last_input = Moment::now();
        }
    }

    /// How to wait for the event at an instant. `is_busy` tells whether a request is in flight.
    pub fn wait(&mut self, due: Option<Instant>, is_busy: bool) -> Wait {
        let Some(due) = due else { return Wait::Sleep(POLL_INTERVAL) };
        let now = self.now();
        if due <= now {
            return Wait::Spin;
        }
        if self.pace == Pace::Skip && is_busy {
            if self.last_input.elapsed() >= self.quiet {
                self.skipped += due - now;
            }
            return Wait::Spin;
        }
        let factor = if let Pace::Times(factor) = self.pace { factor } else { 1 };
        let left = Duration::from_nanos((due - now).as_ns()) / factor;
        match left.checked_sub(SPIN) {
            // No client waits for this event: its consequences get their own due instants, however late we are.
            None if is_busy => Wait::Spin,
            Some(sleep) if !sleep.is_zero() => Wait::Sleep(sleep.min(POLL_INTERVAL)),
            _ => Wait::Sleep(left.min(POLL_INTERVAL)),
        }
    }

    /// Converts a span of model time into machine time.
    pub fn as_real(&self, span: Span) -> Span {
        if let Pace::Times(factor) = self.pace {
            Span::from_ns(span.as_ns() / u64::from(factor))
        } else {
            span
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_what_its_name_says() {
        for name in ["real", "x10", "x1000", "skip", "untimed"] {
            assert_eq!(name.parse::<Pace>().map(|pace| pace.to_string()), Ok(name.to_owned()));
        }
        assert_eq!("x1".parse::<Pace>(), Ok(Pace::Times(1)));
        for wrong in ["", "x", "x0", "x1001", "10x", "fast"] {
            assert!(wrong.parse::<Pace>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn time_never_goes_back_and_skip_jumps_only_where_a_request_waits() {
        let mut clock = Clock::new(Pace::Skip);
        let due = clock.now() + Span::from_s(1_000);
        assert!(matches!(clock.wait(Some(due), false), Wait::Sleep(_)));
        assert!(clock.now() < due);
        while clock.now() < due {
            assert_eq!(clock.wait(Some(due), true), Wait::Spin);
            assert!(clock.real() < Duration::from_secs(5), "it jumps");
        }
        let before = clock.now();
        assert!(clock.now() >= before && before >= due);
    }

    #[test]
    fn real_time_sleeps_until_shortly_before_and_then_polls() {
        let mut clock = Clock::new(Pace::Times(1));
        assert_eq!(clock.wait(None, false), Wait::Sleep(POLL_INTERVAL));
        let soon = clock.now() + Span::from_us(100);
        assert_eq!(clock.wait(Some(soon), true), Wait::Spin);
        let later = clock.now() + Span::from_ms(10);
        let Wait::Sleep(sleep) = clock.wait(Some(later), true) else { panic!("10 ms are no spin") };
        assert!(sleep <= Duration::from_micros(9_850) && sleep > Duration::from_micros(5_000), "{sleep:?}");
        let mut fast = Clock::new(Pace::Times(10));
        let later = fast.now() + Span::from_ms(100);
        let Wait::Sleep(sleep) = fast.wait(Some(later), true) else { panic!("10 ms are no spin") };
        assert!(sleep <= Duration::from_micros(9_850), "{sleep:?}");
    }
}
