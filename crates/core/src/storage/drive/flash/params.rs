//! What is known of a flash drive, in parameters.
use core::fmt;
use drivelab_units::{Sectors, Span};

/// Kinds of pages of one drive, which take different times to read: one bit of each cell, or two, three or four of them.
pub const READ_TIMES_MAX: usize = 4;

/// Most dies of a drive: several times what the largest have today.
pub const DIES_MAX: u32 = 4_096;

/// Largest page, and largest unit of programming, 64 MiB: beyond that of any drive.
pub const PAGE_MAX: Sectors = Sectors::new(1 << 17);

/// Most pages that a drive reads ahead.
pub const READ_AHEAD_PAGES_MAX: u64 = 512;

/// How long each kind of page takes to read. All kinds are equally frequent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadTimes {
    times: [Span; READ_TIMES_MAX],
    kinds: u8,
}

impl ReadTimes {
    /// The times of one to [`READ_TIMES_MAX`] kinds of pages; `None` for another number of them.
    pub fn new(times: &[Span]) -> Option<Self> {
        if times.is_empty() || times.len() > READ_TIMES_MAX {
            return None;
        }
        let mut all = [Span::ZERO; READ_TIMES_MAX];
        all[..times.len()].copy_from_slice(times);
        Some(ReadTimes { times: all, kinds: times.len() as u8 })
    }

    /// The times, one for each kind of page.
    pub fn times(&self) -> &[Span] {
        &self.times[..usize::from(self.kinds)]
    }

    /// The time of a page whose kind is chosen by 32 random bits.
    #[inline]
    pub(super) fn of(&self, bits: u32) -> Span {
        self.times[((u64::from(bits) * u64::from(self.kinds)) >> 32) as usize]
    }
}

/// The part of the cells that is first written with one bit each, which is faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcParams {
    /// Written data that fit into it.
    pub size: Sectors,
    /// The time of one program there.
    pub program: Span,
}

/// A flash drive: how long its dies take, and what stands between them and the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashParams {
    /// Dies that work independently of each other.
    pub dies: u32,
    /// What one read of a die gives.
    pub page: Sectors,
    /// Contiguous sectors on one die, before those of the next. The pages of `page / stripe` dies hold the same stretch of
    /// addresses.
    pub stripe: Sectors,
    /// The time of one read of a die, by kind of page.
    pub read: ReadTimes,
    /// How far from its own beginning a read fetches more that continues the one before it and finds nothing.
    pub read_ahead: Sectors,
    /// What one program of a die writes.
    pub program_size: Sectors,
    /// The time of one program.
    pub program: Span,
    /// The part that is written faster; `None` if there is none.
    pub slc: Option<SlcParams>,
    /// Memory for written data that are not on a die yet.
    pub buffer: Sectors,
    /// Whether a write is answered when its data are in the buffer, and not only when they are on a die.
    pub answers_early: bool,
    /// Whether the buffer survives a power cut: capacitors give it the time to be written.
    pub is_protected: bool,
    /// What FLUSH takes beside the programs that it waits for: the map that goes to a die.
    pub flush: Span,
    /// How long written data wait for more of them before they are programmed with less than `program_size`.
    pub idle: Span,
}

/// Why the parameters of a flash drive are invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlashError {
    /// No die, or more than [`DIES_MAX`].
    Dies,
    /// A page of nothing or of more than [`PAGE_MAX`], or that is not a multiple of the stripe, or stripes over more dies than
    /// there are.
    Page,
    /// A read-ahead of more than [`READ_AHEAD_PAGES_MAX`] pages.
    ReadAhead,
    /// A program of nothing or of more than [`PAGE_MAX`], or that takes no time.
    Program,
    /// A buffer that does not hold one program.
    Buffer,
    /// A protocol whose errors keep commands waiting, or a drive that reports several completions together.
    Protocol,
}

impl fmt::Display for FlashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dies => write!(f, "a flash drive has 1 to {DIES_MAX} dies"),
            Self::Page => write!(
                f,
                "a page must be a multiple of the stripe, of at most 64MiB, and page / stripe no more than the dies"
            ),
            Self::ReadAhead => write!(f, "a drive reads ahead at most {READ_AHEAD_PAGES_MAX} pages"),
            Self::Program => write!(f, "a program must write something, at most 64MiB, and take some time"),
            Self::Buffer => write!(f, "the buffer must hold at least what one program writes"),
            Self::Protocol => {
                write!(f, "a flash drive has neither an auto contingent allegiance nor coalesced completions")
            }
        }
    }
}

impl core::error::Error for FlashError {}

impl FlashParams {
    /// Checks the parameters.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self) -> Result<(), FlashError> {
        if self.dies == 0 || self.dies > DIES_MAX {
            return Err(FlashError::Dies);
        }
        let (page, stripe) = (self.page.get(), self.stripe.get());
        if stripe == 0
            || page == 0
            || page > PAGE_MAX.get()
            || !page.is_multiple_of(stripe)
            || page / stripe > u64::from(self.dies)
        {
            return Err(FlashError::Page);
        }
        if self.read_ahead.get().div_ceil(page) > READ_AHEAD_PAGES_MAX {
            return Err(FlashError::ReadAhead);
        }
        let takes_none = self.program.is_zero() || self.slc.is_some_and(|slc| slc.program.is_zero());
        if self.program_size.get() == 0 || self.program_size > PAGE_MAX || takes_none {
            return Err(FlashError::Program);
        }
        if self.buffer < self.program_size {
            return Err(FlashError::Buffer);
        }
        Ok(())
    }

    /// Every time that is summed up for each command.
    pub(in super::super) fn times(&self) -> [Span; 4] {
        let slc = self.slc.map_or(Span::ZERO, |slc| slc.program);
        let read = self.read.times().iter().copied().max().unwrap_or(Span::ZERO);
        [read, self.program.max(slc), self.flush, self.idle]
    }
}
