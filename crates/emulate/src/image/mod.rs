//! Storage for bytes: in memory, in a sparse file, or in memory over a read-only file.
mod cow;
mod file;
mod memory;
pub(crate) mod room;

pub use cow::CopyOnWrite;
pub use file::FileImage;
pub use memory::MemoryImage;

use std::io;

/// An image with its name in messages.
pub type Named = (String, Box<dyn Image>);

/// Bytes addressed by offset. Bytes that were never written are zero.
pub trait Image: Send {
    /// Reads from `at` on, and fills `into`.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes bytes from `at` on.
    ///
    /// # Errors
    /// When they cannot be stored, as on a full disk.
    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()>;

    /// Resets all bytes to zero.
    ///
    /// # Errors
    /// When the file cannot be changed.
    fn clear(&mut self) -> io::Result<()>;

    /// The ranges that may hold data, in ascending order, as (first byte, end).
    ///
    /// # Errors
    /// When the file's extents cannot be determined.
    fn extents(&self) -> io::Result<Vec<(u64, u64)>>;

    /// Makes the written data durable.
    ///
    /// # Errors
    /// When the file cannot be synchronized.
    fn sync(&mut self) -> io::Result<()>;
}
