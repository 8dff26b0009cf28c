//! The status of a device as text: whether it is sound, the conditions of its drives, the work of its array.
use crate::action::{Action, Kind};
use crate::conditions::{InForce, Slow};
use crate::engine::Engine;
use crate::restart::NOT_STARTED;
use crate::scheduled::DelayedAction;
use drivelab_core::storage::Fault;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::report::{Health, Progress, SyncKind};
use drivelab_units::{Instant, Span, counted};

/// Longer than any session: a hang of this length or more has no end.
pub(crate) const ENDLESS: Span = Span::from_s(1 << 30);

impl Engine {
    /// The status of the device: its clock and requests, then each condition after a semicolon.
    pub(crate) fn status(&self, now: Instant) -> String {
        let since = |at: Instant| at.since(Instant::ZERO);
        let mut text = format!(
            "at {} of the model: {} under way",
            since(now),
            counted(self.orders.len() as u64, "request")
        );
        if let Some(until) = self.model.off_until {
            text += &format!("; the power is off until {}", since(until));
        }
        if self.model.is_stopped {
            text += &format!("; {NOT_STARTED}");
        }
        let drives = self.of_drives(now)
            + &self.conditions.describe(now, &|member| self.name_of(member))
            + &self.between_bursts(now);
        text += &match self.model.target.array() {
            Some(array) => of_array(array, self.model.own(now)) + &self.of_others(array),
            None if !self.model.failed.is_empty() => "; the drive has failed".into(),
            None if drives.is_empty() && self.has_drives() => "; the drive is sound".into(),
            None => String::new(),
        };
        text += &drives;
        let before = self.log.lost_before();
        if before > 0 {
            text += &format!(
                "; {} answered before this session had been lost when it began",
                counted(before, "sector")
            );
        }
        match self.losses.so_far.count().saturating_sub(before) {
            0 => text,
            1 => text + "; 1 answered sector was lost in this session",
            lost => text + &format!("; {lost} answered sectors were lost in this session"),
        }
    }

    /// The drives that are slow in bursts, none of which lasts now.
    fn between_bursts(&self, now: Instant) -> String {
        let next = self.later.iter().filter_map(|(_, later)| match later {
            DelayedAction::Burst(Action {
                kind: Kind::Fault(Fault::Slow { drive, how: Some(how) }, lasting),
                ..
            }) => Some((*drive, Slow { how: *how, lasting: *lasting, since: now })),
            _ => None,
        });
        next.filter(|(member, _)| self.conditions.slow(*member) == InForce::Slow(None))
            .map(|(member, slow)| {
                format!("; {} is slow by {}, not now", self.name_of(member), slow.describe(now))
            })
            .collect()
    }

    fn has_drives(&self) -> bool {
        self.model.target.system().is_some()
    }

    /// What a drive is called: a single one has no number.
    fn name_of(&self, member: u16) -> String {
        match self.model.target.array() {
            None if self.has_drives() => "the drive".into(),
            _ => format!("member {member}"),
        }
    }

    /// The spares and the journal that have failed.
    fn of_others(&self, array: &Array) -> String {
        let others = self.model.failed.range(array.members().count()..);
        others
            .map(|drive| {
                let what = if array.params().is_of_journal(*drive) { "the journal" } else { "the spare" };
                format!("; {what}, drive {drive}, has failed")
            })
            .collect()
    }

    /// The drives that hang, and those with sectors that cannot be read or hold something else than was written.
    fn of_drives(&self, now: Instant) -> String {
        let Some(system) = self.model.target.system() else { return String::new() };
        let (own, mut text) = (self.model.own(now), String::new());
        let is_gone = |drive| match self.model.target.array() {
            Some(array) => array.members().slot_missing(drive).is_some(),
            None => self.model.failed.contains(&drive),
        };
        for (member, drive) in (0..).zip(system.drives()).filter(|(member, _)| !is_gone(*member)) {
            let name = self.name_of(member);
            let hangs = drive.hangs_for(own);
            if hangs >= ENDLESS {
                text += &format!("; {name} hangs");
            } else if !hangs.is_zero() {
                text += &format!("; {name} hangs for another {hangs}");
            }
            let of_media = [
                (drive.unreadable_sectors().get(), "unreadable sector"),
                (self.store.corrupted(member), "corrupted sector"),
            ];
            for (count, what) in of_media.into_iter().filter(|(count, _)| *count > 0) {
                text += &format!("; {name} has {}", counted(count, what));
            }
        }
        text
    }
}

fn of_array(array: &Array, own: Instant) -> String {
    let rebuild = work(array, SyncKind::Rebuild, own);
    let mut text = match (array.health(), &rebuild) {
        (Health::Healthy, _) => "; the array is healthy".into(),
        (Health::Degraded, None) => "; the array is degraded".into(),
        (Health::Degraded, Some(done)) => format!("; the array is degraded; a rebuild is under way, {done}"),
        (Health::Rebuilding, done) => {
            format!("; the array is rebuilding, {}", done.as_deref().unwrap_or("which has not begun"))
        }
        (Health::Broken, _) => "; the array refuses writes".into(),
        (Health::Failed, _) => "; the array has lost data".into(),
    };
    for (kind, does) in [(SyncKind::Resync, "resynchronised"), (SyncKind::Scrub, "scrubbed")] {
        if let Some(done) = work(array, kind, own).filter(|_| array.health() != Health::Failed) {
            text += &format!("; the array is being {does}, {done}");
        }
    }
    match array.bad_blocks().count() {
        0 => {}
        1 => text += "; 1 sector of the array cannot be read until it is written",
        bad => text += &format!("; {bad} sectors of the array cannot be read until they are written"),
    }
    for (slot, member) in array.members().iter() {
        if member.state == MemberState::Missing {
            text += &format!("; member {slot} is missing");
        }
    }
    text
}

/// How far work of a kind has come, and how much longer it takes at its mean rate; `None` where none is under way.
fn work(array: &Array, kind: SyncKind, own: Instant) -> Option<String> {
    let jobs = || array.progress().filter(|job| job.kind == kind && job.ended.is_none());
    let share = drivelab_record::array::under_way(array, kind)?;
    let left = jobs().map(|job| left_of(&job, own)).collect::<Option<Vec<Span>>>();
    let left = left.and_then(|left| left.into_iter().max());
    let left = left.map_or_else(String::new, |left| format!(", about {} left", in_words(left)));
    Some(format!("{:.1} % done{left}", share * 100.0))
}

/// How much longer a job takes at its mean rate until now; `None` where it has done nothing yet.
fn left_of(job: &Progress, own: Instant) -> Option<Span> {
    let rest = job.of.get().saturating_sub(job.before.get() + job.swept.get());
    let passed = own.since(job.began).as_ns();
    let left =
        u128::from(passed) * u128::from(rest) / u128::from(std::num::NonZeroU64::new(job.swept.get())?.get());
    Some(Span::from_ns(u64::try_from(left).unwrap_or(u64::MAX)))
}

/// A length of time with three figures, as a person says it.
pub(crate) fn in_words(span: Span) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s")];
    let seconds = span.as_ns() as f64 / 1e9;
    let unit = UNITS.into_iter().find(|(length, _)| seconds >= 2.0 * length);
    let (length, name) = unit.unwrap_or(if seconds >= 1.0 { (1.0, "s") } else { (1e-3, "ms") });
    let figure = seconds / length;
    let decimals = usize::from(figure < 100.0);
    format!("{figure:.decimals$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Sectors;

    #[test]
    fn a_length_of_time_has_the_unit_that_a_person_takes() {
        for (ns, text) in [
            (0, "0.0 ms"),
            (1_500_000, "1.5 ms"),
            (999_000_000, "999 ms"),
            (1_200_000_000, "1.2 s"),
            (119_000_000_000, "119 s"),
            (120_000_000_000, "2.0 min"),
            (7_100_000_000_000, "118 min"),
            (7_200_000_000_000, "2.0 h"),
            (172_800_000_000_000, "2.0 days"),
        ] {
            assert_eq!(in_words(Span::from_ns(ns)), text);
        }
    }

    #[test]
    fn what_is_left_follows_from_the_mean_rate() {
        let at = |s| Instant::ZERO + Span::from_s(s);
        let sectors = Sectors::new;
        let job = |before, swept, of| Progress {
            kind: SyncKind::Rebuild,
            group: 0,
            began: at(10),
            ended: None,
            is_given_up: false,
            before: sectors(before),
            swept: sectors(swept),
            of: sectors(of),
        };
        assert_eq!(left_of(&job(0, 0, 100), at(20)), None);
        assert_eq!(left_of(&job(0, 25, 100), at(20)), Some(Span::from_s(30)));
        assert_eq!(
            left_of(&job(50, 25, 100), at(20)),
            Some(Span::from_s(10)),
            "what was there before took no time"
        );
        assert_eq!(left_of(&job(0, 100, 100), at(20)), Some(Span::ZERO));
    }
}
