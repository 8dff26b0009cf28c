//! The queue of a drive, as typed in a drive file or, laid over it, in a scenario.
use super::protocol::{NcqRaw, Protocol, ScsiRaw};
use crate::keys::numbers::{Count, Decimal};
use crate::keys::{choices, section};
use drivelab_core::storage::drive::queue::{Chooses, DEPTH_MAX, Joins, Knows, Order};
use drivelab_units::Span;

choices!(Order {
    "fcfs" => Order::Fcfs, "first come, first served";
    "sstf" => Order::Sstf, "shortest seek first";
    "look" => Order::Look, "up and down over the cylinders, like a lift";
    "c-look" => Order::CLook, "upward only, then back to the lowest";
    "vscan" => Order::VScan, "the nearest, where turning round counts `scan_weight` of all cylinders";
    "sptf" => Order::Sptf, "shortest positioning time first: seek and rotation together";
    "aged-sptf" => Order::AgedSptf, "sptf less a credit for the time waited";
    "share-aged-sptf" => Order::ShareAgedSptf, "sptf less a credit for the time waited that all who wait divide among them";
    "weighted-sptf" => Order::WeightedSptf, "sptf scaled down with the time waited, to nothing at `age_full`";
    "read-first-sptf" => Order::ReadFirstSptf, "reads by sptf, then writes by sptf; writes past `write_deadline` first";
    "firmware" => Order::Firmware, "positioning time as far as known, less a credit for the time waited if set";
});

choices!(Knows {
    "distance" => Knows::Distance, "seek time by distance";
    "angle" => Knows::Angle, "the angle of the platter too";
});

choices!(Chooses {
    "at-media-end" => Chooses::AtMediaEnd, "as the media transfer ends";
    "after-answer" => Chooses::AfterAnswer, "only after the host could answer the completion";
    "at-completion" => Chooses::AtCompletion, "as the completion goes out, after the link is done";
});

choices!(Joins {
    "never" => Joins::Never, "each command by itself";
    "before-start" => Joins::BeforeStart, "if it is there before the arm starts";
    "until-end" => Joins::UntilEnd, "while the media transfer runs";
});

/// Commands in a queue.
pub type Depth = Count<1, { DEPTH_MAX as u64 }>;

section! {
    facts: true,
    /// A drive's queue. In a scenario, `target.queue` is laid over the drive's own.
    pub struct QueueRaw {
        /// How commands reach the drive. `none` implies depth 1 and order fcfs unless they are set beside it.
        protocol: Protocol = "none",
        /// Commands that the drive holds at once, the one in service included.
        depth: Depth = "1 for none, 32 for ncq and ata-tcq, 64 for scsi-tcq",
        /// In which order the waiting commands are served.
        order: Order = "fcfs for none, sptf for the others",
        /// What the drive knows of a command's place when it chooses by an order that counts rotation.
        knows: Knows = "angle",
        /// When the drive chooses the next command.
        chooses: Chooses = "at-media-end",
        /// With `after-answer`: how long after a media transfer the drive waits for the host's answer.
        answer_time: Span = "0s",
        /// How many waiting commands it looks at, oldest first.
        considers: Depth = "all",
        /// How many must wait before it goes by its order; fewer are served as they came.
        sorts_from: Depth = "1: always",
        /// What the firmware takes, each time it chooses, for each waiting command that it looks at.
        look_time: Span = "0s",
        /// Added to the cost of a write: how much longer a read may take to reach and still go first. Needs an order
        /// whose cost is a time.
        write_handicap: Span = "0s",
        /// How much earlier than needed a write is planned to arrive at its sector.
        write_margin: Span = "0s",
        /// The same for a read: the firmware's guard against an arm that comes late.
        read_margin: Span = "0s",
        /// Until when a read that begins where the one in service ends is carried out with it in one sweep.
        joins_reads: Joins = "never",
        /// The same for writes.
        joins_writes: Joins = "never",
        /// A command this old goes before any younger one.
        age_limit: Span = "none",
        /// A command goes before any younger one once so many others have been begun since it came, older ones included:
        /// below the depth in use this is fcfs.
        pass_limit: Count<1, 1000000> = "none",
        /// With `aged-sptf` and `firmware`: credit for each unit of time waited.
        age_weight: Decimal<0, 1000> = "0.006 for aged-sptf, 0 for firmware",
        /// With `share-aged-sptf`: credit for each unit of time waited, divided by the number of commands that wait.
        age_share: Decimal<0, 1000> = "1.5",
        /// With `weighted-sptf`: the age at which a command goes first.
        age_full: Span = "1s",
        /// With `read-first-sptf`: the age from which on a write goes before the reads.
        write_deadline: Span = "5s",
        /// With `vscan`: which part of all cylinders turning round counts, from 0 (the nearest) to 1 (look).
        scan_weight: Decimal<0, 1> = "0.2",
        /// How many completions it holds back and reports together: when so many are done, or when nothing is left to
        /// do.
        coalesces: Count<1, 65534> = "1: each by itself",
        /// With `scsi-tcq` and `ata-tcq`: what the drive takes to let go of the bus once a command that needs the
        /// mechanism has come.
        release_time: Span = "0s",
        /// With `scsi-tcq` and `ata-tcq`: what it takes to take the bus up again before the data: reselection, or the
        /// round trip of SERVICE.
        service_time: Span = "0s",
        /// Options of `scsi-tcq`.
        scsi: ScsiRaw = "the usual ones",
        /// Options of `ncq`.
        ncq: NcqRaw = "the usual ones",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Kind, Read};

    #[test]
    fn every_order_has_its_name() {
        let Kind::Choice(names) = Order::kind() else { panic!() };
        assert_eq!(names.len(), Order::ALL.len());
        for order in Order::ALL {
            let mut name = String::new();
            order.write(&mut name);
            assert!(names.iter().any(|(known, _)| *known == name), "{order:?}");
        }
    }
}
