//! RAID 0, 1, 01 and 10: what is read where, and what a failure changes.
use crate::common::{ms, response};
use crate::rig::probe;
use drivelab_core::Outcome;
use drivelab_core::target::array::params::{ArrayParams, Failure, Level, When};
use drivelab_units::Instant;

fn failing(level: Level, members: u16, drives: &[u16]) -> ArrayParams {
    let failures = drives
        .iter()
        .map(|&drive| Failure { drive, when: When::At(Instant::from_ns(1_000_000_000)) })
        .collect();
    ArrayParams { failures, ..ArrayParams::plain(level, members) }
}

#[test]
fn a_large_read_takes_all_members_of_a_striped_set_at_once() {
    let alone = response(&probe(ArrayParams::plain(Level::Striped, 1)).read(0, 4 * 600));
    let four = response(&probe(ArrayParams { ..ArrayParams::plain(Level::Striped, 4) }).read(0, 4 * 600));
    assert!(four < alone * 6 / 10, "{four} against {alone}");
}

#[test]
fn a_mirror_bears_the_loss_of_one_member_and_a_striped_set_none() {
    let mut mirror = probe(failing(Level::Mirrored, 2, &[0]));
    mirror.wait(ms(2_000));
    assert_eq!(mirror.read(5, 8).outcome, Outcome::Done);
    assert_eq!(mirror.write(5, 8).outcome, Outcome::Done);
    let mut striped = probe(failing(Level::Striped, 2, &[0]));
    striped.wait(ms(2_000));
    assert_eq!(striped.read(5, 8).outcome, Outcome::Lost);
    assert_eq!(striped.read(130, 8).outcome, Outcome::Done);
}

#[test]
fn a_failure_spares_the_commands_that_are_with_the_member() {
    let mut mirror = probe(failing(Level::Mirrored, 2, &[0]));
    mirror.wait(ms(999));
    let answer = mirror.read(300_000, 8);
    assert_eq!(answer.outcome, Outcome::Done);
    assert!(answer.completed > Instant::from_ns(1_000_000_000));
}
