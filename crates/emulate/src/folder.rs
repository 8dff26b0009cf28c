//! A folder with one image per drive, and `state.json`: which image belongs to which drive, and whether everything
//! was written.
//!
//! `state.json` says `clean: false` while the folder is served. If it still says so when the folder is opened, the
//! members of an array are resynchronized before any client is served, as after a crash of a real array. It lists the
//! members that are missing at any time, before anything is answered that they do not have: a killed process must not
//! leave an image behind that looks whole and is not.
use crate::error::EmulateError;
use crate::image::{FileImage, Image, Named};
use crate::members::Arrangement;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const RESERVE: &str = "reserve";
const FORMAT: u32 = 1;

/// The contents of `state.json`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub format: u32,
    /// Whether all acknowledged data are on the images.
    pub clean: bool,
    /// The image file of each drive, indexed by drive number.
    pub drives: Vec<String>,
    pub sizes: Vec<u64>,
    /// Array slots without a drive.
    pub missing: Vec<u16>,
    /// What places an array's data on its members. Folders of older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}

impl State {
    /// Checks whether the images are of a target with drives of these sizes and this layout.
    fn check(&self, sizes: &[u64], layout: Option<&str>) -> Result<(), String> {
        let remedy = "take another folder, or the scenario that it was made with";
        if self.format != FORMAT || self.sizes != sizes || self.drives.len() != sizes.len() {
            return Err(format!("it has images of another target: {remedy}"));
        }
        match (self.layout.as_deref(), layout) {
            (Some(own), _) if Some(own) != layout => {
                Err(format!("it has images of another target: they are of {own}; {remedy}"))
            }
            // A guess could write parity over data.
            (None, Some(layout)) => Err(format!(
                "an older version made it, and {STATE} does not say what its images are of; if they are of {layout}, add \
                 \"layout\": \"{layout}\" to it"
            )),
            _ => Ok(()),
        }
    }
}

/// A folder whose images are served.
pub struct Folder {
    path: PathBuf,
    pub state: State,
}

impl Folder {
    /// Opens a folder for drives of these sizes in bytes and for this layout of an array, or creates it.
    ///
    /// # Errors
    /// When the folder cannot be opened or belongs to another target.
    pub fn open(path: &Path, sizes: &[u64], layout: Option<String>) -> Result<Self, EmulateError> {
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
                found
                    .check(sizes, layout.as_deref())
                    .map_err(|why| failed(path.to_owned())(io::Error::other(why)))?;
                found
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => State {
                format: FORMAT,
                clean: true,
                drives: (0..sizes.len()).map(|drive| format!("member-{drive}.img")).collect(),
                sizes: sizes.to_vec(),
                missing: Vec::new(),
                layout,
            },
            Err(error) => return Err(failed(path.join(STATE))(error)),
        };
        Ok(Folder { path: path.to_owned(), state })
    }

    /// Opens all images, and marks the folder as not clean.
    ///
    /// # Errors
    /// When an image cannot be opened.
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

    /// Reserves disk space for acknowledged data that must still be written when the disk is full.
    ///
    /// # Errors
    /// When the disk has less free space.
    pub fn reserve(&self, bytes: u64) -> Result<(), EmulateError> {
        let path = self.path.join(RESERVE);
        let made = File::create(&path).and_then(|file| {
            let flags = rustix::fs::FallocateFlags::empty();
            match rustix::fs::fallocate(&file, flags, 0, bytes.max(1)) {
                // A file system without support for `fallocate` reserves nothing.
                Err(rustix::io::Errno::OPNOTSUPP) | Ok(()) => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        made.map_err(|error| {
            // A partial reservation is useless.
            let _ = fs::remove_file(&path);
            EmulateError::Open { path: path.clone(), error }
        })
    }

    /// Releases the reserved space.
    pub fn release(&self) {
        // The file may not exist.
        let _ = fs::remove_file(self.path.join(RESERVE));
    }

    /// Records the members of the array as they are now, for a session that begins after this process was killed.
    /// Nothing is written where nothing has changed.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub(crate) fn keep(&mut self, members: Arrangement) -> Result<(), EmulateError> {
        let state = self.state_of(members, false);
        if (&state.drives, &state.missing) != (&self.state.drives, &self.state.missing) {
            self.write(&state)?;
            self.state = state;
        }
        Ok(())
    }

    /// Records the end of the session: the image of each drive, the missing slots, and whether all acknowledged data
    /// are on the images.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub(crate) fn close(&self, members: Arrangement, clean: bool) -> Result<(), EmulateError> {
        self.write(&self.state_of(members, clean))
    }

    fn state_of(&self, members: Arrangement, clean: bool) -> State {
        let Arrangement { images, missing } = members;
        // Without the model there are no drives, and the images are as they were.
        let drives = if images.is_empty() { self.state.drives.clone() } else { images };
        State { clean, drives, missing, ..self.state.clone() }
    }

    /// Replaces the state in one step: whenever the process or the machine stops, the file has the old one or the new
    /// one.
    fn write(&self, state: &State) -> Result<(), EmulateError> {
        let (path, new) = (self.path.join(STATE), self.path.join("state.json.new"));
        let text = serde_json::to_string_pretty(state).unwrap_or_default() + "\n";
        let written = write_synced(&new, text.as_bytes())
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| File::open(&self.path)?.sync_all());
        written.map_err(|error| EmulateError::Open { path, error })
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
