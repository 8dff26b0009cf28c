//! Which commands of hosts are under way, and their numbers inside the target.
//!
//! A host chooses its ids freely: any value, and the same one again once the command has ended. Inside, each
//! command has a *number* that is never reused, below all those that boxes give to commands of their own. For
//! a host with ascending ids these numbers are its own ids; any other command gets the next free number.
//!
//! There is a bit for each number under way, in words from the oldest on; a few long-lived ones are stored
//! separately, so that the window of numbers does not grow with the run.
use crate::command::Command;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// Ids from here on are never used as numbers: this many numbers are left for their commands.
const IDS_MAX: u64 = 1 << 49;

/// Words of the window in addition to one for each command under way: numbers further back are stored
/// separately.
const WORDS_MAX: usize = 64;

/// Words by which the window grows at a time.
const WORDS_MORE: usize = 16;

/// A command whose number is not its id.
#[derive(Clone, Copy)]
struct Renamed {
    number: u64,
    id: u64,
}

/// The commands of hosts that are under way.
#[derive(Default)]
pub struct Commands {
    /// A lower bound of the next command's number.
    next: u64,
    /// Number of commands under way.
    count: u64,
    /// Whether no further command is accepted.
    is_closed: bool,
    /// The number of the first word's first bit, divided by the word size.
    base: u64,
    /// A bit for each number that is under way.
    window: Vec<u64>,
    /// Numbers below the window, upward.
    old: Vec<u64>,
    renamed: Vec<Renamed>,
    /// Numbers of commands that their hosts have aborted: they end as aborted, whatever becomes of them.
    given_up: Vec<u64>,
    /// Commands that ended at this instant: outputs about others that were merged with them may still follow.
    ended: (Instant, Vec<Renamed>),
}

impl Commands {
    /// A command arrives. Returns its number; `None` where one with the same id is under way, or no further
    /// one is accepted.
    #[inline]
    pub fn begin(&mut self, command: &Command) -> Option<u64> {
        let id = command.id;
        let number = if (self.next..IDS_MAX).contains(&id) { id } else { self.rename(id)? };
        self.next = number + 1;
        let word = number / 64;
        if word.wrapping_sub(self.base) >= self.window.len() as u64 {
            self.move_window(word);
        }
        self.window[(word - self.base) as usize] |= 1 << (number % 64);
        self.count += 1;
        Some(number)
    }

    /// The next number for a command whose id cannot be one, or was used before.
    #[cold]
    fn rename(&mut self, id: u64) -> Option<u64> {
        if self.is_closed || self.number_of(id).is_some() {
            return None;
        }
        let number = self.next;
        debug_assert!(number < 2 * IDS_MAX, "there are numbers left");
        self.renamed.push(Renamed { number, id });
        Some(number)
    }

    /// Moves the window so that it includes this word.
    #[inline(never)]
    fn move_window(&mut self, word: u64) {
        let most = WORDS_MAX as u64 + self.count;
        if word - self.base >= most {
            let leave = word - self.base + 1 - most / 2;
            let gone = leave.min(self.window.len() as u64);
            for mut left in self.window.drain(..gone as usize) {
                while left != 0 {
                    self.old.push(self.base * 64 + u64::from(left.trailing_zeros()));
                    left &= left - 1;
                }
                self.base += 1;
            }
            if self.window.is_empty() {
                self.base = word;
            }
        }
        self.window.resize((word - self.base) as usize + WORDS_MORE, 0);
    }

    /// A command has ended. Returns its id.
    #[inline]
    pub fn end(&mut self, number: u64, now: Instant) -> u64 {
        let word = (number / 64).wrapping_sub(self.base) as usize;
        self.count -= 1;
        match self.window.get_mut(word) {
            Some(word) => *word &= !(1 << (number % 64)),
            None => self.forget_old(number),
        }
        if self.renamed.is_empty() { number } else { self.end_renamed(number, now) }
    }

    #[cold]
    fn forget_old(&mut self, number: u64) {
        if let Ok(at) = self.old.binary_search(&number) {
            self.old.remove(at);
        }
    }

    #[cold]
    fn end_renamed(&mut self, number: u64, now: Instant) -> u64 {
        let Some(at) = self.renamed.iter().position(|renamed| renamed.number == number) else {
            return number;
        };
        let renamed = self.renamed.swap_remove(at);
        let (instant, ended) = &mut self.ended;
        if *instant != now {
            (*instant, _) = (now, ended.clear());
        }
        ended.push(renamed);
        renamed.id
    }

    /// The host aborts the command with this number. Returns whether it had not done so before.
    pub fn give_up(&mut self, number: u64) -> bool {
        let is_new = !self.given_up.contains(&number);
        if is_new {
            self.given_up.push(number);
        }
        is_new
    }

    /// Whether any command under way has been aborted by its host.
    #[inline]
    pub fn has_given_up(&self) -> bool {
        !self.given_up.is_empty()
    }

    /// Whether the host has aborted the command with this number, which ends now.
    pub fn take_given_up(&mut self, number: u64) -> bool {
        let at = self.given_up.iter().position(|&given_up| given_up == number);
        at.map(|at| self.given_up.swap_remove(at)).is_some()
    }

    /// The id of the command with this number; for one that was not renamed, the number itself.
    #[inline]
    pub fn id_of(&self, number: u64) -> u64 {
        if self.renamed.is_empty() && self.ended.1.is_empty() { number } else { self.id_of_renamed(number) }
    }

    #[cold]
    fn id_of_renamed(&self, number: u64) -> u64 {
        let all = self.renamed.iter().chain(&self.ended.1);
        all.rev().find(|renamed| renamed.number == number).map_or(number, |renamed| renamed.id)
    }

    /// The number of the command with this id, if one is under way.
    pub fn number_of(&self, id: u64) -> Option<u64> {
        if let Some(renamed) = self.renamed.iter().find(|renamed| renamed.id == id) {
            return Some(renamed.number);
        }
        let is_renamed = || self.renamed.iter().any(|renamed| renamed.number == id);
        (self.is_under_way(id) && !is_renamed()).then_some(id)
    }

    fn is_under_way(&self, number: u64) -> bool {
        match (number / 64).checked_sub(self.base) {
            Some(word) => {
                let word = usize::try_from(word).ok().and_then(|word| self.window.get(word));
                word.is_some_and(|word| word >> (number % 64) & 1 == 1)
            }
            None => self.old.binary_search(&number).is_ok(),
        }
    }

    /// Ends all commands under way, and accepts no further ones.
    pub fn close(&mut self) {
        (self.is_closed, self.next) = (true, IDS_MAX);
        self.window.iter_mut().for_each(|word| *word = 0);
        self.count = 0;
        self.old.clear();
        self.renamed.clear();
        self.given_up.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Access;
    use drivelab_units::{Lba, Sectors};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn command(id: u64) -> Command {
        Command::new(id, Access::Read, Lba::ZERO, Sectors::new(1))
    }

    /// Ascending ids, ids that were used before, and any others.
    fn ids() -> impl Strategy<Value = (u8, u64)> {
        prop_oneof![
            3 => (Just(0u8), 0u64..3),
            1 => (Just(0u8), 0u64..40_000),
            2 => (Just(1u8), 0u64..12),
            1 => (Just(1u8), prop::sample::select(std::vec![u64::MAX, 1 << 50, (1 << 52) + 1, IDS_MAX, IDS_MAX - 1])),
            4 => (Just(2u8), 0u64..100),
        ]
    }

    proptest! {
        #[test]
        fn numbers_are_unique_and_ids_come_back(steps in prop::collection::vec(ids(), 0..400)) {
            let (mut commands, mut under_way, mut used) = (Commands::default(), BTreeMap::new(), BTreeSet::new());
            let mut last = None;
            for (kind, what) in steps {
                if kind == 2 {
                    let at = what as usize % under_way.len().max(1);
                    if let Some((&id, &number)) = under_way.iter().nth(at) {
                        prop_assert_eq!(commands.id_of(number), id);
                        prop_assert_eq!(commands.end(number, Instant::from_ns(what)), id);
                        prop_assert_eq!(commands.id_of(number), id, "until its instant is over");
                        under_way.remove(&id);
                    }
                } else {
                    let id = if kind == 0 { commands.next + what } else { what };
                    let number = commands.begin(&command(id));
                    prop_assert_eq!(number.is_none(), under_way.contains_key(&id));
                    if let Some(number) = number {
                        prop_assert!(used.insert(number), "{} twice", number);
                        prop_assert!(last < Some(number) && number < 1 << 50);
                        prop_assert!(kind == 1 || number == id || id >= IDS_MAX, "an id upward is a number");
                        under_way.insert(id, number);
                        last = Some(number);
                    }
                }
                for id in [0, 1, 5, 63, 64, u64::MAX, 1 << 50].into_iter().chain(under_way.keys().copied()) {
                    prop_assert_eq!(commands.number_of(id), under_way.get(&id).copied());
                }
            }
        }
    }

    /// One long-lived command costs no memory.
    #[test]
    fn what_stays_on_does_not_widen_the_window() {
        let mut commands = Commands::default();
        commands.begin(&command(0));
        for id in 1..1_000_000 {
            assert_eq!(commands.begin(&command(id)), Some(id));
            assert_eq!(commands.end(id, Instant::ZERO), id);
        }
        assert!(commands.window.capacity() <= 4 * WORDS_MAX && commands.old == [0]);
        assert_eq!((commands.number_of(0), commands.number_of(1)), (Some(0), None));
        assert_eq!(commands.begin(&command(0)), None, "it is under way");
        assert_eq!(commands.end(0, Instant::ZERO), 0);
        assert_eq!(commands.begin(&command(0)), Some(1_000_000));
    }
}
