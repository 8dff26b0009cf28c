//! Addresses that a rebuild could not read: unreadable until they are written, whatever happens meanwhile.
use crate::rig::{Rig, asked, device};
use drivelab_core::storage::TargetParams;
use drivelab_emulate::ledger::Cause;
use drivelab_emulate::transport::DeviceRequest;
use drivelab_units::Span;

const SECTORS: u64 = 6_144;
const RAID5: &str = "level = \"raid5\", members = 4";

fn of(array: &str) -> String {
    let drive = "[target]\ndrive = { base = \"wd-wd740gd-00fla0\", geometry.accessible = \"1MiB\" }\nwrite_cache = false\n";
    format!("{drive}array = {{ {array} }}")
}

fn act(rig: &mut Rig, name: &str, member: u16) -> String {
    rig.engine.act(rig.now, &asked(&format!("{name} member={member}"))).expect("it can be done")
}

fn media(rig: &mut Rig, member: u16, lba: u64, sectors: u64) {
    let action = asked(&format!("media member={member} lba={lba} sectors={sectors}"));
    rig.engine.act(rig.now, &action).expect("it can be done");
}

fn status(rig: &mut Rig) -> String {
    act(rig, "status", 0)
}

fn cut(rig: &mut Rig) {
    rig.pass(Span::from_s(1));
    act(rig, "power-cut", 0);
    rig.settle();
}

fn rebuild(rig: &mut Rig, member: u16) {
    act(rig, "fail", member);
    act(rig, "replace", member);
    while status(rig).contains("rebuilding") {
        rig.pass(Span::from_ms(5));
    }
}

fn contents(sector: u64) -> Vec<u8> {
    (sector + 1).to_le_bytes().repeat(64)
}

/// The sectors that cannot be read. Those that can have what was written.
fn unreadable(rig: &mut Rig) -> Vec<u64> {
    let mut bad = Vec::new();
    for at in 0..SECTORS {
        let cookie = rig.submit(DeviceRequest::Read { offset: at * 512, length: 512 });
        rig.settle();
        match rig.answer(cookie) {
            Ok(drivelab_emulate::transport::Answer::Data { found, .. }) => {
                let mut bytes = Vec::new();
                found.put(&mut bytes);
                assert!(bytes == contents(at), "sector {at} has {:?}", &bytes[..8]);
            }
            Ok(other) => panic!("{other:?}"),
            Err(_) => bad.push(at),
        }
    }
    bad
}

fn write(rig: &mut Rig, first: u64, count: u64) {
    let data = (first..first + count).flat_map(contents).collect();
    rig.write(first * 512, data, true).expect("it is done");
}

fn ranges(all: &[(u64, u64)]) -> Vec<u64> {
    all.iter().flat_map(|&(first, count)| first..first + count).collect()
}

/// An array whose member 1 was rebuilt while 16 sectors of member 2 could not be read.
fn rebuilt(array: &str) -> Rig {
    let mut rig = Rig::new(device(&of(array), 1));
    write(&mut rig, 0, SECTORS);
    media(&mut rig, 2, 104, 16);
    rebuild(&mut rig, 1);
    rig
}

#[test]
fn they_survive_a_power_cut_until_they_are_written() {
    let mut rig = rebuilt(RAID5);
    let lost = ranges(&[(232, 16), (360, 16)]);
    assert_eq!(unreadable(&mut rig), lost);
    for _ in 0..2 {
        cut(&mut rig);
        assert!(status(&mut rig).contains("; 32 sectors of the array cannot be read until they are written"));
        assert_eq!(unreadable(&mut rig), lost);
    }
    write(&mut rig, 232, 16);
    assert_eq!(unreadable(&mut rig), lost[16..]);
    write(&mut rig, 360, 8);
    assert_eq!(unreadable(&mut rig), lost[24..]);
    write(&mut rig, 368, 3);
    assert_eq!(unreadable(&mut rig), lost[27..]);
    write(&mut rig, 371, 5);
    assert_eq!(unreadable(&mut rig), [0; 0]);
    // Parity fits again, whatever fails now.
    for member in [1, 2, 0, 3] {
        act(&mut rig, "fail", member);
        assert_eq!(unreadable(&mut rig), [0; 0], "without member {member}");
        act(&mut rig, "replace", member);
        while status(&mut rig).contains("rebuilding") {
            rig.pass(Span::from_ms(5));
        }
        assert_eq!(unreadable(&mut rig), [0; 0], "member {member} rebuilt");
    }
    let lost: u64 = rig.engine.log().damage.iter().map(|damage| damage.lost_sectors).sum();
    assert_eq!(lost, 32);
}

#[test]
fn a_later_session_begins_with_them() {
    let mut device = device(&of(RAID5), 1);
    let TargetParams::System(system) = &mut device.target else { panic!("it has drives") };
    system.array.as_mut().expect("it is one").bad_blocks = vec![(232, 248), (360, 376)];
    let mut rig = Rig::new(device);
    assert!(status(&mut rig).contains("; 32 sectors of the array cannot be read until they are written"));
    for (first, count) in [(0, 232), (248, 112), (376, SECTORS - 376)] {
        write(&mut rig, first, count);
    }
    assert_eq!(unreadable(&mut rig), ranges(&[(232, 16), (360, 16)]));
    write(&mut rig, 232, 144);
    assert_eq!(unreadable(&mut rig), [0; 0]);
}

/// What nobody has is not invented: the member with the media error keeps it.
#[test]
fn reads_of_them_repair_nothing() {
    let mut rig = rebuilt(RAID5);
    for _ in 0..2 {
        assert_eq!(unreadable(&mut rig), ranges(&[(232, 16), (360, 16)]));
        assert!(status(&mut rig).contains("; member 2 has 16 unreadable sectors"), "{}", status(&mut rig));
        // Of a write beside them neither.
        write(&mut rig, 104, 16);
        act(&mut rig, "scrub", 0);
        rig.pass(Span::from_s(10));
    }
    assert_eq!(rig.engine.close(rig.now), 0, "all that was answered is on the images");
}

/// A member that fails beside them cannot be computed from them, before or after a power cut.
#[test]
fn nothing_is_computed_from_them() {
    for (array, is_cut) in [(RAID5, false), (RAID5, true)] {
        for (member, more) in [(0, vec![(104, 16)]), (1, vec![]), (2, vec![]), (3, vec![])] {
            let mut rig = rebuilt(array);
            if is_cut {
                cut(&mut rig);
            }
            act(&mut rig, "fail", member);
            let mut lost = ranges(&[&more[..], &[(232, 16), (360, 16)]].concat());
            assert_eq!(unreadable(&mut rig), lost, "{array} {is_cut} without {member}");
            let listed: Vec<u64> = rig.engine.log().damage.iter().map(|damage| damage.lost_sectors).collect();
            assert_eq!(listed.iter().sum::<u64>(), lost.len() as u64, "{listed:?}");
            assert!(status(&mut rig).contains(&format!("; {} answered sectors were lost", lost.len())));
            act(&mut rig, "replace", member);
            while status(&mut rig).contains("rebuilding") {
                rig.pass(Span::from_ms(5));
            }
            assert_eq!(unreadable(&mut rig), lost, "{array} {is_cut} with {member} rebuilt");
            while let Some(&at) = lost.first() {
                write(&mut rig, at, 4);
                lost.drain(..4);
                assert_eq!(unreadable(&mut rig), lost, "{array} {is_cut} {member}");
            }
            act(&mut rig, "fail", (member + 1) % 4);
            assert_eq!(unreadable(&mut rig), [0; 0], "{array} {is_cut} {member}");
        }
    }
}

/// Sectors that a write has put on members that fail before it is answered.
#[test]
fn a_write_under_way_when_members_fail_is_damage_once_it_is_answered() {
    for (array, first, count, members) in
        [("level = \"raid10\", members = 4", 100, 100, [2, 3]), (RAID5, 0, 384, [1, 2])]
    {
        let mut rig = Rig::new(device(&of(array), 1));
        let hang = asked("hang member=0 for_ns=4000000000");
        rig.engine.act(rig.now, &hang).expect("it can be done");
        let data = (first..first + count).flat_map(contents).collect();
        let cookie = rig.submit(DeviceRequest::Write { offset: first * 512, data, fua: false });
        rig.pass(Span::from_ms(300));
        for member in members {
            act(&mut rig, "fail", member);
        }
        rig.settle();
        rig.answer(cookie).expect("it is answered well");
        let fails = |&at: &u64| {
            let cookie = rig.submit(DeviceRequest::Read { offset: at * 512, length: 512 });
            rig.settle();
            rig.answer(cookie).is_err()
        };
        let expected: Vec<u64> = (first..first + count).filter(fails).collect();
        assert!(!expected.is_empty());
        let damage = &rig.engine.log().damage;
        let lost = damage.iter().flat_map(|damage| &damage.lost);
        assert!(lost.clone().all(|lost| lost.cause == Cause::MissingMembers));
        let listed: Vec<u64> = lost.flat_map(|lost| lost.lba..lost.lba + lost.sectors).collect();
        assert_eq!(listed, expected, "{array}");
    }
}

/// What one rebuild loses is one entry with whole stretches, and is counted once, whatever is read and fails later.
#[test]
fn each_lost_address_is_listed_and_counted_once() {
    for reads in [false, true] {
        let mut rig = Rig::new(device(&of(RAID5), 1));
        write(&mut rig, 0, SECTORS);
        media(&mut rig, 2, 0, 32);
        rebuild(&mut rig, 1);
        let lost = rig.engine.log().damage.iter().map(|damage| damage.lost.len()).collect::<Vec<_>>();
        assert_eq!(lost, [2]);
        if reads {
            assert_eq!(unreadable(&mut rig), ranges(&[(128, 32), (256, 32)]));
        }
        act(&mut rig, "fail", 0);
        assert_eq!(unreadable(&mut rig), ranges(&[(0, 32), (128, 32), (256, 32)]));
        assert!(
            status(&mut rig).ends_with("; 96 answered sectors were lost in this session"),
            "{}",
            status(&mut rig)
        );
        let damage = rig.engine.log().damage.clone();
        let mut lost = damage.iter().flat_map(|damage| &damage.lost);
        assert!(lost.all(|lost| lost.cause == Cause::Unreadable), "{damage:?}");
        for member in [1, 2, 3] {
            act(&mut rig, "fail", member);
        }
        assert!(
            status(&mut rig).ends_with("; 6144 answered sectors were lost in this session"),
            "{}",
            status(&mut rig)
        );
    }
}

/// Reads a sector: what it has, or `None` for an error.
fn sector(rig: &mut Rig, at: u64) -> Option<Vec<u8>> {
    let cookie = rig.submit(DeviceRequest::Read { offset: at * 512, length: 512 });
    rig.settle();
    let Ok(drivelab_emulate::transport::Answer::Data { found, .. }) = rig.answer(cookie) else { return None };
    let mut bytes = Vec::new();
    found.put(&mut bytes);
    Some(bytes)
}

/// Writes `size` sectors at a time: what is answered can be read; of what is refused each sector is the old or the new
/// one, or cannot be read.
fn write_and_read(rig: &mut Rig, end: u64, size: u64, context: &str) -> usize {
    let mut answered = 0;
    for first in (0..end - size).step_by(size.max(3) as usize) {
        let data = (first..first + size).flat_map(|at| contents(at + 5_000)).collect();
        let is_done = rig.write(first * 512, data, true).is_ok();
        answered += usize::from(is_done);
        for at in first..first + size {
            let found = sector(rig, at);
            let is_new = found == Some(contents(at + 5_000));
            let is_old = found.as_ref().is_none_or(|found| *found == contents(at));
            assert!(
                is_new || !is_done && is_old,
                "{context}, {at}: {is_done}, {:?}",
                found.map(|found| found[0])
            );
        }
    }
    answered
}

const LEVELS: [&str; 7] = [
    "level = \"raid3\", members = 4",
    "level = \"raid30\", members = 6",
    "level = \"raid4\", members = 4",
    RAID5,
    "level = \"raid5\", members = 4, stripe_unit = \"4KiB\"",
    "level = \"raid6\", members = 5",
    "level = \"raid10\", members = 4",
];

#[test]
fn what_is_answered_beside_them_can_be_read() {
    for array in LEVELS {
        for gone in [0, 1, 3] {
            let mut rig = Rig::new(device(&of(array), 1));
            write(&mut rig, 0, 1_000);
            for member in [2, 0] {
                media(&mut rig, member, 104, 16);
            }
            act(&mut rig, "fail", 1);
            act(&mut rig, "replace", 1);
            rig.pass(Span::from_s(120));
            let _ = rig.engine.act(rig.now, &asked(&format!("fail member={gone}")));
            let context = format!("{array} without {gone}");
            assert!(write_and_read(&mut rig, 600, 1, &context) > 50, "{context}");
            write_and_read(&mut rig, 600, 8, &context);
        }
    }
}

/// A new member has what is written to it, and cannot be read before it is rebuilt there.
#[test]
fn what_is_answered_beside_them_during_a_rebuild_can_be_read() {
    let slow = "rebuild = { floor = \"4kB/s\", ceiling = \"4kB/s\" }";
    for array in LEVELS {
        for size in [1, 8, 16] {
            let mut device = device(&of(&format!("{array}, {slow}")), 1);
            let TargetParams::System(system) = &mut device.target else { panic!("it has drives") };
            system.array.as_mut().expect("it is one").bad_blocks = vec![(232, 248), (360, 376)];
            let mut rig = Rig::new(device);
            for (first, count) in [(0, 232), (248, 112), (376, 624)] {
                // Of RAID 3 and 30 the rest of a row with bad blocks may be refused.
                for at in first..first + count {
                    let _ = rig.write(at * 512, contents(at), true);
                }
            }
            act(&mut rig, "fail", 1);
            act(&mut rig, "replace", 1);
            write_and_read(&mut rig, 600, size, &format!("{array}, {size}"));
        }
    }
}

/// A write makes them good when it is answered, and not when it arrives.
#[test]
fn a_write_that_the_power_takes_leaves_them_bad() {
    let mut rig = Rig::new(device(&of("level = \"raid10\", members = 4"), 1));
    write(&mut rig, 0, 2_048);
    media(&mut rig, 0, 104, 16);
    rebuild(&mut rig, 1);
    let bad: Vec<u64> = (0..400).filter(|&at| sector(&mut rig, at).is_none()).collect();
    assert_eq!(bad.len(), 16);
    let data = bad.iter().copied().flat_map(contents).collect();
    rig.submit(DeviceRequest::Write { offset: bad[0] * 512, data, fua: true });
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be cut");
    rig.settle();
    rig.replies.clear();
    assert!(status(&mut rig).contains("16 sectors of the array cannot be read"), "{}", status(&mut rig));
    let data = bad.iter().copied().flat_map(contents).collect();
    rig.write(bad[0] * 512, data, true).expect("it is done");
    assert!(!status(&mut rig).contains("cannot be read"), "{}", status(&mut rig));
}

/// A controller's memory answers a write of bad blocks before it reaches the array: nothing is lost by that.
#[test]
fn what_the_controllers_memory_has_is_not_lost() {
    let text = format!(
        "{}\n[target.controller.cache]\nsize = \"64MiB\"\nbattery = true",
        of("level = \"raid5\", members = 4, kept_by = \"controller\"")
    );
    let mut rig = Rig::new(device(&text, 1));
    for first in (0..SECTORS).step_by(128) {
        write(&mut rig, first, 128);
    }
    rig.pass(Span::from_s(60));
    media(&mut rig, 2, 104, 16);
    rebuild(&mut rig, 1);
    let lost = |rig: &Rig| rig.engine.log().damage.iter().map(|damage| damage.lost_sectors).sum::<u64>();
    assert_eq!(lost(&rig), 32);
    let data = (232..248).flat_map(contents).collect();
    rig.write(232 * 512, data, false).expect("memory has it");
    assert_eq!(lost(&rig), 32, "{:?}", rig.engine.log().damage);
    rig.flush();
    rig.pass(Span::from_s(60));
    assert!(status(&mut rig).contains("; 16 sectors of the array cannot be read"), "{}", status(&mut rig));
    assert_eq!(sector(&mut rig, 240), Some(contents(240)));
}

#[test]
fn bursts_of_a_slow_drive_end_with_it() {
    let mut rig = Rig::new(device(&of(RAID5), 1));
    act(&mut rig, "fail", 3);
    act(&mut rig, "replace", 3);
    rig.pass(Span::from_s(30));
    let slow = asked("slow member=1 by_ns=50000000 for_ns=1000000000 every_ns=5000000000");
    rig.engine.act(rig.now, &slow).expect("it can be slow");
    act(&mut rig, "fail", 1);
    act(&mut rig, "replace", 1);
    rig.pass(Span::from_s(30));
    for _ in 0..10 {
        rig.pass(Span::from_ms(500));
        assert!(!status(&mut rig).contains("slow"), "{}", status(&mut rig));
    }
}
