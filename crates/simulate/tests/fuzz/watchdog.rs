//! A scenario that never ends: told by name, where the test would only stand still.
#![expect(
    clippy::disallowed_types,
    reason = "whether a run hangs is a question of real time, and no result depends on it"
)]
#![allow(clippy::print_stderr, reason = "the last words of a test that hangs")]
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A few hundred I/Os take milliseconds: this is no matter of a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

/// Ends the test program when one scenario takes too long.
pub struct Watchdog(Arc<Mutex<Option<(Instant, String)>>>);

impl Watchdog {
    pub fn start() -> Self {
        let shared = Arc::new(Mutex::new(None::<(Instant, String)>));
        let watched = Arc::downgrade(&shared);
        thread::spawn(move || {
            while let Some(shared) = watched.upgrade() {
                if let Some((since, text)) = &*shared.lock().expect("nobody panics with it")
                    && since.elapsed() > LIMIT
                {
                    eprintln!("this scenario does not end:\n{text}");
                    std::process::abort();
                }
                drop(shared);
                thread::sleep(Duration::from_millis(200));
            }
        });
        Watchdog(shared)
    }

    /// From now on this one is run.
    pub fn watch(&self, seed: u64, text: &str) {
        *self.0.lock().expect("nobody panics with it") =
            Some((Instant::now(), format!("seed {seed}\n{text}")));
    }
}
