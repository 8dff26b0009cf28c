//! The two accounts of a run, which must agree to the nanosecond: the integral of the number in the system
//! over the window and the residence times of all I/Os clipped to the window; and likewise each I/O's
//! breakdown and its latency.
use drivelab_core::Breakdown;

/// Limits of the short sums: a latency of a quarter of an hour each, and 2^23 I/Os, make 2^63 ns.
const RECENT_LATENCY_MAX: u64 = 1 << 40;
const RECENT_IOS_MAX: u32 = 1 << 23;

/// The two accounts of a run at its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accounts {
    /// Integral of the number in the system over the window, in nanoseconds.
    pub integral_ns: u128,
    /// Residence times of all I/Os, clipped to the window.
    pub residence_ns: u128,
    /// Latencies of the I/Os that finished in the window.
    pub latency_ns: u128,
    /// The sum of all parts of their breakdowns.
    pub breakdown_ns: u128,
    /// I/Os and FLUSHes whose own breakdown does not add up to their own latency.
    pub mismatches: u64,
}

impl Accounts {
    /// Whether both pairs agree exactly, the second for each I/O.
    pub fn agree(&self) -> bool {
        self.integral_ns == self.residence_ns && self.latency_ns == self.breakdown_ns && self.mismatches == 0
    }
}

/// The number of I/Os in the system, counted in both ways. Instants are nanoseconds.
pub struct InSystem {
    start: u64,
    /// I/Os that have begun and not finished.
    count: u64,
    /// The same number integrated over the window up to `changed`.
    integral: u128,
    changed: u64,
    /// Residence of finished I/Os inside the window.
    residence: u128,
    /// Sum of the begin times (clipped to the window's start) of those still in the system.
    begins: u128,
}

impl InSystem {
    /// For a window that begins at `start`.
    pub fn new(start: u64) -> Self {
        InSystem { start, count: 0, integral: 0, changed: start, residence: 0, begins: 0 }
    }

    #[inline]
    pub fn advance(&mut self, at: u64) {
        if at > self.changed {
            self.integral += u128::from(self.count) * u128::from(at - self.changed);
            self.changed = at;
        }
    }

    /// An I/O enters now.
    #[inline]
    pub fn enter(&mut self, at: u64) {
        self.advance(at);
        self.count += 1;
        self.begins += u128::from(at.max(self.start));
    }

    /// An I/O has entered at an earlier instant.
    pub fn enter_before(&mut self, at: u64) {
        let clipped = at.max(self.start);
        self.advance(at);
        self.integral += u128::from(self.changed.saturating_sub(clipped));
        self.count += 1;
        self.begins += u128::from(clipped);
    }

    /// An I/O that entered at `began` leaves.
    #[inline]
    pub fn leave(&mut self, began: u64, at: u64) {
        self.advance(at);
        self.count -= 1;
        let clipped = began.max(self.start);
        self.begins -= u128::from(clipped);
        self.residence += u128::from(at.saturating_sub(clipped));
    }

    /// The integral up to the last change.
    pub fn integral(&self) -> u128 {
        self.integral
    }

    /// The integral up to an instant before which nothing more changes.
    pub fn integral_until(&self, at: u64) -> u128 {
        self.integral + u128::from(self.count) * u128::from(at.saturating_sub(self.changed))
    }

    /// The residence of all I/Os up to the window's end, including those still in the system.
    pub fn residence_until(&self, end: u64) -> u128 {
        self.residence + u128::from(self.count) * u128::from(end) - self.begins
    }
}

/// Where the time of all I/Os went.
#[derive(Default)]
pub struct Parts {
    all: [u128; 7],
    /// The same for the last few I/Os, in short sums that are faster to add to.
    recent: [u64; 7],
    recent_ios: u32,
    /// I/Os and FLUSHes whose breakdown does not add up to their latency.
    mismatches: u64,
}

impl Parts {
    /// Adds where an I/O's time went.
    #[inline]
    pub fn add(&mut self, breakdown: &Breakdown, latency: u64) {
        let is_whole = breakdown.total().as_ns() == latency;
        self.mismatches += u64::from(!is_whole);
        if !is_whole || latency > RECENT_LATENCY_MAX || self.recent_ios == RECENT_IOS_MAX {
            return self.add_to_all(breakdown);
        }
        self.recent_ios += 1;
        for (sum, part) in self.recent.iter_mut().zip(breakdown.parts()) {
            // Parts up to the latency's bound, this many at most, do not overflow.
            *sum = sum.wrapping_add(part.as_ns());
        }
    }

    #[cold]
    fn add_to_all(&mut self, breakdown: &Breakdown) {
        self.all = self.sums_ns();
        (self.recent, self.recent_ios) = ([0; 7], 0);
        for (sum, part) in self.all.iter_mut().zip(breakdown.parts()) {
            *sum += u128::from(part.as_ns());
        }
    }

    /// Checks a breakdown that is not summed up against its latency.
    pub fn check(&mut self, breakdown: &Breakdown, latency: u64) {
        self.mismatches += u64::from(breakdown.total().as_ns() != latency);
    }

    /// Sums in nanoseconds, in the order of `Breakdown::PARTS`.
    pub fn sums_ns(&self) -> [u128; 7] {
        core::array::from_fn(|part| self.all[part] + u128::from(self.recent[part]))
    }

    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }
}
