//! A queue in use at random, for the tests: commands come and go, the arm moves to each choice.
use super::super::super::geometry::{Geometry, GeometryParams, SurfaceOrder, ZoneParams};
use super::super::super::mechanism::{Arm, Mechanism, SettleParams};
use super::super::super::seek::{SeekCurve, SeekParams};
use super::super::*;
use crate::rng::Stream;
use alloc::vec::Vec;
use drivelab_units::{Angle, Lba, Span};
use proptest::prelude::*;
use std::vec;

pub const PERIOD: u64 = 6_000_000;
pub const HEADS: u32 = 3;
/// What the firmware needs at most for a command, and the data before the arm may start.
pub const READY_MAX: u64 = 400_000;
pub const LEAD_MAX: u64 = 600_000;

/// Three heads, one zone of 50 sectors a track.
pub fn mechanism(curve: &SeekParams, cylinders: u32, settle: SettleParams) -> Mechanism {
    let zone = ZoneParams {
        first_cylinder: 0,
        cylinders,
        sectors_per_track: 50,
        track_skew: Angle::from_ratio(1, 10),
        cylinder_skew: Angle::from_ratio(1, 7),
        ..ZoneParams::default()
    };
    let order = SurfaceOrder::Cylinder;
    let params = GeometryParams {
        heads: HEADS,
        order,
        zones: vec![zone],
        patterns: None,
        capacity: None,
        outer_last: 0,
    };
    let geometry = Geometry::new(&params, Span::from_ns(PERIOD)).unwrap();
    Mechanism { geometry, seek: SeekCurve::new(curve, cylinders).unwrap(), settle, scatter: None }
}

/// A command that waits, as the tests keep it beside the slot table.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub slot: SlotIndex,
    pub entry: Entry,
    /// Services begun before it came.
    pub services: u64,
    /// Changes of cylinder before it came.
    pub moves: u64,
}

/// A queue in use: commands come and go at random, the arm moves to each choice.
pub struct Play<'a> {
    pub mechanism: &'a Mechanism,
    pub params: QueueParams,
    pub waiting: Vec<Waiting>,
    pub arm: Arm,
    pub upward: bool,
    pub now: u64,
    pub services: u64,
    pub moves: u64,
    /// Whether some reads have waited elsewhere before they come to the queue.
    pub some_late: bool,
    stream: Stream,
    slots: Slots,
    free: Vec<SlotIndex>,
    arrivals: u64,
}

impl<'a> Play<'a> {
    pub fn new(mechanism: &'a Mechanism, params: QueueParams, seed: u64) -> Self {
        let cylinders = mechanism.geometry.cylinders();
        Play {
            mechanism,
            stream: Stream::named(seed, "test/queue"),
            slots: Slots::new(&params, cylinders, PERIOD),
            free: (0..params.depth).collect(),
            waiting: Vec::new(),
            arm: Arm { cylinder: cylinders / 2, head: 0 },
            upward: true,
            now: 1 << 40,
            services: 0,
            moves: 0,
            some_late: false,
            arrivals: 0,
            params,
        }
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.stream.below(limit)
    }

    /// A cylinder: anywhere, near the arm, or at one of few places, so that ties and full buckets are common.
    fn cylinder(&mut self) -> u32 {
        let cylinders = self.mechanism.geometry.cylinders();
        let anywhere = self.below(cylinders.into()) as u32;
        match self.below(4) {
            0 => (self.arm.cylinder + self.below(20) as u32).min(cylinders - 1),
            1 => self.arm.cylinder.saturating_sub(self.below(20) as u32),
            2 => anywhere / 500 * 500,
            _ => anywhere,
        }
    }

    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// A random command arrives.
    pub fn arrive(&mut self) {
        let cylinder = self.cylinder();
        self.arrive_at(cylinder);
    }

    /// A command for this cylinder arrives, random otherwise.
    pub fn arrive_at(&mut self, cylinder: u32) {
        let write = self.below(3) == 0;
        self.arrive_as(cylinder, write);
    }

    /// A read or write for this cylinder arrives, random otherwise.
    pub fn arrive_as(&mut self, cylinder: u32, write: bool) {
        let longest_wait = if self.below(3) == 0 { self.below(PERIOD + 1) } else { PERIOD };
        let entry = Entry {
            ready: self.now + self.below(2) * self.below(READY_MAX),
            cylinder,
            head: self.below(HEADS.into()) as u32,
            // Coarse, so that equal costs happen.
            start: (self.below(12) * 500_000) as u32,
            longest_wait: longest_wait as u32,
            lead: self.below(2) * self.below(3) * (LEAD_MAX / 2),
            write,
            // Set as it is filed.
            sequence: 0,
            arrived: 0,
        };
        self.arrive_with(entry);
    }

    /// A command for this cylinder at any angle arrives.
    pub fn arrive_anywhere(&mut self, cylinder: u32) {
        let (ready, longest_wait, start) = (self.now, PERIOD as u32, self.below(PERIOD) as u32);
        let (head, write) = (self.below(HEADS.into()) as u32, self.below(3) == 0);
        self.arrive_with(Entry { ready, cylinder, head, start, longest_wait, write, ..Entry::default() });
    }

    fn arrive_with(&mut self, entry: Entry) {
        let at = self.below(self.free.len() as u64) as usize;
        let slot = self.free.swap_remove(at);
        let is_late = self.some_late && !entry.write && self.below(4) == 0;
        let arrived = self.now - if is_late { self.below(60_000_000) } else { 0 };
        let entry = Entry { arrived, sequence: self.arrivals, ..entry };
        let first = u64::from(entry.cylinder) * 150;
        // Ends where no other begins: each is a candidate.
        self.slots.insert(slot, entry, (Lba::new(first), Lba::new(first + 1)));
        self.waiting.push(Waiting { slot, entry, services: self.services, moves: self.moves });
        self.arrivals += 1;
        self.now += self.below(3) * self.below(2_000_000);
    }

    pub fn view(&self) -> View<'_> {
        View {
            mechanism: self.mechanism,
            params: &self.params,
            arm: self.arm,
            upward: self.upward,
            now: self.now,
            turned: self.now % PERIOD,
            period: PERIOD,
            waiting: self.slots.len() as u64,
        }
    }

    pub fn age(&self, waiting: &Waiting) -> u64 {
        self.now - waiting.entry.arrived
    }

    /// Which of those that wait the queue chooses.
    pub fn chosen(&self) -> Option<usize> {
        let slot = choose(&self.slots, &self.view())?;
        self.waiting.iter().position(|waiting| waiting.slot == slot)
    }

    /// Which one the definition says: the limits and how many sort, then the window, then the least cost by looking at
    /// each.
    pub fn defined(&self) -> Option<usize> {
        let (params, oldest) = (&self.params, self.waiting.first()?);
        let old = params.age_limit.is_some_and(|limit| self.age(oldest) >= limit.as_ns());
        let passed = params.pass_limit.is_some_and(|limit| self.services - oldest.services >= limit.into());
        let few = params.sorts_from.is_some_and(|from| self.waiting.len() < from as usize);
        if old || passed || few {
            return Some(0);
        }
        let window = params.considers.map_or(usize::MAX, |window| window as usize);
        let costs = self.waiting.iter().take(window).map(|waiting| self.cost(waiting));
        costs.enumerate().min_by_key(|&(index, cost)| (cost, index)).map(|(index, _)| index)
    }

    pub fn cost(&self, waiting: &Waiting) -> i64 {
        choose::cost(&waiting.entry, &self.view())
    }

    /// The arm carries out one of those that wait.
    pub fn carry_out(&mut self, index: usize) {
        let Waiting { slot, entry: Entry { cylinder, head, .. }, .. } = self.waiting.remove(index);
        self.upward = orders::look::upward_after(self.arm.cylinder, cylinder, self.upward);
        self.moves += u64::from(cylinder != self.arm.cylinder);
        self.slots.remove(slot);
        self.free.push(slot);
        self.begin_service();
        self.arm = Arm { cylinder, head };
        self.now += self.below(12_000_000);
    }

    fn begin_service(&mut self) {
        self.services += 1;
        self.slots.begin_service();
    }

    /// The arm carries out a command that has not waited, where that may go past the others.
    pub fn carry_out_of_turn(&mut self) {
        if !is_overdue(&self.slots, &self.params, self.now) {
            self.begin_service();
            self.now += self.below(1_000_000);
        }
    }

    /// So many steps of a random history; `check` sees what waits and which of it goes, before it goes.
    pub fn play(
        mut self,
        steps: u32,
        mut check: impl FnMut(&Self, usize) -> Result<(), TestCaseError>,
    ) -> Result<(), TestCaseError> {
        for _ in 0..steps {
            let fill = self.below(8) as usize;
            for _ in 0..fill.min(self.free.len()) {
                self.arrive();
            }
            if self.below(6) == 0 {
                self.carry_out_of_turn();
            }
            let chosen = self.chosen();
            prop_assert_eq!(chosen.is_some(), !self.waiting.is_empty());
            if let Some(chosen) = chosen {
                check(&self, chosen)?;
                self.carry_out(chosen);
            }
        }
        Ok(())
    }

    /// Whether the choice is the defined one.
    pub fn check(&self, chosen: usize) -> Result<(), TestCaseError> {
        let defined = self.defined();
        let costs = [Some(chosen), defined].map(|index| index.map(|index| self.cost(&self.waiting[index])));
        prop_assert_eq!(
            Some(chosen),
            defined,
            "{:?} costs {:?}, arm {:?}, {:?}",
            self.params.order,
            costs,
            self.arm,
            [Some(chosen), defined].map(|i| i.map(|i| self.waiting[i]))
        );
        Ok(())
    }
}
