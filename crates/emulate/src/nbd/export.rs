//! The export of a server: a single one without a name, and its description for clients.
use super::wire::{PAYLOAD_MAX, info, transmission};

/// The device as clients see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Size in bytes, a multiple of the block size.
    pub size: u64,
    /// The smallest addressable unit: 512 or 4096 bytes.
    pub block_size: u32,
    /// A description in one line.
    pub description: String,
    /// Whether the device is rotational, in which case clients schedule their requests accordingly.
    pub is_rotational: bool,
}

impl Export {
    /// Whether a name is that of the export, which is empty.
    pub fn is_named(name: &[u8]) -> bool {
        name.is_empty()
    }

    /// The transmission flags. All connections see one device: data written by one are read by the others, and a
    /// flush of one applies to all, so clients may use several connections.
    pub fn flags(&self) -> u16 {
        let always = transmission::HAS_FLAGS
            | transmission::SEND_FLUSH
            | transmission::SEND_FUA
            | transmission::SEND_TRIM
            | transmission::SEND_WRITE_ZEROES
            | transmission::SEND_DF
            | transmission::CAN_MULTI_CONN
            | transmission::SEND_CACHE;
        if self.is_rotational { always | transmission::ROTATIONAL } else { always }
    }

    /// The payloads of the replies to INFO and GO. Size, flags and block sizes are always included.
    pub fn infos(&self, requested: &[u16]) -> Vec<Vec<u8>> {
        let begin = |kind: u16| kind.to_be_bytes().to_vec();
        let mut export = begin(info::EXPORT);
        export.extend(self.size.to_be_bytes());
        export.extend(self.flags().to_be_bytes());
        let mut sizes = begin(info::BLOCK_SIZE);
        for size in [self.block_size, self.block_size.max(4_096), PAYLOAD_MAX] {
            sizes.extend(size.to_be_bytes());
        }
        let mut all = vec![export, sizes];
        if requested.contains(&info::NAME) {
            all.push(begin(info::NAME));
        }
        if requested.contains(&info::DESCRIPTION) {
            let mut text = begin(info::DESCRIPTION);
            text.extend(self.description.as_bytes());
            all.push(text);
        }
        all
    }
}
