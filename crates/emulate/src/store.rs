//! The bytes of a target: on the images of its drives as the model says, or, where the model has no drives, on one.
use crate::door::Found;
use crate::image::{Image, MemoryImage, Named};
use crate::ledger::{Ledger, Lost};
use crate::platter::{ImagePlatter, Trouble};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Target, TargetParams};
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_data::platter::Waiting;
use drivelab_data::{Bytes, Contents, Executor, Fault, Platter, cell, consistent};
use drivelab_units::Instant;
use std::collections::BTreeMap;
use std::sync::Arc;

const SECTOR: u64 = cell::SECTOR as u64;

/// The data of a write, in the form that the store takes.
#[derive(Clone, Debug)]
pub enum Payload {
    Sectors(Vec<Bytes>),
    Plain(Vec<u8>),
}

/// Where the bytes are.
pub enum Store {
    /// On the drives of a model.
    Modelled(Box<Modelled>),
    /// On one image, for a target that has no drives.
    Flat { image: Box<dyn Image>, trouble: Trouble },
}

/// The drives of a model, each with an image.
pub struct Modelled {
    pub(crate) data: Executor<Bytes>,
    pub(crate) platters: Vec<Arc<ImagePlatter>>,
    /// What may be lost, where anything may be.
    pub(crate) ledger: Option<Ledger>,
    pub(crate) trouble: Trouble,
}

/// Whether a write may be answered before it is on the media.
pub(crate) fn is_volatile(params: &SystemParams) -> bool {
    let mut drives = params.drives.iter().filter_map(|drive| drive.cache.as_ref());
    drives.any(|cache| cache.write_back.is_some()) || params.controller.cache.is_some()
}

/// The drive of each slot that has all of its data, or the one drive.
pub(crate) fn drives(array: Option<&Array>) -> Vec<Option<u16>> {
    array.map_or_else(|| vec![Some(0)], consistent::whole)
}

pub(crate) fn array_of(target: &Target) -> Option<&Array> {
    target.system()?.array()
}

impl Store {
    /// On these images, one for each drive of the target; for one without drives on the first.
    ///
    /// # Panics
    /// When there is none.
    pub fn new(params: &TargetParams, mut images: Vec<Named>) -> Self {
        let trouble = Trouble::default();
        let TargetParams::System(system) = params else {
            let (_, image) = images.swap_remove(0);
            return Store::Flat { image, trouble };
        };
        let platter = |(name, image)| ImagePlatter::new(name, image, trouble.clone());
        let platters: Vec<Arc<ImagePlatter>> = images.into_iter().map(platter).collect();
        let shared = platters.iter().map(|platter| Arc::clone(platter) as Arc<dyn Platter<Bytes>>);
        let data = Executor::of_system(system).on_platters(shared.collect());
        let ledger = is_volatile(system).then(Ledger::default);
        Store::Modelled(Box::new(Modelled { data, platters, ledger, trouble }))
    }

    /// In memory, for each drive of the target.
    pub fn in_memory(params: &TargetParams) -> Self {
        let drives = if let TargetParams::System(system) = params { system.drives.len() } else { 1 };
        let image =
            |drive| -> Named { (format!("member {drive} in memory"), Box::new(MemoryImage::default())) };
        Store::new(params, (0..drives).map(image).collect())
    }

    /// What went wrong with an image.
    pub fn trouble(&self) -> &Trouble {
        match self {
            Store::Modelled(modelled) => &modelled.trouble,
            Store::Flat { trouble, .. } => trouble,
        }
    }

    /// In the form that the store keeps it.
    pub fn payload(&self, bytes: Vec<u8>) -> Payload {
        match self {
            Store::Modelled(_) => Payload::Sectors(crate::platter::cells(&bytes)),
            Store::Flat { .. } => Payload::Plain(bytes),
        }
    }

    /// So many sectors of zeros.
    pub fn zeros(&self, count: u64) -> Payload {
        match self {
            Store::Modelled(_) => Payload::Sectors(vec![Bytes::default(); count as usize]),
            Store::Flat { .. } => Payload::Plain(vec![0; (count * SECTOR) as usize]),
        }
    }

    /// A write was submitted under this number.
    pub fn submitted(&mut self, number: u64, first: u64, payload: &Payload) {
        if let (Store::Modelled(modelled), Payload::Sectors(cells)) = (self, payload) {
            modelled.data.write_data(number, first, cells);
        }
    }

    /// The target has done something with data.
    ///
    /// # Errors
    /// Where the target contradicts itself.
    pub fn apply(&mut self, now: Instant, op: DataOp) -> Result<(), Fault> {
        match self {
            Store::Modelled(modelled) => modelled.data.apply(now, op),
            Store::Flat { .. } => Ok(()),
        }
    }

    /// The target has answered a command. Returns what a read has fetched.
    ///
    /// # Errors
    /// Where the target contradicts itself.
    pub fn answered(
        &mut self,
        target: &Target,
        command: &Command,
        completion: &Completion,
        payload: Option<&Payload>,
    ) -> Result<Found, Fault> {
        let is_done = completion.outcome == Outcome::Done;
        match self {
            Store::Modelled(modelled) => {
                let found = modelled.data.answered(command, completion)?;
                if let (true, Some(Payload::Sectors(cells))) = (is_done, payload) {
                    modelled.note(target, command.first.get(), cells);
                }
                Ok(Found::Sectors(found))
            }
            Store::Flat { image, trouble } => {
                let at = command.first.get() * SECTOR;
                let mut found = Vec::new();
                if let (true, Some(Payload::Plain(bytes))) = (is_done, payload)
                    && let Err(error) = image.write(at, bytes)
                {
                    trouble.note("the image", true, &error);
                }
                if is_done && command.access == Access::Read {
                    found.resize((command.count.get() * SECTOR) as usize, 0);
                    if let Err(error) = image.read(at, &mut found) {
                        trouble.note("the image", false, &error);
                    }
                }
                Ok(Found::Plain(found))
            }
        }
    }

    /// Which of some bytes are allocated: lengths, and whether nothing was ever written there.
    pub fn extents(&self, target: &Target, offset: u64, length: u32) -> Vec<(u32, bool)> {
        let end = offset + u64::from(length);
        let held: Vec<(u64, u64)> = match self {
            Store::Flat { image, trouble } => image.extents().unwrap_or_else(|error| {
                trouble.note("the image", false, &error);
                vec![(0, u64::MAX)]
            }),
            // Of an array every address may be made of any member's.
            Store::Modelled(_) if array_of(target).is_some() || target.controller_cache().is_some() => {
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

    /// All that is on the media survives the machine. Returns the sectors that were answered for and are not there.
    pub fn close(&mut self, target: &Target) -> u64 {
        match self {
            Store::Modelled(modelled) => {
                modelled.platters.iter().for_each(|platter| platter.sync());
                self.unsaved(target)
            }
            Store::Flat { image, trouble } => {
                if let Err(error) = image.sync() {
                    trouble.note("the image", true, &error);
                }
                0
            }
        }
    }

    /// Answered sectors that are on no image.
    pub(crate) fn unsaved(&self, target: &Target) -> u64 {
        match self {
            Store::Modelled(modelled) => modelled.unsaved(target),
            Store::Flat { .. } => 0,
        }
    }

    /// The names of the images, by the numbers of the drives as they are now.
    pub fn order(&self) -> Vec<String> {
        let Store::Modelled(modelled) = self else { return Vec::new() };
        let media = modelled.data.media();
        let name = |drive| {
            let platter = media.platter(drive).map(|platter| Arc::as_ptr(platter).cast::<()>());
            let is_it = |own: &&Arc<ImagePlatter>| Some(Arc::as_ptr(own).cast::<()>()) == platter;
            modelled.platters.iter().find(is_it).map_or_else(String::new, |own| own.name().to_owned())
        };
        (0..media.drives() as u16).map(name).collect()
    }

    /// About how much memory the data take that are on no image, in bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Store::Modelled(modelled) => {
                let noted = modelled.ledger.as_ref().map_or(0, Ledger::len);
                modelled.data.bytes() + noted * SECTOR
            }
            Store::Flat { .. } => 0,
        }
    }
}

impl Modelled {
    /// A write was answered: until it is on the media, it may be lost.
    fn note(&mut self, target: &Target, first: u64, cells: &[Bytes]) {
        let Some(ledger) = &mut self.ledger else { return };
        let array = array_of(target);
        let drives = drives(array);
        let media = self.data.media();
        let contents = Contents::new(array.map(Array::layout), &drives, media).without_caches();
        ledger.answered(first, cells, |first, count| match array {
            None => Some(media.image(0, first, count)),
            Some(_) => (first..first + count).map(|at| contents.get(at)).collect(),
        });
    }

    /// What is gone of all that was answered, now that the power is back.
    pub(crate) fn lost(
        &self,
        target: &Target,
        kept: &BTreeMap<u64, Bytes>,
        unanswered: &[(u64, Vec<Bytes>)],
    ) -> Vec<Lost> {
        let Some(ledger) = &self.ledger else { return Vec::new() };
        let array = array_of(target);
        let drives = drives(array);
        let contents = Contents::new(array.map(Array::layout), &drives, self.data.media());
        let is_unanswered = |at: u64, found: &Bytes| {
            let at = |first: &u64| at.checked_sub(*first).map(|place| place as usize);
            unanswered.iter().any(|(first, cells)| at(first).and_then(|at| cells.get(at)) == Some(found))
        };
        ledger.lost(|at| kept.get(&at).cloned().or_else(|| contents.get(at)), is_unanswered)
    }

    /// Answered sectors that are on no image.
    fn unsaved(&self, target: &Target) -> u64 {
        let Some(ledger) = &self.ledger else { return 0 };
        let array = array_of(target);
        let drives = drives(array);
        let contents = Contents::new(array.map(Array::layout), &drives, self.data.media()).without_caches();
        ledger.lost(|at| contents.get(at), |_, _| false).iter().map(|lost| lost.sectors).sum()
    }

    /// In bytes, of the one drive.
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
