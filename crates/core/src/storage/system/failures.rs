//! Drives that are gone: failed for good, or given up by the array.
use super::System;
use crate::storage::context::Context;

impl System {
    /// A drive fails for good: nothing is heard of it any more, and the array does without it.
    #[cold]
    pub(super) fn fail(&mut self, context: &mut Context, drive: u16) {
        if !self.forget(context, drive) {
            return;
        }
        if let Some(array) = &mut self.array {
            array.fail(context, drive);
            self.pump_array(context);
        }
    }

    /// Nothing is heard of a drive any more. Returns whether anything was until now.
    #[cold]
    fn forget(&mut self, context: &mut Context, drive: u16) -> bool {
        context.answers.retain(|(from, _)| *from != drive);
        context.refused.retain(|(from, _)| *from != drive);
        !core::mem::replace(&mut self.dead[usize::from(drive)], true)
    }

    /// The array does without some drives from now on.
    #[inline]
    pub(super) fn forget_given_up(&mut self, context: &mut Context) {
        while let Some(drive) = self.array.as_mut().and_then(|array| array.next_given_up()) {
            self.forget(context, drive);
        }
    }
}
