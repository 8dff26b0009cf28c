//! The drive files that a scenario names by path. The scenario room touches no file system, so it asks here.
use drivelab_scenario::Loader;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Larger than any drive file; a device that never ends is cut off here.
const SIZE_MAX_BYTES: u64 = 1 << 24;

/// Paths seen from one folder.
pub struct Folder(pub PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<String, String> {
        let path = self.0.join(path);
        let file = File::open(&path).map_err(|error| error.to_string())?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err("it is not a file".to_owned());
        }
        let mut text = String::new();
        let size = file.take(SIZE_MAX_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
        if size as u64 == SIZE_MAX_BYTES { Err("it is larger than 16 MiB".to_owned()) } else { Ok(text) }
    }
}
