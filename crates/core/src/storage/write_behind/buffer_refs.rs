//! Which command buffers memory needs, where data operations are recorded: those of its extents, of the
//! pieces of flushes, and of what reads are to get. It reports when it begins to need one and when it no
//! longer does, so that whoever stores the data may drop them.
use crate::data::DataOp;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// Buffers that became needed or unneeded since the last call; `None` while data operations are off.
#[derive(Default)]
pub struct RefChanges(Option<Vec<(u64, bool)>>);

impl RefChanges {
    /// From now on changes are recorded.
    pub fn keep(&mut self) {
        self.0.get_or_insert_default();
    }

    /// One more user of this command's buffer, or one fewer.
    #[inline]
    pub fn adjust(&mut self, command: u64, needs: bool) {
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

/// The users of a buffer.
#[derive(Clone, Copy, Default)]
struct RefCount {
    count: i64,
    is_reported: bool,
}

/// The buffers that memory needs.
#[derive(Default)]
pub struct BufferRefs {
    held: BTreeMap<u64, RefCount>,
    changed: Vec<u64>,
}

impl BufferRefs {
    /// Reports for each buffer that has changed whether memory needs it, if that is new.
    pub fn settle<const N: usize>(&mut self, changes: [&mut RefChanges; N], ops: &mut VecDeque<DataOp>) {
        for (id, needs) in changes.into_iter().flat_map(RefChanges::take) {
            let held = self.held.entry(id).or_default();
            held.count += if needs { 1 } else { -1 };
            self.changed.push(id);
        }
        for id in self.changed.drain(..) {
            let Some(held) = self.held.get_mut(&id) else { continue };
            let is_needed = held.count > 0;
            if is_needed != held.is_reported {
                held.is_reported = is_needed;
                ops.push_back(if is_needed { DataOp::Hold { id } } else { DataOp::Release { id } });
            }
            if !is_needed {
                self.held.remove(&id);
            }
        }
    }
}
