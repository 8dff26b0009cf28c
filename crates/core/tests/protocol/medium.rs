//! Restricted reordering: the medium ends up, and every read returns, as if all commands had been served in order of
//! arrival. Unrestricted reordering promises nothing of the kind.
//! Source: SPC-2 r20 table 156, queue algorithm modifier; Hitachi Ultrastar 15K73 specification.
use super::cases;
use super::common::{TRACK, drive, ms, queue, us};
use super::fences::{conflict, older, over};
use super::wire::{
    Draft, REORDERINGS, Run, Step, drives_under, histories, is_begun, overlap, play, scsi, sends,
};
use drivelab_core::life::{Life, Served};
use drivelab_core::target::drive::params::DriveParams;
use drivelab_core::target::drive::protocol::{Protocol, Reordering, ScsiParams};
use drivelab_core::target::drive::queue::Order;
use drivelab_core::target::drive::seek::SeekParams;
use drivelab_core::{Access, Attribute, Priority};
use proptest::prelude::*;
use std::collections::BTreeMap;

const FENCED: &[Attribute] = &[Attribute::Simple, Attribute::Simple, Attribute::Ordered, Attribute::Untagged];

fn plays(reorderings: &'static [Reordering]) -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    (drives_under(scsi(reorderings)), histories(sends(FENCED))).boxed()
}

/// Which write each sector holds, and which writes each read found, when commands touch the medium in this order.
#[derive(PartialEq, Debug, Default)]
struct Image {
    sectors: BTreeMap<u64, u64>,
    found: BTreeMap<u64, Vec<Option<u64>>>,
}

fn image<'a>(lives: impl Iterator<Item = &'a Life>) -> Image {
    let mut image = Image::default();
    for life in lives {
        let id = life.command.id;
        let sectors = life.command.first.get()..life.command.end().get();
        if life.command.access == Access::Write {
            image.sectors.extend(sectors.map(|sector| (sector, id)));
        } else {
            let found = sectors.map(|sector| image.sectors.get(&sector).copied()).collect();
            image.found.insert(id, found);
        }
    }
    image
}

/// As the drive did it, and as it came.
fn images(run: &Run) -> (Image, Image) {
    let mut by_rank: Vec<&Life> = run.lives.values().collect();
    by_rank.sort_by_key(|life| life.rank);
    (image(by_rank.into_iter()), image(run.lives.values()))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn restricted_reordering_leaves_and_shows_what_order_of_arrival_would(
        (params, steps) in plays(&[Reordering::Restricted]),
    ) {
        let run = play(&params, &steps, None);
        let (done, as_it_came) = images(&run);
        prop_assert_eq!(done, as_it_came);
    }

    #[test]
    fn restricted_reordering_keeps_overlapping_commands_apart(
        (params, steps) in plays(&[Reordering::Restricted]),
    ) {
        let run = play(&params, &steps, None);
        for younger in run.lives.values() {
            for older in older(&run, younger).filter(|older| conflict(&older.command, &younger.command)) {
                prop_assert!(over(older) <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    #[test]
    fn commands_given_up_leave_the_others_in_their_order(
        params in drives_under(scsi(&[Reordering::Restricted])),
        steps in histories(prop_oneof![3 => sends(FENCED), 1 => any::<usize>().prop_map(Step::Abort)].boxed()),
    ) {
        let run = play(&params, &steps, None);
        for younger in run.lives.values().filter(|younger| is_begun(younger)) {
            for older in older(&run, younger).filter(|older| conflict(&older.command, &younger.command)) {
                prop_assert!(over(older) <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    /// The drive reads on only behind a read, so between a write and a read that the buffer answers there is another.
    #[test]
    fn the_buffer_never_answers_with_what_was_before_a_write((params, steps) in plays(REORDERINGS)) {
        let run = play(&params, &steps, None);
        for read in run.lives.values().filter(|life| life.served == Served::Buffered) {
            let before = || run.lives.values().filter(|life| life.rank < read.rank);
            let writes = before().filter(|life| life.command.access == Access::Write);
            let written = writes.filter(|write| overlap(&write.command, &read.command));
            let Some(written) = written.map(|write| write.rank).max() else { continue };
            let fetches = before().filter(|life| life.command.access == Access::Read);
            let fetched = fetches.filter(|life| life.served != Served::Buffered).map(|life| life.rank).max();
            prop_assert!(fetched > Some(written), "{read:?}");
        }
    }
}

/// The arm is far out; of two writes that overlap the younger begins nearer to it.
#[test]
fn unrestricted_reordering_has_histories_that_end_otherwise() {
    let write = |place, count| {
        let (attribute, priority, access) = (Attribute::Simple, Priority::Normal, Access::Write);
        Step::Send(Draft {
            initiator: 0,
            attribute,
            priority,
            force_unit_access: false,
            access,
            place,
            count,
        })
    };
    let steps = [write(900 * TRACK, 8), Step::Wait(ms(1)), write(11 * TRACK - 10, 20), write(11 * TRACK, 5)];
    for (reordering, differs) in [(Reordering::Unrestricted, true), (Reordering::Restricted, false)] {
        let protocol = Protocol::ScsiTcq(ScsiParams { reordering, ..ScsiParams::USUAL });
        let seek = SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) };
        let params = DriveParams { queue: queue(8, Order::Sstf), seek, protocol, ..drive() };
        let (done, as_it_came) = images(&play(&params, &steps, None));
        assert_eq!(done != as_it_came, differs, "{reordering:?}");
    }
}
