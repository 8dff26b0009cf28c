//! Limits of actions, and what replaces an action.
use super::*;
use drivelab_units::{InFile, Lba, Sectors};

/// What is wrong with an action, as a client of the socket reads it.
fn told(action: &Action) -> Result<(), String> {
    action.check().map_err(|why| InFile(&why).to_string())
}

#[test]
fn a_value_beyond_its_limit_is_reported_with_a_remedy() {
    let long = Span::from_ns(LASTS_MAX.as_ns() + 1);
    let drive = 0;
    let lasts = |fault| Action::from(Kind::Fault(fault, Lasting::For(long)));
    let why = "for_ns: the longest time is 366 days, 31622400s: give a shorter one";
    let lie = Fault::LyingFlush { drive, lies: true };
    for action in [lasts(lie), lasts(Fault::Fail { drive }), lasts(Fault::CutPower)] {
        assert_eq!(told(&action), Err(why.to_owned()), "{action:?}");
    }
    let hang = |lasts| Action::from(Fault::Hang { drive, lasts });
    assert_eq!(told(&hang(Some(long))), Err(why.to_owned()));
    assert_eq!(told(&Action::from(Kind::CutInWrite(Lasting::For(long)))), Err(why.to_owned()));
    let slow = |how| Fault::Slow { drive, how: Some(how) };
    let ramp = slow(Slowness::Ramp { by: Span::from_ns(1), over: long });
    let constant = slow(Slowness::Constant(Span::from_ns(1)));
    let bursts = Kind::Fault(constant, Lasting::Bursts { lasts: Span::from_ns(1), every: long });
    for (option, action) in [("over_ns", ramp.into()), ("every_ns", Action::from(bursts))] {
        assert!(told(&action).is_err_and(|why| why.starts_with(option)), "{action:?}");
    }
    let corrupt =
        |count| Action::from(Fault::Corrupt { drive, first: Lba::ZERO, count: Sectors::new(count) });
    let why = "sectors: corrupt takes at most 65536 at a time, whose bytes are drawn anew";
    assert_eq!(told(&corrupt(CORRUPT_MAX + 1)), Err(why.to_owned()));
    for action in [corrupt(CORRUPT_MAX), hang(None), hang(Some(LASTS_MAX)), constant.into()] {
        assert_eq!(action.check(), Ok(()), "{action:?}");
    }
}

#[test]
fn a_newer_wish_overtakes_the_end_of_an_older_one() {
    let slow = |drive| Action::from(Fault::Slow { drive, how: None });
    let replace = Action::from(Fault::Replace { drive: 1 });
    let lie = |lies| Action::from(Fault::LyingFlush { drive: 1, lies });
    assert!(slow(1).overtakes(&slow(1)));
    assert!(lie(true).overtakes(&lie(false)));
    assert!(replace.overtakes(&replace));
    assert!(!slow(1).overtakes(&slow(2)));
    assert!(!slow(1).overtakes(&replace));
    assert!(!slow(1).overtakes(&Action { scenario: true, ..slow(1) }));
    let cut = Action::from(Fault::CutPower);
    assert!(!cut.overtakes(&cut));
}
