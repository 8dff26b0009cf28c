//! Members that fail and when, members missing from the start, and the failures that a level tolerates.
use super::array::ArrayContext;
use super::drive_faults::instants;
use super::run::{Run, power_cut};
use crate::check::given;
use crate::keys::At;
use crate::raw::array::{ArrayRaw, FailRaw, LayoutName};
use crate::raw::scenario::TargetRaw;
use crate::text::problem::Log;
use drivelab_core::storage::array::levels::{Kind, LevelName, Uses};
use drivelab_core::storage::array::params::{Failure, Scheduled, When};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_units::{Instant, Span};

/// Drives that fail permanently.
pub fn failures(known: &ArrayContext<'_>, log: &mut Log) -> Vec<Failure> {
    let list = known.faults.and_then(|faults| faults.fail.as_ref());
    let mut found: Vec<Failure> = Vec::new();
    for at in list.into_iter().flat_map(|list| &list.value) {
        let Some(failure) = failure(known, at, log) else { continue };
        let missing = known.raw.missing.iter().flat_map(|list| &list.value);
        let is_missing = missing.map(|at| at.value.0).any(|number| number == u64::from(failure.drive));
        let rebuilt = given(known.raw.rebuilding.as_ref()).unwrap_or(false);
        if found.iter().any(|other| other.drive == failure.drive) {
            log.contradiction(
                at.place,
                format!("drive {} fails twice", failure.drive),
                "keep one of the two",
            );
        } else if is_missing && !rebuilt {
            let message = format!("drive {} is missing from the start, and cannot fail", failure.drive);
            log.contradiction(at.place, message, "leave it out here, or in missing");
        }
        found.push(failure);
    }
    found
}

fn failure(known: &ArrayContext<'_>, at: &At<FailRaw>, log: &mut Log) -> Option<Failure> {
    let raw = &at.value;
    if raw.drive.is_none() && raw.readable("drive") {
        log.fault(at.place, "a failure of no drive", "add the drive's number: drive = 0");
    }
    let when = match (&raw.at, &raw.after) {
        (Some(at), _) => When::At(Instant::ZERO + at.value),
        (_, Some(after)) => When::Commands(after.value.0),
        _ => {
            if raw.readable("at") && raw.readable("after") {
                let remedy = "add at = \"10s\" or after = 1000; what is gone from the start belongs in target.array.missing";
                log.fault(at.place, "a failure at no time", remedy);
            }
            return None;
        }
    };
    let drive = raw.drive.as_ref()?;
    if drive.value.0 >= known.drives() as u64 {
        let message = format!(
            "drive {} is to fail, and the array has {}",
            drive.value.0,
            numbered("drive", known.drives())
        );
        log.contradiction(drive.place, message, "name one of them; spares follow the members");
        return None;
    }
    Some(Failure { drive: drive.value.0 as u16, when })
}

/// `drives 0 to 3`.
fn numbered(what: &str, count: usize) -> String {
    match count {
        1 => format!("{what} 0 alone"),
        count => format!("{what}s 0 to {}", count - 1),
    }
}

/// Members missing from the start: no more than the level tolerates.
pub fn missing(known: &ArrayContext<'_>, log: &mut Log) -> Vec<u16> {
    let mut found: Vec<u16> = Vec::new();
    let Some(list) = &known.raw.missing else { return found };
    for at in &list.value {
        let number = at.value.0;
        if number >= u64::from(known.members) {
            let those = numbered("member", known.members.into());
            let message = format!("member {number} is to be missing, and the array has {those}");
            log.contradiction(at.place, message, "name one of them");
        } else if found.contains(&(number as u16)) {
            log.fault(at.place, format!("member {number} is missing twice"), "name it once");
        } else {
            found.push(number as u16);
        }
    }
    if found.len() == list.value.len() && !Bears::of(known).available_without(&found) {
        let message = format!("{} does not bear it that {} missing", known.level.name(), are(&found));
        log.contradiction(
            list.place,
            message,
            "leave out of the list what it does not bear, or take another level",
        );
    }
    found
}

fn are(members: &[u16]) -> String {
    let names: Vec<String> = members.iter().map(u16::to_string).collect();
    match &names[..] {
        [one] => format!("member {one} is"),
        names => format!("members {} are", names.join(", ")),
    }
}

/// Scheduled background work of the array other than rebuilds.
pub fn scheduled(known: &ArrayContext<'_>) -> Vec<Scheduled> {
    let raw = known.raw;
    if !known.level.uses(Uses::Redundancy) {
        return Vec::new();
    }
    let at = [(SyncKind::Scrub, &raw.scrub_at), (SyncKind::Resync, &raw.resync_at)];
    let of = |(kind, at): (SyncKind, &Option<At<_>>)| {
        at.as_ref().map(|at| Scheduled { kind, at: Instant::ZERO + at.value })
    };
    let at =
        at.into_iter().filter(|(kind, _)| *kind != SyncKind::Resync || known.level.uses(Uses::WriteHole));
    at.filter_map(of).collect()
}

/// Anything scheduled for an instant after the end of the run has no effect.
pub fn check_in_time(target: &TargetRaw, run: &Run, log: &mut Log) {
    let measured = run.limit.duration.map(|duration| run.warmup + duration);
    let cut = power_cut(target);
    // Anything scheduled for the instant of a power cut still happens.
    let dark = cut.as_ref().map(|at| at.value + Span::from_ns(1));
    let end = measured.into_iter().chain(dark).min();
    let array = target.array.as_ref().map(|at| &at.value);
    let uses =
        |raw: &&ArrayRaw, what| raw.level.as_ref().is_some_and(|at: &At<LevelName>| at.value.uses(what));
    let scrubbed = array.filter(|raw| uses(raw, Uses::Redundancy)).map(|raw| ("scrub_at", &raw.scrub_at));
    let resynced = array.filter(|raw| uses(raw, Uses::WriteHole)).map(|raw| ("resync_at", &raw.resync_at));
    let own = scrubbed.into_iter().chain(resynced);
    let list = target.faults.as_ref().and_then(|at| at.value.fail.as_ref());
    let failures = list.into_iter().flat_map(|list| &list.value).map(|at| ("at", &at.value.at));
    let injected = target.faults.iter().flat_map(|at| instants(&at.value)).map(|at| ("at", at));
    let all = own.chain(failures).chain(injected).filter_map(|(key, at)| Some((key, at.as_ref()?, end)));
    for (key, at, end) in all.chain(cut.as_ref().map(|at| ("power_cut", at, measured))) {
        // A served target runs until somebody ends it.
        let Some(end) = end.filter(|end| at.value >= *end && !log.is_served) else {
            log.has_effect(at.place);
            continue;
        };
        let cut = cut.as_ref().filter(|cut| cut.value < end).map(|cut| cut.value);
        let message = format!("`{key}` has no effect: the run is over after {}", cut.unwrap_or(end));
        let longer = if cut.is_some() { "cut the power later" } else { "lengthen run.duration" };
        log.no_effect(at.place, message, format!("{longer}, or set an earlier time"));
    }
}

/// Which members an array can lose without losing data.
#[derive(Clone, Copy, Debug)]
pub struct Bears {
    level: LevelName,
    layout: LayoutName,
    members: usize,
    copies: usize,
    groups: usize,
}

impl Bears {
    pub fn of(known: &ArrayContext<'_>) -> Self {
        let raw = known.raw;
        let members = usize::from(known.members);
        let copies = given(raw.copies.as_ref()).map_or(2, |copies| copies.0 as usize);
        Bears {
            level: known.level,
            layout: given(raw.layout.as_ref()).unwrap_or(LayoutName::Near),
            members,
            copies: if known.level == LevelName::Raid1 { members } else { copies },
            groups: match known.level.uses(Uses::Groups) {
                true => given(raw.groups.as_ref()).map_or(2, |groups| groups.0 as usize),
                false => 1,
            },
        }
    }

    fn parities(&self) -> usize {
        self.level.parities().map_or(0, usize::from)
    }

    /// Whether all data are available without these members.
    pub fn available_without(&self, missing: &[u16]) -> bool {
        let is_missing = |member: usize| missing.iter().any(|&other| usize::from(other) == member);
        let (n, k) = (self.members, self.copies);
        match self.level.kind() {
            _ if missing.is_empty() => true,
            Kind::Concatenated | Kind::Striped => false,
            Kind::Mirrored => missing.len() < n,
            // One stripe set must be complete.
            Kind::MirroredStripes => {
                (0..k).any(|set| (0..n / k).all(|column| !is_missing(set * (n / k) + column)))
            }
            Kind::StripedMirrors => {
                let step = if self.layout == LayoutName::Near { k } else { 1 };
                (0..n).all(|unit| (0..k).any(|copy| !is_missing((unit * step + copy) % n)))
            }
            _ => {
                let each = (n / self.groups).max(1);
                let lost =
                    |group| (group * each..(group + 1) * each).filter(|&member| is_missing(member)).count();
                (0..self.groups).all(|group| lost(group) <= self.parities())
            }
        }
    }

    /// How many failures it tolerates whichever members fail, and how many in the best case.
    pub fn counts(&self) -> [usize; 2] {
        let (n, k) = (self.members, self.copies);
        match self.level.kind() {
            Kind::Concatenated | Kind::Striped => [0, 0],
            Kind::Mirrored => [n - 1, n - 1],
            Kind::MirroredStripes => [k - 1, (k - 1) * (n / k)],
            // Of each group of `copies` neighbours one must be left.
            Kind::StripedMirrors => [k - 1, n - n.div_ceil(k)],
            _ => [self.parities(), self.parities() * self.groups],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_level() -> Vec<Bears> {
        let of = |level, layout, members, copies, groups| Bears { level, layout, members, copies, groups };
        let near = LayoutName::Near;
        let mut all = vec![
            of(LevelName::Jbod, near, 3, 2, 1),
            of(LevelName::Raid1, near, 3, 3, 1),
            of(LevelName::Raid01, near, 6, 2, 1),
            of(LevelName::Raid01, near, 6, 3, 1),
            of(LevelName::Raid5, near, 4, 2, 1),
            of(LevelName::Raid6, near, 6, 2, 1),
            of(LevelName::Raid50, near, 6, 2, 2),
            of(LevelName::Raid60, near, 8, 2, 2),
            of(LevelName::RaidZ3, near, 5, 2, 1),
        ];
        for layout in [near, LayoutName::Far, LayoutName::Offset] {
            for members in 2..=9 {
                all.extend(
                    (2..=members.min(4)).map(|copies| of(LevelName::Raid10, layout, members, copies, 1)),
                );
            }
        }
        all
    }

    #[test]
    fn the_counts_are_those_of_all_sets_of_members() {
        for bears in every_level() {
            let sets = 0u32..1 << bears.members;
            let members = |set: u32| {
                (0..bears.members as u16).filter(|member| set >> member & 1 == 1).collect::<Vec<_>>()
            };
            let borne = |set: u32| bears.available_without(&members(set));
            let least_lost = sets.clone().filter(|&set| !borne(set)).map(u32::count_ones).min().unwrap();
            let most_borne = sets.filter(|&set| borne(set)).map(u32::count_ones).max().unwrap();
            assert_eq!(bears.counts(), [least_lost as usize - 1, most_borne as usize], "{bears:?}");
        }
    }
}
