//! What stands between a workload and its drive: the host's I/O scheduler, the controller; and what goes wrong in the
//! drive.
use super::array::{DriveNumber, FailRaw, LevelName};
use super::drive::IdentityRaw;
use super::drive_faults::{HangRaw, LieRaw, ResetRaw, SlowRaw, SpotRaw};
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
}

choices!(Interface {
    "ahci" => Interface::Ahci, "shares ncq; two register writes send a command";
    "legacy-ide" => Interface::LegacyIde, "shares no queueing; some eight register writes send a command";
    "ata-tcq" => Interface::AtaTcq, "shares ata-tcq; as legacy-ide, and again for each SERVICE";
    "scsi" => Interface::Scsi, "shares scsi-tcq; the adapter fetches commands by itself";
});

section! {
    facts: true,
    /// The host's end of the protocol. In force is what controller and drive share: a drive with another protocol than
    /// the controller's gets one command at a time. Without this table the drive's own protocol is in force and nothing
    /// costs time.
    pub struct ControllerRaw {
        /// The controller that this one changes: a name of the catalogue or a path. All keys are laid over its own.
        base: String = "",
        /// Which controller it is.
        identity: IdentityRaw = "",
        /// Short names for sources, with the full reference of each.
        sources: Names<String> = "",
        /// Its programming interface.
        interface: Interface = "whatever the drive speaks",
        /// Commands of one initiator that it keeps with the drive at once; with an array that it keeps, commands that it
        /// works on at once.
        depth: Depth = "as many as the drive holds; no limit for an array",
        /// Commands that it keeps with all its drives together: of an array each member has its even share, and at least
        /// one.
        total_depth: Depth = "no limit",
        /// Drives that it has room for.
        ports: Count<1, 1024> = "no limit",
        /// The levels of the arrays that it keeps, its driver included; an empty list for none.
        raid: Vec<At<LevelName>> = "not known",
        /// What its ports can do: a drive that could do more agrees on that.
        link: PortRaw = "whatever the drive can",
        /// The bus of the host that it is made for.
        bus: BusChoice = "never in the way",
        /// Its memory for written data; false for none.
        cache: Switch<WriteBehindRaw> = "none",
        /// Host time to send a command, one after the other. The defaults are inferred: register accesses of about 1 us,
        /// as many as `interface` says.
        issue: Span = "1us for ahci and scsi, 8us for legacy-ide and ata-tcq, 0s without an interface",
        /// Host time to take a completion: the interrupt's registers, on IDE status and bus master too.
        completion: Span = "2us for ahci and scsi, 3us for legacy-ide, 6us for ata-tcq, 0s without an interface",
        /// How often a command is sent again after a media error before its host hears of it. Timeouts are not retried:
        /// `timeout` is the time of all attempts.
        retries: Count<0, 255> = "0",
        /// How long the host's error handler works after an error (a read that fails, a deadline that aborts) before it
        /// sends anything more to the drive. It wakes for every error of an ATA drive (ncq: reads the log; ata-tcq: empties
        /// the queue; none) and of a SCSI host that sets NACA; without NACA SCSI's sense data come with the status, and
        /// nothing waits.
        recovery: Span = "0s",
        /// A command that the drive has held for so long is aborted.
        timeout: Span = "none",
    }
}

section! {
    facts: true,
    /// The ports of a controller, by the name of a standard or by their rate.
    pub struct PortRaw {
        /// The standard that they follow.
        standard: Standard = "",
        /// Their rate, whatever the standard says.
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
    /// The host's I/O scheduler, one for each initiator; its order alone may stand in place of the table. Defaults are
    /// those of Linux.
    pub struct ElevatorRaw {
        /// In which order requests are handed on.
        order: ElevatorName = "deadline",
        /// Requests that it keeps with the controller at once.
        depth: Depth = "as many as the drive holds under the protocol in force; before an array that a controller keeps as many as all members hold",
        /// The largest request that merging makes; false merges nothing.
        merge: Switch<Bytes> = "512KiB",
        /// With `deadline`: how long a read may wait before a batch of reads begins with it.
        read_expire: Span = "500ms",
        /// The same for writes.
        write_expire: Span = "5s",
        /// With `deadline`: most requests in one batch.
        fifo_batch: Count<1, 1000000> = "16",
        /// With `deadline`: how many batches of reads may go before writes that wait.
        writes_starved: Count<0, 1000000> = "2",
        /// With `fair`: the slice of a process.
        slice_sync: Span = "100ms",
        /// With `fair`: the slice of all writes that nobody waits for.
        slice_async: Span = "40ms",
        /// With `fair`: how long the drive is kept for a process that is likely to ask again. With 0s, turns are counted
        /// in requests instead of time.
        slice_idle: Span = "8ms",
        /// With `fair`: most requests of one process with the controller while others wait.
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

/// Part of a drive: where it begins and how much it is; of all drives of an array, or of one.
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
    /// What goes wrong: with the drive's media, where only reads fail; which drives of an array fail for good; what happens
    /// to a drive at an instant; and when the power goes.
    pub struct FaultsRaw {
        /// Share of reads that fail although the media is sound, each attempt for itself.
        read_errors: Share = "0%",
        /// Stretches that no attempt can read before they are written: where each begins, and how much it is; then, with an
        /// array, the number of the drive, or nothing for all of them.
        bad_sectors: Vec<At<Stretch>> = "none",
        /// How long the drive tries again before it gives a read up.
        retry_time: Span = "0s",
        /// Drives of an array that fail for good, each at a time or after so many commands of the hosts.
        fail: Vec<At<FailRaw>> = "none",
        /// Drives that become slow: always, more and more, in bursts, or for a share of their commands.
        slow: Vec<At<SlowRaw>> = "none",
        /// Drives that say nothing for a while.
        hang: Vec<At<HangRaw>> = "none",
        /// Sectors that cannot be read from an instant on, until they are written.
        media: Vec<At<SpotRaw>> = "none",
        /// Sectors that change on the media at an instant, and nobody is told.
        corrupt: Vec<At<SpotRaw>> = "none",
        /// Links that are reset.
        reset: Vec<At<ResetRaw>> = "none",
        /// Drives that answer FLUSH at once, whatever waits in their caches.
        lie: Vec<At<LieRaw>> = "none",
        /// When the power goes: the run ends, and the record says what is lost. A list of commands goes on waiting for it.
        power_cut: OrNever = "never",
    }
}

impl FaultsRaw {
    /// What drives are built with: nothing that happens at an instant, but whether sectors will become unreadable.
    pub fn without_instants(&self) -> Self {
        let (slow, hang, corrupt, reset, lie) = (None, None, None, None, None);
        FaultsRaw { power_cut: None, slow, hang, corrupt, reset, lie, ..self.clone() }
    }

    /// Whether anything here can make a read fail.
    pub fn fails_reads(&self) -> bool {
        let fails = |key| matches!(key, "read_errors" | "bad_sectors" | "retry_time" | "media");
        self.set().iter().any(|(key, _)| fails(*key))
    }

    /// What goes wrong with the media of one drive of an array, as if it were the only one.
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
