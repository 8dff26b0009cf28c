//! Seek times in little memory, to the nanosecond: a parabola for each 64 distances, and the offset of each
//! time above it.
//!
//! A search reads these times at distances all over the drive. As one number each they take 1.3 MB on a drive
//! with 315 000 cylinders, and most reads of them miss the processor's near caches; a block of 64 takes half
//! a cache line, an eighth of that. A block whose times no parabola approximates within three nanoseconds (a
//! steep or a ragged stretch) is stored verbatim.
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Distances in a block, as a power of two.
pub const BLOCK_SHIFT: u32 = 6;
const BLOCK: usize = 1 << BLOCK_SHIFT;
/// Fraction bits of a parabola's coefficients.
const FRACTION: u32 = 16;
/// Bits of a time's offset above its parabola, and the largest offset.
const REST_BITS: u32 = 2;
const REST_MOST: i64 = (1 << REST_BITS) - 1;
/// Replaces a bend: the times are stored verbatim.
const AS_THEY_ARE: i32 = i32::MIN;

/// 64 times: `base + (slope x + bend x^2) / 2^16 + rest`, for the distance x from the block's first.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Block {
    /// In nanoseconds; for times stored verbatim, the index of the first of them.
    base: u32,
    /// The least time of this distance or any beyond.
    floor: u32,
    slope: i32,
    bend: i32,
    /// Two bits per distance.
    rest: [u64; 2],
}

impl Block {
    // Below 2^44, whatever the coefficients: no overflow is possible.
    #[inline(always)]
    fn parabola(slope: i32, bend: i32, x: i64) -> i64 {
        ((i64::from(slope) + i64::from(bend) * x) * x) >> FRACTION
    }

    /// A block with these times, if a parabola approximates them closely enough.
    fn fit(times: &[u32]) -> Option<Self> {
        let time = |x: usize| i64::from(times[x]);
        let (middle, last) = (BLOCK / 2, BLOCK - 1);
        let (half, whole) = ((time(middle) - time(0)) << FRACTION, (time(last) - time(0)) << FRACTION);
        let (a, b) = (middle as i64, last as i64);
        let bend = (whole * a - half * b) / (a * b * (b - a));
        let slope = half / a - bend * a;
        let (slope, bend) = (i32::try_from(slope).ok()?, i32::try_from(bend).ok()?);
        let above = |x: usize| time(x) - Self::parabola(slope, bend, x as i64);
        let least = (0..BLOCK).map(above).min()?;
        let base = u32::try_from(least).ok()?;
        let mut rest = [0; 2];
        for x in 0..BLOCK {
            let over = above(x) - least;
            if over > REST_MOST || bend == AS_THEY_ARE {
                return None;
            }
            rest[x / 32] |= (over as u64) << (x as u32 % 32 * REST_BITS);
        }
        Some(Block { base, floor: 0, slope, bend, rest })
    }
}

/// All seek times of a drive. Clones share them.
#[derive(Clone, Debug)]
pub struct Blocks {
    blocks: Arc<[Block]>,
    /// The times of blocks that are stored verbatim.
    times: Arc<[u32]>,
}

impl Blocks {
    /// For these times by distance, and for each the least of it and all beyond.
    pub fn new(times: &[u32], floors: &[u32]) -> Self {
        let (mut blocks, mut kept) = (Vec::with_capacity(times.len().div_ceil(BLOCK)), Vec::new());
        for (times, floors) in times.chunks(BLOCK).zip(floors.chunks(BLOCK)) {
            let mut full = [times[times.len() - 1]; BLOCK];
            full[..times.len()].copy_from_slice(times);
            let floor = floors[0];
            let block = Block::fit(&full).unwrap_or_else(|| {
                let base = kept.len() as u32;
                kept.extend_from_slice(&full);
                Block { base, floor, slope: 0, bend: AS_THEY_ARE, rest: [0; 2] }
            });
            blocks.push(Block { floor, ..block });
        }
        Blocks { blocks: blocks.into(), times: kept.into() }
    }

    /// The time of a seek over this many cylinders.
    ///
    /// # Panics
    /// When the distance lies a block or more beyond the last one.
    #[inline(always)]
    pub fn time(&self, distance: u32) -> u32 {
        let block = &self.blocks[(distance >> BLOCK_SHIFT) as usize];
        let x = distance % BLOCK as u32;
        if block.bend == AS_THEY_ARE {
            return self.times[(block.base + x) as usize];
        }
        let rest = block.rest[(x / 32) as usize] >> (x % 32 * REST_BITS) & REST_MOST as u64;
        let curved = Block::parabola(block.slope, block.bend, x.into());
        (i64::from(block.base) + curved + rest as i64) as u32
    }

    /// The least time of the block's first distance and of any beyond it.
    #[inline(always)]
    pub fn floor(&self, distance: u32) -> u32 {
        self.blocks[(distance >> BLOCK_SHIFT) as usize].floor
    }

    /// Bytes that the times take.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.times)
    }
}
