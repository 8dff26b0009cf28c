//! A session's capture, told to a fresh target by the simulator's own clock, gives the same completions to the nanosecond,
//! however late the session woke up.
use crate::rig::{DRIVE, Dice, RAID5, RAID10, Rig, asked, device};
use drivelab_core::storage::{Target, TargetInput, TargetOutput};
use drivelab_core::{Command, Machine};
use drivelab_emulate::action::Action;
use drivelab_emulate::capture::Capture;
use drivelab_emulate::store::Store;
use drivelab_emulate::transport::{DeviceRequest, Reply};
use drivelab_emulate::{Device, Engine};
use drivelab_trace::formats::native::{Entry, InjectedKind, Reader};
use drivelab_units::{Instant, SECTOR_BYTES, Span};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

/// Random requests, with wake-ups as late as 5 ms. Returns where the capture is.
fn session(device: &Device, seed: u64, faults: &[(u64, Action)]) -> PathBuf {
    let name = format!("drivelab-capture-{}-{}-{seed}", std::process::id(), device.name);
    let path = std::env::temp_dir().join(name);
    let file = BufWriter::new(File::create(&path).expect("there is room"));
    let mut rig = Rig::new(device.clone());
    let size = rig.engine.capacity().get() * SECTOR_BYTES;
    let capture = Capture::new(file, "device", size, device.seed);
    rig.engine = Engine::new(device.clone(), Store::in_memory(&device.target), Some(capture));
    let mut dice = Dice::new(seed);
    for number in 0..400 {
        for (_, fault) in faults.iter().filter(|(at, _)| *at == number) {
            rig.engine.act(rig.now, fault).expect("it can be done");
        }
        let offset = dice.below(size / 4_096) * 4_096;
        let length = (1 + dice.below(16)) as u32 * 4_096;
        let offset = offset.min(size - u64::from(length));
        let fua = dice.below(8) == 0;
        match dice.below(12) {
            0..=4 => rig.submit(DeviceRequest::Read { offset, length }),
            5..=9 => {
                rig.submit(DeviceRequest::Write { offset, data: vec![number as u8; length as usize], fua })
            }
            10 => rig.submit(DeviceRequest::Flush),
            _ => rig.submit(DeviceRequest::Zero { offset, length, fua }),
        };
        // The thread sleeps: nothing runs until it wakes up, late.
        rig.pass(Span::from_ns(dice.below(5_000_000) * dice.below(3)));
    }
    rig.settle();
    assert_eq!(rig.replies.len(), 400);
    let capture = rig.engine.take_capture().expect("it was given one");
    capture.close().expect("there is room");
    path
}

fn drain_outputs(target: &mut Target, done: &mut BTreeMap<u64, (Instant, Span)>) {
    while let Some(output) = target.poll_output() {
        if let TargetOutput::Completed(completion) = output {
            done.insert(completion.id, (completion.completed, completion.completed - completion.submitted));
        }
    }
}

/// When each command was done, by the target's clock alone.
fn replayed(device: &Device, entries: &[Entry]) -> BTreeMap<u64, (Instant, Span)> {
    let mut target = Target::new(&device.target, device.seed);
    let mut done = BTreeMap::new();
    for entry in entries {
        match entry {
            Entry::Request(record) => {
                let fed = record.fed(0).expect("the target was told of it");
                let command: Command = fed.command;
                target.take(Instant::ZERO + fed.time, &command).expect("it takes it");
            }
            Entry::Injected(injected) => {
                let InjectedKind::Fault(fault) = injected.kind else { panic!("the power stays on") };
                let at = Instant::from_ns(injected.time_ns);
                target.handle(at, TargetInput::Inject(fault)).expect("it takes it");
            }
            Entry::Device(_) => {}
        }
        drain_outputs(&mut target, &mut done);
    }
    while done.len() < entries.iter().filter(|entry| matches!(entry, Entry::Request(_))).count() {
        let due = target.poll_timeout().expect("all are answered");
        target.pass_to(due).expect("time goes on");
        drain_outputs(&mut target, &mut done);
    }
    done
}

fn check(text: &str, name: &str, faults: &[(u64, Action)]) {
    for seed in 1..=4 {
        let device = Device { name: name.into(), ..device(text, seed) };
        let path = session(&device, seed, faults);
        let mut reader = Reader::new(File::open(&path).expect("it is there")).expect("it is a trace");
        assert_eq!(reader.header().seed, Some(seed));
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().expect("it is sound") {
            entries.push(entry);
        }
        std::fs::remove_file(&path).expect("it is there");
        let done = replayed(&device, &entries);
        let mut compared = 0;
        for entry in &entries {
            let Entry::Request(record) = entry else { continue };
            let (completed, response) = done[&record.attributes.id];
            assert_eq!(record.response_ns, Some(response.as_ns()), "{record:?}");
            assert_eq!(record.time_ns + response.as_ns(), completed.as_ns());
            compared += 1;
        }
        assert_eq!(compared, 400);
    }
}

#[test]
fn a_drive_is_replayed_to_the_nanosecond() {
    let lie = asked("lie for_ns=200000000");
    let media = asked("media lba=1000 sectors=100000000");
    check(DRIVE, "drive", &[(100, lie), (150, media), (200, asked("reset"))]);
}

#[test]
fn a_drive_that_is_slow_and_hangs_is_replayed_to_the_nanosecond() {
    let slow = asked("slow by_ns=7000000");
    let ramp = asked("slow by_ns=7000000 over_ns=90000000 for_ns=300000000");
    let some = asked("slow by_ns=7000000 share_ppm=200000");
    let hang = asked("hang for_ns=40000000");
    let corrupt = asked("corrupt lba=8 sectors=60000");
    let ended = asked("slow by_ns=0");
    check(
        DRIVE,
        "ailing",
        &[(20, ramp), (120, slow), (180, some), (250, hang), (300, corrupt), (330, ended)],
    );
}

#[test]
fn bursts_of_slowness_are_replayed_to_the_nanosecond() {
    let bursts = asked("slow member=2 by_ns=7000000 for_ns=40000000 every_ns=150000000");
    let ended = asked("slow member=2 by_ns=0");
    check(RAID5, "bursts", &[(20, bursts), (300, ended)]);
}

/// A ramp that a person's slowness has covered goes on in steps, each of which is in the trace.
#[test]
fn slowness_that_was_covered_is_replayed_to_the_nanosecond() {
    let slow = asked("slow by_ns=7000000");
    let ramp = Action { scenario: true, ..asked("slow by_ns=7000000 over_ns=4000000000") };
    let some = asked("slow by_ns=7000000 share_ppm=500000 for_ns=50000000");
    let ended = Action { scenario: true, ..asked("slow by_ns=0") };
    check(DRIVE, "covered", &[(20, ramp), (60, slow), (90, some), (150, slow), (170, some), (380, ended)]);
}

#[test]
fn raid10_is_replayed_to_the_nanosecond_a_failure_included() {
    let faults = [(150, asked("fail member=2")), (300, asked("replace member=2"))];
    check(RAID10, "raid10", &faults);
}

#[test]
fn raid5_is_replayed_to_the_nanosecond_a_failure_included() {
    let faults = [(50, asked("scrub")), (150, asked("fail member=1")), (300, asked("replace member=1"))];
    check(RAID5, "raid5", &faults);
}

/// A request of several commands goes on when one of them is completed, and not when the thread has noticed.
#[test]
fn a_long_request_goes_on_at_its_own_instants() {
    const MIB: u32 = 1 << 20;
    for text in [DRIVE, RAID10] {
        let dues = |wakes_every: Option<Span>| {
            let mut rig = Rig::new(device(text, 1));
            for (place, length) in [(0, 80 * MIB), (1, 100 * MIB), (2, 33 * MIB), (3, 16 * MIB)] {
                let offset = place << 30;
                rig.submit(DeviceRequest::Zero { offset, length, fua: true });
                rig.submit(DeviceRequest::Cache { offset: offset + (4 << 30), length });
            }
            match wakes_every {
                None => rig.settle(),
                Some(span) => (0..10).for_each(|_| rig.pass(span)),
            }
            let due = |reply: &Reply| (reply.request_id.cookie, reply.due.expect("the model has answered"));
            rig.replies.iter().map(due).collect::<Vec<_>>()
        };
        let expected = dues(None);
        assert_eq!(expected.len(), 8);
        assert_eq!(dues(Some(Span::from_s(7))), expected, "{text}");
    }
}
