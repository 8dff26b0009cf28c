//! What an array comes up with after a power cut: nothing that it does not have, and nobody who had failed.
use crate::rig::{Rig, device};
use drivelab_emulate::action::{Action, Kind};

const PLAIN: &str = "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = false\n";

fn array(keys: &str) -> Rig {
    Rig::new(device(&format!("{PLAIN}array = {{ {keys} }}"), 1))
}

fn act(rig: &mut Rig, kind: Kind, member: u16) -> Result<String, String> {
    rig.engine.act(rig.now, &Action { member, ..Action::of(kind) })
}

fn status(rig: &mut Rig) -> String {
    act(rig, Kind::Status, 0).expect("it can be told")
}

fn cut(rig: &mut Rig) -> String {
    let told = act(rig, Kind::PowerCut, 0).expect("it can be done");
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
        let told = cut(&mut rig);
        assert!(told.starts_with("0 answered sectors are lost"), "{told}");
        assert!(rig.read(0, 1 << 20) == data, "{level}: what was written is there");
        assert!(status(&mut rig).contains("the array is rebuilding, 0.0 % done"), "{}", status(&mut rig));
    }
}

/// Only a drive that was there comes up with the power: a member that has failed since is missing.
#[test]
fn a_member_that_failed_is_missing_after_a_power_cut() {
    let mut rig = array("level = \"raid6\", members = 4, missing = [1], rebuilding = true");
    act(&mut rig, Kind::Fail, 2).expect("it can be done");
    cut(&mut rig);
    let told = status(&mut rig);
    assert!(told.contains("member 1 is missing; member 2 is missing"), "{told}");
    act(&mut rig, Kind::Replace, 2).expect("it can be done");
    act(&mut rig, Kind::Replace, 1).expect("it can be done");
}
