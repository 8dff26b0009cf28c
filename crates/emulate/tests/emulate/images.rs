//! Images against plain memory, folders that are opened again, and memory that stays as it is.
use crate::rig::{DRIVE, Dice, RAID5, Rig, device};
use drivelab_core::setup::Injection;
use drivelab_core::storage::{Fault, Lasting};
use drivelab_emulate::image::{CopyOnWrite, FileImage, Image, MemoryImage};
use drivelab_emulate::transport::{Answer, DeviceRequest};
use drivelab_emulate::{Address, Bytes, EmulateError, Pace, ServeOptions, open};
use drivelab_units::{Instant, Span};
use proptest::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const SIZE: usize = 600_000;

/// A place for files that goes with the test.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("drivelab-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("there is room");
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn base(path: &Path) -> Vec<u8> {
    let bytes: Vec<u8> = (0..SIZE).map(|at| (at / 1_000) as u8).collect();
    std::fs::write(path, &bytes).expect("there is room");
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_image_is_plain_memory(
        writes in prop::collection::vec((0..SIZE, 1_usize..200_000, any::<u8>()), 0..12),
        clears in any::<prop::sample::Index>(),
    ) {
        let place = Place::new("images");
        let below = place.0.join("below.img");
        let under = base(&below);
        let _ = std::fs::remove_file(place.0.join("file.img"));
        let file = FileImage::open(&place.0.join("file.img"), SIZE as u64).unwrap();
        let over = CopyOnWrite::new(FileImage::open_read_only(&below, SIZE as u64).unwrap());
        let images: [(Box<dyn Image>, Vec<u8>); 3] =
            [(Box::new(MemoryImage::default()), vec![0; SIZE]), (Box::new(file), vec![0; SIZE]), (Box::new(over), under)];
        let cleared_at = clears.index(writes.len() + 1);
        for (mut image, mut plain) in images {
            for (turn, &(at, length, byte)) in writes.iter().enumerate() {
                if turn == cleared_at {
                    image.clear().unwrap();
                    plain.fill(0);
                }
                let end = (at + length).min(SIZE);
                image.write(at as u64, &vec![byte; end - at]).unwrap();
                plain[at..end].fill(byte);
                let mut found = vec![1; SIZE];
                image.read(0, &mut found).unwrap();
                prop_assert!(found == plain);
            }
            // What is told to hold nothing holds nothing.
            let mut at = 0;
            for (first, end) in image.extents().unwrap() {
                prop_assert!(plain[at..(first as usize).min(SIZE)].iter().all(|byte| *byte == 0));
                at = (end as usize).min(SIZE);
            }
            prop_assert!(plain[at..].iter().all(|byte| *byte == 0));
        }
    }
}

pub fn options(place: &Place, bytes: Bytes) -> ServeOptions {
    ServeOptions {
        at: Address::Socket(place.0.join("socket")),
        control: None,
        pace: Pace::Skip,
        bytes,
        block_size: 512,
        capture: None,
        budget: Span::from_us(500),
        power_cut: None,
        injections: [].into(),
        keep: None,
        mount: None,
        transcript: None,
    }
}

pub fn refused(text: &str, options: &ServeOptions) -> String {
    match open(device(text, 1), options) {
        Ok(_) => panic!("it is refused"),
        Err(error) => error.to_string(),
    }
}

fn port() -> Address {
    Address::Port { address: (std::net::Ipv4Addr::LOCALHOST, 0).into(), certificates: None }
}

#[test]
fn what_cannot_be_opened_is_reported_with_its_place_and_a_remedy() {
    let place = Place::new("refused");
    let image = place.0.join("image");
    std::fs::write(&image, [0; 1_000]).unwrap();
    let file = |is_written| Bytes::File { path: image.clone(), is_written };
    let message = refused(DRIVE, &options(&place, file(true)));
    assert!(message.contains("image: it has 1000 bytes, and the drive 3955544867840: take"), "{message}");
    let message = refused(RAID5, &options(&place, file(false)));
    assert!(message.contains("an image is of one drive"), "{message}");
    let folder = Bytes::Folder(place.0.join("folder"));
    let first = open(device(DRIVE, 1), &options(&place, folder.clone())).expect("it can be had");
    let message = refused(DRIVE, &ServeOptions { at: port(), ..options(&place, folder.clone()) });
    assert!(message.contains("another program uses it"), "{message}");
    let message = refused(DRIVE, &options(&place, Bytes::Memory));
    assert!(message.contains("another program serves there"), "{message}");
    drop(first);
    assert!(!place.0.join("socket").exists());
    let message = refused(RAID5, &options(&place, folder));
    assert!(message.contains("images of another target"), "{message}");
    assert!(matches!(
        open(device(DRIVE, 1), &options(&place, Bytes::Memory)),
        Ok(_) | Err(EmulateError::Bind { .. })
    ));
}

#[test]
fn memory_stays_as_it_is_however_much_is_written() {
    for (text, writes) in [(DRIVE, 30_000_u64), (RAID5, 8_000)] {
        let mut rig = Rig::new(device(text, 1));
        let mut dice = Dice::new(7);
        let (mut half, mut most) = (0, 0);
        for number in 0..writes {
            let offset = dice.below(4_000) * 4_096;
            let cookie =
                rig.submit(DeviceRequest::Write { offset, data: vec![number as u8 | 1; 4_096], fua: false });
            while !rig.replies.iter().any(|reply| reply.request_id.cookie == cookie) {
                let due = rig.engine.next_due().expect("something is due");
                rig.now = rig.now.max(due);
                rig.engine.run(rig.now).expect("it goes on");
                rig.take();
            }
            assert_eq!(rig.answer(cookie), Ok(Answer::Done));
            let bytes = rig.engine.store_bytes();
            if number < writes / 2 { half = half.max(bytes) } else { most = most.max(bytes) }
        }
        assert!(
            most <= half + half / 4 && most < 128 << 20,
            "{half} bytes, then {most}, after {writes} writes"
        );
    }
}

#[test]
fn a_session_reports_the_faults_that_it_ended_before() {
    let place = Place::new("unreached");
    let at = |s| Instant::ZERO + Span::from_s(s);
    let hang = Fault::Hang { drive: 0, lasts: Some(Span::from_s(1)) };
    let injections = [Injection { at: at(60), fault: hang, lasting: Lasting::ForGood }].into();
    let options = ServeOptions { injections, power_cut: Some(at(90)), ..options(&place, Bytes::Memory) };
    let record = open(device(DRIVE, 1), &options).expect("it can be had").run(&AtomicBool::new(true));
    let events: Vec<_> =
        record.log.events.iter().map(|event| (event.at_ns, event.member, &*event.what)).collect();
    let expected = [
        (60_000_000_000, Some(0), "faults.hang was not done: the session was over before"),
        (90_000_000_000, None, "faults.power_cut was not done: the session was over before"),
    ];
    assert_eq!(events, expected);
}

/// A process can be killed at any moment: what is on disk then has to name the members that are missing.
#[test]
fn a_failed_member_is_on_disk_as_missing_before_the_answer() {
    let place = Place::new("missing");
    let (folder, control) = (place.0.join("folder"), place.0.join("control"));
    let options = ServeOptions {
        control: Some(control.clone()),
        pace: Pace::Times(1),
        ..options(&place, Bytes::Folder(folder.clone()))
    };
    let server = open(device(RAID5, 1), &options).expect("it can be had");
    let stop = AtomicBool::new(false);
    let found: Vec<(String, String)> = std::thread::scope(|scope| {
        let session = scope.spawn(|| server.run(&stop));
        let mut person = UnixStream::connect(&control).expect("it listens");
        let mut answers = BufReader::new(person.try_clone().expect("it is open")).lines();
        // A member that is being rebuilt is missing too.
        let found = ["fail", "replace", "reset"].map(|action| {
            writeln!(person, "{{\"action\":\"{action}\",\"member\":1}}").expect("it is open");
            let answer = answers.next().expect("it answers").expect("it is open");
            (answer, std::fs::read_to_string(folder.join("state.json")).expect("it is there"))
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(session.join().expect("it ends").failure, None);
        found.into()
    });
    for (answer, state) in found {
        let state: String = state.split_whitespace().collect();
        assert!(answer.contains("\"ok\":true"), "{answer}");
        assert!(state.contains("\"missing\":[1]") && state.contains("\"clean\":false"), "{state}");
    }
}
