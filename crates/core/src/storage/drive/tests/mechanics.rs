//! The mechanics against plain scans: what may join a sweep, what lies on the head's way, when the drive looks again.
use super::{model, params};
use crate::command::{Access, Command};
use crate::storage::drive::mechanics::Mechanics;
use crate::storage::drive::params::DriveParams;
use crate::storage::drive::queue::{JoinsUntil, QueueParams};
use crate::storage::drive::tasks::flight::InFlight;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

fn mechanics(params: &DriveParams) -> Mechanics {
    Mechanics::new(Arc::new(model(params)), 0, 0, 1)
}

fn file(mechanics: &mut Mechanics, slot: u32, access: Access, first: u64) {
    let mut flight = InFlight::new(&Command::new(slot.into(), access, Lba::new(first), Sectors::new(8)));
    flight.media.sought = flight.command.first;
    let landing = mechanics.landing(flight.media.sought, flight.command.count, access);
    mechanics.file(slot, &flight, landing, Span::ZERO, None);
}

proptest! {
    #[test]
    fn the_oldest_command_that_goes_on_joins(
        waiting in prop::collection::vec((0u64..40, any::<bool>()), 0..32), end in 0u64..40, write in any::<bool>(),
    ) {
        let mut mechanics = mechanics(&params(32));
        let access = |write| if write { Access::Write } else { Access::Read };
        // Few places, some of them beyond the first track.
        let at = |place: u64| 90 * place;
        for (slot, &(place, write)) in (0..).zip(&waiting) {
            file(&mut mechanics, slot, access(write), at(place));
        }
        let naive = waiting.iter().position(|&(place, kind)| place == end && kind == write);
        let found = mechanics.queued_behind(Lba::new(at(end)), access(write));
        prop_assert_eq!(found, naive.map(|slot| slot as u32));
    }

    /// Whenever it is to look, it is woken then or earlier; asking again for the same instant adds nothing.
    #[test]
    fn the_drive_is_woken_for_its_next_look(steps in prop::collection::vec((0u64..5, 0u64..9), 1..60)) {
        let mut mechanics = mechanics(&params(1));
        let (mut now, mut agenda) = (0, Vec::<u64>::new());
        for (later, ahead) in steps {
            let until = now + later;
            for due in agenda.iter().copied().filter(|&due| due <= until) {
                mechanics.choice_made(Instant::from_ns(due));
            }
            agenda.retain(|&due| due > until);
            now = until;
            let at = now + ahead;
            let added = mechanics.choose_at(Instant::from_ns(now), Instant::from_ns(at));
            if added {
                agenda.push(at);
            }
            prop_assert!(agenda.iter().any(|&due| due <= at), "{} at {}: {:?}", at, now, agenda);
            prop_assert!(!mechanics.choose_at(Instant::from_ns(now), Instant::from_ns(at)));
        }
    }
}

#[test]
fn a_sweep_takes_what_goes_on_in_time_and_one_alone() {
    let queue = QueueParams {
        joins_reads: JoinsUntil::BeforeStart,
        joins_writes: JoinsUntil::UntilEnd,
        ..params(8).queue
    };
    let mut mechanics = mechanics(&DriveParams { queue, ..params(8) });
    let (at, end) = (Instant::from_ns, Lba::new(80));
    assert_eq!(mechanics.joins_until(Access::Read, at(5), at(9)), Some(at(5)));
    assert_eq!(mechanics.joins_until(Access::Write, at(5), at(9)), Some(at(9)));
    assert!(!mechanics.serves() && !mechanics.fits_sweep(at(1), end, Access::Read));
    mechanics.begin_sweep(end, Access::Read, Some(at(5)), None);
    assert!(mechanics.serves() && !mechanics.destages());
    assert!(mechanics.fits_sweep(at(5), end, Access::Read));
    assert!(!mechanics.fits_sweep(at(6), end, Access::Read), "too late");
    assert!(!mechanics.fits_sweep(at(5), end, Access::Write), "another access");
    assert!(!mechanics.fits_sweep(at(5), Lba::new(81), Access::Read), "a gap");
    mechanics.join(3);
    assert!(mechanics.has_joined(3) && !mechanics.has_joined(4));
    assert!(!mechanics.fits_sweep(at(5), end, Access::Read), "one follows already");
    assert_eq!((mechanics.unjoin(), mechanics.unjoin()), (Some(3), None));
}

#[test]
fn so_many_go_out_of_turn_and_then_the_drive_chooses() {
    let mut mechanics = mechanics(&params(8));
    file(&mut mechanics, 0, Access::Read, 0);
    let now = Instant::ZERO;
    for _ in 0..32 {
        assert!(mechanics.may_go_out_of_turn(now, Access::Read, || false));
        mechanics.go_out_of_turn();
    }
    assert!(!mechanics.may_go_out_of_turn(now, Access::Read, || false));
    mechanics.slots.remove(0);
    assert!(mechanics.may_go_out_of_turn(now, Access::Read, || false), "nobody waits");
    assert!(!mechanics.may_go_out_of_turn(now, Access::Read, || true), "the cache does");
    mechanics.chosen();
    assert!(mechanics.may_go_out_of_turn(now, Access::Read, || true));
}
