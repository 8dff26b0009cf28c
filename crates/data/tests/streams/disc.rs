//! A platter in memory, as plain as can be.
use drivelab_data::platter::Platter;
use drivelab_data::sparse::PAGE;
use drivelab_data::{Bytes, Cell};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub struct Disc(Mutex<BTreeMap<u64, Bytes>>);

impl Disc {
    pub fn for_each(drives: usize) -> Vec<Arc<dyn Platter<Bytes>>> {
        (0..drives).map(|_| Arc::new(Disc::default()) as Arc<dyn Platter<Bytes>>).collect()
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<u64, Bytes>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Platter<Bytes> for Disc {
    fn read(&self, first: u64, count: u64) -> Vec<Bytes> {
        self.with(|disc| {
            (first..first + count).map(|at| disc.get(&at).cloned().unwrap_or_default()).collect()
        })
    }

    fn write(&self, first: u64, cells: &[Bytes]) {
        self.with(|disc| {
            for (at, cell) in (first..).zip(cells) {
                if cell.is_blank() {
                    disc.remove(&at)
                } else {
                    disc.insert(at, cell.clone())
                };
            }
        });
    }

    fn clear(&self) {
        self.with(BTreeMap::clear);
    }

    fn pages(&self) -> Vec<u64> {
        self.with(|disc| disc.keys().map(|at| at / PAGE).collect())
    }
}
