//! The media of a drive, stored in an image.
//!
//! The methods of a platter cannot return errors, so the first failure is recorded in [`FirstFailure`] and ends the
//! session: it is checked before every reply. Data that could not be written stay in memory meanwhile, so that reads
//! remain correct.
use crate::image::{Image, MemoryImage};
use drivelab_data::sparse::PAGE;
use drivelab_data::{Bytes, Platter, cell};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECTOR: u64 = cell::SECTOR as u64;

/// The first failure of any image.
#[derive(Clone, Default)]
pub struct FirstFailure(Arc<Mutex<Option<Failed>>>);

/// An image that failed.
#[derive(Clone, Debug)]
pub struct Failed {
    pub image: String,
    /// Whether a write failed, so that acknowledged data may be lost when the process ends.
    pub is_write: bool,
    pub kind: io::ErrorKind,
    pub why: String,
}

impl FirstFailure {
    fn lock(&self) -> MutexGuard<'_, Option<Failed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failure, unless one is recorded already.
    pub fn note(&self, image: &str, is_write: bool, error: &io::Error) {
        self.lock().get_or_insert_with(|| Failed {
            image: image.to_owned(),
            is_write,
            kind: error.kind(),
            why: drivelab_nbd::in_words(error),
        });
    }

    /// The first failure.
    pub fn get(&self) -> Option<Failed> {
        self.lock().clone()
    }
}

struct ImageState {
    image: Box<dyn Image>,
    /// Data whose write to the image failed, and their sectors as (first, count).
    left: MemoryImage,
    left_sectors: Vec<(u64, u64)>,
    /// Sectors that were corrupted, and not written since.
    corrupted: BTreeSet<u64>,
}

/// A named image that serves as the media of a drive.
pub struct ImagePlatter {
    name: String,
    inside: Mutex<ImageState>,
    first_failure: FirstFailure,
}

impl ImagePlatter {
    pub fn new(name: String, image: Box<dyn Image>, first_failure: FirstFailure) -> Arc<Self> {
        let (left, left_sectors, corrupted) = (MemoryImage::default(), Vec::new(), BTreeSet::new());
        let inside = ImageState { image, left, left_sectors, corrupted };
        Arc::new(ImagePlatter { name, inside: Mutex::new(inside), first_failure })
    }

    /// The contents of these sectors were changed just now by a fault.
    pub fn note_corrupted(&self, first: u64, count: u64) {
        self.lock().corrupted.extend(first..first + count);
    }

    /// The number of sectors that were corrupted, and not written since.
    pub fn corrupted(&self) -> u64 {
        self.lock().corrupted.len() as u64
    }

    /// The name of the image in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn lock(&self) -> MutexGuard<'_, ImageState> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the written data durable. Writes that had failed are retried once; if they fail again, their data are
    /// lost.
    pub fn sync(&self) {
        let mut inside = self.lock();
        for (first, count) in std::mem::take(&mut inside.left_sectors) {
            let mut bytes = vec![0; (count * SECTOR) as usize];
            let ImageState { image, left, .. } = &mut *inside;
            let read = left.read(first * SECTOR, &mut bytes);
            if let Err(error) = read.and_then(|()| image.write(first * SECTOR, &bytes)) {
                self.first_failure.note(&self.name, true, &error);
            }
        }
        if let Err(error) = inside.image.sync() {
            self.first_failure.note(&self.name, true, &error);
        }
    }

    /// The ranges that may hold data, in sectors.
    pub fn extents(&self) -> Vec<(u64, u64)> {
        let found = self.lock().image.extents();
        let found = found.unwrap_or_else(|error| {
            self.first_failure.note(&self.name, false, &error);
            Vec::new()
        });
        found.into_iter().map(|(first, end)| (first / SECTOR, end.div_ceil(SECTOR))).collect()
    }
}

impl Platter<Bytes> for ImagePlatter {
    fn read(&self, first: u64, count: u64) -> Vec<Bytes> {
        let mut bytes = vec![0; (count * SECTOR) as usize];
        let inside = self.lock();
        if let Err(error) = inside.image.read(first * SECTOR, &mut bytes) {
            self.first_failure.note(&self.name, false, &error);
        }
        for &(from, sectors) in &inside.left_sectors {
            let (from, end) = (from.max(first), (from + sectors).min(first + count));
            if from < end {
                let part = ((from - first) * SECTOR) as usize..((end - first) * SECTOR) as usize;
                // Writes and reads in memory do not fail.
                let _ = inside.left.read(from * SECTOR, &mut bytes[part]);
            }
        }
        cells(&bytes)
    }

    fn write(&self, first: u64, cells: &[Bytes]) {
        let mut bytes = Vec::with_capacity(cells.len() * cell::SECTOR);
        cells.iter().for_each(|cell| bytes.extend_from_slice(cell.as_bytes()));
        let mut inside = self.lock();
        while let Some(&at) = inside.corrupted.range(first..first + cells.len() as u64).next() {
            inside.corrupted.remove(&at);
        }
        let written = inside.image.write(first * SECTOR, &bytes);
        if let Err(error) = &written {
            self.first_failure.note(&self.name, true, error);
            inside.left_sectors.push((first, cells.len() as u64));
        }
        if !inside.left_sectors.is_empty() {
            // Writes in memory do not fail. Data of failed writes that are overwritten now become the same in both
            // places.
            let _ = inside.left.write(first * SECTOR, &bytes);
        }
    }

    fn clear(&self) {
        let mut inside = self.lock();
        inside.left_sectors.clear();
        inside.corrupted.clear();
        inside.left = MemoryImage::default();
        if let Err(error) = inside.image.clear() {
            self.first_failure.note(&self.name, true, &error);
        }
    }

    fn pages(&self) -> Vec<u64> {
        let extents = self.extents().into_iter();
        extents.flat_map(|(first, end)| first / PAGE..end.div_ceil(PAGE)).collect()
    }
}

/// Splits bytes into sectors.
pub fn cells(bytes: &[u8]) -> Vec<Bytes> {
    let sector = |part: &[u8]| part.try_into().map(|bytes: [u8; cell::SECTOR]| Bytes::from(bytes));
    bytes.chunks_exact(cell::SECTOR).map(|part| sector(part).unwrap_or_default()).collect()
}
