//! What a trace records of faults, failures and power cuts: a kind and its three numbers.
use crate::lines::Fault as Flaw;
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::{Cure, Fault, Slowness};
use drivelab_units::{Instant, Lba, SECTOR_BYTES, Sectors, Share, Span};

const MILLION: u64 = 1_000_000;
/// The length of a hang for good: longer than any session.
const FOR_GOOD: Span = Span::from_s(1 << 32);

/// What was done to the target from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Injected {
    pub time_ns: u64,
    pub kind: InjectedKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InjectedKind {
    Fault(Fault),
    /// The power returns after a cut, to a new target.
    PowerBack,
}

/// The numbers of the kinds in a file; 5 is reserved.
mod code {
    pub const UNREADABLE: u8 = 0;
    pub const DRIVE_FAILS: u8 = 1;
    pub const DRIVE_REPLACED: u8 = 2;
    pub const POWER_CUT: u8 = 3;
    pub const POWER_BACK: u8 = 4;
    pub const LINK_RESET: u8 = 6;
    pub const LYING_FLUSH: u8 = 7;
    pub const HONEST_FLUSH: u8 = 8;
    pub const SCRUB_BEGINS: u8 = 9;
    pub const REBUILD_BEGINS: u8 = 10;
    pub const CORRUPTED: u8 = 11;
    /// The delay in ns, and the length of its ramp in ns.
    pub const SLOW: u8 = 12;
    /// The delay in ns, and the share of the commands in millionths.
    pub const SOMETIMES_SLOW: u8 = 13;
    /// Zero, and the length in ns.
    pub const HUNG: u8 = 14;
    /// The factor, and zero.
    pub const TIMES_SLOWER: u8 = 15;
    pub const RESYNC_BEGINS: u8 = 16;
}

impl Injected {
    pub fn new(at: Instant, fault: Fault) -> Self {
        Injected { time_ns: at.as_ns(), kind: InjectedKind::Fault(fault) }
    }
}

impl InjectedKind {
    /// Its number in a file, the drive (zero for the whole target), and two numbers: the first byte and the length in
    /// bytes of a range, or those of its [`code`].
    pub(super) fn encode(self) -> (u8, u32, u64, u64) {
        let InjectedKind::Fault(fault) = self else { return (code::POWER_BACK, 0, 0, 0) };
        let range = |first: Lba, count: Sectors| {
            (first.get().saturating_mul(SECTOR_BYTES), count.get().saturating_mul(SECTOR_BYTES))
        };
        let (code, (first, second)) = match fault {
            Fault::MediaError { first, count, .. } => (code::UNREADABLE, range(first, count)),
            Fault::Corrupt { first, count, .. } => (code::CORRUPTED, range(first, count)),
            Fault::Slow { how: None, .. } => (code::SLOW, (0, 0)),
            Fault::Slow { how: Some(how), .. } => match how {
                Slowness::Constant(by) => (code::SLOW, (by.as_ns(), 0)),
                Slowness::Ramp { by, over } => (code::SLOW, (by.as_ns(), over.as_ns())),
                Slowness::Some { by, share } => (code::SOMETIMES_SLOW, (by.as_ns(), millionths(share))),
                Slowness::Times(times) => (code::TIMES_SLOWER, (times.into(), 0)),
            },
            Fault::Hang { lasts, .. } => (code::HUNG, (0, lasts.unwrap_or(FOR_GOOD).as_ns())),
            Fault::LinkReset { .. } => (code::LINK_RESET, (0, 0)),
            Fault::LyingFlush { lies: true, .. } => (code::LYING_FLUSH, (0, 0)),
            Fault::LyingFlush { lies: false, .. } => (code::HONEST_FLUSH, (0, 0)),
            Fault::Fail { .. } => (code::DRIVE_FAILS, (0, 0)),
            Fault::Replace { .. } => (code::DRIVE_REPLACED, (0, 0)),
            Fault::CutPower => (code::POWER_CUT, (0, 0)),
            Fault::Begin { work: SyncKind::Scrub } => (code::SCRUB_BEGINS, (0, 0)),
            Fault::Begin { work: SyncKind::Rebuild } => (code::REBUILD_BEGINS, (0, 0)),
            Fault::Begin { work: SyncKind::Resync } => (code::RESYNC_BEGINS, (0, 0)),
        };
        (code, fault.drive().unwrap_or(0).into(), first, second)
    }

    /// A fault as a trace holds it: shares in whole millionths, and unreadable sectors until they are written.
    pub fn recorded(fault: Fault) -> Fault {
        let (code, drive, first, second) = InjectedKind::Fault(fault).encode();
        match InjectedKind::decode(code, drive, first, second) {
            Ok(InjectedKind::Fault(fault)) => fault,
            _ => fault,
        }
    }

    /// The inverse of `encode`.
    pub(super) fn decode(code: u8, drive: u32, first: u64, second: u64) -> Result<Self, Flaw> {
        let drive = u16::try_from(drive).map_err(|_| Flaw::Layout("a fault of a drive above 65535"))?;
        let (at, count) = (Lba::new(first / SECTOR_BYTES), Sectors::new(second / SECTOR_BYTES));
        let (by, length) = (Span::from_ns(first), Span::from_ns(second));
        let slow = |how: Slowness| Fault::Slow { drive, how: (first > 0).then_some(how) };
        Ok(InjectedKind::Fault(match code {
            code::UNREADABLE => Fault::MediaError { drive, first: at, count, until: Cure::Written },
            code::CORRUPTED => Fault::Corrupt { drive, first: at, count },
            code::SLOW if second == 0 => slow(Slowness::Constant(by)),
            code::SLOW => slow(Slowness::Ramp { by, over: length }),
            code::SOMETIMES_SLOW => {
                let share = Share::from_ratio(second, MILLION);
                let share = share.ok_or(Flaw::Layout("a drive that is slow in more than all commands"))?;
                slow(Slowness::Some { by, share })
            }
            code::TIMES_SLOWER => {
                let times = u32::try_from(first).map_err(|_| Flaw::Layout("a drive that is too slow"))?;
                Fault::Slow { drive, how: (times > 1).then_some(Slowness::Times(times)) }
            }
            code::HUNG => Fault::Hang { drive, lasts: (length < FOR_GOOD).then_some(length) },
            code::LINK_RESET => Fault::LinkReset { drive },
            code::LYING_FLUSH => Fault::LyingFlush { drive, lies: true },
            code::HONEST_FLUSH => Fault::LyingFlush { drive, lies: false },
            code::DRIVE_FAILS => Fault::Fail { drive },
            code::DRIVE_REPLACED => Fault::Replace { drive },
            code::POWER_CUT => Fault::CutPower,
            code::POWER_BACK => return Ok(InjectedKind::PowerBack),
            code::SCRUB_BEGINS => Fault::Begin { work: SyncKind::Scrub },
            code::REBUILD_BEGINS => Fault::Begin { work: SyncKind::Rebuild },
            code::RESYNC_BEGINS => Fault::Begin { work: SyncKind::Resync },
            _ => return Err(Flaw::Layout("a fault of no known kind")),
        }))
    }
}

/// A share in millionths, rounded to the nearest.
pub fn millionths(share: Share) -> u64 {
    ((u128::from(share.bits()) * u128::from(MILLION) + (1 << 31)) >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every entry in a file that `encode` can write, once.
    #[test]
    fn what_is_encoded_is_decoded() {
        let all = (0..=u8::MAX).filter(|code| *code != 5).flat_map(|code| {
            [(0, 0), (7_168, 0), (7_168, 512_000), (0, FOR_GOOD.as_ns())]
                .map(|(first, second)| InjectedKind::decode(code, 3, first, second))
        });
        let mut found = Vec::new();
        for kind in all.flatten() {
            let (code, drive, first, second) = kind.encode();
            assert_eq!(InjectedKind::decode(code, drive, first, second).ok(), Some(kind));
            found.push(code);
        }
        found.dedup();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, (0..=16).filter(|code| *code != 5).collect::<Vec<u8>>());
    }

    #[test]
    fn an_entry_that_cannot_be_is_refused() {
        assert!(InjectedKind::decode(5, 0, 0, 0).is_err() && InjectedKind::decode(17, 0, 0, 0).is_err());
        assert!(InjectedKind::decode(code::LINK_RESET, 1 << 16, 0, 0).is_err());
        assert!(InjectedKind::decode(code::SOMETIMES_SLOW, 0, 1, MILLION + 1).is_err());
        assert!(InjectedKind::decode(code::TIMES_SLOWER, 0, 1 << 32, 0).is_err());
    }
}
