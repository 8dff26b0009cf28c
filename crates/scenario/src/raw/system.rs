//! The path between a workload and its drive: the host's I/O scheduler, the controller; and the faults of the
//! drive.
use super::array::{DriveNumber, FailRaw};
use super::drive_faults::{HangRaw, LieRaw, ResetRaw, SlowRaw, SpotRaw};
use super::identity::IdentityRaw;
use super::link::{BusChoice, Standard};
use super::queue::Depth;
use super::switch::{OrNever, Switch};
use super::write_behind::WriteBehindRaw;
use crate::keys::numbers::Count;
use crate::keys::quantities::{Extent, Offset};
use crate::keys::read::{At, Example, Names, wrong_type};
use crate::keys::{Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::array::levels::LevelName;
use drivelab_core::storage::elevator::ElevatorOrder;
use drivelab_units::{Bytes, Rate, Share, Span};
use std::fmt::Write;

/// The programming interface of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interface {
    Ahci,
    LegacyIde,
    AtaTcq,
    Scsi,
    Nvme,
}

choices!(Interface {
    "ahci" => Interface::Ahci, "shares ncq; two register writes send a command";
    "legacy-ide" => Interface::LegacyIde, "shares no queueing; some eight register writes send a command";
    "ata-tcq" => Interface::AtaTcq, "shares ata-tcq; as legacy-ide, and again for each SERVICE";
    "scsi" => Interface::Scsi, "shares scsi-tcq; the adapter fetches commands by itself";
    "nvme" => Interface::Nvme, "shares nvme; a write of a doorbell sends a command";
});

section! {
    facts: true,
    /// The host's end of the protocol. Controller and drive use what both support: a drive with another protocol than
    /// the controller's gets one command at a time. Without this table the drive's own protocol is used and nothing
    /// costs time.
    pub struct ControllerRaw {
        /// The controller that this one is based on: a name of the catalogue or a path. All keys override its own.
        base: String = "",
        /// The identity of the controller.
        identity: IdentityRaw = "",
        /// Short names for sources, with the full reference of each.
        sources: Names<String> = "",
        /// Its programming interface.
        interface: Interface = "whatever the drive speaks",
        /// The most commands of one initiator outstanding at the drive; with an array that the controller manages,
        /// commands that it works on at once.
        depth: Depth = "as many as the drive holds; no limit for an array",
        /// The most commands outstanding at all its drives together: in an array each member has an equal share, and at
        /// least one.
        total_depth: Depth = "no limit",
        /// The number of drives that can be attached.
        ports: Count<1, 1024> = "no limit",
        /// The RAID levels that it supports, its driver included; an empty list for none.
        raid: Vec<At<LevelName>> = "not known",
        /// The link of its ports: a faster drive negotiates down to it.
        link: PortRaw = "whatever the drive can",
        /// Its host bus.
        bus: BusChoice = "never in the way",
        /// Its write-back cache; false for none.
        cache: Switch<WriteBehindRaw> = "none",
        /// Host time to send a command, one after the other. The defaults are inferred: register accesses of about 1
        /// us, as many as `interface` says.
        issue: Span = "1us for ahci and scsi, 8us for legacy-ide and ata-tcq, 0s without an interface",
        /// Host time to take a completion: the interrupt's registers, on IDE status and bus master too.
        completion: Span = "2us for ahci and scsi, 3us for legacy-ide, 6us for ata-tcq, 0s without an interface",
        /// How often a command is retried after a media error before the error is reported to its host. Timeouts are
        /// not retried: `timeout` is the time of all attempts.
        retries: Count<0, 255> = "0",
        /// How long the host's error handler runs after an error (a read that fails, a deadline that aborts) before it
        /// sends further commands to the drive. It runs for every error of an ATA drive (ncq: reads the log; ata-tcq:
        /// empties the queue; none) and of a SCSI host that sets NACA; without NACA SCSI's sense data come with the
        /// status, and nothing waits.
        recovery: Span = "0s",
        /// The time after which a command at the drive is aborted.
        timeout: Span = "none",
    }
}

section! {
    facts: true,
    /// The ports of a controller, by the name of a standard or by their rate.
    pub struct PortRaw {
        /// The standard that they follow.
        standard: Standard = "",
        /// Their rate, in place of the standard's.
        rate: Rate = "the standard's",
    }
}

/// The order of the host's I/O scheduler, if there is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElevatorName {
    None,
    Of(ElevatorOrder),
}

choices!(ElevatorName {
    "none" => ElevatorName::None, "no I/O scheduler: commands go to the controller as they come";
    "noop" => ElevatorName::Of(ElevatorOrder::Noop), "in order of arrival; neighbours are merged";
    "deadline" => ElevatorName::Of(ElevatorOrder::Deadline), "upward in batches of reads or writes; what has waited its time begins one";
    "c-look" => ElevatorName::Of(ElevatorOrder::CLook), "upward by address, then again from the lowest";
    "fair" => ElevatorName::Of(ElevatorOrder::Fair), "a slice of time for each process (Linux's CFQ, which in addition stops idling for processes that seek)";
});

section! {
    facts: false,
    /// The host's I/O scheduler, one for each initiator; its order alone may be given in place of the table. Defaults
    /// are those of Linux.
    pub struct ElevatorRaw {
        /// The order in which requests are dispatched.
        order: ElevatorName = "deadline",
        /// The most requests outstanding at the controller.
        depth: Depth = "as many as the drive holds under the protocol in force; before an array that a controller keeps as many as all members hold",
        /// The largest merged request; false disables merging.
        merge: Switch<Bytes> = "512KiB",
        /// With `deadline`: the expiry time of a read: then a batch of reads begins with it.
        read_expire: Span = "500ms",
        /// The same for writes.
        write_expire: Span = "5s",
        /// With `deadline`: the most requests in one batch.
        fifo_batch: Count<1, 1000000> = "16",
        /// With `deadline`: the number of read batches that may precede waiting writes.
        writes_starved: Count<0, 1000000> = "2",
        /// With `fair`: the time slice of a process.
        slice_sync: Span = "100ms",
        /// With `fair`: the time slice of all asynchronous writes.
        slice_async: Span = "40ms",
        /// With `fair`: how long the drive idles for a process that is likely to issue another request. With 0s, turns
        /// are counted in requests instead of time.
        slice_idle: Span = "8ms",
        /// With `fair`: the most requests of one process at the controller while others wait.
        quantum: Count<1, 1000000> = "8",
    }
}

/// An I/O scheduler as a table, or by its order alone.
#[derive(Clone, Debug)]
pub struct ElevatorChoice(pub ElevatorRaw);

impl Read for ElevatorChoice {
    fn kind() -> Kind {
        Kind::Either(vec![ElevatorRaw::kind(), ElevatorName::kind()])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Text(_) => {
                let order = ElevatorName::read(node, log).map(|name| At::new(name, node.place))?;
                Some(ElevatorChoice(ElevatorRaw { order: Some(order), ..ElevatorRaw::default() }))
            }
            Value::Table(_) => ElevatorRaw::read(node, log).map(ElevatorChoice),
            _ => {
                wrong_type(node, &Self::kind(), log);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// Part of a drive: its start and its size; of all drives of an array, or of one.
#[derive(Clone, Debug)]
pub struct Stretch {
    pub first: Offset,
    pub count: Extent,
    pub drive: Option<At<u16>>,
}

impl Example for Stretch {
    const EXAMPLE: &'static str = "[[\"1GiB\", \"4KiB\"]]";
}

impl Read for Stretch {
    fn kind() -> Kind {
        let each = Kind::Either(vec![Extent::kind(), DriveNumber::kind()]);
        Kind::List { each: Box::new(each), example: "[\"1GiB\", \"4KiB\"]" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        let (first, count, number) = match &items[..] {
            [first, count] => (first, count, None),
            [first, count, number] => (first, count, Some(number)),
            _ => {
                let remedy = "write [\"where it begins\", \"how much\"], such as [\"1GiB\", \"4KiB\"], and with an array \
                              the number of the drive behind them";
                log.fault(node.place, "a stretch of a drive has two values", remedy);
                return None;
            }
        };
        let (first, count) = (Offset::read(first, log), Extent::read(count, log));
        let drive = match number {
            None => None,
            Some(number) => Some(At::new(DriveNumber::read(number, log)?.0 as u16, number.place)),
        };
        Some(Stretch { first: first?, count: count?, drive })
    }

    fn write(&self, out: &mut String) {
        self.first.write(out);
        out.push('+');
        self.count.write(out);
        if let Some(drive) = &self.drive {
            let _ = write!(out, "@{}", drive.value);
        }
    }
}

section! {
    facts: false,
    /// Faults: of the drive's media, where only reads fail; drives of an array that fail for good; faults
    /// of a drive at an instant; and power cuts.
    pub struct FaultsRaw {
        /// Share of reads that fail although the media are good; each attempt is drawn separately.
        read_errors: Share = "0%",
        /// Unreadable ranges, until they are written: the start and the size of each; then, with an
        /// array, the number of the drive, or nothing for all of them.
        bad_sectors: Vec<At<Stretch>> = "none",
        /// How long the drive retries before it fails a read.
        retry_time: Span = "0s",
        /// Drives of an array that fail for good, each at a time or after so many commands of the hosts.
        fail: Vec<At<FailRaw>> = "none",
        /// Drives that become slow: permanently, gradually, in bursts, or for a share of their commands.
        slow: Vec<At<SlowRaw>> = "none",
        /// Drives that hang for a while.
        hang: Vec<At<HangRaw>> = "none",
        /// Sectors that cannot be read from an instant on, until they are written.
        media: Vec<At<SpotRaw>> = "none",
        /// Sectors that are silently corrupted on the media at an instant.
        corrupt: Vec<At<SpotRaw>> = "none",
        /// Links that are reset.
        reset: Vec<At<ResetRaw>> = "none",
        /// Drives that answer FLUSH at once, although data are dirty in their caches.
        lie: Vec<At<LieRaw>> = "none",
        /// The instant of a power cut: the run ends, and the record lists what is lost. A run of a list of commands
        /// lasts until then.
        power_cut: OrNever = "never",
    }
}

impl FaultsRaw {
    /// The faults that are part of a drive's parameters: none at an instant, except whether sectors will become
    /// unreadable.
    pub fn without_instants(&self) -> Self {
        let (slow, hang, corrupt, reset, lie) = (None, None, None, None, None);
        FaultsRaw { power_cut: None, slow, hang, corrupt, reset, lie, ..self.clone() }
    }

    /// Whether anything here can make a read fail.
    pub fn fails_reads(&self) -> bool {
        let fails = |key| matches!(key, "read_errors" | "bad_sectors" | "retry_time" | "media");
        self.set().iter().any(|(key, _)| fails(*key))
    }

    /// The media faults of one drive of an array, as if it were the only one.
    pub fn of_drive(&self, number: usize) -> Self {
        let own = |stretch: &At<Stretch>| {
            stretch.value.drive.as_ref().is_none_or(|drive| usize::from(drive.value) == number)
        };
        let alone = |stretch: &At<Stretch>| {
            let value = Stretch { drive: None, ..stretch.value.clone() };
            At { value, ..stretch.clone() }
        };
        let bad_sectors = self.bad_sectors.as_ref().map(|list| {
            let value = list.value.iter().filter(|stretch| own(stretch)).map(alone).collect();
            At { value, ..list.clone() }
        });
        FaultsRaw { bad_sectors, fail: None, ..self.without_instants() }
    }
}
