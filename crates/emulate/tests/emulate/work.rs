//! What the status says of the array's own work and of the drives, and the end of that work among the events.
use crate::rig::{DRIVE, Dice, Rig, asked, device};
use drivelab_emulate::action::Action;
use drivelab_emulate::ledger::Cause;
use drivelab_emulate::transport::DeviceRequest;
use drivelab_units::Span;
use std::collections::BTreeSet;

fn small(array: &str) -> Rig {
    let drive = "[target]\ndrive = { base = \"wd-wd740gd-00fla0\", geometry.accessible = \"16MiB\" }\nwrite_cache = true\n";
    Rig::new(device(&format!("{drive}array = {{ {array} }}"), 1))
}

fn act(rig: &mut Rig, action: Action) -> String {
    rig.engine.act(rig.now, &action).expect("it can be done")
}

fn status(rig: &mut Rig) -> String {
    act(rig, asked("status"))
}

/// Lets time pass until the array is healthy and idle. Returns each status on the way.
fn until_healthy(rig: &mut Rig) -> Vec<String> {
    let mut told = Vec::new();
    for _ in 0..100_000 {
        rig.pass(Span::from_ms(5));
        told.push(status(rig));
        if told
            .last()
            .is_some_and(|told| told.contains("; the array is healthy") && !told.contains(" being "))
        {
            return told;
        }
    }
    panic!("it goes on: {:?}", told.last());
}

fn events(rig: &Rig) -> Vec<(String, Option<u16>)> {
    rig.engine.log().events.iter().map(|event| (event.what.to_string(), event.member)).collect()
}

#[test]
fn the_end_of_a_rebuild_is_an_event_of_its_member() {
    let mut rig = small("level = \"raid5\", members = 3");
    assert!(status(&mut rig).ends_with("; the array is healthy"));
    act(&mut rig, asked("fail member=1"));
    assert!(status(&mut rig).contains("; the array is degraded; member 1 is missing"));
    act(&mut rig, asked("replace member=1"));
    let told = until_healthy(&mut rig);
    let left = |told: &&String| told.contains("; the array is rebuilding, ") && told.contains(" left");
    assert!(told.iter().filter(left).count() > 1, "{told:?}");
    let events = events(&rig);
    let (what, member) = events.last().expect("there are events");
    assert!(what.starts_with("rebuilt after "), "{events:?}");
    assert_eq!(*member, Some(1));
    assert_eq!(events.iter().filter(|(what, _)| what.starts_with("rebuilt")).count(), 1);
}

#[test]
fn each_drive_of_a_rebuild_is_told_and_a_spare_has_its_own_number() {
    let mut rig = small("level = \"raid6\", members = 4, spares = 1");
    act(&mut rig, asked("fail member=1"));
    act(&mut rig, asked("fail member=2"));
    act(&mut rig, asked("replace member=2"));
    until_healthy(&mut rig);
    let mut rebuilt: Vec<u16> = events(&rig)
        .into_iter()
        .filter(|(what, _)| what.starts_with("rebuilt after "))
        .filter_map(|(_, member)| member)
        .collect();
    rebuilt.sort_unstable();
    assert_eq!(rebuilt, [2, 4]);
}

#[test]
fn what_a_rebuild_could_not_read_is_damage_and_said_until_it_is_written() {
    let mut rig = small("level = \"raid5\", members = 3");
    // Two stripes of 64 KiB units: 256 KiB are in four data units, and the media's defect is in the first.
    rig.write(0, vec![7; 256 << 10], true).expect("it is done");
    act(&mut rig, asked("media lba=8 sectors=4"));
    act(&mut rig, asked("fail member=1"));
    act(&mut rig, asked("replace member=1"));
    until_healthy(&mut rig);
    let told = status(&mut rig);
    let bad =
        told.split("; ").find(|part| part.contains("of the array cannot be read")).expect(&told).to_owned();
    let count: u64 = bad.split(' ').next().and_then(|count| count.parse().ok()).expect(&bad);
    let lost = rig.engine.log().damage.clone();
    assert!(
        lost.iter().flat_map(|damage| &damage.lost).all(|lost| lost.cause == Cause::Unreadable),
        "{lost:?}"
    );
    assert_eq!(lost.iter().map(|damage| damage.lost_sectors).sum::<u64>(), count, "{told}");
    assert!(told.contains(&format!("; {count} answered sectors were lost")), "{told}");
    for lost in lost.iter().flat_map(|damage| &damage.lost) {
        let (at, count) = (lost.lba * 512, u32::try_from(lost.sectors * 512).expect("small"));
        let cookie = rig.submit(DeviceRequest::Read { offset: at, length: count });
        rig.settle();
        rig.answer(cookie).expect_err("no member has it");
        let new = vec![8; count as usize];
        rig.write(at, new.clone(), true).expect("it is done");
        assert_eq!(rig.read(at, count), new);
    }
    assert!(!status(&mut rig).contains("cannot be read"), "{}", status(&mut rig));
}

/// The sectors of the device whose reads fail.
fn unreadable(rig: &mut Rig, sectors: u64) -> Vec<u64> {
    let fails = |&at: &u64| {
        let cookie = rig.submit(DeviceRequest::Read { offset: at * 512, length: 512 });
        rig.settle();
        rig.answer(cookie).is_err()
    };
    (0..sectors).filter(fails).collect()
}

#[test]
fn what_too_few_members_have_is_damage_whether_it_was_at_rest_or_not() {
    const SECTORS: u64 = 3_000;
    for (array, failing) in [
        ("level = \"raid0\", members = 3", vec![1]),
        ("level = \"raid5\", members = 4", vec![2, 0]),
        ("level = \"raid6\", members = 5", vec![0, 4, 2]),
        ("level = \"raid10\", members = 4", vec![0, 1]),
        ("level = \"raidz1\", members = 4", vec![3, 1]),
        ("level = \"jbod\", members = 2", vec![0]),
    ] {
        for rests in [false, true] {
            let (mut rig, mut dice) = (small(array), Dice::new(7));
            let mut written = BTreeSet::new();
            for _ in 0..60 {
                let (first, count) = (dice.below(SECTORS - 100), 1 + dice.below(100));
                rig.write(first * 512, vec![9; count as usize * 512], false).expect("it is done");
                written.extend(first..first + count);
            }
            if rests {
                rig.flush();
                rig.pass(Span::from_s(10));
            }
            for &member in &failing {
                act(&mut rig, asked(&format!("fail member={member}")));
            }
            let lost = rig.engine.log().damage.clone();
            let listed: Vec<u64> = lost
                .iter()
                .flat_map(|damage| &damage.lost)
                .flat_map(|lost| lost.lba..lost.lba + lost.sectors)
                .collect();
            let expected: Vec<u64> =
                unreadable(&mut rig, SECTORS).into_iter().filter(|at| written.contains(at)).collect();
            assert!(!expected.is_empty(), "{array}");
            assert_eq!(listed, expected, "{array} {rests}");
            assert_eq!(lost.iter().map(|damage| damage.lost_sectors).sum::<u64>(), expected.len() as u64);
            assert!(
                lost.iter().flat_map(|damage| &damage.lost).all(|lost| lost.cause == Cause::MissingMembers),
                "{array}: {lost:?}"
            );
        }
    }
}

#[test]
fn the_end_of_a_scrub_is_an_event() {
    let mut rig = small("level = \"raid1\", members = 2");
    act(&mut rig, asked("scrub"));
    let told = until_healthy(&mut rig);
    assert!(
        told.iter().any(|told| told.contains("; the array is healthy; the array is being scrubbed, ")),
        "{told:?}"
    );
    let events = events(&rig);
    assert!(matches!(&events[..], [(what, None)] if what.starts_with("scrubbed after ")), "{events:?}");
}

#[test]
fn corrupted_and_unreadable_sectors_are_told_until_they_are_written() {
    let mut rig = Rig::new(device(DRIVE, 1));
    assert!(status(&mut rig).ends_with("; the drive is sound"));
    act(&mut rig, asked("corrupt lba=64 sectors=8"));
    act(&mut rig, asked("corrupt lba=68 sectors=8"));
    act(&mut rig, asked("media lba=200 sectors=1"));
    assert!(
        status(&mut rig).contains("; the drive has 1 unreadable sector; the drive has 12 corrupted sectors"),
        "{}",
        status(&mut rig)
    );
    // In the cache alone nothing is repaired.
    rig.write(64 * 512, vec![1; 4 * 512], false).expect("it is done");
    rig.write(200 * 512, vec![1; 512], false).expect("it is done");
    rig.flush();
    assert!(status(&mut rig).contains("; the drive has 8 corrupted sectors"), "{}", status(&mut rig));
    act(&mut rig, asked("power-cut"));
    rig.settle();
    assert!(status(&mut rig).contains("; the drive has 8 corrupted sectors"), "{}", status(&mut rig));
    rig.write(68 * 512, vec![1; 8 * 512], true).expect("it is done");
    assert!(status(&mut rig).contains("; the drive is sound"), "{}", status(&mut rig));
}

#[test]
fn a_new_drive_has_no_corrupted_sectors() {
    let mut rig = small("level = \"raid1\", members = 2");
    act(&mut rig, asked("corrupt member=1 lba=0 sectors=8"));
    assert!(
        status(&mut rig).contains("; the array is healthy; member 1 has 8 corrupted sectors"),
        "{}",
        status(&mut rig)
    );
    act(&mut rig, asked("fail member=1"));
    assert!(!status(&mut rig).contains("corrupted"));
    act(&mut rig, asked("replace member=1"));
    assert!(!until_healthy(&mut rig).iter().any(|told| told.contains("corrupted")));
}

#[test]
fn a_slow_drive_is_not_sound() {
    let mut rig = Rig::new(device(DRIVE, 1));
    act(&mut rig, asked("slow by_ns=10000000 share_ppm=10000"));
    let told = status(&mut rig);
    assert!(told.ends_with("under way; the drive is slow by 10ms in 1 % of its commands"), "{told}");
    act(&mut rig, asked("slow by_ns=0"));
    assert!(status(&mut rig).ends_with("; the drive is sound"));
}

#[test]
fn a_drive_between_two_bursts_is_not_sound() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let bursts = asked("slow by_ns=10000000 for_ns=500000000 every_ns=10000000000");
    act(&mut rig, bursts);
    let is_slow = "; the drive is slow by 10ms in bursts of 500ms every 10s";
    assert!(status(&mut rig).ends_with(is_slow));
    rig.pass(Span::from_ms(1_000));
    assert!(status(&mut rig).ends_with(&format!("{is_slow}, not now")), "{}", status(&mut rig));
    rig.pass(Span::from_ms(9_100));
    assert!(status(&mut rig).ends_with(is_slow), "{}", status(&mut rig));
    act(&mut rig, asked("slow by_ns=0"));
    assert!(status(&mut rig).ends_with("; the drive is sound"), "{}", status(&mut rig));
}
