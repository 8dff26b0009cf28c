//! Targets driven by hand: any call at any time is accepted or refused, and each accepted command is answered
//! once.
use crate::bytes::Bytes;
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::{Cure, Fault, Slowness, Target, TargetInput, TargetOutput, TargetParams};
use drivelab_core::{Access, Command, Content, Machine};
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::collections::HashSet;
use std::sync::OnceLock;

/// The targets: drives of several protocols, one with a cache, arrays, a host's and a controller's cache.
const SETUPS: [&str; 6] = [
    "drive = \"wd-wd740gd-00fla0\"",
    "drive = \"wd-4tb-7200\"\nwrite_cache = true",
    "drive = \"seagate-cheetah-10k6-73gb\"",
    "drive = \"wd-wd740gd-00fla0\"\nwrite_cache = true\narray = { level = \"raid5\", members = 4 }",
    "drive = \"wd-4tb-7200\"\narray = { level = \"raid10\", members = 4 }",
    "drive = \"wd-wd740gd-00fla0\"\narray = { level = \"raidz2\", members = 5 }",
];

/// Steps after which outstanding commands are left unfinished: a drive may let a command wait until a rebuild
/// has passed it.
const STEPS: u32 = 20_000;

pub(crate) fn params(setup: &str) -> TargetParams {
    let text = format!(
        "[target]\n{setup}\n[workload]\nrw = \"randread\"\nbs = \"4KiB\"\n[run]\nduration = \"1s\"\n"
    );
    let source = Source { origin: "scenario".into(), text };
    let plan = plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    plan.points[0].setup.target.clone()
}

/// The setups, read once.
fn setups() -> &'static [TargetParams] {
    static READ: OnceLock<Vec<TargetParams>> = OnceLock::new();
    READ.get_or_init(|| SETUPS.map(params).into())
}

/// A target, its unanswered commands, and the current time.
struct Driven {
    target: Target,
    capacity: u64,
    owed: HashSet<u64>,
    now: Instant,
    next_id: u64,
    is_off: bool,
}

/// Drives one of the setups.
pub fn target(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let setup = &setups()[usize::from(bytes.byte()) % SETUPS.len()];
    let target = Target::new(setup, 1);
    let capacity = target.capacity().get();
    let mut driven =
        Driven { target, capacity, owed: HashSet::new(), now: Instant::ZERO, next_id: 0, is_off: false };
    for _ in 0..400 {
        if bytes.is_empty() {
            break;
        }
        driven.step(&mut bytes);
    }
    driven.settle();
}

impl Driven {
    fn step(&mut self, bytes: &mut Bytes<'_>) {
        let drive = u16::from(bytes.byte() % 8);
        let input = match bytes.byte() % 24 {
            0..12 => return self.submit(bytes),
            12..15 => {
                // To the next instant at which something is due, or past several of them.
                let due = self.target.poll_timeout().unwrap_or(self.now);
                self.now = self.now.max(due) + Span::from_us(bytes.below(20_000));
                TargetInput::Tick
            }
            15 => TargetInput::Abort { id: bytes.below(self.next_id + 2) },
            16 => TargetInput::Inject(Fault::Fail { drive }),
            17 => TargetInput::Inject(Fault::Replace { drive }),
            18 => {
                let work =
                    [SyncKind::Rebuild, SyncKind::Resync, SyncKind::Scrub][usize::from(bytes.byte() % 3)];
                TargetInput::Inject(Fault::Begin { work })
            }
            19 if bytes.byte() == 0 => TargetInput::Inject(Fault::CutPower),
            20 => {
                // A clock that goes backwards is refused.
                let earlier = Instant::from_ns(self.now.as_ns() / 2);
                let refused = self.target.handle(earlier, TargetInput::Tick).is_err();
                assert!(refused || earlier == self.now || self.is_off || self.now == Instant::ZERO);
                TargetInput::Tick
            }
            _ => TargetInput::Inject(self.fault(drive, bytes)),
        };
        let cuts = input == TargetInput::Inject(Fault::CutPower);
        let taken = self.target.handle(self.now, input).is_ok();
        self.is_off |= cuts && taken;
        self.process_outputs();
    }

    fn fault(&self, drive: u16, bytes: &mut Bytes<'_>) -> Fault {
        let (first, count) = (Lba::new(bytes.below(2 * self.capacity)), Sectors::new(bytes.below(300)));
        match bytes.byte() % 7 {
            0 | 1 => Fault::MediaError { drive, first, count, until: Cure::Written },
            2 => Fault::LinkReset { drive },
            3 => Fault::LyingFlush { drive, lies: bytes.byte().is_multiple_of(2) },
            4 => Fault::Slow { drive, how: Some(Slowness::Constant(Span::from_us(bytes.below(100_000)))) },
            5 => Fault::Hang { drive, lasts: Some(Span::from_us(bytes.below(3_000_000))) },
            _ => Fault::Corrupt { drive, first, count },
        }
    }

    fn submit(&mut self, bytes: &mut Bytes<'_>) {
        let kind = bytes.byte();
        let access = [Access::Read, Access::Write, Access::Write, Access::Flush][usize::from(kind % 4)];
        // Sometimes beyond the end, empty, or with an id that is in use.
        let near = self.capacity.min(1 << 20);
        let limit = if kind & 0x10 == 0 { near } else { self.capacity + 1_000 };
        let (first, count) = match access {
            Access::Flush => (0, 0),
            _ => (bytes.below(limit), bytes.below(if kind & 0x20 == 0 { 64 } else { 5_000 })),
        };
        let id = if kind & 0x40 == 0 { self.next_id } else { bytes.below(self.next_id + 1) };
        let content = [Content::Data, Content::Data, Content::Zeroes, Content::Discarded];
        let command = Command {
            force_unit_access: kind & 0x80 != 0 && access != Access::Flush,
            content: if access == Access::Write {
                content[usize::from(bytes.byte() % 4)]
            } else {
                Content::Data
            },
            ..Command::new(id, access, Lba::new(first), Sectors::new(count))
        };
        if self.target.handle(self.now, TargetInput::Submit(command)).is_ok() {
            assert!(self.owed.insert(id), "an id that is under way was taken again");
            self.next_id = self.next_id.max(id + 1);
        }
        self.process_outputs();
    }

    fn process_outputs(&mut self) {
        while let Some(output) = self.target.poll_output() {
            if let TargetOutput::Completed(completion) = output {
                assert!(self.owed.remove(&completion.id), "an answer that nobody waits for");
                assert!(!self.is_off || completion.completed <= self.now, "an answer without power");
            }
        }
    }

    /// Runs until no command is unanswered. While one is, something is due, unless the power is off.
    fn settle(&mut self) {
        for _ in 0..STEPS {
            if self.owed.is_empty() {
                return;
            }
            let Some(due) = self.target.poll_timeout() else {
                assert!(self.is_off, "{} commands will never be answered", self.owed.len());
                return;
            };
            assert!(due >= self.now || self.is_off, "what is due lies behind");
            self.now = self.now.max(due);
            if self.target.handle(self.now, TargetInput::Tick).is_err() {
                assert!(self.is_off, "a target with power refuses the time");
                return;
            }
            self.process_outputs();
        }
    }
}
