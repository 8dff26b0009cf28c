//! Where on the dies of a flash drive the pages of an address lie.
use super::params::FlashParams;
use crate::rng;
use drivelab_units::Lba;

/// A page of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    pub number: u64,
    pub die: u32,
    /// Bits that decide of which kind it is.
    pub kind: u32,
}

/// The order of addresses over pages and dies. Stretches of `page / stripe` pages are placed at random, and each of their pages
/// is on another die.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    stripe: u64,
    ways: u64,
    /// Sectors of a stretch.
    stretch: u64,
    dies: u64,
    key: u64,
}

impl Placement {
    /// Random places are drawn with `key`.
    pub fn new(params: &FlashParams, key: u64) -> Self {
        let (page, stripe) = (params.page.get(), params.stripe.get());
        let ways = page / stripe;
        Placement { stripe, ways, stretch: page * ways, dies: params.dies.into(), key }
    }

    /// Calls `visit` with each page that holds some of these sectors.
    #[inline]
    pub fn pages(&self, first: Lba, end: Lba, mut visit: impl FnMut(Page)) {
        let &Placement { stripe, ways, stretch, dies, key } = self;
        let (first, end) = (first.get(), end.get());
        let mut begin = first / stretch * stretch;
        while begin < end {
            let number = begin / stretch;
            let drawn = rng::keyed(key, number);
            let (from, to) = (first.max(begin) - begin, end.min(begin + stretch) - begin);
            let (from, to) = (from / stripe, (to - 1) / stripe);
            for way in from..=to.min(from + ways - 1) {
                let way = way % ways;
                let die = (((drawn >> 32) * dies) >> 32) + way;
                let die = (if die >= dies { die - dies } else { die }) as u32;
                let kind = if ways == 1 { drawn } else { rng::keyed(drawn, way) } as u32;
                visit(Page { number: number * ways + way, die, kind });
            }
            begin += stretch;
        }
    }
}
