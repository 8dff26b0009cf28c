//! The queueing protocol of a drive, and the options of each.
use super::workload::INITIATORS;
use crate::keys::numbers::Count;
use crate::keys::read::Example;
use crate::keys::{At, Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::drive::protocol::{QueueErrors, Reordering, TaskSets, UntaggedAs};
use std::fmt::Write;

/// The queueing protocol, which bounds the queue depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    None,
    ScsiTcq,
    AtaTcq,
    Ncq,
    Nvme,
}

choices!(Protocol {
    "none" => Protocol::None, "one command at a time";
    "scsi-tcq" => Protocol::ScsiTcq, "SCSI tagged queueing: task attributes, several initiators";
    "ata-tcq" => Protocol::AtaTcq, "ATA-4 tagged queueing: at most 32 commands, and a round trip before the data of each";
    "ncq" => Protocol::Ncq, "SATA native command queueing: at most 32 commands, with priorities";
    "nvme" => Protocol::Nvme, "NVM Express: at most 65536 commands, in any order";
});

choices!(Reordering {
    "restricted" => Reordering::Restricted, "overlapping commands of one initiator keep their order when one of them writes (0h)";
    "unrestricted" => Reordering::Unrestricted, "simple commands go in any order (1h)";
});

choices!(TaskSets {
    "one" => TaskSets::One, "one for all initiators (000b)";
    "each" => TaskSets::Each, "one for each initiator (001b): attributes, allegiances and `on_error` stay within it";
});

choices!(QueueErrors {
    "continue" => QueueErrors::Continue, "the others go on (QERR 0)";
    "clear-all" => QueueErrors::ClearAll, "all of the task set are cleared (QERR 1)";
    "clear-nexus" => QueueErrors::ClearNexus, "those of the same initiator are cleared (QERR 3)";
});

choices!(UntaggedAs {
    "simple" => UntaggedAs::Simple, "in any order, as the standard says";
    "ordered" => UntaggedAs::Ordered, "after all that came before, before all that comes later, as some drives have it";
});

/// The number of tags of an initiator: of one byte or of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tags(pub u32);

const TAGS: [u32; 2] = [256, 65_536];

impl Read for Tags {
    fn kind() -> Kind {
        Kind::Either(TAGS.map(|tags| Kind::Count { least: tags.into(), most: tags.into() }).to_vec())
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        if let Value::Integer(number) = node.value {
            let tags = TAGS.into_iter().find(|&tags| i128::from(tags) == number);
            if tags.is_none() {
                let remedy = "write 256 (SCSI-2, tags of one byte) or 65536 (later, of two)";
                log.fault(node.place, format!("no SCSI has {number} tags for each initiator"), remedy);
            }
            return tags.map(Tags);
        }
        Count::<256, 65_536>::read(node, log).map(|count| Tags(count.0 as u32))
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
}

/// A host on the bus, by its number.
pub type Initiator = Count<0, { INITIATORS - 1 }>;

impl Example for Initiator {
    const EXAMPLE: &'static str = "[0, 1]";
}

section! {
    facts: true,
    /// Options of `scsi-tcq`, of the drive or as the host sets them.
    pub struct ScsiRaw {
        /// Tags of each initiator.
        tags: Tags = "65536",
        /// The queue algorithm modifier: whether the drive may change the order of commands that overlap.
        reordering: Reordering = "restricted",
        /// TST of the control mode page: the scope of a task set.
        tst: TaskSets = "one",
        /// QERR of the control mode page: the effect of an error on the other commands.
        on_error: QueueErrors = "continue",
        /// TAS of the control mode page: whether commands of other initiators that an error clears end with TASK
        /// ABORTED. If not, the next command of each of these initiators finds a UNIT ATTENTION and must be sent again.
        tas: bool = "false",
        /// The task attribute of a command without a tag.
        untagged: UntaggedAs = "simple",
        /// Whether hosts set NACA: then an error stops the task set until its host has handled it, which takes
        /// `controller.recovery`. Commands that arrive meanwhile get ACA ACTIVE.
        naca: bool = "false",
        /// With `naca`: the hosts that set it. An error of another host's command stops nothing; its commands get BUSY
        /// while one of these has stopped the task set.
        naca_by: Vec<At<Initiator>> = "all",
        /// Whether the drive may disconnect from the bus while it works. If not, it gets one command at a time: the
        /// depth in force is 1, whatever the depth of the drive file.
        disconnects: bool = "true",
    }
}

section! {
    facts: true,
    /// Options of `ncq`.
    pub struct NcqRaw {
        /// Whether the data of one command may come out of order, so that an access may begin in the middle.
        out_of_order: bool = "true",
        /// RDNC of the Deadline Handling subcommand: whether the deadline (`icc`) of a read that passes aborts all
        /// outstanding commands; if not, it has no effect.
        rdnc: bool = "false",
        /// WDNC of the Deadline Handling subcommand: the same for the deadline of a write.
        wdnc: bool = "false",
    }
}
