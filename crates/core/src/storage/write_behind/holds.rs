//! Which buffers of commands memory has data of, where data operations are kept: those of its extents, and of the pieces of
//! flushes and of what reads are to get. It says when it begins to need one and when it does not any more, so that
//! whoever has the data may give them up.
use crate::data::DataOp;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// What has come to need a buffer, or has ceased to, since that was last looked at; nothing while nobody asks.
#[derive(Default)]
pub struct Changes(Option<Vec<(u64, bool)>>);

impl Changes {
    /// From now on they are kept.
    pub fn keep(&mut self) {
        self.0.get_or_insert_default();
    }

    /// One more thing needs the buffer of this command, or one less.
    #[inline]
    pub fn say(&mut self, command: u64, needs: bool) {
        if let Some(changes) = &mut self.0 {
            changes.push((command, needs));
        }
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(Vec::is_empty)
    }

    fn take(&mut self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.0.iter_mut().flat_map(|changes| changes.drain(..))
    }
}

/// What needs a buffer.
#[derive(Clone, Copy, Default)]
struct Held {
    by: i64,
    is_told: bool,
}

/// The buffers that memory needs.
#[derive(Default)]
pub struct Holds {
    held: BTreeMap<u64, Held>,
    changed: Vec<u64>,
}

impl Holds {
    /// Says of each buffer that has changed whether memory needs it, if that is not known.
    pub fn settle<const N: usize>(&mut self, changes: [&mut Changes; N], ops: &mut VecDeque<DataOp>) {
        for (id, needs) in changes.into_iter().flat_map(Changes::take) {
            let held = self.held.entry(id).or_default();
            held.by += if needs { 1 } else { -1 };
            self.changed.push(id);
        }
        for id in self.changed.drain(..) {
            let Some(held) = self.held.get_mut(&id) else { continue };
            let is_needed = held.by > 0;
            if is_needed != held.is_told {
                held.is_told = is_needed;
                ops.push_back(if is_needed { DataOp::Hold { id } } else { DataOp::Release { id } });
            }
            if !is_needed {
                self.held.remove(&id);
            }
        }
    }
}
