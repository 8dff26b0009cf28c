//! Requests in the order in which the policy got them: `N` lists through the slots.
use super::requests::{NONE, Slot};
use crate::storage::tree::some;
use alloc::vec::Vec;

#[derive(Clone, Copy)]
struct Links {
    older: Slot,
    younger: Slot,
}

const UNLINKED: Links = Links { older: NONE, younger: NONE };

pub struct Fifos<const N: usize> {
    links: Vec<Links>,
    /// The oldest and the youngest of each list.
    ends: [(Slot, Slot); N],
}

impl<const N: usize> Fifos<N> {
    pub fn new() -> Self {
        Fifos { links: Vec::new(), ends: [(NONE, NONE); N] }
    }

    pub fn oldest(&self, list: usize) -> Option<Slot> {
        some(self.ends[list].0)
    }

    pub fn push(&mut self, list: usize, slot: Slot) {
        if slot as usize >= self.links.len() {
            self.links.resize(slot as usize + 1, UNLINKED);
        }
        let (oldest, youngest) = &mut self.ends[list];
        self.links[slot as usize] = Links { older: *youngest, younger: NONE };
        match *youngest {
            NONE => *oldest = slot,
            youngest => self.links[youngest as usize].younger = slot,
        }
        *youngest = slot;
    }

    pub fn remove(&mut self, list: usize, slot: Slot) {
        let Links { older, younger } = self.links[slot as usize];
        let (oldest, youngest) = &mut self.ends[list];
        match older {
            NONE => *oldest = younger,
            older => self.links[older as usize].younger = younger,
        }
        match younger {
            NONE => *youngest = older,
            younger => self.links[younger as usize].older = older,
        }
    }
}
