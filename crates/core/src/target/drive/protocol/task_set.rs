//! The task set: what task attributes promise about the order of commands. A command is dormant until everything that
//! must end before it has ended, then it is enabled, which means that the drive may begin it.
//!
//! Dormant commands stand in the order of their arrival. ORDERED is enabled when nothing else is; SIMPLE when neither an
//! ORDERED nor a HEAD OF QUEUE command that came before it is unfinished; HEAD OF QUEUE at once. So the first dormant
//! command decides, and looking at it is all the work there is.
//! Source: SAM-2 (T10/1157-D) 7.5 and 7.6, task states and attributes.
use super::super::queue::SlotIndex;
use crate::command::Attribute;
use alloc::collections::VecDeque;

#[derive(Default)]
pub struct TaskSet {
    dormant: VecDeque<(SlotIndex, Attribute)>,
    /// Enabled and not ended, by what they act as.
    simple: u32,
    ordered: u32,
    head: u32,
}

impl TaskSet {
    /// Whether a command that arrives is enabled at once; if not, it is dormant here until [`Self::release`] names it.
    #[inline]
    pub fn arrives(&mut self, slot: SlotIndex, attribute: Attribute) -> bool {
        let enabled = match attribute {
            Attribute::HeadOfQueue | Attribute::Aca => true,
            _ => self.dormant.is_empty() && self.may_begin(attribute),
        };
        if enabled {
            *self.count(attribute) += 1;
        } else {
            self.dormant.push_back((slot, attribute));
        }
        enabled
    }

    /// Whether nothing that is enabled stands in the way.
    #[inline]
    fn may_begin(&self, attribute: Attribute) -> bool {
        let fenced = self.ordered > 0 || self.head > 0;
        !fenced && (attribute != Attribute::Ordered || self.simple == 0)
    }

    #[inline]
    fn count(&mut self, attribute: Attribute) -> &mut u32 {
        match attribute {
            Attribute::Ordered => &mut self.ordered,
            Attribute::HeadOfQueue | Attribute::Aca => &mut self.head,
            Attribute::Simple | Attribute::Untagged => &mut self.simple,
        }
    }

    /// An enabled command has ended.
    #[inline]
    pub fn ends(&mut self, attribute: Attribute) {
        *self.count(attribute) -= 1;
    }

    /// The next dormant command that is enabled now.
    #[inline]
    pub fn release(&mut self) -> Option<SlotIndex> {
        let &(slot, attribute) = self.dormant.front()?;
        if !self.may_begin(attribute) {
            return None;
        }
        self.dormant.pop_front();
        *self.count(attribute) += 1;
        Some(slot)
    }

    /// A dormant command is given up. Returns whether it was here.
    pub fn forget(&mut self, slot: SlotIndex) -> bool {
        let before = self.dormant.len();
        self.dormant.retain(|&(dormant, _)| dormant != slot);
        self.dormant.len() < before
    }
}
