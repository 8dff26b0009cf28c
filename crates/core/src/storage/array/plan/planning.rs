//! What plans keep from one to the next.
use crate::storage::array::stripe_request::Phase;
use crate::storage::tree::{NONE, Slot};
use alloc::vec;
use alloc::vec::Vec;

/// What plans keep from one to the next.
pub struct Planning {
    /// By member and phase: what a plan has added last, and the serial number of that plan, so that an
    /// adjacent addition is merged with it. The journal has the entry after the members'.
    pub(super) last: Vec<[(u32, Slot); Phase::COUNT]>,
    pub(super) units: Units,
    /// Number of members' commands so far.
    pub(super) ids: u64,
    /// Number of reads so far that had a choice of copies.
    pub(super) turns: u64,
}

impl Planning {
    pub fn new(members: u16) -> Self {
        let last = vec![[(0, NONE); Phase::COUNT]; usize::from(members) + 1];
        Planning { last, units: Units::new(members), ids: 0, turns: 0 }
    }
}

/// No command reads this unit.
pub(super) const UNREAD: u64 = u64::MAX;

/// The commands that read and write the units of a row.
pub(super) struct Units {
    pub read: Vec<u64>,
    pub written: Vec<Option<u64>>,
}

impl Units {
    fn new(members: u16) -> Self {
        Units { read: vec![UNREAD; usize::from(members)], written: Vec::new() }
    }
}
