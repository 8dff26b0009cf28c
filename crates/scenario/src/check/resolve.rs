//! Looks up drives, controllers and patterns: a name of the catalogue, a path, or a table based on either.
use crate::catalogue;
use crate::check::trace::{TraceFound, TraceRequest};
use crate::keys::At;
use crate::raw::choice::{CatalogueItem, Choice};
use crate::text::problem::{Log, Place};
use crate::text::suggest;
use crate::text::tree::{Node, Value, document};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reads the files that a scenario names by path. The room itself touches no file system.
pub trait Loader {
    /// The text of the file at `path`, relative to the scenario's folder; otherwise the error.
    fn load(&self, path: &str) -> Result<String, String>;

    /// The text that replaces the catalogue's file at `path`, such as `catalogue/drives/NAME.toml`: a recorded
    /// run is repeated with the files of its time.
    fn replaced(&self, _path: &str) -> Option<String> {
        None
    }

    /// The requested trace, its path relative to the scenario's folder; otherwise the error.
    fn trace(&self, _request: &TraceRequest) -> Result<TraceFound, String> {
        Err("traces cannot be read here".to_owned())
    }
}

/// A loader for scenarios that name only what is in the catalogue.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Result<String, String> {
        Err("files cannot be read here".to_owned())
    }
}

/// The files of one kind that have been looked up, by name or path.
pub struct FileCache<'a, T> {
    loader: &'a dyn Loader,
    known: BTreeMap<String, Option<T>>,
    /// The names being looked up, each the base of the one before it.
    chain: Vec<String>,
    /// The texts of all files read, by path; those of the catalogue as `catalogue/drives/NAME.toml`.
    pub texts: BTreeMap<String, String>,
}

/// Maximum length of a chain of files, each based on the next.
const CHAIN_MAX: usize = 32;

impl<'a, T: CatalogueItem> FileCache<'a, T> {
    pub fn new(loader: &'a dyn Loader) -> Self {
        FileCache { loader, known: BTreeMap::new(), chain: Vec::new(), texts: BTreeMap::new() }
    }

    /// The file or table that is meant, merged with everything on which it is based.
    pub fn resolve(&mut self, choice: &At<Choice<T>>, log: &mut Log) -> Option<T> {
        match &choice.value {
            Choice::Named(name) => self.named(name, choice.place, log),
            Choice::Inline(raw) => self.over_base((**raw).clone().with_own_marks(), log),
        }
    }

    fn over_base(&mut self, mut raw: T, log: &mut Log) -> Option<T> {
        let Some(base) = raw.take_base() else { return Some(raw) };
        let below = self.named(&base.value, base.place, log)?;
        Some(raw.over_base(below))
    }

    /// The file of this name; `place` is where it is named. A loop instead of a recursion, because a chain of
    /// large tables would exceed a small stack.
    pub fn named(&mut self, name: &str, place: Place, log: &mut Log) -> Option<T> {
        let (mut name, mut place) = (name.to_owned(), place);
        let mut above: Vec<(String, Box<T>)> = Vec::new();
        let mut found = loop {
            if let Some(known) = self.known.get(&name) {
                // If it could not be read, one message is enough.
                break known.clone();
            }
            if !self.check_chain(&name, place, log) {
                break None;
            }
            let read = self.read(&name, place, log).map(Box::new);
            let Some((raw, base)) = read.map(|mut raw| {
                let base = raw.take_base();
                (raw, base)
            }) else {
                self.known.insert(name, None);
                break None;
            };
            let Some(base) = base else {
                self.known.insert(name, Some((*raw).clone()));
                break Some(*raw);
            };
            self.chain.push(name.clone());
            above.push((name, raw));
            (name, place) = (base.value, base.place);
        };
        while let Some((name, raw)) = above.pop() {
            self.chain.pop();
            found = found.map(|below| raw.over_base(below));
            self.known.insert(name, found.clone());
        }
        found
    }

    /// Whether the chain of bases may continue with this file.
    fn check_chain(&self, name: &str, place: Place, log: &mut Log) -> bool {
        let what = T::WHAT;
        if let Some(first) = self.chain.iter().position(|known| known == name) {
            let mut message = format!("the {what} \"{name}\" is based on itself");
            if let [_, rest @ ..] = &self.chain[first..]
                && !rest.is_empty()
            {
                let _ = write!(message, ", by way of \"{}\"", rest.join("\" and \""));
            }
            log.fault(place, message, format!("end the chain of bases at a {what} without one"));
            return false;
        }
        if self.chain.len() == CHAIN_MAX {
            let message =
                format!("{CHAIN_MAX} {what} files change each other in a chain, and \"{name}\" is one more");
            log.fault(
                place,
                message,
                format!("write what some of them change into one file: a chain has at most {CHAIN_MAX}"),
            );
            return false;
        }
        true
    }

    fn read(&mut self, name: &str, place: Place, log: &mut Log) -> Option<T> {
        let (what, folder) = (T::WHAT, T::FOLDER);
        let filed = format!("catalogue/{folder}/{name}.toml");
        let (origin, text) = if T::is_path(name) {
            match self.loader.load(name) {
                Ok(text) => (name.to_owned(), text),
                Err(why) => {
                    let remedy = format!(
                        "write a path seen from the scenario's folder, or the name of a {what} of the catalogue"
                    );
                    log.fault(place, format!("cannot read the {what} file \"{name}\": {why}"), remedy);
                    return None;
                }
            }
        } else if let Some(text) = self.loader.replaced(&filed) {
            (filed, text)
        } else if let Some(text) = catalogue::text(folder, name) {
            (filed, text.to_owned())
        } else {
            let names: Vec<&str> = catalogue::entries(folder).iter().map(|entry| entry.name).collect();
            let remedy =
                format!("{} (the path of a {what} file ends in .toml)", suggest::remedy(name, &names));
            log.fault(place, format!("the catalogue has no {what} \"{name}\""), remedy);
            return None;
        };
        let all = log.add(&origin, &text, true);
        self.texts.insert(origin, text.clone());
        let before = log.count();
        let table = document(&text, all, log)?;
        let raw = T::read(&Node { place: all, value: Value::Table(table) }, log)?;
        (log.count() == before).then_some(raw.with_own_marks())
    }
}
