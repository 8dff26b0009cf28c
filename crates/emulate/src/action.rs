//! What a person can do to a device while it is served, and how it is written down in a trace.
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::{Cure, Fault, TargetInput};
use drivelab_trace::formats::native::{Injected, InjectedKind};
use drivelab_units::{Instant, Lba, SECTOR_BYTES, Sectors};
use serde::{Deserialize, Serialize};

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Sectors of a member cannot be read before they are written.
    Media,
    /// The link to a member is reset.
    Reset,
    /// A member answers FLUSH at once, whatever waits in its cache.
    Lie,
    /// It no longer does.
    Honest,
    /// A member fails for good.
    Fail,
    /// A new drive takes the place of one that has failed.
    Replace,
    /// The power goes, and comes back.
    PowerCut,
    /// The array begins to compare all that its members have.
    Scrub,
    /// The array begins to rebuild what a missing member had.
    Rebuild,
    /// Nothing: how things stand is told.
    Status,
}

/// A wish as it comes through the control socket.
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
    /// After this time it ends: what was done is undone.
    #[serde(default)]
    pub for_ns: Option<u64>,
}

impl Action {
    /// Of member 0, and for good.
    pub const fn of(action: Kind) -> Self {
        Action { action, member: 0, lba: None, sectors: None, for_ns: None }
    }

    /// What is wrong with the wish in itself.
    ///
    /// # Errors
    /// One sentence with a remedy.
    pub fn check(&self) -> Result<(), String> {
        let is_media = self.action == Kind::Media;
        let has_range = self.lba.is_some() || self.sectors.is_some();
        if is_media && (self.lba.is_none() || self.sectors.is_none_or(|count| count == 0)) {
            return Err(
                "media takes --lba and --sectors: the sectors of the member that cannot be read".into()
            );
        }
        if !is_media && has_range {
            return Err("--lba and --sectors are for media alone: leave them out".into());
        }
        if self.for_ns.is_some() && !matches!(self.action, Kind::Lie | Kind::Fail | Kind::PowerCut) {
            return Err("--for is for lie, fail and power-cut alone: nothing else ends by itself".into());
        }
        Ok(())
    }

    /// What undoes it after its time.
    pub fn undone(&self) -> Option<Action> {
        let action = match self.action {
            Kind::Lie => Kind::Honest,
            Kind::Fail => Kind::Replace,
            _ => return None,
        };
        self.for_ns.map(|_| Action { action, for_ns: None, ..*self })
    }

    /// What the target is told; nothing for what is not told to it.
    pub fn input(&self) -> Option<TargetInput> {
        let drive = self.member;
        Some(match self.action {
            Kind::Media => {
                let (first, count) = (Lba::new(self.lba?), Sectors::new(self.sectors?));
                TargetInput::Inject(Fault::MediaError { drive, first, count, until: Cure::Written })
            }
            Kind::Reset => TargetInput::Inject(Fault::LinkReset { drive }),
            Kind::Lie => TargetInput::Inject(Fault::LyingFlush { drive, lies: true }),
            Kind::Honest => TargetInput::Inject(Fault::LyingFlush { drive, lies: false }),
            Kind::Fail => TargetInput::Fail { drive },
            Kind::Replace => TargetInput::Replace { drive },
            Kind::Scrub => TargetInput::Begin { work: SyncKind::Scrub },
            Kind::Rebuild => TargetInput::Begin { work: SyncKind::Rebuild },
            Kind::PowerCut => TargetInput::CutPower,
            Kind::Status => return None,
        })
    }

    /// As a trace has it.
    pub fn injected(&self, at: Instant) -> Option<Injected> {
        let kind = match self.action {
            Kind::Media => InjectedKind::Unreadable,
            Kind::Reset => InjectedKind::LinkReset,
            Kind::Lie => InjectedKind::LyingFlush,
            Kind::Honest => InjectedKind::HonestFlush,
            Kind::Fail => InjectedKind::DriveFails,
            Kind::Replace => InjectedKind::DriveReplaced,
            Kind::PowerCut => InjectedKind::PowerCut,
            Kind::Scrub => InjectedKind::ScrubBegins,
            Kind::Rebuild => InjectedKind::RebuildBegins,
            Kind::Status => return None,
        };
        let bytes = |sectors: Option<u64>| sectors.unwrap_or(0).saturating_mul(SECTOR_BYTES);
        let (offset, length) = (bytes(self.lba), bytes(self.sectors));
        Some(Injected { time_ns: at.as_ns(), kind, device: self.member.into(), offset, length })
    }
}

/// What a target is told for an entry of a trace: the other way round. None for a read error, which no target is told
/// of, and for power that is back, which is a new target.
pub fn input_of(injected: &Injected) -> Option<TargetInput> {
    let action = match injected.kind {
        InjectedKind::Unreadable => Kind::Media,
        InjectedKind::LinkReset => Kind::Reset,
        InjectedKind::LyingFlush => Kind::Lie,
        InjectedKind::HonestFlush => Kind::Honest,
        InjectedKind::DriveFails => Kind::Fail,
        InjectedKind::DriveReplaced => Kind::Replace,
        InjectedKind::PowerCut => Kind::PowerCut,
        InjectedKind::ScrubBegins => Kind::Scrub,
        InjectedKind::RebuildBegins => Kind::Rebuild,
        InjectedKind::PowerBack | InjectedKind::ReadError => return None,
    };
    let sectors = |bytes: u64| Some(bytes / SECTOR_BYTES);
    let (lba, sectors, for_ns) = (sectors(injected.offset), sectors(injected.length), None);
    Action { action, member: u16::try_from(injected.device).ok()?, lba, sectors, for_ns }.input()
}
