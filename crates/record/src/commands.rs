//! The command log: the traces of the first commands of a run, timestamp by timestamp, and how far the drive
//! changed their order.
//!
//! A command's *arrival rank* is its place in the order in which the drive accepted the logged commands, its
//! *service rank* its place in the order in which the drive started to serve them. The difference is its
//! reorder distance: above zero it was served later than in order of arrival. A command that arrived later
//! and was served earlier has overtaken it.
use crate::overtaking::Overtaking;
use drivelab_core::command::OWN_IDS;
use drivelab_core::{
    Access, Attribute, Breakdown, Command, CommandTrace, Completion, Content, OfMember, Outcome, Priority,
    Served,
};
use drivelab_units::{Instant, Span};
use std::collections::VecDeque;

/// In longer logs the commands that overtook each other are only counted, not listed.
pub const NAMED_MAX: usize = 64;

/// Keeps the traces of the first commands that complete after the warm-up: constant memory, however long the run.
pub struct CommandLog {
    start: Instant,
    room: usize,
    kept: Vec<KeptCommand>,
    /// Traces of commands whose completion has not reached the host yet.
    waiting: VecDeque<CommandTrace>,
    members: Vec<(CommandTrace, OfMember)>,
}

/// Average number of members' commands kept for each host command.
const MEMBERS_EACH: usize = 16;

struct KeptCommand {
    trace: CommandTrace,
    /// When the drive was done with it.
    drive_done: Instant,
    breakdown: Option<Breakdown>,
}

impl CommandLog {
    pub fn new(warmup: Span, commands: u64) -> Self {
        let room = usize::try_from(commands).unwrap_or(usize::MAX);
        let (start, kept, waiting) = (Instant::ZERO + warmup, Vec::new(), VecDeque::new());
        CommandLog { start, room, kept, waiting, members: Vec::new() }
    }

    /// The target has reported a trace. Commands that a cache has issued for itself are not answered to a
    /// host.
    pub fn add_trace(&mut self, trace: CommandTrace) {
        if let Some(member) = trace.member {
            return self.keep_member(trace, member);
        }
        if trace.command.id >= OWN_IDS { self.keep(trace, None) } else { self.waiting.push_back(trace) }
    }

    /// A command is complete for the host. The last of its traces belongs to this completion and gets its
    /// breakdown and instant; those before it are failed attempts.
    pub fn completed(&mut self, completion: &Completion) {
        let is_its = |trace: &CommandTrace| trace.command.id == completion.id;
        let mut last = None;
        while let Some(at) = self.waiting.iter().position(is_its) {
            // A box above the drive may have had it earlier.
            let submitted = completion.submitted;
            let next = self.waiting.remove(at).map(|trace| CommandTrace { submitted, ..trace });
            if let Some(failed) = std::mem::replace(&mut last, next) {
                self.keep(failed, None);
            }
        }
        if let Some(trace) = last {
            self.keep(trace, Some(completion));
        }
    }

    fn keep(&mut self, trace: CommandTrace, completion: Option<&Completion>) {
        // A command that was given up may have been under way to a sector that it never reached.
        let gone = trace.completed;
        let answered = completion.map_or(gone, |completion| completion.completed);
        if answered > self.start && self.kept.len() < self.room {
            let breakdown = completion.map(|completion| completion.breakdown);
            self.kept.push(KeptCommand {
                trace: CommandTrace { completed: answered, ..trace },
                drive_done: gone,
                breakdown,
            });
        }
    }

    /// Keeps a member's command while there is room for any of the hosts'.
    fn keep_member(&mut self, trace: CommandTrace, member: OfMember) {
        let room = self.room.saturating_mul(MEMBERS_EACH);
        if trace.completed > self.start && self.kept.len() < self.room && self.members.len() < room {
            self.members.push((trace, member));
        }
    }

    /// The commands of an array's members, in the order in which they ended.
    pub fn members(&mut self) -> Vec<MemberRecord> {
        let all = std::mem::take(&mut self.members);
        all.iter().map(MemberRecord::new).collect()
    }

    /// The commands in order of arrival.
    pub fn records(mut self) -> Vec<CommandRecord> {
        self.kept
            .sort_by_key(|KeptCommand { trace, .. }| (trace.accepted, trace.submitted, trace.command.id));
        let ranks: Vec<Option<u64>> = self.kept.iter().map(|kept| rank(&kept.trace)).collect();
        let overtaking = Overtaking::of(&ranks);
        let mut records: Vec<CommandRecord> = self.kept.iter().map(CommandRecord::new).collect();
        for (arrival, record) in records.iter_mut().enumerate() {
            record.arrival_rank = arrival as u64;
            let Some(order) = overtaking.order(arrival) else { continue };
            record.service_rank = Some(order.service_rank);
            record.reorder_distance = Some(order.service_rank as i64 - arrival as i64);
            (record.overtaken_by, record.overtook) = (Some(order.overtaken_by), Some(order.overtook));
        }
        if records.len() <= NAMED_MAX {
            let ids: Vec<u64> = records.iter().map(|record| record.id).collect();
            let named = |places: Vec<usize>| places.into_iter().map(|place| ids[place]).collect();
            for (arrival, record) in records.iter_mut().enumerate() {
                record.overtaken_by_ids = Some(named(overtaking.who_overtook(arrival)));
                record.overtook_ids = Some(named(overtaking.whom_overtook(arrival)));
            }
        }
        records
    }
}

/// How many commands the drive had started before this one; `None` if it never started it.
fn rank(trace: &CommandTrace) -> Option<u64> {
    trace.served.by_drive().then_some(trace.rank)
}

/// One command in the record. Timestamps are nanoseconds since the start of the run. Its keys are in
/// `command_columns.rs`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandRecord {
    pub id: u64,
    pub initiator: u16,
    pub logical_unit: u16,
    pub tag: u32,
    pub attempt: u8,
    pub attribute: &'static str,
    pub priority: &'static str,
    /// With an isochronous priority: the time that its host allowed from its arrival.
    pub deadline_ns: Option<u64>,
    pub force_unit_access: bool,
    pub process: u32,
    pub synchronous: bool,
    pub access: &'static str,
    pub first_sector: u64,
    pub sectors: u64,
    pub outcome: &'static str,
    pub served: &'static str,
    pub carried_by: u64,
    pub submitted_ns: u64,
    pub accepted_ns: u64,
    /// The following are null for a command that the drive never started, and for instants that it did not
    /// reach.
    pub chosen_ns: Option<u64>,
    pub begun_ns: Option<u64>,
    pub ended_ns: Option<u64>,
    pub completed_ns: u64,
    pub from_cylinder: Option<u32>,
    pub first_cylinder: Option<u32>,
    pub to_cylinder: Option<u32>,
    pub breakdown_ns: Option<Parts>,
    /// Commands that the drive had started before, logged or not.
    pub rank: Option<u64>,
    pub arrival_rank: u64,
    pub service_rank: Option<u64>,
    pub reorder_distance: Option<i64>,
    pub overtaken_by: Option<u64>,
    pub overtook: Option<u64>,
    pub overtaken_by_ids: Option<Vec<u64>>,
    pub overtook_ids: Option<Vec<u64>>,
}

/// One command of an array's member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemberRecord {
    /// The number of the drive.
    pub drive: u16,
    /// The host's command on whose behalf the array issued it; null for the array's own work.
    pub part_of: Option<u64>,
    /// As for a host's command; the sectors are the drive's.
    pub command: CommandRecord,
}

impl MemberRecord {
    fn new(&(trace, OfMember { drive, part_of, breakdown }): &(CommandTrace, OfMember)) -> Self {
        let kept = KeptCommand { trace, drive_done: trace.completed, breakdown: Some(breakdown) };
        MemberRecord { drive, part_of, command: CommandRecord::new(&kept) }
    }
}

/// The parts of one command's response time, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts {
    pub queue: u64,
    pub overhead: u64,
    pub seek: u64,
    pub rotation: u64,
    pub transfer: u64,
    pub link: u64,
    pub wait: u64,
}

impl From<Breakdown> for Parts {
    fn from(breakdown: Breakdown) -> Self {
        let [queue, overhead, seek, rotation, transfer, link, wait] = breakdown.parts().map(Span::as_ns);
        Parts { queue, overhead, seek, rotation, transfer, link, wait }
    }
}

impl Parts {
    /// In the order of [`Breakdown::PARTS`], which are their keys.
    pub fn values(&self) -> [u64; 7] {
        let Parts { queue, overhead, seek, rotation, transfer, link, wait } = *self;
        [queue, overhead, seek, rotation, transfer, link, wait]
    }
}

impl CommandRecord {
    fn new(KeptCommand { trace, drive_done: gone, breakdown }: &KeptCommand) -> Self {
        let command = &trace.command;
        let turned_to = trace.served.by_drive();
        let reached = |stamp: Instant| (turned_to && stamp <= *gone).then_some(stamp.as_ns());
        // A command that only the buffer served has no position of its own.
        let moved = matches!(trace.served, Served::Chosen | Served::Joined);
        let (priority, deadline) = priority(command.priority);
        CommandRecord {
            id: command.id,
            initiator: command.initiator,
            logical_unit: command.logical_unit,
            tag: command.tag,
            attempt: command.attempt,
            attribute: attribute(command.attribute),
            priority,
            deadline_ns: deadline.map(Span::as_ns),
            force_unit_access: command.force_unit_access,
            process: command.process,
            synchronous: command.synchronous,
            access: access(command),
            first_sector: command.first.get(),
            sectors: command.count.get(),
            outcome: outcome(trace.outcome),
            served: served(trace.served),
            carried_by: trace.carried_by,
            submitted_ns: trace.submitted.as_ns(),
            accepted_ns: trace.accepted.as_ns(),
            chosen_ns: turned_to.then_some(trace.chosen.as_ns()),
            // A head that was there before the firmware's pickup has not waited for it.
            begun_ns: reached(trace.begun.min(trace.ended)),
            ended_ns: reached(trace.ended),
            completed_ns: trace.completed.as_ns(),
            from_cylinder: turned_to.then_some(trace.from_cylinder),
            first_cylinder: moved.then_some(trace.cylinder),
            to_cylinder: turned_to.then_some(trace.to_cylinder),
            breakdown_ns: breakdown.map(Parts::from),
            rank: rank(trace),
            arrival_rank: 0,
            service_rank: None,
            reorder_distance: None,
            overtaken_by: None,
            overtook: None,
            overtaken_by_ids: None,
            overtook_ids: None,
        }
    }
}

fn access(command: &Command) -> &'static str {
    match (command.access, command.content) {
        (Access::Read, _) => "read",
        (Access::Write, Content::Data | Content::AfterReset) => "write",
        (Access::Write, Content::Zeroes) => "write-zeroes",
        (Access::Write, Content::Discarded) => "discard",
        (Access::Flush, _) => "flush",
    }
}

fn attribute(attribute: Attribute) -> &'static str {
    match attribute {
        Attribute::Simple => "simple",
        Attribute::Ordered => "ordered",
        Attribute::HeadOfQueue => "head-of-queue",
        Attribute::Aca => "aca",
        Attribute::Untagged => "untagged",
    }
}

/// The name of a priority, and its time to the deadline.
pub(crate) fn priority(priority: Priority) -> (&'static str, Option<Span>) {
    match priority {
        Priority::Normal => ("normal", None),
        Priority::High => ("high", None),
        Priority::Isochronous(within) => ("isochronous", Some(within)),
        Priority::Limited(index) => (LIMITS.get(usize::from(index)).copied().unwrap_or("limit"), None),
    }
}

/// Names of the priorities with a descriptor of duration limits, by its index.
const LIMITS: [&str; 8] =
    ["limit", "limit-1", "limit-2", "limit-3", "limit-4", "limit-5", "limit-6", "limit-7"];

fn served(served: Served) -> &'static str {
    match served {
        Served::Not => "not",
        Served::Chosen => "chosen",
        Served::Joined => "joined",
        Served::Met => "met",
        Served::Buffered => "buffered",
        Served::Memory => "memory",
    }
}

/// The name of an outcome in the record.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::OutOfRange => "out-of-range",
        Outcome::Unaligned => "unaligned-write",
        Outcome::MediaError => "media-error",
        Outcome::Aborted => "aborted",
        Outcome::Full => "full",
        Outcome::Busy => "busy",
        Outcome::AcaActive => "aca-active",
        Outcome::UnitAttention => "unit-attention",
        Outcome::Invalid => "invalid",
        Outcome::DuplicateTag => "duplicate-tag",
        Outcome::TimedOut => "timed-out",
        Outcome::Unavailable => "unavailable",
        Outcome::Failed => "failed",
        Outcome::Lost => "lost",
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
