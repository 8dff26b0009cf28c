//! Restricted reordering: as far as an initiator can tell, the medium ends up, and every read returns, as if all its
//! commands had been served in order of arrival. Between initiators it promises nothing; unrestricted reordering promises
//! nothing of the kind.
//! Source: SPC-2 r20 table 156 and 8.3.6, queue algorithm modifier; Hitachi Ultrastar 15K73 OEM manual, mode page 0Ah.
use super::cases;
use super::fences::{conflict, older, over};
use super::wire::{
    Draft, INITIATORS, REORDERINGS, Run, Step, drives_under, histories, is_begun, overlap, play, scsi, sends,
};
use crate::common::{TRACK, drive, ms, queue, us};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{Protocol, Reordering, ScsiParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::trace::{CommandTrace, Served};
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

fn image<'a>(traces: impl Iterator<Item = &'a CommandTrace>) -> Image {
    let mut image = Image::default();
    for trace in traces {
        let id = trace.command.id;
        let sectors = trace.command.first.get()..trace.command.end().get();
        if trace.command.access == Access::Write {
            image.sectors.extend(sectors.map(|sector| (sector, id)));
        } else {
            let found = sectors.map(|sector| image.sectors.get(&sector).copied()).collect();
            image.found.insert(id, found);
        }
    }
    image
}

/// As the drive did it, and as it came: of one initiator's commands.
fn images(run: &Run, initiator: u16) -> (Image, Image) {
    let own = || run.traces.values().filter(|trace| trace.command.initiator == initiator);
    let mut by_rank: Vec<&CommandTrace> = own().collect();
    by_rank.sort_by_key(|trace| trace.rank);
    (image(by_rank.into_iter()), image(own()))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn restricted_reordering_leaves_and_shows_what_order_of_arrival_would(
        (params, steps) in plays(&[Reordering::Restricted]),
    ) {
        let run = play(&params, &steps, None);
        for initiator in 0..INITIATORS {
            let (done, as_it_came) = images(&run, initiator);
            prop_assert_eq!(done, as_it_came);
        }
    }

    #[test]
    fn restricted_reordering_keeps_overlapping_commands_apart(
        (params, steps) in plays(&[Reordering::Restricted]),
    ) {
        let run = play(&params, &steps, None);
        for younger in run.traces.values() {
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
        for younger in run.traces.values().filter(|younger| is_begun(younger)) {
            for older in older(&run, younger).filter(|older| conflict(&older.command, &younger.command)) {
                prop_assert!(over(older) <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    /// The drive reads on only behind a read, so between a write and a read that the buffer answers there is another.
    #[test]
    fn the_buffer_never_answers_with_what_was_before_a_write((params, steps) in plays(REORDERINGS)) {
        let run = play(&params, &steps, None);
        for read in run.traces.values().filter(|trace| trace.served == Served::Buffered) {
            let before = || run.traces.values().filter(|trace| trace.rank < read.rank);
            let writes = before().filter(|trace| trace.command.access == Access::Write);
            let written = writes.filter(|write| overlap(&write.command, &read.command));
            let Some(written) = written.map(|write| write.rank).max() else { continue };
            let fetches = before().filter(|trace| trace.command.access == Access::Read);
            let fetched = fetches.filter(|trace| trace.served != Served::Buffered).map(|trace| trace.rank).max();
            prop_assert!(fetched > Some(written), "{read:?}");
        }
    }
}

/// The arm is far out; of two writes that overlap the younger begins nearer to it, and goes first unless both are of one
/// initiator whose order the drive keeps.
#[test]
fn writes_that_overlap_go_out_of_order_without_restriction_and_between_initiators() {
    let write = |initiator, place, count| {
        let (attribute, priority, access) = (Attribute::Simple, Priority::Normal, Access::Write);
        Step::Send(Draft { initiator, attribute, priority, force_unit_access: false, access, place, count })
    };
    let (free, kept) = (Reordering::Unrestricted, Reordering::Restricted);
    for (reordering, other, differs) in [(free, 0, true), (kept, 0, false), (free, 1, true), (kept, 1, true)]
    {
        let far = [write(0, 900 * TRACK, 8), Step::Wait(ms(1))];
        let both = [write(0, 11 * TRACK - 10, 20), write(other, 11 * TRACK, 5)];
        let steps = [far, both].concat();
        let protocol = Protocol::ScsiTcq(ScsiParams { reordering, ..ScsiParams::USUAL });
        let seek = SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) };
        let params = DriveParams { queue: queue(8, Order::Sstf), seek, protocol, ..drive() };
        let run = play(&params, &steps, None);
        let [older, younger] = [1, 2].map(|id| run.traces[&id].rank);
        assert_eq!(younger < older, differs, "{reordering:?} {other}");
    }
}
