//! A folder with one image per drive, and `state.json`: which image belongs to which drive, and whether everything
//! was written.
//!
//! `state.json` says `clean: false` while the folder is served. If it still says so when the folder is opened, the
//! members of an array are resynchronized before any client is served, as after a crash of a real array. It lists the
//! members that are missing at any time, before anything is answered that they do not have: a killed process must not
//! leave an image behind that looks whole and is not.
use crate::error::EmulateError;
use crate::folder_files::FolderFiles;
use crate::image::{FileImage, Image, Named};
use crate::members::Arrangement;
use drivelab_units::key;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const STATE_NEW: &str = "state.json.new";
const RESERVE: &str = "reserve";
const FORMAT: u32 = 1;
const UNREADABLE: &str = "put a copy of it back, or take another folder";

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
    /// The addresses of an array that cannot be read until they are written: the first, and the one after the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<(u64, u64)>,
    /// What places an array's data on its members. Folders of older versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<String>,
}

/// What of a target places its data in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Drives {
    /// The size of each drive in bytes.
    pub sizes: Vec<u64>,
    /// The layout of an array.
    pub layout: Option<String>,
    /// The members of an array, which are the first drives.
    pub members: u16,
    /// Whether an array can do without a member.
    pub is_redundant: bool,
}

impl State {
    /// The state of a new folder.
    fn new(drives: &Drives) -> Self {
        State {
            format: FORMAT,
            clean: true,
            drives: (0..drives.sizes.len()).map(|drive| format!("member-{drive}.img")).collect(),
            sizes: drives.sizes.clone(),
            missing: Vec::new(),
            unreadable: Vec::new(),
            layout: drives.layout.clone(),
        }
    }

    /// Checks whether the images are of a target with drives of these sizes and this layout.
    fn check(&self, drives: &Drives) -> Result<(), String> {
        let (sizes, layout) = (&drives.sizes, drives.layout.as_deref());
        let remedy = "take another folder, or the scenario that it was made with";
        if self.format != FORMAT {
            let format = self.format;
            return Err(format!(
                "its {STATE} has format {format}, and this version reads {FORMAT}: take another folder"
            ));
        }
        if self.sizes != *sizes || self.drives.len() != sizes.len() {
            let own = self.layout.as_ref().map_or(String::new(), |own| format!(": they are of {own}"));
            return Err(format!("it has images of another target{own}; {remedy}"));
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

    /// Checks that a new folder has no images: without their state nobody knows which of them are valid.
    fn check_unused(&self, folder: &Path) -> Result<(), String> {
        let has_data = |name: &&String| folder.join(name).metadata().is_ok_and(|image| image.len() > 0);
        match self.drives.iter().find(has_data) {
            Some(name) => {
                Err(format!("it is not there, and {name} is: put {STATE} back, or name an empty folder"))
            }
            None => Ok(()),
        }
    }

    /// Checks what it says of unreadable addresses of an array with this many sectors.
    pub(crate) fn check_unreadable(&self, sectors: u64) -> Result<(), String> {
        match self.unreadable.iter().find(|(first, end)| first >= end || *end > sectors) {
            None => Ok(()),
            Some((first, end)) => Err(format!(
                "\"unreadable\" has [{first}, {end}], and the array has sectors 0 to {}: give the first sector and the one \
                 after the last, or take it out",
                sectors.saturating_sub(1)
            )),
        }
    }

    /// Checks what it says of images and members: a person may have written it.
    fn check_names(&self, members: u16) -> Result<(), String> {
        for (drive, name) in self.drives.iter().enumerate() {
            let is_plain = Path::new(name).file_name().is_some_and(|plain| plain == name.as_str());
            if !is_plain || [STATE, STATE_NEW, RESERVE].contains(&name.as_str()) {
                return Err(format!(
                    "\"drives\" has {name:?}, which is no image in this folder: give the name of the file alone, as in \
                     \"member-{drive}.img\""
                ));
            }
            if self.drives[..drive].contains(name) {
                return Err(format!(
                    "\"drives\" has {name:?} twice: each drive has an image of its own, so give each name once"
                ));
            }
        }
        for (place, slot) in self.missing.iter().enumerate() {
            if members == 0 {
                return Err(
                    "\"missing\" is for the members of an array, and this is one drive: leave it empty"
                        .into(),
                );
            }
            if *slot >= members {
                let last = members - 1;
                return Err(format!("\"missing\" has {slot}, and the members are 0 to {last}: take it out"));
            }
            if self.missing[..place].contains(slot) {
                return Err(format!("\"missing\" has {slot} twice: give it once"));
            }
        }
        Ok(())
    }
}

/// A folder whose images are served.
pub struct Folder {
    path: PathBuf,
    files: FolderFiles,
    pub state: State,
    drives: Drives,
    /// Whether it was made before: its images are there.
    is_old: bool,
    /// The images that this session has made.
    made: Vec<String>,
    /// Whether disk space is reserved in it for this session.
    has_reserve: bool,
    /// Whether its images are being served.
    is_in_use: bool,
}

/// A session that could not start leaves the folder as it was.
impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_in_use {
            return;
        }
        if self.has_reserve {
            self.release();
        }
        for image in &self.made {
            let _ = self.files.delete(image);
        }
    }
}

impl Folder {
    /// Opens a folder for these drives, or creates it.
    ///
    /// # Errors
    /// When the folder cannot be opened or belongs to another target.
    pub fn open(path: &Path, drives: Drives) -> Result<Self, EmulateError> {
        let failed = |path: PathBuf| move |error| EmulateError::Open { path, error };
        if path.exists() && !path.is_dir() {
            let why =
                concat!("it is no folder: an image that is there already is given with ", key!("image"));
            return Err(failed(path.to_owned())(io::Error::other(why)));
        }
        fs::create_dir_all(path).map_err(failed(path.to_owned()))?;
        let files = FolderFiles::open(path).map_err(failed(path.to_owned()))?;
        let of_state = || failed(path.join(STATE));
        let (state, is_old) = match files.read(STATE).map_err(of_state())? {
            Some(bytes) => {
                let found: State = serde_json::from_slice(&bytes)
                    .map_err(|error| of_state()(io::Error::other(format!("{error}: {UNREADABLE}"))))?;
                found.check(&drives).map_err(|why| failed(path.to_owned())(io::Error::other(why)))?;
                found.check_names(drives.members).map_err(|why| of_state()(io::Error::other(why)))?;
                (found, true)
            }
            None => {
                let state = State::new(&drives);
                state.check_unused(path).map_err(|why| of_state()(io::Error::other(why)))?;
                (state, false)
            }
        };
        Ok(Folder {
            path: path.to_owned(),
            files,
            state,
            drives,
            is_old,
            made: Vec::new(),
            has_reserve: false,
            is_in_use: false,
        })
    }

    /// Opens all images.
    ///
    /// # Errors
    /// When an image cannot be opened.
    pub fn images(&mut self) -> Result<Vec<Named>, EmulateError> {
        let mut images = Vec::new();
        for (drive, (name, &size)) in (0..).zip(self.state.drives.iter().zip(&self.state.sizes)) {
            let must_exist = self.must_exist(drive);
            let file = self.files.for_writing(name, !must_exist);
            let file = file.map_err(|error| self.files.explained(error, size));
            let image = file.and_then(|file| FileImage::of(file, size, !must_exist)).map_err(|error| {
                let error = if must_exist { self.explained(drive, error) } else { error };
                EmulateError::Open { path: self.path.join(name), error }
            })?;
            if !self.is_old {
                // It is locked: no other session has it.
                self.made.push(name.clone());
            }
            images.push((name.clone(), Box::new(image) as Box<dyn Image>));
        }
        Ok(images)
    }

    /// Marks the folder as not clean: from here on its images are served.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub fn begin(&mut self) -> Result<(), EmulateError> {
        let state = State { clean: false, ..self.state.clone() };
        self.write(&state)?;
        self.is_in_use = true;
        Ok(())
    }

    /// Whether a drive's image has data that the device needs: a new one would be taken for a drive full of zeros. Those
    /// of missing members are rebuilt, and those of spares and of a journal are not read.
    fn must_exist(&self, drive: u16) -> bool {
        let Drives { members, .. } = self.drives;
        self.is_old && (members == 0 || drive < members) && !self.state.missing.contains(&drive)
    }

    /// The error of an image that is gone or empty, with a remedy.
    fn explained(&self, drive: u16, error: io::Error) -> io::Error {
        if error.kind() != io::ErrorKind::NotFound {
            return error;
        }
        let rebuilt = if self.drives.is_redundant {
            format!(
                ", or add {drive} to \"missing\" in {STATE}: the array begins without this member then, until drivelab \
                 fault has it replaced, which rebuilds it"
            )
        } else {
            ", or take another folder".into()
        };
        let why = drivelab_nbd::in_words(&error);
        io::Error::other(format!("{why}, and it has data of the device: put the file back{rebuilt}"))
    }

    /// Reserves disk space for acknowledged data that must still be written when the disk is full.
    ///
    /// # Errors
    /// When the disk has less free space.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), EmulateError> {
        let bytes = bytes.max(1);
        let created = self.files.create(RESERVE).map_err(|error| self.files.explained(error, bytes));
        let made = created.and_then(|file| {
            let flags = rustix::fs::FallocateFlags::empty();
            match rustix::fs::fallocate(&file, flags, 0, bytes) {
                // A file system without support for `fallocate` reserves nothing.
                Err(rustix::io::Errno::OPNOTSUPP) | Ok(()) => Ok(()),
                Err(error) => Err(self.files.explained(error.into(), bytes)),
            }
        });
        self.has_reserve = made.is_ok();
        made.map_err(|error| {
            // A partial reservation is useless.
            let _ = self.files.delete(RESERVE);
            EmulateError::Open { path: self.path.join(RESERVE), error }
        })
    }

    /// Releases the reserved space.
    pub fn release(&self) {
        // It only takes space if it stays.
        let _ = self.files.delete(RESERVE);
    }

    /// Records the members of the array as they are now, for a session that begins after this process was killed.
    /// Nothing is written where nothing has changed.
    ///
    /// # Errors
    /// When the state cannot be written.
    pub(crate) fn keep(&mut self, members: Arrangement) -> Result<(), EmulateError> {
        let state = self.state_of(members, false);
        fn of(state: &State) -> impl PartialEq {
            (&state.drives, &state.missing, &state.unreadable)
        }
        if of(&state) != of(&self.state) {
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
        let Arrangement { images, missing, unreadable } = members;
        // Without the model there are no drives, and the images are as they were.
        let drives = if images.is_empty() { self.state.drives.clone() } else { images };
        State { clean, drives, missing, unreadable, ..self.state.clone() }
    }

    /// Replaces the state in one step: whenever the process or the machine stops, the file has the old one or the new
    /// one.
    fn write(&self, state: &State) -> Result<(), EmulateError> {
        let text = serde_json::to_string_pretty(state).unwrap_or_default() + "\n";
        let written = self.files.replace(STATE, STATE_NEW, text.as_bytes());
        let written = written.map_err(|error| {
            let _ = self.files.delete(STATE_NEW);
            self.files.explained(error, text.len() as u64)
        });
        written.map_err(|error| EmulateError::Open { path: self.path.join(STATE), error })
    }
}
