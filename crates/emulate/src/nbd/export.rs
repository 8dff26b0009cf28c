//! What a server offers: one export, without a name, and what clients are told of it.
use super::wire::{PAYLOAD_MAX, info, transmission};

/// A device as clients see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Bytes: a multiple of the block size.
    pub size: u64,
    /// The least that can be addressed: 512 or 4096 bytes.
    pub block_size: u32,
    /// One line for people.
    pub description: String,
    /// Whether it turns: clients then choose their own order of requests for it.
    pub is_rotational: bool,
}

impl Export {
    /// What a name stands for: the one export has none.
    pub fn is_named(name: &[u8]) -> bool {
        name.is_empty()
    }

    /// What the device can do. All connections see one device: what one has written the others read, and a flush of one
    /// holds for all, so that clients may use several.
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

    /// The answers to INFO and GO, each the payload of a reply. Size, flags and block sizes are told unasked.
    pub fn infos(&self, asked: &[u16]) -> Vec<Vec<u8>> {
        let begin = |kind: u16| kind.to_be_bytes().to_vec();
        let mut export = begin(info::EXPORT);
        export.extend(self.size.to_be_bytes());
        export.extend(self.flags().to_be_bytes());
        let mut sizes = begin(info::BLOCK_SIZE);
        for size in [self.block_size, self.block_size.max(4_096), PAYLOAD_MAX] {
            sizes.extend(size.to_be_bytes());
        }
        let mut all = vec![export, sizes];
        if asked.contains(&info::NAME) {
            all.push(begin(info::NAME));
        }
        if asked.contains(&info::DESCRIPTION) {
            let mut text = begin(info::DESCRIPTION);
            text.extend(self.description.as_bytes());
            all.push(text);
        }
        all
    }
}
