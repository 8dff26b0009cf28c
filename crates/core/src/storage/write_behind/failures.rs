//! What memory does about a flush that failed at the device.
//!
//! The data stay dirty, so that less room is left and writes wait for it, and are flushed again a millisecond
//! later, before all others. Until the device accepts them nothing else is flushed, and each failed extent is
//! flushed alone, in case the request was at fault. After [`TRIES`] attempts, as many as Linux makes of a
//! command, and at once where the device has failed (`failed`, `lost`), they are *given up*: that is
//! reported, and the next FLUSH fails, even one that a battery answers (a controller's deferred error).
//!
//! From then on memory accepts no writes: each goes through to the device and is answered by it, so that
//! nothing more is promised, and writes are as fast as the device. That is how RAID controllers treat a cache
//! that they cannot rely on. Unreadable sectors that a part of a row needs are not a fault of the device: the
//! data that they cost are given up, and memory continues.
//!
//! Linux's page cache does less: it marks pages clean whose write-back failed, reports that to the next
//! fsync, and accepts more. Sources: the Linux kernel, drivers/scsi/sd.h (`SD_MAX_RETRIES`) and mm/filemap.c
//! (`__filemap_set_wb_err`); Broadcom, "12Gb/s MegaRAID SAS Software User Guide", for write-through in place
//! of write-back; INCITS, "SCSI Primary Commands-4" (T10/1731-D), for deferred errors. That a controller
//! retries failed data alone is inferred.
use super::WriteBehind;
use super::extents::{Extent, Extents, Set, State};
use super::flush::DEMANDED;
use crate::command::Outcome;
use crate::data::DataOp;
use crate::storage::overlap::Claim;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// How long nothing is flushed after a failed flush, and how often data are tried.
const TRY_AGAIN: Span = Span::from_ms(1);
const TRIES: u8 = 5;

/// Data that memory had answered for and has given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// The write whose data they are.
    pub write: u64,
    /// First sector, as an address of the write.
    pub first: Lba,
    /// Sectors, at least one.
    pub count: Sectors,
    /// How the last attempt ended.
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct Failures {
    /// Flushes that failed.
    flushes: u64,
    /// Whether failed data are flushed alone.
    pub goes_alone: bool,
    /// Whether writes go through.
    pub goes_through: bool,
    /// No flush is tried before this, because one has failed.
    pub not_before: Instant,
    /// How the last flush whose data were given up failed, until a FLUSH has reported it.
    unreported: Option<Outcome>,
    given_up: VecDeque<GivenUp>,
}

impl Failures {
    /// The error that a FLUSH that ends now must report; `None` for other commands.
    pub fn take_flush_error(&mut self, is_flush: bool) -> Option<Outcome> {
        self.unreported.take_if(|_| is_flush)
    }
}

/// Whether the device has failed, so that a retry is pointless.
fn is_final(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed | Outcome::Lost)
}

impl WriteBehind {
    /// The data given up, oldest first.
    pub fn poll_given_up(&mut self) -> Option<GivenUp> {
        self.failures.given_up.pop_front()
    }

    /// Number of flushes that failed, whatever became of their data.
    pub fn failed_flushes(&self) -> u64 {
        self.failures.flushes
    }

    /// Whether it has given up data, and no longer answers for writes.
    pub fn takes_no_writes(&self) -> bool {
        self.failures.goes_through
    }

    /// The device has failed to write these sectors.
    pub(super) fn not_taken(&mut self, now: Instant, (first, end): (Lba, Lba), outcome: Outcome) {
        self.failures.flushes += 1;
        self.failures.goes_alone = true;
        let (failures, ops) = (&mut self.failures, &mut self.data.ops);
        let mut is_tried = false;
        self.extents.each(first, end, |extents: &mut Extents, slot: Slot| {
            let extent = *extents.get(slot);
            match extent.state {
                State::Sent if is_final(outcome) || extent.tries + 1 == TRIES => {
                    let (write, first, count) = (extent.command, extent.first, extent.count());
                    ops.iter_mut().for_each(|ops| ops.push_back(DataOp::GiveUp { write, first, count }));
                    extents.remove(slot);
                    failures.unreported = Some(outcome);
                    failures.goes_through |= outcome != Outcome::MediaError;
                    failures.given_up.push_back(GivenUp { write, first, count, outcome });
                }
                State::Sent => {
                    extents.fail(slot);
                    extents.set(slot, State::Dirty, DEMANDED);
                    is_tried = true;
                }
                // The data that replaced the failed ones are demanded too: a command may wait for them.
                state if state.is_unsent() => {
                    extents.set(slot, state, DEMANDED);
                    is_tried = true;
                }
                _ => {}
            }
        });
        if is_tried {
            self.failures.not_before = now + TRY_AGAIN;
        }
        self.failures.goes_alone = self.has_failed_data();
    }

    /// A write that goes through may have waited for a flush that failed: what is to be flushed again waits
    /// for it.
    pub(super) fn block_again(&mut self, first: Lba, end: Lba) {
        let claims = &self.claims;
        self.extents.each(first, end, |extents, slot| {
            let &Extent { first, end, age, state, .. } = extents.get(slot);
            let is_claimed = || claims.blocker(&Claim { write: true, first, end, age: u64::MAX }).is_some();
            if state == State::Dirty && is_claimed() {
                extents.set(slot, State::Behind, age);
            }
        });
    }

    /// Whether the next data to be flushed have failed before.
    pub(super) fn has_failed_data(&self) -> bool {
        self.extents.oldest(Set::Dirty).is_some_and(|slot| self.extents.get(slot).tries > 0)
    }
}
