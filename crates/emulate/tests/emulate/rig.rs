//! Devices of scenarios, and an engine driven by hand.
use drivelab_core::Setup;
use drivelab_emulate::action::Action;
use drivelab_emulate::store::Store;
use drivelab_emulate::transport::{Answer, DeviceRequest, Failure, Reply, RequestId};
use drivelab_emulate::{Device, Engine, as_served};
use drivelab_scenario::{NoFiles, Source, plan_served};
use drivelab_units::{Instant, Span};

/// The setup of a scenario that is served, without a workload of its own.
fn setup(text: &str) -> Setup {
    let text = format!("{text}\n[workload]\nrw = \"randread\"\nbs = \"4KiB\"\n[run]\nduration = \"1s\"\n");
    let source = Source { origin: "scenario".into(), text };
    let plan = plan_served(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    plan.points[0].setup.clone()
}

pub fn device(text: &str, seed: u64) -> Device {
    let (target, _) = as_served(&setup(text).target);
    Device { target, seed, name: "test".into() }
}

pub const DRIVE: &str = "[target]\ndrive = \"wd-4tb-7200\"\nwrite_cache = true";
pub const RAID10: &str = "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = true\narray = { level = \"raid10\", members = 4 }";
pub const RAID5: &str =
    "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = true\narray = { level = \"raid5\", members = 5 }";

/// The action that a request on the control socket asks for: its name and fields, such as `fail member=1`.
pub fn asked(words: &str) -> Action {
    let (name, fields) = words.split_once(' ').unwrap_or((words, ""));
    let fields: String =
        fields.split_terminator(' ').map(|field| format!(", \"{}", field.replace('=', "\": "))).collect();
    let line = format!("{{\"action\": \"{name}\"{fields}}}");
    Action::parse(line.as_bytes()).unwrap_or_else(|why| panic!("{line}: {why}"))
}

/// An engine, and what time it is.
pub struct Rig {
    pub engine: Engine,
    pub now: Instant,
    pub replies: Vec<Reply>,
    cookies: u64,
}

impl Rig {
    pub fn new(device: Device) -> Self {
        let store = Store::in_memory(&device.target);
        Rig { engine: Engine::new(device, store, None), now: Instant::ZERO, replies: Vec::new(), cookies: 0 }
    }

    pub fn submit(&mut self, request: DeviceRequest) -> u64 {
        self.cookies += 1;
        self.engine.submit(self.now, RequestId { client: 0, cookie: self.cookies }, request);
        self.take();
        self.cookies
    }

    pub fn take(&mut self) {
        self.replies.extend(self.engine.take_replies());
    }

    /// Time passes.
    pub fn pass(&mut self, span: Span) {
        self.now += span;
        self.engine.run(self.now).expect("it goes on");
        self.take();
    }

    /// Until nobody waits for anything.
    pub fn settle(&mut self) {
        while self.engine.is_busy() {
            let due = self.engine.next_due().expect("something is due");
            self.now = self.now.max(due);
            self.engine.run(self.now).expect("it goes on");
            self.take();
        }
    }

    pub fn write(&mut self, offset: u64, data: Vec<u8>, fua: bool) -> Result<Answer, Failure> {
        let cookie = self.submit(DeviceRequest::Write { offset, data, fua });
        self.settle();
        self.answer(cookie)
    }

    pub fn flush(&mut self) {
        self.submit(DeviceRequest::Flush);
        self.settle();
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Vec<u8> {
        let cookie = self.submit(DeviceRequest::Read { offset, length });
        self.settle();
        match self.answer(cookie) {
            Ok(Answer::Data { found, .. }) => {
                let mut bytes = Vec::new();
                found.put(&mut bytes);
                bytes
            }
            other => panic!("{other:?}"),
        }
    }

    pub fn answer(&mut self, cookie: u64) -> Result<Answer, Failure> {
        let place =
            self.replies.iter().position(|reply| reply.request_id.cookie == cookie).expect("it was answered");
        self.replies.swap_remove(place).answer
    }
}

/// Random numbers of a seed.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
