//! A session that was kept, and cut: what is there is what a power cut of the session itself would have left.
use crate::rig::{DRIVE, Dice, RAID5, RAID10, Rig, asked, device};
use drivelab_emulate::capture::Capture;
use drivelab_emulate::crash::{CrashLog, DATA, DataWriter, TRACE};
use drivelab_emulate::store::Store;
use drivelab_emulate::transport::DeviceRequest;
use drivelab_emulate::{Device, Engine};
use drivelab_units::{Instant, SECTOR_BYTES, Span};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

/// Writes land within this.
const BYTES: u64 = 1 << 20;
const BLOCK: u64 = 4_096;

/// The requests of a session, with their times.
type Script = Vec<(Instant, DeviceRequest)>;

fn script(seed: u64) -> Script {
    let mut dice = Dice::new(seed);
    let mut now = Instant::ZERO;
    let mut one = |number: u64| {
        now += Span::from_ns(dice.below(3_000_000) * dice.below(3));
        let offset = dice.below(BYTES / BLOCK - 8) * BLOCK;
        let length = (1 + dice.below(8)) * BLOCK;
        let fua = dice.below(8) == 0;
        let request = match dice.below(10) {
            0..=6 => DeviceRequest::Write { offset, data: vec![1 + number as u8; length as usize], fua },
            7 => DeviceRequest::Zero { offset, length: length as u32, fua },
            8 => DeviceRequest::Read { offset, length: length as u32 },
            _ => DeviceRequest::Flush,
        };
        (now, request)
    };
    (0..150).map(&mut one).collect()
}

/// Plays a script up to an instant.
fn play(rig: &mut Rig, script: &Script, until: Instant) {
    for (at, request) in script.iter().take_while(|(at, _)| *at <= until) {
        rig.now = *at;
        rig.engine.run(rig.now).expect("it goes on");
        rig.submit(request.clone());
    }
    rig.now = until;
    rig.engine.run(until).expect("it goes on");
    rig.take();
}

/// A session with its data, in a folder of its own.
fn keep(device: &Device, script: &Script, name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("drivelab-crash-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    let out = BufWriter::new(File::create(folder.join(TRACE)).expect("there is room"));
    let mut rig = Rig::new(device.clone());
    let size = rig.engine.capacity().get() * SECTOR_BYTES;
    let data = DataWriter::create(&folder.join(DATA)).expect("there is room");
    let capture = Capture::new(out, "device", size, device.seed).with_data(data);
    rig.engine = Engine::new(device.clone(), Store::in_memory(&device.target), Some(capture));
    play(&mut rig, script, script[script.len() - 1].0);
    rig.settle();
    rig.engine.take_capture().expect("it was given one").close().expect("there is room");
    folder
}

/// What the session itself would have left, and how many answered sectors would be gone.
fn cut_in_person(device: &Device, script: &Script, at: Instant) -> (Vec<u8>, u64) {
    let mut rig = Rig::new(device.clone());
    play(&mut rig, script, at);
    rig.engine.act(at, &asked("power-cut")).expect("it can be cut");
    let lost = rig.engine.log().power_cuts[0].lost_sectors;
    while rig.engine.is_off() {
        rig.now = rig.engine.next_due().expect("it comes back");
        rig.engine.run(rig.now).expect("it goes on");
    }
    (rig.read(0, BYTES as u32), lost)
}

fn agrees(text: &str, name: &str) {
    for seed in 1..=3 {
        let (device, script) = (device(text, seed), script(seed));
        let folder = keep(&device, &script, &format!("{name}-{seed}"));
        let log = CrashLog::read(&folder, device.clone()).expect("it is sound");
        let instants = log.instants().expect("it runs as it did");
        assert!(instants.is_sorted() && instants.len() > script.len());
        let (mut dice, mut with_loss) = (Dice::new(seed + 100), 0);
        for number in 0..25 {
            let place = dice.below(instants.len() as u64 - 1) as usize;
            let within = (instants[place + 1] - instants[place]).as_ns();
            let at = instants[place] + Span::from_ns(dice.below(within));
            let path = folder.join(format!("{number}.img"));
            let cut = log.cut(at, None).expect("it can be cut");
            assert_eq!(cut.lay_out(&path, BYTES).expect("there is room"), 0);
            let (there, lost) = cut_in_person(&device, &script, at);
            assert_eq!(cut.lost_sectors, lost, "{name} {seed} {at:?}");
            assert!(std::fs::read(&path).expect("it is there") == there, "{name} {seed} {at:?}");
            with_loss += u32::from(lost > 0);
        }
        assert!(with_loss > 0, "{name} {seed}: caches lose something in 25 cuts");
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}

#[test]
fn a_drive_is_cut_as_the_session_itself_would_be() {
    agrees(DRIVE, "drive");
}

#[test]
fn arrays_are_cut_as_the_session_itself_would_be() {
    agrees(RAID10, "raid10");
    agrees(RAID5, "raid5");
}

/// After a cut a mirrored member may die: nothing that was flushed goes with it.
#[test]
fn a_member_that_dies_after_the_cut_takes_nothing_that_was_flushed() {
    let device = device(RAID10, 7);
    let mut script: Script = Vec::new();
    let wait = Span::from_ms(200);
    for number in 0..20_u64 {
        let at = Instant::ZERO + Span::from_ms(400 * number);
        let data = vec![1 + number as u8; BLOCK as usize];
        script.push((at, DeviceRequest::Write { offset: number * BLOCK, data, fua: false }));
        script.push((at + wait, DeviceRequest::Flush));
    }
    let folder = keep(&device, &script, "dies");
    let log = CrashLog::read(&folder, device).expect("it is sound");
    let flushes = log.flushes();
    assert_eq!(flushes.len(), 20);
    for (number, at) in (0_usize..).zip(flushes) {
        for dies in [None, Some(0), Some(3)] {
            let path = folder.join("cut.img");
            let cut = log.cut(at, dies).expect("it can be cut");
            assert_eq!(cut.lay_out(&path, BYTES).expect("there is room"), 0);
            let there = std::fs::read(&path).expect("it is there");
            for (block, bytes) in there.chunks(BLOCK as usize).take(number + 1).enumerate() {
                assert!(bytes.iter().all(|byte| *byte == 1 + block as u8), "{number} {dies:?} {block}");
            }
        }
    }
    let refused = log.cut(Instant::ZERO + wait, Some(9)).err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("member 9: the target has 4 drives, counted from 0"));
    std::fs::remove_dir_all(&folder).expect("it is there");
}

/// Without a copy what the dead member had is gone, and that alone.
#[test]
fn what_only_a_dead_member_has_is_gone() {
    let device = device(
        "[target]\ndrive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid0\", members = 2, stripe_unit = \"64KiB\" }",
        7,
    );
    let script: Script = (0..4_u64)
        .map(|unit| {
            let data = vec![1 + unit as u8; BLOCK as usize];
            (
                Instant::ZERO + Span::from_ms(50 * unit),
                DeviceRequest::Write { offset: unit << 16, data, fua: true },
            )
        })
        .collect();
    let folder = keep(&device, &script, "gone");
    let log = CrashLog::read(&folder, device).expect("it is sound");
    let path = folder.join("cut.img");
    for (dies, gone) in [(None, vec![]), (Some(0), vec![0_usize, 2]), (Some(1), vec![1, 3])] {
        let cut = log.cut(Instant::ZERO + Span::from_s(1), dies).expect("it can be cut");
        let sectors = gone.len() as u64 * BLOCK / SECTOR_BYTES;
        assert_eq!(cut.lay_out(&path, BYTES).expect("there is room"), sectors, "{dies:?}");
        let there = std::fs::read(&path).expect("it is there");
        for unit in 0..4 {
            let is = there[unit << 16];
            assert_eq!(is, if gone.contains(&unit) { 0 } else { 1 + unit as u8 }, "{dies:?} {unit}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn a_session_of_another_device_is_refused() {
    let (first, script) = (device(DRIVE, 1), script(1));
    let folder = keep(&first, &script, "refused");
    let refusal = |text: &str, seed: u64| {
        let error = CrashLog::read(&folder, device(text, seed)).err().expect("it is another device");
        error.to_string().replace(&folder.display().to_string(), "FOLDER")
    };
    let other = "FOLDER: the session was of another device: name the scenario and the seed that it had";
    assert_eq!(refusal(DRIVE, 2), other);
    // The same drive with another queue: its answers come at other times.
    let other = device(&format!("{DRIVE}\nqueue = {{ order = \"fcfs\" }}"), 1);
    let log = CrashLog::read(&folder, other).expect("it might be the same device");
    let why = log.instants().expect_err("it runs in another way").to_string();
    assert!(why.contains("answers come at other instants than in the session: keep it again"), "{why}");
    let station = device("[target]\nserver = { capacity = \"1GB\", mean = \"8ms\" }", 1);
    let refused = CrashLog::read(&folder, station).err().expect("it has no drives").to_string();
    assert_eq!(refused, "the target: it is a station, which keeps all that it answers: give it drives");
    std::fs::remove_dir_all(&folder).expect("it is there");
}
