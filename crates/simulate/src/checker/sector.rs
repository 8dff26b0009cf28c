//! What sectors with a common history may hold: which of all writes are certainly overwritten there.
//!
//! A version stands as long as no write that began after its answer has been answered. So little has to be
//! stored for each sector: the latest beginning of an answered write (`bound`: versions answered before that
//! are gone), and the one version that a read has shown to be the last although others of its time were not
//! overwritten (`spared`).
use std::collections::VecDeque;

/// The version that is there before all writes.
pub const INITIAL: u64 = u64::MAX;
pub const NEVER: u64 = u64::MAX;

/// A version that was answered: its write, and the position of the answer in the order of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    pub write: u64,
    pub done: u64,
}

const FIRST: Answered = Answered { write: INITIAL, done: 0 };

/// What was known until an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    until: u64,
    before: Standing,
}

/// Which answered versions are not certainly overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    pub bound: u64,
    pub spared: Option<Answered>,
}

impl Standing {
    pub fn has(&self, version: Answered) -> bool {
        version.done >= self.bound || self.spared.is_some_and(|spared| spared.write == version.write)
    }
}

/// Rare events: power cuts, and data that memories give up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rare {
    /// What was there when everything was read after a cut, and when that was: nothing older comes back.
    settled: Answered,
    floor: u64,
    /// Versions answered before this were given up, or a later one was, and are no longer durable.
    given_up: u64,
    /// Reads that began before this may deliver anything.
    loose_until: u64,
}

const PLAIN: Rare = Rare { settled: FIRST, floor: 0, given_up: 0, loose_until: 0 };

/// The state of sectors that the same writes have touched.
#[derive(Clone, PartialEq, Debug)]
pub struct Sectors {
    /// The version answered last.
    pub last: Answered,
    /// When another version that stands beside it was answered last, if there may be any.
    rival: u64,
    pub now: Standing,
    /// What was known before, for reads that began then; the oldest first.
    #[allow(clippy::box_collection, reason = "most have none, and there are many")]
    past: Option<Box<VecDeque<Step>>>,
    rare: Option<Box<Rare>>,
}

impl Default for Sectors {
    fn default() -> Self {
        let now = Standing { bound: 0, spared: None };
        Sectors { last: FIRST, rival: 0, now, past: None, rare: None }
    }
}

/// The reads under way: when the first of them began, and when the last read of all began.
#[derive(Clone, Copy)]
pub struct Reads {
    pub oldest: u64,
    pub newest: u64,
}

impl Sectors {
    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&PLAIN)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_with(|| Box::new(PLAIN))
    }

    /// The versions that stood when a read began.
    pub fn at(&self, begun: u64) -> Standing {
        let Some(past) = &self.past else { return self.now };
        let at = past.partition_point(|step| step.until <= begun);
        past.get(at).map_or(self.now, |step| step.before)
    }

    /// Before the knowledge changes, the old state is stored for reads under way.
    fn remember(&mut self, now: u64, reads: Reads) {
        let before = self.now;
        if let Some(past) = &mut self.past {
            while past.front().is_some_and(|step| step.until <= reads.oldest) {
                past.pop_front();
            }
        }
        let known = self.past.as_ref().and_then(|past| past.back()).map_or(0, |step| step.until);
        if reads.oldest < now && reads.newest > known {
            self.past.get_or_insert_default().push_back(Step { until: now, before });
        }
        if self.past.as_ref().is_some_and(|past| past.is_empty()) {
            self.past = None;
        }
    }

    /// A write that began then is answered.
    pub fn written(&mut self, version: Answered, begun: u64, reads: Reads) {
        self.remember(version.done, reads);
        self.rival = self.last.done;
        self.last = version;
        self.now.bound = self.now.bound.max(begun);
        self.now.spared = self.now.spared.filter(|spared| spared.done >= begun);
        if self.rival < self.now.bound {
            self.rival = 0;
        }
        if let Some(rare) = &mut self.rare
            && rare.loose_until == NEVER
            && rare.given_up < begun
        {
            rare.loose_until = version.done;
        }
    }

    /// Whether only the last answered version can be there.
    pub fn is_single(&self) -> bool {
        self.rival == 0 && self.now.spared.is_none_or(|spared| spared.write == self.last.write)
    }

    /// A read that began then has shown that this version is the last of those answered before. It may be
    /// overwritten by now, and a read that began later may have shown more.
    pub fn observe_read(&mut self, seen: Answered, begun: u64, now: u64, reads: Reads) {
        if begun <= self.now.bound {
            return;
        }
        self.remember(now, reads);
        let spared = self.now.has(seen).then_some(seen);
        self.now = Standing { bound: begun, spared };
        if self.last.done < begun {
            (self.last, self.rival) = (seen, 0);
        }
    }

    /// Whether a read that began then may deliver anything, because a memory has given up data there.
    pub fn is_loose(&self, begun: u64) -> bool {
        begun < self.rare().loose_until
    }

    /// A memory gives up a version: as long as it may be found, so may older ones, and none of them is
    /// durable.
    pub fn give_up(&mut self, version: Answered, now: u64) {
        let stands = version.done == NEVER || self.now.has(version);
        let done = version.done.min(now);
        let rare = self.rare_mut();
        rare.given_up = rare.given_up.max(done);
        rare.loose_until = if stands { NEVER } else { rare.loose_until.max(now) };
    }

    /// Whether an answered write that is durable by itself still is.
    pub fn keeps(&self, done: u64) -> bool {
        done > self.rare().given_up
    }

    /// Whether a write that began then and was never answered may be there.
    pub fn may_be_torn(&self, begun: u64) -> bool {
        begun >= self.rare().floor
    }

    /// The power was cut: any version may be there that no durable write, the last of which began then, has
    /// overwritten.
    pub fn cut_power(&mut self, durable: u64) {
        let Rare { settled, floor, .. } = *self.rare();
        let spared = (floor > 0 && durable <= floor).then_some(settled);
        (self.now, self.rival) = (Standing { bound: durable.max(floor), spared }, self.last.done);
        self.past = None;
    }

    /// Everything was read after a cut, and this was there: no other version comes back.
    pub fn settle(&mut self, write: u64, now: u64) {
        let settled = Answered { write, done: now };
        let rare = self.rare_mut();
        (rare.settled, rare.floor, rare.loose_until) = (settled, now, 0);
        (self.last, self.rival, self.past) = (settled, 0, None);
        self.now = Standing { bound: now, spared: Some(settled) };
    }

    /// The state for the oldest read under way: versions overwritten before that are no longer examined.
    pub fn oldest(&self) -> Standing {
        self.past.as_ref().and_then(|past| past.front()).map_or(self.now, |step| step.before)
    }
}
