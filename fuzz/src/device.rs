//! The emulated device with its bytes: written data are read back, byte for byte, as long as the power is on.
use crate::bytes::Bytes;
use drivelab_core::storage::TargetParams;
use drivelab_emulate::store::Store;
use drivelab_emulate::transport::{Answer, DeviceRequest, RequestId};
use drivelab_emulate::{Device, Engine, as_served};
use drivelab_units::{Instant, Span};
use std::sync::OnceLock;

const SETUPS: [&str; 3] = [
    "drive = \"wd-4tb-7200\"\nwrite_cache = true",
    "drive = \"wd-wd740gd-00fla0\"\nwrite_cache = true\narray = { level = \"raid5\", members = 4 }",
    "drive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid10\", members = 4 }",
];

/// The number of blocks at the start of the device that are used; the rest is not.
const BLOCKS: u64 = 512;
const BLOCK: u64 = 512;

fn setups() -> &'static [TargetParams] {
    static READ: OnceLock<Vec<TargetParams>> = OnceLock::new();
    READ.get_or_init(|| SETUPS.map(|setup| as_served(&crate::target::params(setup)).0).into())
}

/// An engine, its expected contents, and the current time.
struct Served {
    engine: Engine,
    image: Vec<u8>,
    now: Instant,
    cookie: u64,
}

/// Writes, zeroes, flushes and reads, one at a time and several at once where they do not overlap.
pub fn device(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let target = setups()[usize::from(bytes.byte()) % SETUPS.len()].clone();
    let store = Store::in_memory(&target);
    let device = Device { target, seed: 1, name: "fuzz".into() };
    let engine = Engine::new(device, store, None);
    let image = vec![0; (BLOCKS * BLOCK) as usize];
    let mut served = Served { engine, image, now: Instant::ZERO, cookie: 0 };
    for _ in 0..200 {
        if bytes.is_empty() {
            break;
        }
        served.step(&mut bytes);
    }
    served.read(0, BLOCKS);
}

impl Served {
    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let kind = bytes.byte();
        let first = bytes.below(BLOCKS);
        let count = 1 + bytes.below(if kind & 0x10 == 0 { 16 } else { 200 }).min(BLOCKS - first - 1);
        let (offset, length) = (first * BLOCK, (count * BLOCK) as u32);
        let place = offset as usize..offset as usize + length as usize;
        let fua = kind & 0x20 != 0;
        match kind % 8 {
            0..3 => {
                let data: Vec<u8> =
                    (0..length).map(|at| (at as u8).wrapping_mul(31) ^ bytes.byte()).collect();
                self.image[place].copy_from_slice(&data);
                self.submit(DeviceRequest::Write { offset, data, fua });
            }
            3 => {
                self.image[place].fill(0);
                self.submit(DeviceRequest::Zero { offset, length, fua });
            }
            4 => self.submit(DeviceRequest::Flush),
            5 => self.submit(DeviceRequest::Cache { offset, length }),
            6 => {
                self.now += Span::from_us(bytes.below(50_000));
                self.engine.run(self.now).expect("the engine goes on");
                self.engine.take_replies();
            }
            _ => return self.read(first, count),
        }
        if kind & 0x40 == 0 {
            self.settle();
        }
    }

    fn submit(&mut self, request: DeviceRequest) {
        // Earlier requests may overlap this one: then they must be done first.
        self.settle();
        self.cookie += 1;
        self.engine.submit(self.now, RequestId { client: 0, cookie: self.cookie }, request);
    }

    /// Checks that reads return what was written.
    fn read(&mut self, first: u64, count: u64) {
        self.submit(DeviceRequest::Read { offset: first * BLOCK, length: (count * BLOCK) as u32 });
        for answer in self.settle() {
            if let Ok(Answer::Data { found, .. }) = answer {
                let mut bytes = Vec::new();
                found.put(&mut bytes);
                let from = (first * BLOCK) as usize;
                assert!(bytes == self.image[from..from + bytes.len()], "other bytes than were written");
            }
        }
    }

    /// Runs until no request is outstanding; returns the answers.
    fn settle(&mut self) -> Vec<Result<Answer, drivelab_emulate::transport::Failure>> {
        let mut answers = Vec::new();
        loop {
            answers.extend(self.engine.take_replies().into_iter().map(|reply| reply.answer));
            if !self.engine.is_busy() {
                return answers;
            }
            let due = self.engine.next_due().expect("something is due while somebody waits");
            self.now = self.now.max(due);
            self.engine.run(self.now).expect("the engine goes on");
        }
    }
}
