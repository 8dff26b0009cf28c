//! Which drive is meant: a name of the catalogue, a path, or a table laid over either.
use crate::catalogue;
use crate::keys::{At, Read};
use crate::raw::drive::DriveRaw;
use crate::raw::scenario::DriveChoice;
use crate::text::problem::{Log, Place};
use crate::text::suggest;
use crate::text::tree::{Node, Value, document};
use std::collections::BTreeMap;

/// Reads the drive files that a scenario names by path. The room itself touches no file system.
pub trait Loader {
    /// The text of the file at `path`, seen from the scenario's folder; what went wrong otherwise.
    fn load(&self, path: &str) -> Result<String, String>;
}

/// A loader for scenarios that name only drives of the catalogue.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Result<String, String> {
        Err("files cannot be read here".to_owned())
    }
}

/// The drives that have been asked for, by name or path.
pub struct Drives<'a> {
    loader: &'a dyn Loader,
    known: BTreeMap<String, Option<DriveRaw>>,
}

/// A drive that changes a drive that changes a drive ..: longer chains are a circle.
const CHAIN_MAX: usize = 8;

impl<'a> Drives<'a> {
    pub fn new(loader: &'a dyn Loader) -> Self {
        Drives { loader, known: BTreeMap::new() }
    }

    /// The drive that is meant, with all that it is laid over.
    pub fn resolve(&mut self, choice: &At<DriveChoice>, log: &mut Log) -> Option<DriveRaw> {
        match &choice.value {
            DriveChoice::Named(name) => self.named(name, choice.place, CHAIN_MAX, log),
            DriveChoice::Inline(raw) => self.over_base((**raw).clone(), CHAIN_MAX, log),
        }
    }

    fn over_base(&mut self, mut raw: DriveRaw, chain: usize, log: &mut Log) -> Option<DriveRaw> {
        let Some(base) = raw.base.take() else { return Some(raw) };
        let below = self.named(&base.value, base.place, chain, log)?;
        Some(raw.over(below))
    }

    fn named(&mut self, name: &str, place: Place, chain: usize, log: &mut Log) -> Option<DriveRaw> {
        if let Some(known) = self.known.get(name) {
            if known.is_none() {
                // Another use of a drive that could not be read: said once is enough.
                return None;
            }
            return known.clone();
        }
        if chain == 0 {
            log.fault(
                place,
                format!("the drive \"{name}\" is based on itself"),
                "end the chain of `base` at a drive without one",
            );
            return None;
        }
        let read = self.read(name, place, log).and_then(|raw| self.over_base(raw, chain - 1, log));
        self.known.insert(name.to_owned(), read.clone());
        read
    }

    fn read(&self, name: &str, place: Place, log: &mut Log) -> Option<DriveRaw> {
        let (origin, text) = if is_path(name) {
            match self.loader.load(name) {
                Ok(text) => (name.to_owned(), text),
                Err(why) => {
                    let remedy = "write a path seen from the scenario's folder, or the name of a drive of the catalogue";
                    log.fault(place, format!("cannot read the drive file \"{name}\": {why}"), remedy);
                    return None;
                }
            }
        } else if let Some(text) = catalogue::drive(name) {
            (format!("catalogue/drives/{name}.toml"), text.to_owned())
        } else {
            let names: Vec<&str> = catalogue::entries("drives").iter().map(|entry| entry.name).collect();
            let remedy =
                format!("{} (the path of a drive file ends in .toml)", suggest::remedy(name, &names));
            log.fault(place, format!("the catalogue has no drive \"{name}\""), remedy);
            return None;
        };
        let all = log.add(&origin, &text, true);
        let before = log.count();
        let table = document(&text, all, log)?;
        let raw = DriveRaw::read(&Node { place: all, value: Value::Table(table) }, log)?;
        (log.count() == before).then_some(raw)
    }
}

fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}
