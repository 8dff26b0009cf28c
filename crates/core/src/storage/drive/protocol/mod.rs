//! How commands reach the drive: what a protocol permits, what it guarantees, and how an error affects other
//! commands.
//!
//! The protocol in force is the one that controller and drive share. Each is one file that opens with its
//! rules and their source; [`task_set`] enforces the task attributes, [`conflicts`] restricted reordering. The
//! costs of an exchange are in [`ExchangeParams`]. A further protocol is one more variant with its
//! own file.
pub(crate) mod ata_tcq;
pub(crate) mod conflicts;
pub(crate) mod duration;
pub(crate) mod names;
pub(crate) mod ncq;
pub(crate) mod none;
pub(crate) mod nvme;
pub(crate) mod scsi_tcq;
pub(crate) mod task_set;

use crate::command::{Access, Attribute, Command, Outcome, Priority};
use drivelab_units::Span;
pub use duration::{DESCRIPTORS, Descriptor, DurationLimits, Exceeded, TimeLimit};
pub use ncq::NcqParams;
pub use scsi_tcq::{Naca, QueueErrors, Reordering, ScsiParams, TaskSets, UntaggedAs};

/// The protocol in force, with the options in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// No queueing: one command at a time, without a tag.
    #[default]
    None,
    /// SCSI tagged command queueing.
    ScsiTcq(ScsiParams),
    /// ATA tagged command queueing (READ/WRITE DMA QUEUED), with release and service.
    AtaTcq,
    /// SATA native command queueing.
    Ncq(NcqParams),
    /// NVM Express.
    Nvme,
}

/// Which other commands an error clears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clears {
    /// The failed command only.
    Nothing,
    /// All commands that the drive holds.
    All,
    /// Those of the failed command's initiator.
    Nexus,
}

impl Protocol {
    /// Commands that can be distinguished, all initiators together.
    pub fn depth_max(self) -> u32 {
        match self {
            Protocol::None => none::DEPTH_MAX,
            Protocol::ScsiTcq(_) => scsi_tcq::DEPTH_MAX,
            Protocol::AtaTcq => ata_tcq::TAGS,
            Protocol::Ncq(_) => ncq::TAGS,
            Protocol::Nvme => nvme::TAGS,
        }
    }

    /// Tags per initiator, counted from zero.
    pub fn tags(self) -> u32 {
        match self {
            Protocol::None => 1,
            Protocol::ScsiTcq(scsi) => scsi.tags,
            Protocol::AtaTcq => ata_tcq::TAGS,
            Protocol::Ncq(_) => ncq::TAGS,
            Protocol::Nvme => nvme::TAGS,
        }
    }

    /// Whether commands carry tags at all.
    #[inline]
    pub fn is_tagged(self) -> bool {
        self != Protocol::None
    }

    /// Why a command is not one of this protocol's, whatever else is outstanding.
    #[inline]
    pub fn refuses(self, command: &Command, tag: u32) -> Option<Outcome> {
        let allowed = match self {
            Protocol::None => none::allows(command.attribute),
            Protocol::ScsiTcq(_) => true,
            Protocol::AtaTcq => ata_tcq::allows(command.attribute),
            Protocol::Ncq(_) => ncq::allows(command.attribute),
            Protocol::Nvme => nvme::allows(command.attribute),
        };
        let priority = match command.priority {
            Priority::Normal => true,
            Priority::High | Priority::Isochronous(_) => matches!(self, Protocol::Ncq(_)),
            Priority::Limited(_) => self.has_duration_limits(),
        };
        let tag = self == Protocol::None || tag < self.tags();
        (!(allowed && priority && tag)).then_some(Outcome::Invalid)
    }

    /// Whether commands may have duration limits.
    #[inline]
    pub fn has_duration_limits(self) -> bool {
        matches!(self, Protocol::ScsiTcq(_) | Protocol::Ncq(_))
    }

    /// Whether a command must run alone in the drive: one without a tag, where tags are the rule (ATA); FLUSH
    /// CACHE is not one of ATA's queued commands.
    #[inline]
    pub fn is_alone(self, command: &Command) -> bool {
        let untagged = command.attribute == Attribute::Untagged || command.access == Access::Flush;
        untagged && matches!(self, Protocol::AtaTcq | Protocol::Ncq(_))
    }

    /// The attribute that determines a command's position in the task set.
    #[inline]
    pub fn acts_as(self, attribute: Attribute) -> Attribute {
        match (self, attribute) {
            (Protocol::ScsiTcq(scsi), Attribute::Untagged) => scsi.untagged.acts_as(),
            (_, Attribute::Untagged) => Attribute::Simple,
            (_, attribute) => attribute,
        }
    }

    /// Whether overlapping commands of an initiator keep their order of arrival when one of them writes.
    pub fn keeps_overlaps(self) -> bool {
        matches!(self, Protocol::ScsiTcq(ScsiParams { reordering: Reordering::Restricted, .. }))
    }

    /// Which other commands a failed command clears.
    pub fn clears(self) -> Clears {
        match self {
            Protocol::None | Protocol::Nvme => Clears::Nothing,
            Protocol::ScsiTcq(scsi) => scsi.clears(),
            Protocol::AtaTcq | Protocol::Ncq(_) => Clears::All,
        }
    }

    /// Whether nothing begins between an error and the host's reaction to it; in any task set, which is
    /// simpler than the standard.
    pub fn stops_at_error(self) -> bool {
        self.clears() != Clears::Nothing || self.leaves_any_allegiance()
    }

    /// Whether an error of this initiator leaves an auto contingent allegiance.
    pub fn leaves_allegiance(self, initiator: u16) -> bool {
        matches!(self, Protocol::ScsiTcq(scsi) if scsi.naca.is_set_by(initiator))
    }

    /// Whether an error of any initiator leaves an auto contingent allegiance.
    pub fn leaves_any_allegiance(self) -> bool {
        matches!(self, Protocol::ScsiTcq(scsi) if scsi.naca.is_set())
    }

    /// Whether each initiator has a task set of its own.
    pub fn keeps_sets_apart(self) -> bool {
        matches!(self, Protocol::ScsiTcq(ScsiParams { task_sets: TaskSets::Each, .. }))
    }

    /// Whether the host's error handler runs after an error before anything is resent: it does unless the
    /// sense data come with the status (SCSI without NACA, NVMe), on which the host then acts at once.
    pub fn wakes_error_handler(self, initiator: u16) -> bool {
        !matches!(self, Protocol::ScsiTcq(_) | Protocol::Nvme) || self.leaves_allegiance(initiator)
    }

    /// Whether the data of one command may reach the host out of address order.
    #[inline]
    pub fn delivers_out_of_order(self) -> bool {
        matches!(self, Protocol::Ncq(NcqParams { out_of_order: true, .. }))
    }

    /// Whether the drive disconnects while it works on this command. `continues`: it is a read whose data follow those of
    /// a read that the drive is still working on.
    #[inline]
    pub fn releases(self, command: &Command, continues: bool) -> bool {
        let tagged = command.attribute != Attribute::Untagged;
        match self {
            Protocol::None | Protocol::Ncq(_) | Protocol::Nvme => false,
            Protocol::AtaTcq => tagged && !continues,
            Protocol::ScsiTcq(scsi) => scsi.disconnects,
        }
    }
}

/// The costs of the exchanges between drive and host, apart from the data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExchangeParams {
    /// Disconnects from the bus once it has accepted a command that needs the mechanism: ATA's release,
    /// SCSI's disconnection.
    pub release: Span,
    /// Reselects before the data: ATA's SERVICE round trip, SCSI's arbitration and reselection.
    pub service: Span,
    /// What a bridge to another interface adds to every message in either direction.
    pub bridge: Span,
}

impl ExchangeParams {
    /// From the command's arrival until the drive has disconnected.
    #[inline]
    pub fn released(&self) -> Span {
        self.release + self.bridge
    }

    /// From the drive's reselection until its data can be transferred: its request, and the host's answer.
    #[inline]
    pub fn serviced(&self) -> Span {
        self.service + self.bridge + self.bridge
    }
}
