//! Commands that wait because the array has as many as it may.
use super::Array;
use crate::storage::context::Context;

impl Array {
    /// Commands that wait begin, as many as may. One that ends at once makes room for the next in the same loop: there may
    /// be more of them than the stack is deep.
    #[cold]
    pub(crate) fn let_in(&mut self, context: &mut Context) {
        if core::mem::replace(&mut self.lets_in, true) {
            return;
        }
        while self.has_room()
            && let Some((command, came)) = self.waiting.pop_front()
        {
            self.take(context, &command, came);
        }
        self.lets_in = false;
    }

    pub(crate) fn has_room(&self) -> bool {
        self.planner.params.depth.is_none_or(|depth| self.outstanding < depth)
    }
}
