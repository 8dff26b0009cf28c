//! The work of an array: requests of its hosts, cut into stripe requests, and the members' commands of each.
//!
//! A stripe request is a part of a request that proceeds independently: it waits until nothing older has its
//! blocks, is planned, and goes through phases, one after the other. All commands of a phase are with the
//! members at once; the phase ends with the last of them. A request is done when all its stripe requests are.
use super::members::Spot;
use super::unreadable::UnreadableList;
use crate::command::{Access, Breakdown, Command, Outcome};
use crate::storage::overlap::Claim;
use crate::storage::tree::{NONE, Slot};
use drivelab_units::Instant;

/// A command of a host at the array.
#[derive(Clone, Copy)]
pub struct Request {
    pub command: Command,
    pub submitted: Instant,
    /// Stripe requests that are not done.
    pub stripe_requests: u32,
    pub outcome: Outcome,
}

/// The phases of a stripe request, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// What must be read before anything is written; all of a read.
    Read,
    /// What must be logged before the members are written: journal, partial parity log, bitmap.
    Log,
    Write,
}

impl Phase {
    pub const COUNT: usize = 3;
    pub const ALL: [Phase; Self::COUNT] = [Phase::Read, Phase::Log, Phase::Write];
}

/// On whose behalf a stripe request runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    Request(Slot),
    /// The array's own: rebuild, resync, scrub.
    Background,
    /// The array's own: clears bits of the bitmap.
    Bitmap,
    /// The array's own: frees room in a log.
    Log,
}

/// The current plan of a stripe request.
#[derive(Clone, Copy)]
pub struct Planned {
    /// Commands that have not been sent, by phase, chained through their `next`.
    pub unsent: [Slot; Phase::COUNT],
    pub last_unsent: [Slot; Phase::COUNT],
    /// Some of what it wanted to read could not be read: it is planned anew once its commands are answered.
    pub is_spoilt: bool,
    /// Whether the first answer completes it.
    pub takes_first: bool,
    /// Bytes over which parity is computed before its writes.
    pub computes: u64,
    /// Identifies the plan and the use of its place in the table.
    pub serial: u32,
}

#[derive(Clone, Copy)]
pub struct StripeRequest {
    pub owner: Owner,
    pub access: Access,
    /// Addresses of the array; for the array's own work, the range that contains everything it touches.
    pub first: u64,
    pub end: u64,
    /// The blocks that it must hold exclusively, if any.
    pub claim: Option<Claim>,
    /// Its current phase, while commands of it are with the members.
    pub phase: Phase,
    /// Commands with the members.
    pub pending: u32,
    /// When it arrived, or its last phase ended.
    pub since: Instant,
    /// Sum over all phases so far: in each, the breakdown of the command that ended last.
    pub breakdown: Breakdown,
    pub outcome: Outcome,
    /// The list of what it has found unreadable.
    pub unreadable: UnreadableList,
    /// Whether the bitmap counts it as a writer.
    pub is_marked: bool,
    pub plan: Planned,
    /// The stripe requests that wait until this one is done with its blocks, in a chain through `next_held`.
    pub held: Slot,
    pub next_held: Slot,
}

impl StripeRequest {
    /// Whether it is of a host, and has written its addresses.
    pub fn has_written(&self) -> bool {
        self.access == Access::Write
            && self.outcome == Outcome::Done
            && matches!(self.owner, Owner::Request(_))
    }

    pub fn new(owner: Owner, access: Access, first: u64, end: u64, since: Instant, serial: u32) -> Self {
        StripeRequest {
            owner,
            access,
            first,
            end,
            claim: None,
            phase: Phase::Read,
            pending: 0,
            since,
            breakdown: Breakdown::default(),
            outcome: Outcome::Done,
            unreadable: UnreadableList::NOTHING,
            is_marked: false,
            plan: Planned {
                unsent: [NONE; Phase::COUNT],
                last_unsent: [NONE; Phase::COUNT],
                is_spoilt: false,
                takes_first: false,
                computes: 0,
                serial,
            },
            held: NONE,
            next_held: NONE,
        }
    }

    /// Whether it is a read that has got all its data and has nothing left to do, as nearly all have when
    /// their commands are answered.
    #[inline]
    pub fn is_read_through(&self) -> bool {
        let Planned { unsent, computes, .. } = self.plan;
        self.access == Access::Read
            && self.outcome == Outcome::Done
            && unsent == [NONE; Phase::COUNT]
            && computes == 0
    }

    /// The next phase that it has commands for.
    #[inline]
    pub fn next_phase(&self) -> Option<Phase> {
        Phase::ALL.into_iter().find(|&phase| self.plan.unsent[phase as usize] != NONE)
    }
}

/// A command to a member.
#[derive(Clone, Copy)]
pub struct Op {
    pub id: u64,
    pub stripe_request: Slot,
    pub slot: u16,
    /// The drive that it goes to, while the member is present.
    pub drive: u16,
    pub access: Access,
    pub phase: Phase,
    pub at: u64,
    pub count: u64,
    /// Whether it is with the drive, or queued for it.
    pub is_out: bool,
    /// Sectors that could not be read and are written back with it.
    pub repairs: u32,
    /// The next op in the chain of those to be sent or handed over.
    pub next: Slot,
}

impl Op {
    /// Where on its member it begins.
    #[inline]
    pub fn spot(&self) -> Spot {
        Spot { slot: self.slot, at: self.at }
    }
}
