//! One list of the slot table: its entries in order of arrival, a linked list through the slots, and in order of cylinder.
//! The latter is a [`Row`] in a shallow queue and [`Buckets`] in a deep one.
use super::buckets::{Buckets, Neighbours};
use super::params::QueueParams;
use super::polar::Polar;
use super::row::Row;
use super::slots::{Filed, NONE, SlotEntry, SlotIndex, some};

impl Neighbours {
    /// The next entry in the buckets.
    #[inline]
    pub fn next(&self, upward: bool) -> Cursor {
        Cursor(if upward { self.above } else { self.below })
    }
}

/// A position in the order of cylinders: the index of an item in a row, or a slot. Valid until an entry is
/// added or removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor(u32);

impl Cursor {
    /// The index of an item of a row; out of range where there is none.
    #[inline]
    pub fn item(self) -> usize {
        self.0 as usize
    }

    /// The slot of an entry in the buckets.
    #[inline]
    pub fn slot(self) -> SlotIndex {
        self.0
    }

    /// The next item of a row.
    #[inline]
    pub fn beside(self, upward: bool) -> Self {
        Cursor(self.0.wrapping_add(if upward { 1 } else { u32::MAX }))
    }
}

enum ByCylinder {
    Row(Row),
    Buckets(Buckets),
}

pub(super) struct EntryList {
    oldest: SlotIndex,
    youngest: SlotIndex,
    by_cylinder: ByCylinder,
}

impl EntryList {
    pub fn new(params: &QueueParams, cylinders: u32, period: u64) -> Self {
        let by_cylinder = if params.is_deep() {
            ByCylinder::Buckets(Buckets::new(params, cylinders, period))
        } else {
            ByCylinder::Row(Row::new(params.depth))
        };
        EntryList { oldest: NONE, youngest: NONE, by_cylinder }
    }

    /// The entries of a shallow queue.
    #[inline]
    pub fn row(&self) -> Option<&Row> {
        if let ByCylinder::Row(row) = &self.by_cylinder { Some(row) } else { None }
    }

    pub fn polar(&self) -> Option<&Polar> {
        if let ByCylinder::Buckets(buckets) = &self.by_cylinder { buckets.polar() } else { None }
    }

    #[inline]
    pub fn oldest(&self) -> Option<SlotIndex> {
        some(self.oldest)
    }

    pub fn reach(&mut self, slot: SlotIndex) {
        if let ByCylinder::Buckets(buckets) = &mut self.by_cylinder {
            buckets.reach(slot);
        }
    }

    /// Inserts an entry, which is the youngest, in both orders.
    #[inline]
    pub fn insert(&mut self, places: &mut [SlotEntry], filed: &mut [Filed], slot: SlotIndex, cylinder: u32) {
        let own = &mut filed[slot as usize];
        (own.older, own.younger) = (self.youngest, NONE);
        match self.youngest {
            NONE => self.oldest = slot,
            youngest => filed[youngest as usize].younger = slot,
        }
        self.youngest = slot;
        match &mut self.by_cylinder {
            ByCylinder::Row(row) => row.insert(cylinder, slot),
            ByCylinder::Buckets(buckets) => buckets.insert(places, slot),
        }
    }

    /// Inserts an entry that is not the youngest in both orders. It is younger than `after`, if there is such an entry.
    pub fn insert_by_age(
        &mut self,
        places: &mut [SlotEntry],
        filed: &mut [Filed],
        slot: SlotIndex,
        after: SlotIndex,
    ) {
        let sequence = places[slot as usize].entry.sequence;
        let next = |filed: &[Filed], older: SlotIndex| {
            if older == NONE { self.oldest } else { filed[older as usize].younger }
        };
        let (mut older, mut younger) = (after, next(filed, after));
        while younger != NONE && places[younger as usize].entry.sequence < sequence {
            (older, younger) = (younger, filed[younger as usize].younger);
        }
        let own = &mut filed[slot as usize];
        (own.older, own.younger) = (older, younger);
        match older {
            NONE => self.oldest = slot,
            older => filed[older as usize].younger = slot,
        }
        match younger {
            NONE => self.youngest = slot,
            younger => filed[younger as usize].older = slot,
        }
        match &mut self.by_cylinder {
            ByCylinder::Row(row) => row.insert_by_age(places, slot),
            ByCylinder::Buckets(buckets) => buckets.insert(places, slot),
        }
    }

    #[inline]
    pub fn remove(&mut self, places: &mut [SlotEntry], filed: &mut [Filed], slot: SlotIndex) {
        let Filed { older, younger, .. } = filed[slot as usize];
        match &mut self.by_cylinder {
            ByCylinder::Row(row) => row.remove(places[slot as usize].entry.cylinder, slot),
            ByCylinder::Buckets(buckets) => buckets.remove(places, slot),
        }
        match older {
            NONE => self.oldest = younger,
            older => filed[older as usize].younger = younger,
        }
        match younger {
            NONE => self.youngest = older,
            younger => filed[younger as usize].older = older,
        }
    }

    /// The oldest entry on the lowest cylinder at or above this one.
    #[inline]
    pub fn at_or_above(&self, cylinder: u32) -> Cursor {
        Cursor(match &self.by_cylinder {
            ByCylinder::Row(row) => row.below(cylinder) as u32,
            ByCylinder::Buckets(buckets) => buckets.at_or_above(cylinder),
        })
    }

    /// The youngest entry on the highest cylinder below this one.
    #[inline]
    pub fn below(&self, places: &[SlotEntry], cylinder: u32) -> Cursor {
        match &self.by_cylinder {
            ByCylinder::Row(row) => Cursor((row.below(cylinder) as u32).wrapping_sub(1)),
            ByCylinder::Buckets(buckets) => match buckets.at_or_above(cylinder) {
                NONE => Cursor(buckets.highest()),
                above => Cursor(places[above as usize].by_cylinder.below),
            },
        }
    }

    /// The youngest entry on the highest cylinder.
    #[inline]
    pub fn highest(&self) -> Cursor {
        Cursor(match &self.by_cylinder {
            ByCylinder::Row(row) => (row.items().len() as u32).wrapping_sub(1),
            ByCylinder::Buckets(buckets) => buckets.highest(),
        })
    }
}
