//! The duration limits that a host has set in a drive, and a job's priorities by share.
use super::workload::PriorityName;
use crate::keys::read::{Example, wrong_type};
use crate::keys::{At, Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::drive::protocol::{DESCRIPTORS, Exceeded};
use drivelab_units::Span;
use std::fmt::Write;

choices!(Exceeded {
    "complete-earliest" => Exceeded::CompleteEarliest, "the command is done as early as the drive can (0h)";
    "continue-next-limit" => Exceeded::NextLimit, "the guideline of the next descriptor holds, where that is longer (1h)";
    "continue-no-limit" => Exceeded::NoLimit, "the command goes on as one without a limit (2h)";
    "complete-unavailable" => Exceeded::Unavailable, "the command ends without its data, and no other one is affected (Dh)";
    "abort" => Exceeded::Abort, "the command ends with an error, which ncq makes one of the whole queue (Fh)";
});

section! {
    facts: true,
    /// Command duration limits: what a host has set with ATA's log page 18h or SCSI's mode pages T2A and T2B. A command
    /// with the priority `limit-1` has the first descriptor of its direction, and so on. Needs ncq or scsi-tcq.
    pub struct DurationLimitsRaw {
        /// The descriptors of reads, at most seven.
        read: Vec<At<LimitRaw>>= "none",
        /// The descriptors of writes, at most seven.
        write: Vec<At<LimitRaw>> = "none",
    }
}

section! {
    facts: false,
    /// The limits of a command. The drive chooses so that it begins within `inactive` and is done within `guideline`,
    /// whatever that costs the others, unless it cannot.
    pub struct LimitRaw {
        /// From the arrival of the command until the drive begins to work on it.
        inactive: Span = "no limit",
        /// What happens when that is exceeded: complete-earliest, complete-unavailable or abort.
        inactive_policy: Exceeded = "complete-earliest",
        /// From then until it is done.
        active: Span = "no limit",
        /// What happens when that is exceeded: complete-earliest, complete-unavailable or abort.
        active_policy: Exceeded = "complete-earliest",
        /// From the arrival until it is done.
        guideline: Span = "no limit",
        /// What happens when that is exceeded.
        guideline_policy: Exceeded = "complete-earliest",
    }
}

impl Example for LimitRaw {
    const EXAMPLE: &'static str = "[{ guideline = \"50ms\" }]";
    const MOST: usize = DESCRIPTORS;
    const TOO_MANY: &'static str = "ATA and SCSI have seven descriptors for reads and seven for writes";
}

/// Priorities and their percentages; the rest of the commands are normal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrioritySplit(pub Vec<(PriorityName, u32)>);

impl Read for PrioritySplit {
    fn kind() -> Kind {
        let units = "priorities as in priority, whole percentages after a slash; the rest are normal";
        Kind::Quantity { what: "priorities and their percentages", units, example: "limit-2/10:limit-4/20" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        match split(text) {
            Ok(split) => Some(PrioritySplit(split)),
            Err((part, why)) => {
                log.fault(node.place, format!("`{part}`: {why}"), format!("write {}", Self::kind().words()));
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        for (number, (priority, percent)) in self.0.iter().enumerate() {
            out.push_str(if number == 0 { "" } else { ":" });
            priority.write(out);
            let _ = write!(out, "/{percent}");
        }
    }
}

fn split(text: &str) -> Result<Vec<(PriorityName, u32)>, (String, String)> {
    let mut found: Vec<(PriorityName, u32)> = Vec::new();
    for part in text.split(':') {
        let fail = |why: &str| (part.to_owned(), why.to_owned());
        let (name, percent) = part.split_once('/').ok_or_else(|| fail("it has no percentage"))?;
        let priority = PriorityName::named(name.trim()).ok_or_else(|| fail("no priority has this name"))?;
        let percent =
            percent.trim().trim_end_matches('%').parse::<u32>().ok().filter(|percent| *percent <= 100);
        let percent = percent.ok_or_else(|| fail("the percentage is not a whole number from 0 to 100"))?;
        if found.iter().any(|(other, _)| *other == priority) {
            return Err(fail("this priority has a percentage already"));
        }
        found.push((priority, percent));
    }
    let sum: u32 = found.iter().map(|(_, percent)| percent).sum();
    if sum > 100 {
        return Err((text.to_owned(), format!("the percentages add up to {sum}, above 100")));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_is_read_and_written_alike() {
        let found = split("limit-2/10:high/20%").unwrap();
        assert_eq!(found, [(PriorityName::Limit2, 10), (PriorityName::High, 20)]);
        let mut written = String::new();
        PrioritySplit(found).write(&mut written);
        assert_eq!(written, "limit-2/10:high/20");
        for wrong in
            ["", "high", "high/", "high/101", "high/-1", "high/60:normal/41", "high/1:high/2", "low/5"]
        {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }
}
