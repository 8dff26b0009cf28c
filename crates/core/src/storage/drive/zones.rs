//! The zones of a host-managed shingled drive: where a write may begin.
//!
//! The addresses are cut into zones of one size. Conventional zones, which come first, are written anywhere. All others are
//! written at their write pointer and nowhere else; the host moves a pointer back to the start of its zone with a reset.
//! A read may go anywhere: behind a write pointer the drive reads as it does before it (URSWRZ).
//!
//! A write that is refused costs the firmware's time and nothing else; real drives then also end the commands of their queue
//! (NCQ), which is left out here.
//!
//! A pointer moves when the drive accepts a write, not when it is on the media: the host keeps the writes of a zone in order.
//! Source: INCITS 536, Zoned Block Commands (ZBC): 4.4 and 4.5.
use super::queue::SlotIndex;
use crate::command::{Access, Command, Outcome};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use drivelab_units::{Lba, Sectors};

/// Maximum number of zones.
pub const ZONES_MAX: u64 = 1 << 22;

/// How a drive is cut into zones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZonesParams {
    /// Sectors of a zone; the last one may be shorter.
    pub size: Sectors,
    /// Zones at the start of the addresses that are written anywhere.
    pub conventional: u32,
    /// The most zones that the drive keeps open for writing, as it reports to its host. The drive closes one by itself when
    /// it needs to: this bounds what the host asks for, and the drive refuses nothing for it.
    pub open_most: u32,
}

/// Why a drive cannot be cut like this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ZonesError {
    /// Zones of no sectors, or larger than the drive.
    Size,
    /// More than [`ZONES_MAX`] zones.
    TooMany {
        /// Zones of the drive.
        zones: u64,
    },
    /// No zone would be left that is written at its pointer.
    Conventional {
        /// Zones of the drive.
        zones: u64,
    },
    /// No zone may be open.
    Open,
}

impl fmt::Display for ZonesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size => write!(f, "a zone holds at least one sector, and at most the drive"),
            Self::TooMany { zones } => write!(f, "{zones} zones; at most {ZONES_MAX} are possible"),
            Self::Conventional { zones } => {
                write!(f, "all of the drive's {zones} zones are conventional: then its host manages nothing")
            }
            Self::Open => write!(f, "at least one zone must be open for a write"),
        }
    }
}

impl core::error::Error for ZonesError {}

impl ZonesParams {
    /// Zones of a drive of this capacity.
    pub fn count(&self, capacity: Sectors) -> u64 {
        capacity.get().div_ceil(self.size.get().max(1))
    }

    /// The first sector that is written at a pointer.
    pub fn first_sequential(&self) -> Sectors {
        Sectors::new(self.size.get() * u64::from(self.conventional))
    }

    /// Checks the parameters for a drive of this capacity.
    /// # Errors
    /// The first one that is wrong.
    pub fn check(&self, capacity: Sectors) -> Result<(), ZonesError> {
        let zones = self.count(capacity);
        if self.size == Sectors::ZERO || self.size > capacity {
            Err(ZonesError::Size)
        } else if zones > ZONES_MAX {
            Err(ZonesError::TooMany { zones })
        } else if u64::from(self.conventional) >= zones {
            Err(ZonesError::Conventional { zones })
        } else if self.open_most == 0 {
            Err(ZonesError::Open)
        } else {
            Ok(())
        }
    }
}

/// The write pointers of a drive.
#[derive(Clone, Debug)]
pub struct Zones {
    params: ZonesParams,
    /// Of each zone the sectors that are written; of conventional ones nothing is kept.
    written: Vec<u64>,
    /// The commands that are refused when the firmware picks them up.
    refused: Vec<SlotIndex>,
}

impl Zones {
    /// All zones are empty.
    pub fn new(params: ZonesParams, capacity: Sectors) -> Self {
        let zones = params.count(capacity) as usize;
        Zones { params, written: vec![0; zones], refused: Vec::new() }
    }

    /// How the drive is cut.
    pub fn params(&self) -> ZonesParams {
        self.params
    }

    /// The write pointer of a zone; `None` for a conventional one, and behind the last.
    ///
    /// ```
    /// use drivelab_core::storage::drive::zones::{Zones, ZonesParams};
    /// use drivelab_core::{Access, Command, Content, Outcome};
    /// use drivelab_units::{Lba, Sectors};
    ///
    /// let params = ZonesParams { size: Sectors::new(64), conventional: 1, open_most: 4 };
    /// let mut zones = Zones::new(params, Sectors::new(200));
    /// let write = |first, count| Command::new(0, Access::Write, Lba::new(first), Sectors::new(count));
    ///
    /// assert_eq!((zones.pointer(0), zones.pointer(1)), (None, Some(Lba::new(64))));
    /// zones.accept(&write(64, 8));
    /// assert_eq!(zones.pointer(1), Some(Lba::new(72)));
    /// // Neither behind the pointer nor before it, nor into the next zone.
    /// for (first, count) in [(80, 8), (64, 8), (72, 64)] {
    ///     assert_eq!(zones.refusal(&write(first, count)), Some(Outcome::Unaligned));
    /// }
    /// assert_eq!(zones.refusal(&Command { content: Content::AfterReset, ..write(64, 8) }), None);
    /// ```
    pub fn pointer(&self, zone: u64) -> Option<Lba> {
        let written = self.written.get(zone as usize)?;
        (zone >= u64::from(self.params.conventional))
            .then(|| Lba::new(zone * self.params.size.get() + written))
    }

    /// Why the drive refuses a command for its address; `None` where it does not.
    pub fn refusal(&self, command: &Command) -> Option<Outcome> {
        if command.access != Access::Write {
            return None;
        }
        let size = self.params.size.get();
        let (first, end) = (command.first.get(), command.end().get());
        let (zone, last) = (first / size, (end - 1) / size);
        if last < u64::from(self.params.conventional) {
            return None;
        }
        let begins = if command.resets_zone() { Some(Lba::new(zone * size)) } else { self.pointer(zone) };
        (zone != last || begins != Some(command.first)).then_some(Outcome::Unaligned)
    }

    /// A command arrives at the drive in this slot: the pointer moves, or the command is to be refused.
    pub(super) fn arrive(&mut self, command: &Command, slot: SlotIndex) {
        // The one that was here before may have been aborted.
        self.take_refused(slot);
        if self.refusal(command).is_some() {
            self.refused.push(slot);
        } else {
            self.accept(command);
        }
    }

    /// Whether the command in this slot is refused.
    pub(super) fn take_refused(&mut self, slot: SlotIndex) -> bool {
        let at = self.refused.iter().position(|&refused| refused == slot);
        at.map(|at| self.refused.swap_remove(at)).is_some()
    }

    /// Moves the pointer of the zone to the end of an accepted write.
    pub fn accept(&mut self, command: &Command) {
        if command.access == Access::Write {
            let size = self.params.size.get();
            self.written[(command.first.get() / size) as usize] =
                command.first.get() % size + command.count.get();
        }
    }
}
