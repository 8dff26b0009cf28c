//! A folder with an image for each drive, and what is known of them beside: which is whose, and whether all was written.
//!
//! `state.json` says `clean: false` while the folder is served. Who finds that there brings the members of an array in
//! agreement again before anybody is served, as after a crash of a real one.
use crate::error::EmulateError;
use crate::image::{FileImage, Image, Named};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const RESERVE: &str = "reserve";
const FORMAT: u32 = 1;

/// What `state.json` says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub format: u32,
    /// Whether all that was answered is on the images.
    pub clean: bool,
    /// The file of each drive, by its number.
    pub drives: Vec<String>,
    pub sizes: Vec<u64>,
    /// Slots of the array that have no drive.
    pub missing: Vec<u16>,
}

/// A folder that is served.
pub struct Folder {
    path: PathBuf,
    pub state: State,
}

impl Folder {
    /// Opens a folder for drives of these sizes, or makes it.
    ///
    /// # Errors
    /// When it cannot be had, or is of another target.
    pub fn open(path: &Path, sizes: &[u64]) -> Result<Self, EmulateError> {
        let failed = |path: PathBuf| move |error| EmulateError::Open { path, error };
        if path.exists() && !path.is_dir() {
            let why = "it is no folder: an image that is there already is given with --image";
            return Err(failed(path.to_owned())(io::Error::other(why)));
        }
        fs::create_dir_all(path).map_err(failed(path.to_owned()))?;
        let state = match fs::read(path.join(STATE)) {
            Ok(bytes) => {
                let found: State = serde_json::from_slice(&bytes)
                    .map_err(|error| failed(path.join(STATE))(io::Error::other(error.to_string())))?;
                if found.format != FORMAT || found.sizes != sizes || found.drives.len() != sizes.len() {
                    let why = "it has images of another target: take another folder, or the scenario that it was made with";
                    return Err(failed(path.to_owned())(io::Error::other(why)));
                }
                found
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => State {
                format: FORMAT,
                clean: true,
                drives: (0..sizes.len()).map(|drive| format!("member-{drive}.img")).collect(),
                sizes: sizes.to_vec(),
                missing: Vec::new(),
            },
            Err(error) => return Err(failed(path.join(STATE))(error)),
        };
        Ok(Folder { path: path.to_owned(), state })
    }

    /// Opens all images. From now on the folder is not clean.
    ///
    /// # Errors
    /// When one cannot be had.
    pub fn images(&mut self) -> Result<Vec<Named>, EmulateError> {
        let mut images = Vec::new();
        for (name, &size) in self.state.drives.iter().zip(&self.state.sizes) {
            let path = self.path.join(name);
            let image = FileImage::open(&path, size).map_err(|error| EmulateError::Open { path, error })?;
            images.push((name.clone(), Box::new(image) as Box<dyn Image>));
        }
        let state = State { clean: false, ..self.state.clone() };
        self.write(&state)?;
        Ok(images)
    }

    /// Keeps so many bytes of the disk back: they are for what was answered when the disk is full.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn reserve(&self, bytes: u64) -> Result<(), EmulateError> {
        let path = self.path.join(RESERVE);
        let made = File::create(&path).and_then(|file| {
            let flags = rustix::fs::FallocateFlags::empty();
            match rustix::fs::fallocate(&file, flags, 0, bytes.max(1)) {
                // Where a file system cannot, nothing is kept back.
                Err(rustix::io::Errno::OPNOTSUPP) | Ok(()) => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        made.map_err(|error| {
            // Half of it helps nobody.
            let _ = fs::remove_file(&path);
            EmulateError::Open { path: path.clone(), error }
        })
    }

    /// Gives back what was kept back.
    pub fn release(&self) {
        // It may never have been there.
        let _ = fs::remove_file(self.path.join(RESERVE));
    }

    /// The session has ended: which image is whose now, what is missing, and whether all that was answered is there.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn close(&self, drives: Vec<String>, missing: Vec<u16>, clean: bool) -> Result<(), EmulateError> {
        self.write(&State { clean, drives, missing, ..self.state.clone() })
    }

    fn write(&self, state: &State) -> Result<(), EmulateError> {
        let (path, new) = (self.path.join(STATE), self.path.join("state.json.new"));
        let text = serde_json::to_string_pretty(state).unwrap_or_default() + "\n";
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| EmulateError::Open { path, error })
    }
}
