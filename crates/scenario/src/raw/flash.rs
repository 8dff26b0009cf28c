//! A flash drive, as typed in a drive file.
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::read::wrong_type;
use crate::keys::{Kind, Read, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::drive::flash::params::{READ_TIMES_MAX, ReadTimes};
use drivelab_units::Span;
use std::fmt::Write;

section! {
    facts: true,
    /// A flash drive: dies that read and program independently of each other, behind a buffer for written data. A model of
    /// first order: wear and the collection of garbage are not in it (docs/how-to/flash.md).
    pub struct FlashRaw {
        /// Dies that work independently of each other.
        dies: Count<1, 4096> = "",
        /// What one read of a die gives.
        page: Extent = "4KiB",
        /// Contiguous data on one die, before those of the next one; the pages of `page / stripe` dies then hold a stretch of
        /// addresses together.
        stripe: Extent = "page",
        /// The time of one read of a die; a list where it depends on the kind of page, all kinds equally frequent.
        read: PageTimes = "",
        /// How far from its own beginning a read fetches more that continues the one before it, and that finds nothing there:
        /// at most 512 pages.
        read_ahead: Extent = "none",
        /// What one program of a die writes.
        program_size: Extent = "page",
        /// The time of one program.
        program: Span = "",
        /// Written data that go to cells of one bit first, and to the others while the drive is idle.
        slc: Extent = "none",
        /// The time of one program there.
        slc_program: Span = "",
        /// Memory for written data that are not on a die yet.
        buffer: Extent = "two programs of each die",
        /// Whether the buffer survives a power cut (power-loss protection).
        protected: bool = "false",
        /// What FLUSH takes beside the programs that it waits for, when something was written since the last one.
        flush: Span = "0s",
        /// How long written data wait for more of them before they are programmed with less than `program_size`; and how long
        /// a drive must have programmed nothing before it empties `slc`.
        idle: Span = "10ms",
    }
}

/// The times of the kinds of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTimes(pub ReadTimes);

const EXAMPLE: &str = "[\"50us\", \"60us\", \"80us\"]";

impl Read for PageTimes {
    fn kind() -> Kind {
        Kind::Either(vec![Span::kind(), Kind::List { each: Box::new(Span::kind()), example: EXAMPLE }])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            return match node.value {
                Value::Text(_) => {
                    Span::read(node, log).and_then(|time| ReadTimes::new(&[time])).map(PageTimes)
                }
                _ => {
                    wrong_type(node, &Self::kind(), log);
                    None
                }
            };
        };
        let read: Vec<Option<Span>> = items.iter().map(|item| Span::read(item, log)).collect();
        let times = ReadTimes::new(&read.into_iter().collect::<Option<Vec<Span>>>()?);
        if times.is_none() {
            let message = format!("{} kinds of pages; a die has 1 to {READ_TIMES_MAX}", items.len());
            log.fault(node.place, message, format!("write a time for each bit of a cell, such as {EXAMPLE}"));
        }
        times.map(PageTimes)
    }

    fn write(&self, out: &mut String) {
        for time in self.0.times() {
            let _ = write!(out, "{} ", time.as_ns());
        }
    }
}
