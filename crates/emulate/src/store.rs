//! The data of a target: on the images of its drives as the model places them, or on one image if the model has no
//! drives.
use crate::answered::AnsweredRanges;
use crate::held::Held;
use crate::image::{Image, MemoryImage, Named};
use crate::ledger::Ledger;
use crate::platter::{FirstFailure, ImagePlatter};
use crate::transport::ReadData;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::{Target, TargetParams};
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_data::platter::Waiting;
use drivelab_data::{Bytes, Executor, Fault, Platter, cell, consistent};
use drivelab_units::Instant;
use std::sync::Arc;

const SECTOR: u64 = cell::SECTOR as u64;

/// The data of a write, in the form of the store.
#[derive(Clone, Debug)]
pub enum Payload {
    Sectors(Vec<Bytes>),
    Plain(Vec<u8>),
}

/// The storage of the data.
pub enum Store {
    /// On the drives of the model.
    Modelled(Box<Modelled>),
    /// On one image, for a target without drives.
    Flat { image: Box<dyn Image>, first_failure: FirstFailure },
}

/// The drives of the model, each with an image.
pub struct Modelled {
    pub(crate) data: Executor<Bytes>,
    pub(crate) platters: Vec<Arc<ImagePlatter>>,
    /// The data that a power cut or a failure may still destroy.
    pub(crate) ledger: Ledger,
    /// The addresses of an array whose writes were answered.
    answered: AnsweredRanges,
    pub(crate) first_failure: FirstFailure,
}

/// The drive of each slot whose drive has all of its data; without an array, the one drive.
pub(crate) fn drives(array: Option<&Array>) -> Vec<Option<u16>> {
    array.map_or_else(|| vec![Some(0)], consistent::valid_members)
}

impl Store {
    /// A store on these images, one per drive of the target; a target without drives uses the first.
    ///
    /// # Panics
    /// When `images` is empty.
    pub fn new(params: &TargetParams, mut images: Vec<Named>) -> Self {
        let first_failure = FirstFailure::default();
        let TargetParams::System(system) = params else {
            let (_, image) = images.swap_remove(0);
            return Store::Flat { image, first_failure };
        };
        let platter = |(name, image)| ImagePlatter::new(name, image, first_failure.clone());
        let platters: Vec<Arc<ImagePlatter>> = images.into_iter().map(platter).collect();
        let shared = platters.iter().map(|platter| Arc::clone(platter) as Arc<dyn Platter<Bytes>>);
        let data = Executor::of_system(system).on_platters(shared.collect());
        let ledger = Ledger::default();
        let is_old = platters.iter().any(|platter| !platter.extents().is_empty());
        let mut answered = if is_old { AnsweredRanges::all() } else { AnsweredRanges::default() };
        let array = system.array.iter();
        array.flat_map(|array| &array.bad_blocks).for_each(|&(first, end)| answered.remove(first, end));
        Store::Modelled(Box::new(Modelled { data, platters, ledger, answered, first_failure }))
    }

    /// A store in memory for the drives of the target.
    pub fn in_memory(params: &TargetParams) -> Self {
        let drives = if let TargetParams::System(system) = params { system.drives.len() } else { 1 };
        let image =
            |drive| -> Named { (format!("member {drive} in memory"), Box::new(MemoryImage::default())) };
        Store::new(params, (0..drives).map(image).collect())
    }

    /// The record of the first failure of an image.
    pub fn first_failure(&self) -> &FirstFailure {
        match self {
            Store::Modelled(modelled) => &modelled.first_failure,
            Store::Flat { first_failure, .. } => first_failure,
        }
    }

    /// Converts bytes into the form of the store.
    pub fn payload(&self, bytes: Vec<u8>) -> Payload {
        match self {
            Store::Modelled(_) => Payload::Sectors(crate::platter::cells(&bytes)),
            Store::Flat { .. } => Payload::Plain(bytes),
        }
    }

    /// `count` sectors of zeros.
    pub fn zeros(&self, count: u64) -> Payload {
        match self {
            Store::Modelled(_) => Payload::Sectors(vec![Bytes::default(); count as usize]),
            Store::Flat { .. } => Payload::Plain(vec![0; (count * SECTOR) as usize]),
        }
    }

    /// Stores the data of a write that was submitted with this number.
    pub fn submitted(&mut self, number: u64, first: u64, payload: &Payload) {
        if let (Store::Modelled(modelled), Payload::Sectors(cells)) = (self, payload) {
            modelled.data.write_data(number, first, cells);
        }
    }

    /// Applies a data operation of the target.
    ///
    /// # Errors
    /// When the operations of the target are inconsistent.
    pub fn apply(&mut self, target: &Target, now: Instant, op: DataOp) -> Result<(), Fault> {
        match self {
            Store::Modelled(modelled) => {
                modelled.guard(target.array(), op);
                modelled.data.apply(now, op)?;
                if let DataOp::Corrupt { member, first, count } = op
                    && let Some(platter) = modelled.platter(member)
                {
                    platter.note_corrupted(first.get(), count.get());
                }
                Ok(())
            }
            Store::Flat { .. } => Ok(()),
        }
    }

    /// Handles the completion of a command. Returns the data of a read.
    ///
    /// # Errors
    /// When the operations of the target are inconsistent.
    pub fn answered(
        &mut self,
        target: &Target,
        command: &Command,
        completion: &Completion,
        payload: Option<&Payload>,
    ) -> Result<ReadData, Fault> {
        let is_done = completion.outcome == Outcome::Done;
        match self {
            Store::Modelled(modelled) => {
                let found = modelled.data.answered(command, completion)?;
                if let Some(Payload::Sectors(cells)) = payload {
                    modelled.note(target.array(), command, cells, is_done);
                }
                Ok(ReadData::Sectors(found))
            }
            Store::Flat { image, first_failure } => {
                let at = command.first.get() * SECTOR;
                let mut found = Vec::new();
                if let (true, Some(Payload::Plain(bytes))) = (is_done, payload)
                    && let Err(error) = image.write(at, bytes)
                {
                    first_failure.note("the image", true, &error);
                }
                if is_done && command.access == Access::Read {
                    found.resize((command.count.get() * SECTOR) as usize, 0);
                    if let Err(error) = image.read(at, &mut found) {
                        first_failure.note("the image", false, &error);
                    }
                }
                Ok(ReadData::Plain(found))
            }
        }
    }

    /// The allocation of a range of bytes: lengths, and whether the range is a hole.
    pub fn extents(&self, target: &Target, offset: u64, length: u32) -> Vec<(u32, bool)> {
        let end = offset + u64::from(length);
        let held: Vec<(u64, u64)> = match self {
            Store::Flat { image, first_failure } => image.extents().unwrap_or_else(|error| {
                first_failure.note("the image", false, &error);
                vec![(0, u64::MAX)]
            }),
            // Any address of an array may depend on any member's data.
            Store::Modelled(_) if target.array().is_some() || target.controller_cache().is_some() => {
                vec![(0, u64::MAX)]
            }
            Store::Modelled(modelled) => modelled.extents(),
        };
        let mut found: Vec<(u32, bool)> = Vec::new();
        let mut add = |from: u64, to: u64, is_hole| {
            if from < to {
                found.push(((to - from) as u32, is_hole));
            }
        };
        let mut at = offset;
        for (first, behind) in held {
            let (first, behind) = (first.clamp(at, end), behind.clamp(at, end));
            add(at, first, true);
            add(first, behind, false);
            at = behind;
        }
        add(at, end, true);
        found
    }

    /// Makes the images durable. Returns the acknowledged sectors that are on no image.
    pub fn close(&mut self, target: &Target) -> u64 {
        match self {
            Store::Modelled(modelled) => {
                modelled.platters.iter().for_each(|platter| platter.sync());
                self.unsaved(target)
            }
            Store::Flat { image, first_failure } => {
                if let Err(error) = image.sync() {
                    first_failure.note("the image", true, &error);
                }
                0
            }
        }
    }

    /// The addresses of an array whose writes were answered.
    pub(crate) fn answered_ranges(&self) -> Option<&AnsweredRanges> {
        if let Store::Modelled(modelled) = self { Some(&modelled.answered) } else { None }
    }

    /// Nothing is promised for these addresses any more.
    pub(crate) fn give_up(&mut self, first: u64, end: u64) {
        if let Store::Modelled(modelled) = self {
            modelled.answered.remove(first, end);
            modelled.ledger.failed(first, end - first);
        }
    }

    /// The number of acknowledged sectors that are on no image.
    pub(crate) fn unsaved(&self, target: &Target) -> u64 {
        match self {
            Store::Modelled(modelled) => {
                modelled.ledger.not_at_rest(&Held::new(target.array(), modelled.data.media()))
            }
            Store::Flat { .. } => 0,
        }
    }

    /// The names of the images, indexed by the current drive numbers.
    pub fn order(&self) -> Vec<String> {
        let Store::Modelled(modelled) = self else { return Vec::new() };
        let name = |drive| modelled.platter(drive).map_or_else(String::new, |own| own.name().to_owned());
        (0..modelled.data.media().drives() as u16).map(name).collect()
    }

    /// The number of sectors of a drive that were corrupted, and not written since.
    pub fn corrupted(&self, drive: u16) -> u64 {
        let Store::Modelled(modelled) = self else { return 0 };
        modelled.platter(drive).map_or(0, ImagePlatter::corrupted)
    }

    /// The approximate memory in bytes of data that are on no image.
    pub fn bytes(&self) -> u64 {
        match self {
            Store::Modelled(modelled) => modelled.data.bytes() + modelled.ledger.len() * SECTOR,
            Store::Flat { .. } => 0,
        }
    }
}

impl Modelled {
    /// The media of a drive, by its current number.
    fn platter(&self, drive: u16) -> Option<&ImagePlatter> {
        let platter = Arc::as_ptr(self.data.media().platter(drive)?).cast::<()>();
        let is_it = |own: &&Arc<ImagePlatter>| Arc::as_ptr(own).cast::<()>() == platter;
        self.platters.iter().find(is_it).map(Arc::as_ref)
    }

    /// Records a write that was acknowledged, or has failed.
    fn note(&mut self, array: Option<&Array>, command: &Command, cells: &[Bytes], is_done: bool) {
        let first = command.first.get();
        if is_done {
            self.ledger.answered(first, cells);
            if array.is_some() {
                self.answered.add(first, first + cells.len() as u64);
            }
        } else {
            self.ledger.failed(first, cells.len() as u64);
        }
        self.ledger.look(&Held::new(array, self.data.media()));
    }

    /// Records what an operation on the data of a drive puts at risk, before it is applied.
    fn guard(&mut self, array: Option<&Array>, op: DataOp) {
        let (drive, first, count, is_corruption) = match op {
            DataOp::Accept { member, first, count, .. } if array.is_some() => (member, first, count, false),
            DataOp::Corrupt { member, first, count } => (member, first, count, true),
            _ => return,
        };
        let Modelled { data, ledger, .. } = self;
        let held = Held::new(array, data.media());
        let sectors = (first.get(), count.get());
        // Before, because what is recorded now is still at rest.
        ledger.look(&held);
        held.stripes_of(drive, sectors, is_corruption, |first, count, data| ledger.guard(first, count, data));
    }

    /// The allocated ranges of the single drive, in bytes.
    fn extents(&self) -> Vec<(u64, u64)> {
        let mut sectors = self.platters[0].extents();
        let waiting = self.data.media().waiting(0);
        for (at, _) in waiting.into_iter().flat_map(Waiting::iter) {
            match sectors.last_mut() {
                Some(last) if last.1 == at => last.1 += 1,
                _ => sectors.push((at, at + 1)),
            }
        }
        sectors.sort_unstable();
        sectors.into_iter().map(|(first, end)| (first * SECTOR, end * SECTOR)).collect()
    }
}
