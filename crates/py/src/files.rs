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
        // Before it is opened: opening a pipe waits for a writer.
        let kind = std::fs::metadata(&path).map_err(|error| error.to_string())?.file_type();
        if !kind.is_file() {
            let what = if kind.is_dir() { "a folder" } else { "a pipe or a device" };
            return Err(format!("it is {what}, not a file"));
        }
        let file = File::open(&path).map_err(|error| error.to_string())?;
        let mut text = String::new();
        let size = file.take(SIZE_MAX_BYTES).read_to_string(&mut text).map_err(|error| error.to_string())?;
        if size as u64 == SIZE_MAX_BYTES { Err("it is larger than 16 MiB".to_owned()) } else { Ok(text) }
    }
}
