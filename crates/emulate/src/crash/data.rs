//! The data that clients wrote in a session, one write after the other in the order of the trace: a sparse file.
use crate::platter::cells;
use crate::store::Payload;
use drivelab_data::{Bytes, Cell, cell};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Writes the data. Zeros become holes.
pub struct DataWriter {
    file: File,
    /// The offset of the next write's data in bytes.
    end: u64,
}

impl DataWriter {
    /// Begins an empty file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(DataWriter { file: File::create(path)?, end: 0 })
    }

    /// Appends the data of the next write of the trace.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn wrote(&mut self, payload: &Payload) -> io::Result<()> {
        match payload {
            Payload::Sectors(cells) => {
                let mut blank = 0;
                let mut bytes = Vec::with_capacity(cells.len() * cell::SECTOR);
                for cell in cells {
                    blank += usize::from(cell.is_blank());
                    bytes.extend_from_slice(cell.as_bytes());
                }
                self.put(&bytes, blank == cells.len())
            }
            Payload::Plain(bytes) => self.put(bytes, bytes.iter().all(|byte| *byte == 0)),
        }
    }

    fn put(&mut self, bytes: &[u8], is_blank: bool) -> io::Result<()> {
        if !is_blank {
            self.file.write_all_at(bytes, self.end)?;
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Sets the length of the file, which may end with a hole.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn close(self) -> io::Result<()> {
        self.file.set_len(self.end)
    }
}

/// Reads the data of writes of these lengths in bytes, in their order.
///
/// # Errors
/// When the file cannot be read, or ends before the last of them.
pub fn read(path: &Path, lengths: impl Iterator<Item = u64>) -> io::Result<Vec<Vec<Bytes>>> {
    let file = File::open(path)?;
    let mut at = 0;
    let mut bytes = Vec::new();
    let one = |length: u64| {
        bytes.resize(length as usize, 0);
        file.read_exact_at(&mut bytes, at)?;
        at += length;
        Ok(cells(&bytes))
    };
    lengths.map(one).collect()
}
