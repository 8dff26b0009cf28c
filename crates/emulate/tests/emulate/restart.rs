//! What an array comes up with after a power cut: nothing that it does not have, and nobody who had failed.
use crate::rig::{Rig, asked, device};
use drivelab_emulate::transport::DeviceRequest;

const PLAIN: &str = "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = false\n";

fn array(keys: &str) -> Rig {
    Rig::new(device(&format!("{PLAIN}array = {{ {keys} }}"), 1))
}

fn act(rig: &mut Rig, name: &str, member: u16) -> Result<String, String> {
    rig.engine.act(rig.now, &asked(&format!("{name} member={member}")))
}

fn status(rig: &mut Rig) -> String {
    act(rig, "status", 0).expect("it can be told")
}

fn cut(rig: &mut Rig) -> String {
    let told = act(rig, "power-cut", 0).expect("it can be done");
    rig.settle();
    told
}

/// The drive of a member that is rebuilt comes up empty, however much of it the scenario has taken for rebuilt.
#[test]
fn a_rebuild_begins_anew_after_a_power_cut() {
    for level in ["level = \"raid1\", members = 2", "level = \"raid5\", members = 3"] {
        let mut rig = array(&format!("{level}, missing = [1], rebuilding = true, rebuilt = \"50%\""));
        let data: Vec<u8> = (0..1 << 20).map(|at: u32| (at / 512 + 1) as u8).collect();
        rig.write(0, data.clone(), true).expect("it is done");
        // Without a write for a while the array is clean.
        rig.pass(drivelab_units::Span::from_ms(250));
        let told = cut(&mut rig);
        assert!(told.starts_with("0 answered sectors lost"), "{told}");
        assert!(rig.read(0, 1 << 20) == data, "{level}: what was written is there");
        assert!(status(&mut rig).contains("the array is rebuilding, 0.0 % done"), "{}", status(&mut rig));
    }
}

/// Only a drive that was there comes up with the power: a member that has failed since is missing.
#[test]
fn a_member_that_failed_is_missing_after_a_power_cut() {
    let mut rig = array("level = \"raid6\", members = 4, missing = [1], rebuilding = true");
    act(&mut rig, "fail", 2).expect("it can be done");
    cut(&mut rig);
    let told = status(&mut rig);
    assert!(told.contains("member 1 is missing; member 2 is missing"), "{told}");
    act(&mut rig, "replace", 2).expect("it can be done");
    act(&mut rig, "replace", 1).expect("it can be done");
}

fn events(rig: &Rig, what: &str) -> Vec<Option<u16>> {
    let events = rig.engine.log().events.iter();
    events.filter(|event| event.what == what).map(|event| event.member).collect()
}

#[test]
fn a_spare_that_has_failed_does_not_come_back_with_the_power() {
    let mut rig = array("level = \"raid5\", members = 3, spares = 2");
    act(&mut rig, "fail", 3).expect("it can be done");
    for _ in 0..2 {
        cut(&mut rig);
        assert!(status(&mut rig).ends_with("; the spare, drive 3, has failed"), "{}", status(&mut rig));
    }
    assert_eq!(events(&rig, "a spare has failed"), [Some(3)], "it is told of once");
    act(&mut rig, "fail", 1).expect("it can be done");
    rig.pass(drivelab_units::Span::from_ms(10));
    assert_eq!(events(&rig, "a drive has taken a member's place"), [Some(4)]);
    act(&mut rig, "replace", 3).expect("it can be done");
    cut(&mut rig);
    assert!(!status(&mut rig).contains("spare"), "{}", status(&mut rig));
    assert_eq!(act(&mut rig, "replace", 3), Err(there(3)));
}

fn there(drive: u16) -> String {
    format!("drive {drive} has not failed, so that no other can take its place")
}

/// The member has the number of its slot from now on, and the drive that was there that of the spare.
#[test]
fn a_drive_whose_place_a_spare_has_taken_has_still_failed_after_a_power_cut() {
    let mut rig = Rig::new(device(
        "[target]\ndrive = { base = \"wd-wd740gd-00fla0\", geometry.capacity = \"16MiB\" }\nwrite_cache = false\n\
         array = { level = \"raid5\", members = 3, spares = 1 }",
        1,
    ));
    act(&mut rig, "fail", 1).expect("it can be done");
    rig.pass(drivelab_units::Span::from_s(60));
    assert!(!status(&mut rig).contains("rebuilding"), "{}", status(&mut rig));
    cut(&mut rig);
    assert!(status(&mut rig).ends_with("; the spare, drive 3, has failed"), "{}", status(&mut rig));
    assert_eq!(act(&mut rig, "replace", 1), Err(there(1)));
    act(&mut rig, "fail", 2).expect("it can be done");
    rig.pass(drivelab_units::Span::from_ms(10));
    assert!(status(&mut rig).contains("member 2 is missing"), "no spare is left: {}", status(&mut rig));
    act(&mut rig, "replace", 3).expect("it can be done");
}

#[test]
fn a_journal_that_has_failed_does_not_come_back_with_the_power() {
    let mut rig = array("level = \"raid5\", members = 3, write_hole = \"journal\"");
    act(&mut rig, "fail", 3).expect("it can be done");
    for _ in 0..2 {
        assert!(status(&mut rig).ends_with("; the journal, drive 3, has failed"), "{}", status(&mut rig));
        assert!(rig.write(0, vec![1; 4_096], false).is_err(), "writes are refused");
        cut(&mut rig);
    }
    assert_eq!(events(&rig, "the journal has failed"), [Some(3)], "it is told of once");
}

#[test]
fn a_drive_that_has_failed_is_told_of_once() {
    let mut rig = Rig::new(device(PLAIN, 1));
    act(&mut rig, "fail", 0).expect("it can be done");
    cut(&mut rig);
    assert!(status(&mut rig).ends_with("; the drive has failed"), "{}", status(&mut rig));
    assert_eq!(events(&rig, "the drive has failed"), [Some(0)]);
    act(&mut rig, "replace", 0).expect("it can be done");
    act(&mut rig, "fail", 0).expect("it can be done");
    assert_eq!(events(&rig, "the drive has failed"), [Some(0), Some(0)]);
}

/// Parity under a write at the instant of the cut, and a member missing: md does not start that.
#[test]
fn an_array_that_is_dirty_and_degraded_is_started_when_asked() {
    let parity = |keys: &str| format!("level = \"raid5\", members = 4{keys}");
    let setups = [
        (parity(""), 1, false),
        (parity(", write_hole = \"bitmap\""), 1, false),
        ("level = \"raid6\", members = 5".into(), 1, false),
        ("level = \"raid4\", members = 4".into(), 0, false),
        ("level = \"raid4\", members = 4".into(), 3, true),
        (parity(", write_hole = \"journal\""), 1, true),
        (parity(", write_hole = \"ppl\""), 1, true),
        (parity(", start_dirty_degraded = true"), 1, true),
        ("level = \"raid10\", members = 4".into(), 1, true),
    ];
    for (keys, member, starts) in setups {
        let mut rig = array(&keys);
        rig.write(0, vec![1; 4_096], false).expect("it is done");
        act(&mut rig, "fail", member).expect("it can fail");
        rig.submit(DeviceRequest::Write { offset: 0, data: vec![2; 4_096], fua: false });
        cut(&mut rig);
        assert_eq!(rig.engine.log().power_cuts[0].is_started, starts, "{keys}");
        if !starts {
            assert!(status(&mut rig).contains("the array was not started"), "{keys}");
            assert!(rig.write(0, vec![1; 4_096], false).is_err(), "{keys}");
            assert!(act(&mut rig, "replace", member).is_err_and(|why| why.contains("the action start")));
            cut(&mut rig);
            assert!(!rig.engine.log().power_cuts[1].is_started, "it is still dirty: {keys}");
            act(&mut rig, "start", 0).expect("it can be started");
        }
        assert!(!status(&mut rig).contains("not started"), "{keys}");
        assert!(act(&mut rig, "start", 0).is_err(), "{keys}: it is started");
        rig.write(0, vec![3; 4_096], false).expect("it is done");
        assert_eq!(rig.read(0, 4_096), vec![3; 4_096]);
        // Without a write for a while it is clean.
        rig.pass(drivelab_units::Span::from_ms(250));
        cut(&mut rig);
        assert!(rig.engine.log().power_cuts.last().is_some_and(|cut| cut.is_started), "{keys}");
    }
}

#[test]
fn actions_that_can_have_no_effect_on_what_is_missing_say_so() {
    let mut rig = array("level = \"raid5\", members = 3");
    act(&mut rig, "fail", 1).expect("it can be done");
    assert_eq!(
        act(&mut rig, "scrub", 0),
        Err("too many members are missing: nothing is left to compare".into())
    );
    cut(&mut rig);
    assert_eq!(act(&mut rig, "fail", 1), Err("drive 1 has failed before".into()));
    act(&mut rig, "fail", 2).expect("it can be done");
    let fails = asked("fail member=0 for_ns=500000000");
    rig.engine.act(rig.now, &fails).expect("it can be done");
    rig.pass(drivelab_units::Span::from_s(1));
    let why = "the failed drive was not replaced: the array has lost data: it has stopped, and a new drive is not rebuilt";
    assert_eq!(events(&rig, why), [Some(0)]);
    let mut rig = array("level = \"raid6\", members = 4");
    act(&mut rig, "fail", 1).expect("it can be done");
    let told = act(&mut rig, "scrub", 0).expect("it can be done");
    assert_eq!(told, "done; member 1 is not complete, and not compared");
}
