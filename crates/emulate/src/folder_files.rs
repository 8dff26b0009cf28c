//! The files of a folder, by name: symbolic links in it are not followed, and a new file is never another one's.
//!
//! Whoever may write to the folder could otherwise have files elsewhere overwritten, with the rights of this process.
use crate::image::room;
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// See the module.
pub(crate) struct FolderFiles(File);

impl FolderFiles {
    /// # Errors
    /// When there is no such folder, or it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(FolderFiles(File::open(path)?))
    }

    /// A file for reading and writing, which is created if it is not there and `is_new` allows it.
    ///
    /// # Errors
    /// When it cannot be opened, is a link, or is no plain file.
    pub fn for_writing(&self, name: &str, is_new: bool) -> io::Result<File> {
        self.with(name, OFlags::RDWR | if is_new { OFlags::CREATE } else { OFlags::empty() })
    }

    /// What a file has; `None` if there is none.
    ///
    /// # Errors
    /// As for [`FolderFiles::for_writing`].
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.with(name, OFlags::RDONLY) {
            Ok(mut file) => file.read_to_end(&mut bytes).map(|_| Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A file that did not exist; one of this name is deleted.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(&self, name: &str) -> io::Result<File> {
        self.delete(name)?;
        self.with(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)
    }

    /// # Errors
    /// When there is such a file, and it cannot be deleted.
    pub fn delete(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces what a file has in one step: whenever the machine stops, it has the old bytes or the new ones. They are
    /// written to the file `through` first.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(&self, name: &str, through: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create(through)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        renameat(&self.0, through, &self.0, name)?;
        self.0.sync_all()
    }

    /// The error of a file that could not be created here: where the disk is full, with the room that the file needs.
    pub fn explained(&self, error: io::Error, needed: u64) -> io::Error {
        room::explained(error, &self.0, needed)
    }

    fn with(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // Without NONBLOCK a pipe of this name is waited for.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match openat(&self.0, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => {
                let why = "it is a symbolic link, and those are not followed here: put the file itself into the folder";
                return Err(io::Error::other(why));
            }
            Err(error) => return Err(error.into()),
        };
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is no plain file: move it out of the folder"));
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A folder of a test, deleted at the end, with a file outside of it.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("drivelab-test-{}-{name}", std::process::id()));
            fs::create_dir_all(path.join("folder")).expect("it can be made");
            fs::write(path.join("outside"), "mine").expect("it can be written");
            Place(path)
        }

        fn files(&self) -> FolderFiles {
            FolderFiles::open(&self.0.join("folder")).expect("it is there")
        }

        fn link(&self, name: &str) {
            symlink(self.0.join("outside"), self.0.join("folder").join(name)).expect("it can be made");
        }

        fn is_outside_as_it_was(&self) -> bool {
            fs::read(self.0.join("outside")).is_ok_and(|bytes| bytes == b"mine")
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn links_are_not_followed() {
        let place = Place::new("links");
        let files = place.files();
        for name in ["image", "state", "new"] {
            place.link(name);
        }
        for is_new in [true, false] {
            let refused = files.for_writing("image", is_new).expect_err("it is a link");
            assert!(refused.to_string().contains("symbolic link"), "{refused}");
        }
        assert!(files.read("image").is_err());
        // A file that is made anew takes the link's place.
        files.create("new").and_then(|mut file| file.write_all(b"other")).expect("it can be written");
        place.link("through");
        files.replace("state", "through", b"state").expect("it can be written");
        assert_eq!(files.read("state").expect("it is a file"), Some(b"state".to_vec()));
        assert_eq!(files.read("through").expect("it can be asked"), None);
        assert!(place.is_outside_as_it_was());
    }

    #[test]
    fn what_is_no_plain_file_is_refused_at_once() {
        let place = Place::new("pipes");
        let path = place.0.join("folder/pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("it can be run");
        assert!(made.success());
        let files = place.files();
        assert!(files.read("pipe").is_err() && files.for_writing("pipe", true).is_err());
    }

    #[test]
    fn a_file_that_is_not_there_is_made_where_that_is_allowed() {
        let place = Place::new("made");
        let files = place.files();
        assert_eq!(
            files.for_writing("image", false).expect_err("there is none").kind(),
            io::ErrorKind::NotFound
        );
        files.for_writing("image", true).expect("it can be made");
        files.for_writing("image", false).expect("it is there");
        files.delete("image").and_then(|()| files.delete("image")).expect("none is as good");
    }
}
