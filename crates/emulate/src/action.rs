//! Actions on a device while it is served, and how a trace records them.
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::{Cure, Fault, Slowness, TargetInput};
use drivelab_trace::formats::native::{Injected, InjectedKind};
use drivelab_units::{Instant, Lba, SECTOR_BYTES, Sectors, Share, Span};
use serde::{Deserialize, Serialize};

/// Every corrupted sector has its own content in memory afterwards: 32 MiB at most.
const CORRUPT_MAX: u64 = 65_536;
const MILLION: u32 = 1_000_000;
/// The largest multiple of the time that a slow member takes.
const FACTOR_MAX: u32 = 1_000;
/// The longest time that an action takes: with it the model's clock does not overflow.
const LASTS_MAX: Span = Span::from_s(366 * 24 * 3_600);
/// A time that is longer than any session.
const FOR_GOOD: Span = Span::from_s(1 << 32);

/// The kind of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Sectors of a member cannot be read until they are written.
    Media,
    /// The media content of these sectors changes silently.
    Corrupt,
    /// A member starts each command later.
    Slow,
    /// A member does not respond for a time.
    Hang,
    /// The link to a member is reset.
    Reset,
    /// A member completes FLUSH at once, whatever its cache holds.
    Lie,
    /// A member completes FLUSH correctly again.
    Honest,
    /// A member fails permanently.
    Fail,
    /// A new drive replaces a failed one.
    Replace,
    /// The power is cut, and returns.
    PowerCut,
    /// The array begins a scrub: it compares the contents of its members.
    Scrub,
    /// The array begins to rebuild a missing member.
    Rebuild,
    /// An array that was not started after a power cut, because it was dirty and degraded, starts.
    Start,
    /// No action: reports the status of the device.
    Status,
}

impl Kind {
    /// The key of `target.faults` in a scenario.
    pub fn key(self) -> &'static str {
        match self {
            Kind::Media => "media",
            Kind::Corrupt => "corrupt",
            Kind::Slow => "slow",
            Kind::Hang => "hang",
            Kind::Reset => "reset",
            Kind::Lie | Kind::Honest => "lie",
            Kind::PowerCut => "power_cut",
            Kind::Fail | Kind::Replace => "fail",
            Kind::Scrub | Kind::Rebuild | Kind::Start | Kind::Status => "",
        }
    }
}

/// A request of the control socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    pub action: Kind,
    #[serde(default)]
    pub member: u16,
    /// First sector of the member.
    #[serde(default)]
    pub lba: Option<u64>,
    #[serde(default)]
    pub sectors: Option<u64>,
    /// The action is undone after this time.
    #[serde(default)]
    pub for_ns: Option<u64>,
    /// The delay of a slow member; zero ends it.
    #[serde(default)]
    pub by_ns: Option<u64>,
    /// The delay grows linearly to its full value over this time.
    #[serde(default)]
    pub over_ns: Option<u64>,
    /// The share of the commands that are delayed, per million.
    #[serde(default)]
    pub share_ppm: Option<u32>,
    /// The period of bursts, from start to start.
    #[serde(default)]
    pub every_ns: Option<u64>,
    /// Everything takes the member this many times as long; 1 ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<u32>,
    /// The power goes at a random instant while a write is under way.
    #[serde(default, skip_serializing_if = "is_not_set")]
    pub during_write: bool,
    /// Whether the scenario has scheduled the action; all others come from a user.
    #[serde(skip_deserializing, skip_serializing_if = "is_not_set")]
    pub scenario: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_not_set(set: &bool) -> bool {
    !set
}

impl Action {
    /// An action on member 0 without an end.
    pub const fn of(action: Kind) -> Self {
        Action {
            action,
            member: 0,
            lba: None,
            sectors: None,
            for_ns: None,
            by_ns: None,
            over_ns: None,
            share_ppm: None,
            every_ns: None,
            factor: None,
            during_write: false,
            scenario: false,
        }
    }

    /// Checks whether the parameters of the action fit its kind.
    ///
    /// # Errors
    /// What is wrong, in one sentence with a remedy.
    pub fn check(&self) -> Result<(), String> {
        let is_of_all =
            matches!(self.action, Kind::PowerCut | Kind::Scrub | Kind::Rebuild | Kind::Start | Kind::Status);
        if is_of_all && self.member > 0 {
            return Err(
                "--member: power-cut, scrub, rebuild, start and status are of the whole device: leave it out"
                    .into(),
            );
        }
        let has_range = self.lba.is_some() || self.sectors.is_some();
        let takes_range = matches!(self.action, Kind::Media | Kind::Corrupt);
        if takes_range && (self.lba.is_none() || self.sectors.is_none_or(|count| count == 0)) {
            return Err("media and corrupt take --lba and --sectors: the sectors of the member".into());
        }
        if !takes_range && has_range {
            return Err("--lba and --sectors are for media and corrupt alone: leave them out".into());
        }
        if self.action == Kind::Corrupt && self.sectors.is_some_and(|count| count > CORRUPT_MAX) {
            return Err(format!(
                "--sectors: corrupt takes at most {CORRUPT_MAX} at a time, whose bytes are drawn anew"
            ));
        }
        let takes_for =
            matches!(self.action, Kind::Lie | Kind::Fail | Kind::PowerCut | Kind::Slow | Kind::Hang);
        if self.for_ns.is_some() && !takes_for {
            return Err(
                "--for is for lie, fail, power-cut, slow and hang alone: nothing else ends by itself".into(),
            );
        }
        if self.during_write && self.action != Kind::PowerCut {
            return Err("--during-write is for power-cut alone: leave it out".into());
        }
        let times = [("--for", self.for_ns), ("--over", self.over_ns), ("--every", self.every_ns)];
        let is_long = |time: &Option<u64>| time.is_some_and(|time| time > LASTS_MAX.as_ns());
        if let Some((option, _)) = times.iter().find(|(_, time)| is_long(time)) {
            return Err(format!("{option}: the longest time is 366 days, {LASTS_MAX}: give a shorter one"));
        }
        let says_how = self.by_ns.is_some() || self.over_ns.is_some() || self.share_ppm.is_some();
        match self.action {
            Kind::Slow if self.factor.is_some() && says_how => {
                return Err("--factor: it is of the whole time; leave --by, --over and --share out".into());
            }
            Kind::Slow if self.factor.is_some_and(|factor| !(1..=FACTOR_MAX).contains(&factor)) => {
                return Err(format!("--factor: how many times as long, up to {FACTOR_MAX}; 1 ends it"));
            }
            Kind::Slow if self.by_ns.is_none() && self.factor.is_none() => {
                return Err("slow takes --by, how much later each command is taken up (--by 0s ends it), or --factor, how \
                            many times as long everything takes (--factor 1 ends it)"
                    .into());
            }
            Kind::Slow if self.over_ns.is_some() && self.share_ppm.is_some() => {
                return Err("--over and --share: slow takes one of the two; leave the other out".into());
            }
            Kind::Slow if self.share_ppm.is_some_and(|share| share == 0 || share > MILLION) => {
                return Err("--share is of commands: more than 0 and at most 100%".into());
            }
            Kind::Slow
                if self.every_ns.is_some_and(|every| self.for_ns.is_none_or(|lasts| lasts >= every)) =>
            {
                return Err("--every: bursts of slow last --for a time that is shorter than --every".into());
            }
            Kind::Slow => {}
            _ if self.every_ns.is_some() => {
                return Err("--every is for slow alone, which comes in bursts: leave it out".into());
            }
            _ if says_how || self.factor.is_some() => {
                return Err("--by, --factor, --over and --share are for slow alone: leave them out".into());
            }
            _ => {}
        }
        Ok(())
    }

    /// The action that undoes this one after its time.
    pub fn undone(&self) -> Option<Action> {
        let action = match self.action {
            Kind::Lie => Kind::Honest,
            Kind::Fail => Kind::Replace,
            Kind::Slow => Kind::Slow,
            // A hang ends by itself, and the power returns by itself.
            _ => return None,
        };
        let Action { member, every_ns, scenario, .. } = *self;
        let by_ns = (action == Kind::Slow).then_some(0);
        self.for_ns.map(|_| Action { member, by_ns, every_ns, scenario, ..Action::of(action) })
    }

    /// Whether a scheduled action `later` is obsolete because this action has set the same state of the same member
    /// anew, on the same side (user or scenario).
    pub fn overtakes(&self, later: &Action) -> bool {
        let state = |kind| match kind {
            Kind::Slow => Some(Kind::Slow),
            Kind::Lie | Kind::Honest => Some(Kind::Honest),
            Kind::Fail | Kind::Replace => Some(Kind::Replace),
            _ => None,
        };
        let of = state(self.action);
        let of_same = (self.member, self.scenario) == (later.member, later.scenario);
        of.is_some() && of_same && of == state(later.action)
    }

    /// The input for the target; `None` for an action that the target does not receive.
    pub fn input(&self) -> Option<TargetInput> {
        let drive = self.member;
        Some(match self.action {
            Kind::Media => {
                let (first, count) = (Lba::new(self.lba?), Sectors::new(self.sectors?));
                TargetInput::Inject(Fault::MediaError { drive, first, count, until: Cure::Written })
            }
            Kind::Corrupt => {
                let (first, count) = (Lba::new(self.lba?), Sectors::new(self.sectors?));
                TargetInput::Inject(Fault::Corrupt { drive, first, count })
            }
            Kind::Slow => TargetInput::Inject(Fault::Slow { drive, how: self.slowness()? }),
            Kind::Hang => {
                let lasts = self.for_ns.map_or(FOR_GOOD, Span::from_ns);
                TargetInput::Inject(Fault::Hang { drive, lasts })
            }
            Kind::Reset => TargetInput::Inject(Fault::LinkReset { drive }),
            Kind::Lie => TargetInput::Inject(Fault::LyingFlush { drive, lies: true }),
            Kind::Honest => TargetInput::Inject(Fault::LyingFlush { drive, lies: false }),
            Kind::Fail => TargetInput::Fail { drive },
            Kind::Replace => TargetInput::Replace { drive },
            Kind::Scrub => TargetInput::Begin { work: SyncKind::Scrub },
            Kind::Rebuild => TargetInput::Begin { work: SyncKind::Rebuild },
            Kind::PowerCut => TargetInput::CutPower,
            Kind::Start | Kind::Status => return None,
        })
    }

    /// The slowness that the target applies; the inner value is `None` where the member is no longer slow.
    fn slowness(&self) -> Option<Option<Slowness>> {
        if let Some(factor) = self.factor {
            return Some((factor > 1).then_some(Slowness::Times(factor)));
        }
        let by = Span::from_ns(self.by_ns?);
        Some(match (self.over_ns, self.share_ppm) {
            _ if by.is_zero() => None,
            (Some(over), _) => Some(Slowness::Ramp { by, over: Span::from_ns(over) }),
            (None, Some(share)) => {
                Some(Slowness::Some { by, share: Share::from_ratio(share.into(), MILLION.into())? })
            }
            (None, None) => Some(Slowness::Constant(by)),
        })
    }

    /// The trace entry of the action.
    pub fn injected(&self, at: Instant) -> Option<Injected> {
        let kind = match self.action {
            Kind::Media => InjectedKind::Unreadable,
            Kind::Corrupt => InjectedKind::Corrupted,
            Kind::Slow if self.factor.is_some() => InjectedKind::TimesSlower,
            Kind::Slow if self.share_ppm.is_some() => InjectedKind::SometimesSlow,
            Kind::Slow => InjectedKind::Slow,
            Kind::Hang => InjectedKind::Hung,
            Kind::Reset => InjectedKind::LinkReset,
            Kind::Lie => InjectedKind::LyingFlush,
            Kind::Honest => InjectedKind::HonestFlush,
            Kind::Fail => InjectedKind::DriveFails,
            Kind::Replace => InjectedKind::DriveReplaced,
            Kind::PowerCut => InjectedKind::PowerCut,
            Kind::Scrub => InjectedKind::ScrubBegins,
            Kind::Rebuild => InjectedKind::RebuildBegins,
            Kind::Start | Kind::Status => return None,
        };
        let bytes = |sectors: Option<u64>| sectors.unwrap_or(0).saturating_mul(SECTOR_BYTES);
        let (offset, length) = match self.action {
            Kind::Slow if self.factor.is_some() => (self.factor.unwrap_or(1).into(), 0),
            Kind::Slow => {
                let length = self.share_ppm.map_or(self.over_ns, |share| Some(share.into()));
                (self.by_ns.unwrap_or(0), length.unwrap_or(0))
            }
            Kind::Hang => (0, self.for_ns.unwrap_or(FOR_GOOD.as_ns())),
            _ => (bytes(self.lba), bytes(self.sectors)),
        };
        Some(Injected { time_ns: at.as_ns(), kind, device: self.member.into(), offset, length })
    }
}

/// The target input for a trace entry, the inverse of [`Action::injected`]. `None` for a read error, which is not an
/// input, and for the return of power, which is a new target.
pub fn input_of(injected: &Injected) -> Option<TargetInput> {
    let Injected { offset, length, .. } = *injected;
    let range = |action| Action {
        lba: Some(offset / SECTOR_BYTES),
        sectors: Some(length / SECTOR_BYTES),
        ..Action::of(action)
    };
    let by_ns = Some(offset);
    let action = match injected.kind {
        InjectedKind::Unreadable => range(Kind::Media),
        InjectedKind::Corrupted => range(Kind::Corrupt),
        InjectedKind::Slow => {
            Action { by_ns, over_ns: (length > 0).then_some(length), ..Action::of(Kind::Slow) }
        }
        InjectedKind::SometimesSlow => {
            Action { by_ns, share_ppm: u32::try_from(length).ok(), ..Action::of(Kind::Slow) }
        }
        InjectedKind::TimesSlower => Action { factor: u32::try_from(offset).ok(), ..Action::of(Kind::Slow) },
        InjectedKind::Hung => Action { for_ns: Some(length), ..Action::of(Kind::Hang) },
        InjectedKind::LinkReset => Action::of(Kind::Reset),
        InjectedKind::LyingFlush => Action::of(Kind::Lie),
        InjectedKind::HonestFlush => Action::of(Kind::Honest),
        InjectedKind::DriveFails => Action::of(Kind::Fail),
        InjectedKind::DriveReplaced => Action::of(Kind::Replace),
        InjectedKind::PowerCut => Action::of(Kind::PowerCut),
        InjectedKind::ScrubBegins => Action::of(Kind::Scrub),
        InjectedKind::RebuildBegins => Action::of(Kind::Rebuild),
        InjectedKind::PowerBack | InjectedKind::ReadError => return None,
    };
    Action { member: u16::try_from(injected.device).ok()?, ..action }.input()
}

#[cfg(test)]
#[path = "action_tests.rs"]
mod tests;
