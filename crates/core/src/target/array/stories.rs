//! Stories of commands: each of a member's, and that of a host's command, which is that of the member's command that was
//! done last, told of the host's.
use super::Array;
use super::strand::{Op, Owner};
use crate::command::{Breakdown, Command, Completion};
use crate::life::{Life, OfMember};
use crate::target::context::Context;
use crate::target::tree::{NONE, Slot};

impl Array {
    /// Keeps the story of the last answer.
    #[cold]
    pub(super) fn tell_of(&mut self, request: Slot, strand: Slot) {
        let command = self.requests.get(request).command;
        if let Some(&completion) = self.answers.back() {
            let life = self.story_of(strand, &command, &completion);
            self.told.push_back(life);
        }
    }

    /// The story of a member's command that is about to end.
    pub fn lived(&mut self, life: Life) {
        self.life = Some(life);
    }

    /// Tells the story of a member's command, and keeps it as that of its strand.
    #[cold]
    pub(super) fn tell(&mut self, context: &mut Context, op: &Op, breakdown: Breakdown) {
        let Some(life) = self.life.take_if(|life| life.command.id == op.id) else { return };
        let &Op { strand, drive, .. } = op;
        let owner = self.strands.get(strand).owner;
        let part_of = match owner {
            Owner::Request(NONE) | Owner::Sync | Owner::Bitmap | Owner::Log => None,
            Owner::Request(request) => Some(self.requests.get(request).command.id),
        };
        let member = Some(OfMember { drive, part_of, breakdown });
        context.lives.iter_mut().for_each(|lives| lives.push_back(Life { member, ..life }));
        // Nobody asks for the stories of the array's own strands.
        if part_of.is_none() {
            return;
        }
        if self.lives.len() <= strand as usize {
            self.lives.resize(strand as usize + 1, None);
        }
        self.lives[strand as usize] = Some(life);
    }

    /// Another strand takes this place: what is kept of the one before is not its story.
    #[cold]
    pub(super) fn forget_story(&mut self, strand: Slot) {
        if let Some(life) = self.lives.get_mut(strand as usize) {
            *life = None;
        }
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
