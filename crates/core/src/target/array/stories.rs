//! Stories of commands: that of a host's command is that of the member's command that was done last, told of the host's.
use super::Array;
use crate::command::{Command, Completion};
use crate::life::Life;
use crate::target::tree::Slot;

impl Array {
    /// The story of a member's command that is about to end.
    pub fn lived(&mut self, life: Life) {
        self.life = Some(life);
    }

    /// Keeps the story of a member's command as that of its strand.
    #[cold]
    pub(super) fn tell(&mut self, strand: Slot, op: u64) {
        let Some(life) = self.life.take_if(|life| life.command.id == op) else { return };
        if self.lives.len() <= strand as usize {
            self.lives.resize(strand as usize + 1, None);
        }
        self.lives[strand as usize] = Some(life);
    }

    /// The story of a host's command: that of the member's command that was done last.
    #[cold]
    pub(super) fn story_of(&mut self, strand: Slot, command: &Command, completion: &Completion) -> Life {
        let last = self.lives.get_mut(strand as usize).and_then(Option::take);
        let Completion { outcome, submitted, completed, .. } = *completion;
        match last {
            Some(life) => {
                Life { command: *command, carried_by: command.id, outcome, submitted, completed, ..life }
            }
            None => Life::in_memory(command, completion),
        }
    }
}
