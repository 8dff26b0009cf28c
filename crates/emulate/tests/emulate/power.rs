//! Power cuts: exactly what was answered and not on the media is gone, all of it is listed, and the rest is there.
use crate::rig::{DRIVE, Dice, RAID5, RAID10, Rig, asked, device};
use drivelab_emulate::action::Action;
use drivelab_emulate::crash;
use drivelab_emulate::transport::{Answer, DeviceRequest};
use drivelab_units::{Instant, Span};
use std::collections::BTreeMap;

const BLOCK: u64 = 4_096;
const BLOCKS: u64 = 300;

fn block(version: u64) -> Vec<u8> {
    version.to_le_bytes().repeat(BLOCK as usize / 8)
}

/// Blocks lie apart, so that they are on several members and far from each other.
fn offset(place: u64) -> u64 {
    place * 37 * BLOCK
}

/// Writes at random, with the newest answered version of each block and those under way. Then the power goes, at any
/// moment. Returns how many blocks were lost.
fn cut_once(text: &str, seed: u64, before: &[Action]) -> u64 {
    let mut rig = Rig::new(device(text, seed));
    let mut dice = Dice::new(seed);
    let (mut answered, mut under_way) = (BTreeMap::<u64, u64>::new(), BTreeMap::<u64, (u64, u64)>::new());
    for act in before {
        rig.engine.act(rig.now, act).expect("it can be done");
    }
    for version in 1..=400 {
        let place = dice.below(BLOCKS);
        // Two writes of one block under way at once have no order.
        if under_way.values().any(|(other, _)| *other == place) {
            continue;
        }
        let fua = dice.below(10) == 0;
        let cookie = rig.submit(DeviceRequest::Write { offset: offset(place), data: block(version), fua });
        under_way.insert(cookie, (place, version));
        if dice.below(60) == 0 {
            rig.submit(DeviceRequest::Flush);
        }
        rig.pass(Span::from_us(dice.below(9_000)));
        for reply in std::mem::take(&mut rig.replies) {
            if let Some((place, version)) = under_way.remove(&reply.request_id.cookie) {
                assert_eq!(reply.answer, Ok(Answer::Done));
                answered.insert(place, version);
            }
        }
    }
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
    assert!(rig.engine.is_off() && rig.engine.take_replies().is_empty());
    rig.settle();
    let cut = rig.engine.log().power_cuts[0].clone();
    let listed: Vec<u64> = cut.lost.iter().flat_map(|lost| lost.lba..lost.lba + lost.sectors).collect();
    assert_eq!(listed.len() as u64, cut.lost_sectors);
    let mut lost = 0;
    for place in 0..BLOCKS {
        let found = rig.read(offset(place), BLOCK as u32);
        let expected = block(answered.get(&place).copied().unwrap_or(0));
        let newer = under_way.values().find(|(other, _)| *other == place).map(|(_, version)| block(*version));
        for sector in 0..BLOCK / 512 {
            let part = (sector * 512) as usize..(sector * 512 + 512) as usize;
            let is_there = found[part.clone()] == expected[part.clone()]
                || newer.as_ref().is_some_and(|newer| found[part.clone()] == newer[part.clone()]);
            let is_listed = listed.contains(&(offset(place) / 512 + sector));
            assert_eq!(is_there, !is_listed, "block {place}, sector {sector}, seed {seed}");
            lost += u64::from(!is_there);
        }
    }
    lost
}

#[test]
fn what_is_lost_is_listed_and_nothing_else_is_lost() {
    for text in [DRIVE, RAID10, RAID5] {
        let lost: u64 = (1..=5).map(|seed| cut_once(text, seed, &[])).sum();
        assert!(lost > 0, "write caches have lost something:\n{text}");
    }
}

#[test]
fn without_a_write_cache_nothing_is_lost() {
    for text in [DRIVE, RAID10] {
        let text = text.replace("write_cache = true", "write_cache = false");
        assert_eq!((1..=3).map(|seed| cut_once(&text, seed, &[])).sum::<u64>(), 0);
    }
}

#[test]
fn a_degraded_array_lists_its_losses_too() {
    let raid5 = RAID5.replace("members = 5", "members = 5, start_dirty_degraded = true");
    for text in [RAID10, &raid5] {
        let lost: u64 = (1..=3).map(|seed| cut_once(text, seed, &[asked("fail member=1")])).sum();
        assert!(lost > 0);
    }
}

#[test]
fn a_flush_keeps_what_was_answered_unless_the_drive_lies() {
    for (lies, expected) in [(false, 0), (true, 64)] {
        let mut rig = Rig::new(device(DRIVE, 1));
        if lies {
            rig.engine.act(rig.now, &asked("lie")).expect("it can be done");
        }
        for place in 0..8 {
            rig.write(offset(place), block(place + 1), false).expect("it is done");
        }
        rig.flush();
        rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
        let lost = rig.engine.log().power_cuts[0].lost_sectors;
        if lies { assert!(lost > 0 && lost <= expected) } else { assert_eq!(lost, 0) }
    }
}

#[test]
fn a_battery_keeps_what_its_controller_has_answered() {
    let text = "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = false\narray = { level = \"raid5\", members = 4, kept_by = \"controller\" }\n\
                [target.controller.cache]\nsize = \"64MiB\"\nbattery = true";
    for seed in 1..=3 {
        assert_eq!(cut_once(text, seed, &[]), 0);
    }
}

#[test]
fn a_degraded_read_is_made_of_the_others_and_a_new_drive_gets_its_data() {
    for text in [RAID10, RAID5] {
        let mut rig = Rig::new(device(text, 3));
        for place in 0..BLOCKS {
            rig.write(offset(place), block(place + 1), false).expect("it is done");
        }
        rig.engine.act(rig.now, &asked("fail member=2")).expect("it can be done");
        for place in 0..BLOCKS {
            assert_eq!(rig.read(offset(place), BLOCK as u32), block(place + 1), "block {place}, degraded");
            if place % 3 == 0 {
                rig.write(offset(place), block(place + 1_000), false).expect("it is done");
            }
        }
        let all = |rig: &mut Rig| {
            for place in 0..BLOCKS {
                let version = if place % 3 == 0 { place + 1_000 } else { place + 1 };
                assert_eq!(rig.read(offset(place), BLOCK as u32), block(version), "block {place}");
            }
        };
        all(&mut rig);
        rig.engine.act(rig.now, &asked("replace member=2")).expect("it can be done");
        all(&mut rig);
        assert!(rig.engine.act(rig.now, &asked("replace member=2")).is_err());
    }
}

#[test]
fn what_lasts_a_time_ends_by_itself() {
    let mut rig = Rig::new(device(RAID5, 1));
    let fail = asked("fail member=3 for_ns=1000000000");
    rig.engine.act(rig.now, &fail).expect("it can be done");
    rig.pass(Span::from_ms(500));
    assert_eq!(rig.engine.act(rig.now, &fail), Err("drive 3 has failed before".into()));
    rig.pass(Span::from_ms(600));
    let replaced = rig.engine.act(rig.now, &asked("replace member=3"));
    assert_eq!(replaced, Err("drive 3 has not failed, so that no other can take its place".into()));
    let done: Vec<&str> = rig.engine.log().actions.iter().map(|done| done.action.name()).collect();
    assert_eq!(done, ["fail", "replace"]);
    // While the power is off nothing else happens.
    let cut = asked("power-cut for_ns=1000000000");
    rig.engine.act(rig.now, &cut).expect("it can be done");
    rig.pass(Span::from_ms(999));
    assert!(rig.engine.is_off() && rig.engine.act(rig.now, &asked("reset")).is_err());
    rig.pass(Span::from_ms(1));
    assert!(!rig.engine.is_off() && rig.engine.act(rig.now, &asked("reset")).is_ok());
}

#[test]
fn a_write_with_fua_is_on_the_media_when_it_is_answered() {
    for text in [DRIVE, RAID10, RAID5] {
        for (fua, is_lost) in [(true, false), (false, true)] {
            let mut rig = Rig::new(device(text, 2));
            for place in 0..8 {
                rig.write(offset(place), block(place + 1), fua).expect("it is done");
            }
            rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
            assert_eq!(rig.engine.log().power_cuts[0].lost_sectors > 0, is_lost, "FUA {fua}\n{text}");
        }
    }
}

/// The answer of a request, when all is over.
fn done(rig: &mut Rig, request: DeviceRequest) -> Answer {
    let cookie = rig.submit(request);
    rig.settle();
    rig.answer(cookie).expect("it is done")
}

#[test]
fn zeros_with_fua_are_on_the_media_when_they_are_answered() {
    for text in [DRIVE, RAID10, RAID5] {
        for (fua, is_lost) in [(true, false), (false, true)] {
            let mut rig = Rig::new(device(text, 2));
            for place in 0..8 {
                rig.write(offset(place), block(place + 1), true).expect("it is done");
            }
            for place in 0..8 {
                let zeros = DeviceRequest::Zero { offset: offset(place), length: BLOCK as u32, fua };
                assert_eq!(done(&mut rig, zeros), Answer::Done);
            }
            rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
            rig.settle();
            let blank = vec![0; BLOCK as usize];
            let is_old = (0..8).any(|place| rig.read(offset(place), BLOCK as u32) != blank);
            let listed = rig.engine.log().power_cuts[0].lost_sectors;
            assert_eq!((is_old, listed > 0), (is_lost, is_lost), "FUA {fua}\n{text}");
        }
    }
}

#[test]
fn what_waits_in_a_cache_is_no_hole_and_one_extent_is_one() {
    let mut rig = Rig::new(device(DRIVE, 1));
    rig.write(8 * BLOCK, block(1), false).expect("it is done");
    let status = |one| DeviceRequest::Status { offset: 0, length: 32 * BLOCK as u32, one };
    let (hole, data, rest) = ((8 * BLOCK as u32, true), (BLOCK as u32, false), (23 * BLOCK as u32, true));
    assert_eq!(done(&mut rig, status(false)), Answer::Extents(vec![hole, data, rest]));
    assert_eq!(done(&mut rig, status(true)), Answer::Extents(vec![hole]));
}

#[test]
fn each_power_cut_is_told_with_its_own_end() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let cut = asked("power-cut for_ns=5000000");
    for _ in 0..2 {
        rig.pass(Span::from_ms(100));
        rig.engine.act(rig.now, &cut).expect("it can be done");
        rig.settle();
    }
    let cuts = &rig.engine.log().power_cuts;
    let times: Vec<_> = cuts.iter().map(|cut| (cut.at_ns, cut.back_at_ns)).collect();
    assert_eq!(times, [(100_000_000, Some(105_000_000)), (205_000_000, Some(210_000_000))]);
}

/// A session that ends while a member is rebuilt writes out what clients have written, and does not wait for the rebuild.
#[test]
fn an_orderly_end_does_not_wait_for_a_rebuild() {
    let mut rig = Rig::new(device(RAID5, 4));
    rig.engine.act(rig.now, &asked("fail member=2")).expect("it can be done");
    rig.engine.act(rig.now, &asked("replace member=2")).expect("it can be done");
    rig.pass(Span::from_s(2));
    for place in 0..BLOCKS {
        rig.write(offset(place), block(place + 1), false).expect("it is done");
    }
    assert_eq!(rig.engine.close(rig.now), 0, "all that was answered is on the media");
    let after = rig.engine.next_due().expect("the rebuild goes on") - rig.now;
    assert!(after < Span::from_s(30), "it has ended after {after:?}");
}

/// The first burst begins at once, and each is as long as the first; what ends them ends all that were to come.
#[test]
fn slowness_comes_in_bursts_until_it_is_ended() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let bursts = asked("slow by_ns=20000000 for_ns=50000000 every_ns=200000000");
    let ended = asked("slow by_ns=0");
    let is_slow = |rig: &mut Rig| {
        rig.pass(Span::from_ms(10));
        let (begun, cookie) = (rig.now, rig.submit(DeviceRequest::Flush));
        rig.pass(Span::from_ms(30));
        let reply = rig.replies.pop().expect("nothing waits, so that it is answered at once");
        assert_eq!(reply.request_id.cookie, cookie);
        reply.due.expect("the model has answered it") - begun >= Span::from_ms(20)
    };
    rig.engine.act(rig.now, &bursts).expect("it can be done");
    for number in 0..20 {
        assert_eq!(is_slow(&mut rig), (number * 40 + 10) % 200 < 50, "FLUSH {number}");
    }
    rig.engine.act(rig.now, &ended).expect("it can be done");
    for number in 0..10 {
        assert!(!is_slow(&mut rig), "FLUSH {number} after the last burst");
    }
    assert_eq!(rig.engine.log().actions.len(), 2, "a burst is told of once");
}

#[test]
fn a_power_cut_does_not_tell_again_which_members_failed_before() {
    let mut rig = Rig::new(device(RAID5, 1));
    let act = |rig: &mut Rig, action: &Action| rig.engine.act(rig.now, action).expect("it can be done");
    let failures = |rig: &Rig| {
        let events = rig.engine.log().events.iter();
        events
            .filter(|event| event.what == "a member has failed")
            .map(|event| event.member)
            .collect::<Vec<_>>()
    };
    act(&mut rig, &asked("fail member=1"));
    let told = act(&mut rig, &asked("power-cut"));
    assert!(!told.contains("failed members"), "{told}");
    rig.settle();
    assert_eq!(failures(&rig), [Some(1)]);
    act(&mut rig, &asked("replace member=1"));
    act(&mut rig, &asked("fail member=1"));
    act(&mut rig, &asked("fail member=2"));
    assert_eq!(failures(&rig), [Some(1), Some(1), Some(2)]);
    let told = act(&mut rig, &asked("power-cut"));
    assert!(told.contains("those of the failed members among them"), "{told}");
}

/// However late the thread wakes up: requests that arrive after an edge are on its side of it.
#[test]
fn bursts_begin_and_end_at_their_own_instants() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let bursts = asked("slow by_ns=20000000 for_ns=50000000 every_ns=200000000");
    rig.engine.act(rig.now, &bursts).expect("it can be done");
    for (at, is_slow) in [(60, false), (205, true), (455, false), (849, true)] {
        // Nothing has run since the last request was answered.
        rig.now = Instant::ZERO + Span::from_ms(at);
        rig.submit(DeviceRequest::Flush);
        rig.pass(Span::from_ms(30));
        let reply = rig.replies.pop().expect("nothing waits, so that it is answered soon");
        let took = reply.due.expect("the model has answered it") - (Instant::ZERO + Span::from_ms(at));
        assert_eq!(took >= Span::from_ms(20), is_slow, "at {at} ms");
    }
    let lasts = asked("slow by_ns=20000000 for_ns=50000000");
    rig.now = Instant::ZERO + Span::from_ms(2_000);
    rig.engine.act(rig.now, &lasts).expect("it can be done");
    rig.pass(Span::from_ms(90));
    let ended: Vec<u64> = rig.engine.log().actions.iter().map(|done| done.at_ns / 1_000_000).collect();
    assert_eq!(ended, [0, 2_000, 2_050]);
}

/// How long a FLUSH takes while nothing waits: what is slow about the firmware, and next to nothing else.
fn flush_ms(rig: &mut Rig) -> u64 {
    let (begun, cookie) = (rig.now, rig.submit(DeviceRequest::Flush));
    rig.pass(Span::from_ms(400));
    let reply = rig.replies.pop().expect("nothing waits, so that it is answered soon");
    assert_eq!(reply.request_id.cookie, cookie);
    (reply.due.expect("the model has answered it") - begun).as_ns() / 1_000_000
}

fn slow_by(ms: u64, scenario: bool) -> Action {
    Action { scenario, ..asked(&format!("slow by_ns={}", ms * 1_000_000)) }
}

#[test]
fn what_a_person_does_ends_nothing_of_the_scenario() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let act = |rig: &mut Rig, action: &Action| rig.engine.act(rig.now, action).expect("it can be done");
    act(&mut rig, &Action { scenario: true, ..asked("slow by_ns=30000000 for_ns=4000000000") });
    assert_eq!(flush_ms(&mut rig), 30);
    act(&mut rig, &asked("slow by_ns=90000000 for_ns=1000000000"));
    assert_eq!(flush_ms(&mut rig), 90);
    rig.pass(Span::from_ms(1_000));
    assert_eq!(flush_ms(&mut rig), 30, "a person's has ended by itself");
    act(&mut rig, &slow_by(60, false));
    assert_eq!(flush_ms(&mut rig), 60);
    let reply = act(&mut rig, &slow_by(0, false));
    assert_eq!(reply, "done; what the scenario has put down for member 0 goes on");
    assert_eq!(flush_ms(&mut rig), 30, "a person has ended it");
    act(&mut rig, &slow_by(60, false));
    rig.pass(Span::from_ms(4_000));
    assert_eq!(flush_ms(&mut rig), 60, "the scenario's has ended below it");
    assert_eq!(act(&mut rig, &slow_by(0, false)), "done");
    assert_eq!(flush_ms(&mut rig), 0);
}

#[test]
fn a_ramp_below_a_persons_slowness_is_where_it_would_have_been() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let ramp = Action { scenario: true, ..asked("slow by_ns=100000000 over_ns=10000000000") };
    rig.engine.act(rig.now, &ramp).expect("it can be done");
    rig.engine.act(rig.now, &slow_by(200, false)).expect("it can be done");
    rig.pass(Span::from_ms(2_000));
    rig.engine.act(rig.now, &slow_by(0, false)).expect("it can be done");
    for expected in [20, 24, 28, 32] {
        assert_eq!(flush_ms(&mut rig), expected);
    }
    rig.pass(Span::from_ms(10_000));
    assert_eq!(flush_ms(&mut rig), 100);
}

#[test]
fn a_drive_that_ails_does_so_behind_a_power_cut_too() {
    let mut rig = Rig::new(device(DRIVE, 1));
    rig.engine.act(rig.now, &slow_by(30, false)).expect("it can be done");
    let lie = asked("lie for_ns=500000000");
    rig.engine.act(rig.now, &lie).expect("it can be done");
    let cut = asked("power-cut for_ns=1000000000");
    rig.engine.act(rig.now, &cut).expect("it can be done");
    // The lie's end is due while the power is off, and comes with the power.
    rig.pass(Span::from_ms(1_100));
    assert_eq!(flush_ms(&mut rig), 30);
    rig.write(0, block(1), false).expect("it is done");
    rig.flush();
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
    assert_eq!(rig.engine.log().power_cuts[1].lost_sectors, 0, "it no longer lies");
    rig.engine.act(rig.now, &asked("lie")).expect("it can be done");
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
    rig.pass(Span::from_ms(100));
    rig.write(0, block(2), false).expect("it is done");
    rig.submit(DeviceRequest::Flush);
    rig.pass(Span::from_ms(31));
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
    assert!(rig.engine.log().power_cuts[3].lost_sectors > 0, "it lies as before");
}

#[test]
fn bursts_keep_their_time_while_the_power_is_off() {
    let mut rig = Rig::new(device(DRIVE, 1));
    let bursts = asked("slow by_ns=30000000 for_ns=1000000000 every_ns=4000000000");
    rig.engine.act(rig.now, &bursts).expect("it can be done");
    assert_eq!(flush_ms(&mut rig), 30, "0.4 s");
    let cut = asked("power-cut for_ns=1000000000");
    rig.engine.act(rig.now, &cut).expect("it can be done");
    rig.pass(Span::from_ms(600));
    rig.pass(Span::from_ms(1_000));
    assert_eq!(flush_ms(&mut rig), 0, "2.4 s: the first was over while the power was off");
    rig.pass(Span::from_ms(1_700));
    assert_eq!(flush_ms(&mut rig), 30, "4.5 s: the second has begun at 4 s");
    rig.pass(Span::from_ms(700));
    assert_eq!(flush_ms(&mut rig), 0, "5.6 s");
}

#[test]
fn a_time_without_measure_is_refused_and_ends_nothing() {
    let longest = 366 * 24 * 3_600 * 1_000_000_000;
    for name in ["lie", "fail", "hang", "power-cut"] {
        let mut rig = Rig::new(device(RAID5, 1));
        rig.pass(Span::from_s(1));
        for lasts in [u64::MAX, longest + 1] {
            let refused = rig.engine.act(rig.now, &asked(&format!("{name} for_ns={lasts}")));
            assert!(refused.is_err_and(|why| why.contains("the longest time is 366 days")), "{name}");
        }
        for time in [1, 2] {
            let act = asked(&format!("{name} for_ns={longest}"));
            assert!(rig.engine.act(rig.now, &act).is_ok() || time == 2, "{name}");
            rig.pass(Span::from_ns(longest));
        }
    }
    let mut rig = Rig::new(device(RAID5, 1));
    let far = asked("media lba=18446744073709551615 sectors=18446744073709551615");
    assert!(rig.engine.act(rig.now, &far).is_err());
    let slow = asked("slow by_ns=18446744073709551615");
    assert!(rig.engine.act(rig.now, &slow).is_err());
}

#[test]
fn a_new_drive_for_an_array_that_has_lost_data_is_refused() {
    let mut rig = Rig::new(device(RAID5, 1));
    rig.write(0, block(1), true).expect("it is done");
    for member in [1, 2] {
        rig.engine.act(rig.now, &asked(&format!("fail member={member}"))).expect("it can be done");
    }
    let refused = rig.engine.act(rig.now, &asked("replace member=1"));
    assert_eq!(
        refused,
        Err("the array has lost data: it has stopped, and a new drive is not rebuilt".into())
    );
    let done: Vec<&str> = rig.engine.log().actions.iter().map(|done| done.action.name()).collect();
    assert_eq!(done, ["fail", "fail"]);
}

#[test]
fn the_power_of_a_pool_with_write_caches_is_not_cut() {
    let pool = |cache: bool| {
        let array = "array = { level = \"raidz1\", members = 3 }";
        device(&format!("[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = {cache}\n{array}"), 1)
    };
    let mut rig = Rig::new(pool(true));
    let why = rig.engine.act(rig.now, &asked("power-cut")).expect_err("it is not modelled");
    assert!(why.starts_with("a power cut of a pool whose drives keep writes"), "{why}");
    assert!(why.ends_with("; set target.write_cache = false"), "{why}");
    assert!(!rig.engine.is_off() && rig.engine.log().actions.is_empty());
    let refused = crash::check(&pool(true).target, None, &[], None).expect_err("it is not modelled");
    assert_eq!(refused.to_string(), format!("the target: {why}"));
    let mut rig = Rig::new(pool(false));
    rig.engine.act(rig.now, &asked("power-cut")).expect("it can be done");
    crash::check(&pool(false).target, None, &[], None).expect("it can be done");
}

/// However the clients wait in between: a cut that is asked for during a write finds one under way.
#[test]
fn a_cut_during_a_write_waits_for_one() {
    let during = asked("power-cut during_write=true");
    let plain = DRIVE.replace("write_cache = true", "write_cache = false");
    let mut instants = Vec::new();
    for seed in 1..=12 {
        let mut rig = Rig::new(device(&plain, seed));
        rig.write(offset(seed), block(1), false).expect("it is done");
        let told = rig.engine.act(rig.now, &asked("power-cut")).expect("it can be cut");
        assert!(told.contains("no request was under way"), "{told}");
        rig.settle();
        rig.engine.act(rig.now, &during).expect("it can be done");
        rig.pass(Span::from_s(1));
        rig.read(offset(3), BLOCK as u32);
        assert_eq!(rig.engine.log().power_cuts.len(), 1, "no write is under way");
        let mut began = rig.now;
        for place in 0..1_000 {
            began = rig.now;
            rig.submit(DeviceRequest::Write { offset: offset(place * 7), data: block(2), fua: false });
            rig.settle();
            if rig.engine.log().power_cuts.len() > 1 {
                break;
            }
            rig.pass(Span::from_ms(30));
        }
        let cut = &rig.engine.log().power_cuts[1];
        assert_eq!((cut.unanswered_writes, cut.lost_sectors), (1, 0));
        instants.push(cut.at_ns - began.since(Instant::ZERO).as_ns());
    }
    instants.sort_unstable();
    instants.dedup();
    assert!(instants.len() > 10, "at any instant of a write: {instants:?}");
}
