//! A drive's own order in its documented properties: positioning time as far as the drive knows it (seek alone or the
//! angle too, a write's handicap and margin), less a credit for the time waited, among as many of the oldest entries as
//! it looks at. Nothing is implied: each property counts as far as it is set. The formula is that of the aged order.
//! Source: the properties by which measured drives and their emulators differ, as in B. L. Worthington, G. R. Ganger,
//! Y. N. Patt, J. Wilkes, "On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995.
use super::{Entry, SlotIndex, Slots, View, aged_sptf};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    aged_sptf::cost(entry, view)
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    aged_sptf::pick(slots, view)
}
