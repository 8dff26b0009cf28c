//! The drive files that a scenario names by path. The scenario room touches no file system, so it asks here.
use crate::errors::in_words;
use crate::recording::{files_of, fingerprint, found};
use drivelab_scenario::{Loader, TraceFound, TraceRequest};
use drivelab_simulate::recorded::Replayed;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// More than any drive file needs; a device that never ends is cut off here.
const SIZE_MAX_BYTES: u64 = 1 << 24;

/// Paths relative to one folder.
pub struct Folder {
    base: PathBuf,
    /// Drive files by their paths in the scenario: those that came with it, then those read so far. A file of
    /// the catalogue that came with it replaces the one that is there.
    pub texts: RefCell<BTreeMap<String, String>>,
    /// The fingerprints of the traces so far: a large trace is not read again for each point of a sweep.
    fingerprints: RefCell<BTreeMap<PathBuf, String>>,
    /// All traces that were found.
    pub replayed: RefCell<Vec<Arc<Replayed>>>,
    /// All files of these.
    pub trace_files: RefCell<Vec<PathBuf>>,
}

impl Folder {
    pub fn new(base: PathBuf, texts: BTreeMap<String, String>) -> Self {
        Folder {
            base,
            texts: RefCell::new(texts),
            fingerprints: RefCell::default(),
            replayed: RefCell::default(),
            trace_files: RefCell::default(),
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let path = self.base.join(path);
        // Before it is opened: opening a pipe waits for a writer.
        let kind = std::fs::metadata(&path).map_err(|error| in_words(&error))?.file_type();
        if !kind.is_file() {
            let what = if kind.is_dir() { "a folder" } else { "a pipe or a device" };
            return Err(format!("it is {what}, not a file"));
        }
        let file = File::open(&path).map_err(|error| in_words(&error))?;
        let mut text = String::new();
        let size = file.take(SIZE_MAX_BYTES).read_to_string(&mut text).map_err(|error| in_words(&error))?;
        if size as u64 == SIZE_MAX_BYTES { Err("it is larger than 16 MiB".to_owned()) } else { Ok(text) }
    }
}

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<String, String> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone());
        }
        let text = self.read(path)?;
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn replaced(&self, path: &str) -> Option<String> {
        self.texts.borrow().get(path).cloned()
    }

    fn trace(&self, request: &TraceRequest) -> Result<TraceFound, String> {
        let path = self.base.join(&request.file);
        let files = files_of(&path)?;
        let known = self.fingerprints.borrow().get(&path).cloned();
        let identity = match known {
            Some(known) => known,
            None => {
                let identity = fingerprint(&files)?;
                self.fingerprints.borrow_mut().insert(path, identity.clone());
                identity
            }
        };
        self.trace_files.borrow_mut().extend(files.iter().cloned());
        let (replayed, found) = found(request, files, identity)?;
        self.replayed.borrow_mut().push(replayed);
        Ok(found)
    }
}
