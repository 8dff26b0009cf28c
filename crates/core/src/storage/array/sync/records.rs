//! Going over the records of a RAID-Z pool: a resilver, and a scrub.
//!
//! The job counts places, so that members are read and written upward however often records have moved, and passes over
//! those at which nothing lies: OpenZFS, which finds its blocks by their trees, sorts them by address before it reads any.
//! A window is so many records as bring `request` sectors of each member. A rebuild leaves out what was written since the
//! new member came, because its column was written then.
//!
//! Hosts write while the pool is gone over, and no window holds their records back: what is written anew goes to another
//! place. The places of a window are pinned until it is done. What was planned before the new member came does not bring
//! it anything; a window waits for such writes to its places, and goes over them like over all others.
//! Source: OpenZFS, dsl_scan.c ("scan queue sorting"). Not modelled: blocks of metadata, and the memory that sorting takes.
use super::super::layout::raidz::Column;
use super::super::layout::{Layout, Stretch};
use super::super::report::SyncKind;
use super::super::stripe_request::Phase;
use super::job::{Job, Stage, Target};
use super::plan::Part;
use super::{Array, Context};
use crate::command::Access;
use crate::storage::tree::Slot;

impl Array {
    /// Whether a target of a job has a column of what lies at a place, and does not have it yet.
    fn lacks(&self, target: &Target, place: u64) -> Option<usize> {
        let pool = self.pool();
        if target.until <= place || pool.births().knows(place, target.slot) {
            return None;
        }
        let index = pool.map().column_on(place * pool.map().taken(), target.slot)?;
        let column = pool.column(place, index);
        (!self.members.can_read(column.spot(), column.count)).then_some(index)
    }

    /// Whether a place is to be gone over, if a record lies there: for a scrub whatever can be read at all.
    fn is_wanted(&self, job: &Job, place: u64) -> bool {
        if job.kind == SyncKind::Rebuild {
            return job.targets.iter().any(|target| self.lacks(target, place).is_some());
        }
        !self.is_record_lost(place)
    }

    /// What a job's next window is to go over.
    pub(super) fn next_stretch(&self, at: usize) -> Option<Stretch> {
        let job = &self.sync.jobs[at];
        match &self.layout {
            Layout::RaidZ(pool) => pool.stretch(job.next, job.step, |place| self.is_wanted(job, place)),
            _ => {
                let (first, end) = (job.next, (job.next + job.step).min(job.end));
                (first < end).then_some(Stretch { first, end, count: end - first })
            }
        }
    }

    /// A host's write that began before a new member came, and goes to a place of this window: it is gone over when that is
    /// done.
    pub(in super::super) fn writer_in(&mut self, stripe_request: Slot) -> Option<Slot> {
        let ticket = self.sync.tickets[stripe_request as usize];
        let (at, to) = self.sync.window(ticket).map(|window| (window.at, window.to))?;
        let job = &self.sync.jobs[ticket.job];
        if job.kind != SyncKind::Rebuild || job.stage == Stage::Flushing {
            return None;
        }
        self.pool().writer_to(at..to, |place| self.is_wanted(job, place))
    }

    /// Goes over the records of a window: reads all there is of them, and writes what the new members lack.
    pub(super) fn go_over_records(&mut self, context: &mut Context, part: Part) {
        let Part { ticket, stripe_request, at, to, .. } = part;
        self.pool_mut().pin(stripe_request, at..to);
        let avoids = self.sync.window(ticket).map(|window| core::mem::take(&mut window.avoids));
        let avoids = avoids.unwrap_or_default();
        let mut next = at;
        while let Some(place) = self.next_record(part, next) {
            next = place + 1;
            if !self.go_over_record(context, part, place, &avoids) {
                break;
            }
            if self.next_record(part, next) == Some(next) {
                self.pass_over_rest(stripe_request, place);
            }
        }
        if let Some(window) = self.sync.window(ticket) {
            window.avoids = avoids;
        }
        if part.kind != SyncKind::Rebuild {
            self.stripe_requests.get_mut(stripe_request).computes = 0;
        }
    }

    /// The next place of a window at which a record lies that is to be gone over.
    fn next_record(&self, part: Part, from: u64) -> Option<u64> {
        let job = &self.sync.jobs[part.ticket.job];
        let pool = self.pool();
        let lies = |&place: &u64| pool.record_at(place).is_some() && self.is_wanted(job, place);
        pool.taken_from(from).take_while(|&place| place < part.to).find(lies)
    }

    /// Whether the window can go on.
    fn go_over_record(&mut self, context: &mut Context, part: Part, place: u64, avoids: &[u16]) -> bool {
        let Part { ticket, stripe_request, .. } = part;
        let can_read = |array: &Array, column: &Column| {
            !avoids.contains(&column.slot) && array.can_read_column(place, column)
        };
        let (pool, map) = (self.pool(), *self.pool().map());
        let columns = (0..map.columns()).map(|index| pool.column(place, index));
        let unreadable = columns.filter(|column| !can_read(self, column)).count();
        if unreadable > map.parities().into() {
            let size = pool.record();
            if let Some(record) = pool.record_at(place).filter(|_| !avoids.is_empty()) {
                self.lose_range(context, 0, record * size, size);
            } else if part.kind == SyncKind::Rebuild {
                self.sync.jobs[ticket.job].stop_at(place);
                return false;
            }
            return true;
        }
        let old = self.read_whole_record(context, stripe_request, place, can_read);
        for i in 0..self.sync.jobs[ticket.job].targets.len() {
            let target = self.sync.jobs[ticket.job].targets[i];
            if let Some(index) = self.lacks(&target, place) {
                let column = self.pool().column(place, index);
                let write = self.add(
                    context,
                    stripe_request,
                    Phase::Write,
                    Access::Write,
                    column.spot(),
                    column.count,
                );
                self.make_column(context, write, &old, index);
            }
        }
        // What could not be read goes back to its members.
        for index in (0..map.columns()).filter(|_| !avoids.is_empty()) {
            let column = self.pool().column(place, index);
            if avoids.contains(&column.slot) && self.can_read_column(place, &column) {
                let write = self.repair(stripe_request, column.spot(), column.count);
                self.make_column(context, write, &old, index);
            }
        }
        true
    }

    /// Places in a job's numbers as sectors of a member.
    pub(super) fn sectors_of(&self, numbers: u64) -> u64 {
        if let Layout::RaidZ(pool) = &self.layout { pool.share_of(numbers) } else { numbers }
    }
}
