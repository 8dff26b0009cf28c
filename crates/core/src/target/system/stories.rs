//! Stories of commands on their way up.
use super::{Cache, System, taken};
use crate::command::Completion;
use crate::life::Life;
use crate::target::context::Context;

impl System {
    /// Keeps a drive's story of a command until its own command's can be told, where others stand between them.
    #[cold]
    pub(super) fn keep_life(&mut self, context: &mut Context, at: u16, completion: &Completion) {
        let device = &mut self.devices[usize::from(at)];
        let of_cache = self.cache.as_ref().is_some_and(|cache| cache.memory.has_issued(completion.id));
        let lives = match (&mut device.scheduler, &mut self.array) {
            (Some(scheduler), _) => &mut scheduler.attempts,
            (None, Some(array)) => {
                if let Some(life) = taken(context, completion) {
                    array.lived(life);
                }
                return;
            }
            (None, None) if of_cache => return,
            (None, None) if self.elevator.is_none() => return,
            (None, None) => &mut self.attempts,
        };
        lives.extend(taken(context, completion));
    }

    /// The story of a command behind the schedulers of the hosts: it waits there until its own commands' can be told.
    #[cold]
    pub(super) fn told(&mut self, context: &mut Context, life: Life) {
        let flushes = |cache: &Cache| cache.memory.has_issued(life.command.id);
        let of_cache = self.cache.as_ref().is_some_and(flushes);
        if self.elevator.is_some() && !of_cache {
            // By its number alone: a drive with one port does not tell whose a command was.
            self.attempts.push(life);
        } else {
            context.lives.iter_mut().for_each(|lives| lives.push_back(life));
        }
    }
}
