//! Where bytes are kept: in memory, in a sparse file, or in memory over a file that stays as it is.
mod cow;
mod file;
mod memory;

pub use cow::CopyOnWrite;
pub use file::FileImage;
pub use memory::MemoryImage;

use std::io;

/// An image, and what messages call it.
pub type Named = (String, Box<dyn Image>);

/// Bytes by their offset. What was never written is zero.
pub trait Image: Send {
    /// Fills `into` with what is there from `at` on.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()>;

    /// Puts bytes from `at` on.
    ///
    /// # Errors
    /// When they cannot be kept, as on a full disk.
    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()>;

    /// All of it is zero again.
    ///
    /// # Errors
    /// When the file cannot be changed.
    fn clear(&mut self) -> io::Result<()>;

    /// The stretches that may hold something, upward: first byte and the one behind the last.
    ///
    /// # Errors
    /// When the file cannot be asked.
    fn extents(&self) -> io::Result<Vec<(u64, u64)>>;

    /// What was written survives the machine.
    ///
    /// # Errors
    /// When it cannot be had so.
    fn sync(&mut self) -> io::Result<()>;
}
