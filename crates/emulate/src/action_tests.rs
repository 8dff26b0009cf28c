//! Actions that cannot be, and what ends or replaces an action.
use super::*;

/// Invalid actions, and what is said of each.
fn invalid_actions() -> [(Action, &'static str); 18] {
    let range = |kind, sectors| Action { lba: Some(0), sectors: Some(sectors), ..Action::of(kind) };
    let slow = Action { by_ns: Some(1), ..Action::of(Kind::Slow) };
    let lasts = |kind| Action { for_ns: Some(1), ..Action::of(kind) };
    let of_all =
        "--member: power-cut, scrub, rebuild, start and status are of the whole device: leave it out";
    [
        (Action { member: 3, ..Action::of(Kind::PowerCut) }, of_all),
        (Action { member: 1, ..Action::of(Kind::Scrub) }, of_all),
        (Action::of(Kind::Media), "media and corrupt take --lba and --sectors: the sectors of the member"),
        (range(Kind::Media, 0), "media and corrupt take --lba and --sectors: the sectors of the member"),
        (range(Kind::Fail, 1), "--lba and --sectors are for media and corrupt alone: leave them out"),
        (
            range(Kind::Corrupt, CORRUPT_MAX + 1),
            "--sectors: corrupt takes at most 65536 at a time, whose bytes are drawn anew",
        ),
        (
            lasts(Kind::Reset),
            "--for is for lie, fail, power-cut, slow and hang alone: nothing else ends by itself",
        ),
        (
            Action::of(Kind::Slow),
            "slow takes --by, how much later each command is taken up (--by 0s ends it), or --factor, how many \
             times as long everything takes (--factor 1 ends it)",
        ),
        (
            Action { factor: Some(10), ..slow },
            "--factor: it is of the whole time; leave --by, --over and --share out",
        ),
        (
            Action { factor: Some(FACTOR_MAX + 1), ..Action::of(Kind::Slow) },
            "--factor: how many times as long, up to 1000; 1 ends it",
        ),
        (
            Action { factor: Some(2), ..Action::of(Kind::Hang) },
            "--by, --factor, --over and --share are for slow alone: leave them out",
        ),
        (
            Action { over_ns: Some(1), share_ppm: Some(1), ..slow },
            "--over and --share: slow takes one of the two; leave the other out",
        ),
        (Action { share_ppm: Some(0), ..slow }, "--share is of commands: more than 0 and at most 100%"),
        (
            Action { share_ppm: Some(MILLION + 1), ..slow },
            "--share is of commands: more than 0 and at most 100%",
        ),
        (
            Action { by_ns: Some(1), ..Action::of(Kind::Hang) },
            "--by, --factor, --over and --share are for slow alone: leave them out",
        ),
        (
            Action { every_ns: Some(5), ..slow },
            "--every: bursts of slow last --for a time that is shorter than --every",
        ),
        (
            Action { for_ns: Some(5), every_ns: Some(5), ..slow },
            "--every: bursts of slow last --for a time that is shorter than --every",
        ),
        (
            Action { every_ns: Some(5), ..lasts(Kind::Hang) },
            "--every is for slow alone, which comes in bursts: leave it out",
        ),
    ]
}

#[test]
fn an_invalid_action_is_reported_with_a_remedy() {
    let range = |kind, sectors| Action { lba: Some(0), sectors: Some(sectors), ..Action::of(kind) };
    let slow = Action { by_ns: Some(1), ..Action::of(Kind::Slow) };
    let lasts = |kind| Action { for_ns: Some(1), ..Action::of(kind) };
    for (action, why) in invalid_actions() {
        assert_eq!(action.check(), Err(why.to_owned()), "{action:?}");
    }
    let long = |kind| Action { for_ns: Some(LASTS_MAX.as_ns() + 1), ..Action::of(kind) };
    for kind in [Kind::Lie, Kind::Fail, Kind::PowerCut, Kind::Hang] {
        let why = "--for: the longest time is 366 days, 31622400s: give a shorter one";
        assert_eq!(long(kind).check(), Err(why.to_owned()), "{kind:?}");
    }
    for (option, action) in [
        ("--over", Action { over_ns: Some(u64::MAX), ..slow }),
        ("--every", Action { for_ns: Some(1), every_ns: Some(u64::MAX), ..slow }),
    ] {
        assert!(action.check().is_err_and(|why| why.starts_with(option)), "{action:?}");
    }
    for action in [range(Kind::Corrupt, CORRUPT_MAX), lasts(Kind::Hang), slow, Action::of(Kind::Hang)] {
        assert_eq!(action.check(), Ok(()), "{action:?}");
    }
}

#[test]
fn what_ends_after_its_time_is_undone() {
    let ends = |kind| Action { for_ns: Some(9), by_ns: Some(5), member: 3, ..Action::of(kind) }.undone();
    assert_eq!(ends(Kind::Slow), Some(Action { member: 3, by_ns: Some(0), ..Action::of(Kind::Slow) }));
    assert_eq!(ends(Kind::Lie), Some(Action { member: 3, ..Action::of(Kind::Honest) }));
    assert_eq!(ends(Kind::Fail), Some(Action { member: 3, ..Action::of(Kind::Replace) }));
    assert_eq!(ends(Kind::Hang), None);
}

#[test]
fn a_newer_wish_overtakes_the_end_of_an_older_one() {
    let of = |kind, member| Action { member, ..Action::of(kind) };
    assert!(of(Kind::Slow, 1).overtakes(&of(Kind::Slow, 1)));
    assert!(of(Kind::Lie, 1).overtakes(&of(Kind::Honest, 1)));
    assert!(of(Kind::Replace, 1).overtakes(&of(Kind::Replace, 1)));
    assert!(!of(Kind::Slow, 1).overtakes(&of(Kind::Slow, 2)));
    assert!(!of(Kind::Slow, 1).overtakes(&of(Kind::Replace, 1)));
    assert!(!of(Kind::Slow, 1).overtakes(&Action { scenario: true, ..of(Kind::Slow, 1) }));
    assert!(!of(Kind::PowerCut, 0).overtakes(&of(Kind::PowerCut, 0)));
}
