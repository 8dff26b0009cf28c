//! NCQ beyond its errors: priorities, FUA, the abort subcommand, and data out of order.
//! Source: Serial ATA 2.6, 13.6; Western Digital Ultrastar HC580 specification 12.20; Hitachi 7K3000 specification 10.5;
//! Intel and Seagate, "Serial ATA Native Command Queuing", 2003.
use super::cases;
use super::wire::{Draft, Event, Run, Step, drafts, drives_under, histories, is_begun, play, sends};
use crate::common::scenarios::orders;
use crate::common::{TRACK, TURN, drive, ms, queue, us};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, Overhead};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::storage::drive::queue::{ChoiceTime, Order};
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_core::{Access, Attribute, Outcome, Priority};
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SIMPLE: &[Attribute] = &[Attribute::Simple];

fn ncq(out_of_order: bool) -> Protocol {
    Protocol::Ncq(NcqParams { out_of_order, ..NcqParams::USUAL })
}

fn drives() -> BoxedStrategy<DriveParams> {
    drives_under(any::<bool>().prop_map(ncq).boxed())
}

fn read(place: u64, count: u64, priority: Priority) -> Draft {
    let (initiator, attribute, force_unit_access, access) = (0, Attribute::Simple, false, Access::Read);
    Draft { initiator, attribute, priority, force_unit_access, access, place, count }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn high_priority_is_chosen_before_normal_where_both_wait(
        params in drives(),
        steps in histories((drafts(SIMPLE), prop::bool::weighted(0.3)).prop_map(|(mut draft, high)| {
            draft.priority = if high { Priority::High } else { Priority::Normal };
            Step::Send(draft)
        }).boxed()),
    ) {
        let run = play(&params, &steps, None);
        let high = || run.traces.values().filter(|trace| trace.command.priority == Priority::High);
        for normal in run.traces.values().filter(|trace| trace.served == Served::Chosen) {
            if normal.command.priority == Priority::Normal {
                // A drive that chooses one ahead has chosen it when the arm turned to the command before.
                let before = || {
                    let by_arm = |trace: &&CommandTrace| matches!(trace.served, Served::Chosen | Served::Joined);
                    let earlier = run.traces.values().filter(by_arm).filter(|trace| trace.rank < normal.rank);
                    earlier.max_by_key(|trace| trace.rank).map(|trace| trace.chosen)
                };
                let ahead = params.queue.chooses == ChoiceTime::OneAhead;
                let chosen = if ahead { before().unwrap_or(normal.chosen) } else { normal.chosen };
                let waits = high().find(|high| high.accepted < chosen && normal.rank < high.rank);
                prop_assert!(waits.is_none(), "{normal:?} before {waits:?}");
            }
        }
    }

    #[test]
    fn priority_never_suspends_what_has_begun(
        params in drives(),
        steps in histories(sends(SIMPLE)),
        more in (drafts(SIMPLE), any::<bool>()),
    ) {
        let plain = play(&params, &steps, None);
        let (mut draft, high) = more;
        draft.priority = if high { Priority::High } else { Priority::Isochronous(Span::ZERO) };
        let pressed = play(&params, &[steps, vec![Step::Send(draft)]].concat(), None);
        let pressing = plain.log.iter().filter(|(_, event)| matches!(event, Event::Sent(_))).count();
        let Some(trace) = pressed.traces.get(&(pressing as u64)) else { return Ok(()) };
        for (id, before) in plain.traces.iter().filter(|(_, before)| before.chosen < trace.accepted) {
            let after = &pressed.traces[id];
            prop_assert_eq!((before.chosen, before.ended), (after.chosen, after.ended));
        }
    }

    #[test]
    fn deadlines_that_worst_case_service_can_meet_are_met(rounds in rounds(), params in bare()) {
        let link = |count| params.link.time_for(Sectors::new(count));
        // The arm across the drive, a turn; and the transfer, with a turn for every switch of track.
        let access = |count: u64| ms(1 + 6) + us(10 * count) + ms(6 * (count / TRACK + 1));
        let firmware = params.firmware.read_miss.after_read;
        let mut steps = Vec::new();
        for Round { before, wait, pressed, after, spare } in rounds {
            let others = before.iter().chain(&after).map(|&(_, count)| count);
            let own = pressed.iter().map(|&(_, count)| count);
            let (longest, all) = (others.clone().max().unwrap_or(0), others.sum::<u64>() + own.clone().sum::<u64>());
            let many = before.len() + pressed.len() + after.len() + 1;
            let overheads = Span::from_ns(firmware.as_ns() * many as u64);
            // What is in service when they come, all of them, and what the link and the firmware may be at.
            let accesses = own.fold(access(longest), |sum, count| sum + access(count));
            let within = accesses + overheads + link(all) + spare;
            steps.extend(before.iter().map(|&(place, count)| Step::Send(read(place, count, Priority::Normal))));
            steps.push(Step::Wait(wait));
            let press = |&(place, count): &(u64, u64)| Step::Send(read(place, count, Priority::Isochronous(within)));
            steps.extend(pressed.iter().map(press));
            steps.extend(after.iter().map(|&(place, count)| Step::Send(read(place, count, Priority::Normal))));
            steps.push(Step::Wait(ms(2_000)));
        }
        let run = play(&params, &steps, None);
        for trace in run.traces.values() {
            if let Priority::Isochronous(within) = trace.command.priority {
                prop_assert!(trace.completed <= trace.accepted + within, "{within:?} {trace:?}");
            }
        }
    }

    #[test]
    fn fua_reads_come_from_the_media(params in drives(), steps in histories(sends(SIMPLE))) {
        let run = play(&params, &steps, None);
        for trace in run.traces.values() {
            let buffered = matches!(trace.served, Served::Buffered | Served::Met);
            prop_assert!(!(buffered && trace.command.force_unit_access), "{trace:?}");
        }
    }

    #[test]
    fn an_abort_succeeds_and_changes_nothing_when_there_is_nothing_to_abort(
        params in drives(),
        steps in histories(sends(SIMPLE)),
        at in any::<[usize; 3]>(),
    ) {
        let plain = play(&params, &steps, None);
        let mut more = steps;
        for at in at {
            // No initiator has so many outstanding.
            more.insert(at % (more.len() + 1), Step::AbortTag((at % 5) as u16, 1_000 + at as u32 % 7));
        }
        prop_assert_eq!(play(&params, &more, None).digest, plain.digest);
    }

    #[test]
    fn an_abort_ends_what_waits_at_once_and_leaves_the_rest_alone(
        params in drives(),
        steps in histories(
            prop_oneof![4 => sends(SIMPLE), 1 => any::<usize>().prop_map(Step::Abort)].boxed()),
    ) {
        let run = play(&params, &steps, None);
        let aborted = aborted(&run);
        for (id, trace) in &run.traces {
            let expected = if aborted.contains_key(id) { Outcome::Aborted } else { Outcome::Done };
            prop_assert_eq!(trace.outcome, expected);
            if let Some(&at) = aborted.get(id) {
                prop_assert!(trace.completed == at || is_begun(trace) && trace.chosen <= at, "{at:?} {trace:?}");
            }
        }
    }

    #[test]
    fn data_out_of_order_are_never_later_than_in_order(
        mut params in drives_under(Just(ncq(true)).boxed()),
        mut steps in histories(sends(SIMPLE)),
    ) {
        // In order of arrival the media do the same, whatever the link does; but a write's data wait for those of reads.
        steps.retain(|step| !matches!(step, Step::Send(draft) if draft.access == Access::Write));
        // What is reported with others ends when they do, and who they are may differ.
        params.queue.coalesces = None;
        params.queue.order = Order::Fcfs;
        params.queue.chooses = ChoiceTime::AtMediaEnd;
        (params.queue.write_handicap, params.queue.depth, params.cache) = (Span::ZERO, 32, None);
        let free = play(&params, &steps, None);
        let bound = play(&DriveParams { protocol: ncq(false), ..params }, &steps, None);
        let same = free.traces.keys().eq(bound.traces.keys());
        for (free, bound) in free.traces.values().zip(bound.traces.values()).filter(|_| same) {
            prop_assert_eq!((free.begun, free.ended), (bound.begun, bound.ended));
            prop_assert!(free.completed <= bound.completed, "{free:?} {bound:?}");
        }
    }
}

/// What was given up while the drive had it, by number, and when.
fn aborted(run: &Run) -> BTreeMap<u64, Instant> {
    let (mut held, mut aborted) = (BTreeMap::new(), BTreeMap::new());
    for &(at, event) in &run.log {
        match event {
            Event::Sent(command) if run.traces.contains_key(&command.id) => {
                held.insert((command.initiator, command.tag), command.id);
            }
            Event::Answered(answer) => held.retain(|_, &mut id| id != answer.id),
            Event::Aborted(initiator, tag) => {
                if let Some(&id) = held.get(&(initiator, tag)) {
                    aborted.entry(id).or_insert(at);
                }
            }
            _ => {}
        }
    }
    aborted
}

/// Commands with a deadline among others, and time for all of them.
#[derive(Clone, Debug)]
struct Round {
    before: Vec<(u64, u64)>,
    wait: Span,
    pressed: Vec<(u64, u64)>,
    after: Vec<(u64, u64)>,
    spare: Span,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let places = || (0u64..1_000 * TRACK, prop_oneof![1u64..64, 1u64..3_000]);
    let few = || prop::collection::vec(places(), 0..6);
    let pressed = prop::collection::vec(places(), 1..5);
    let round = (few(), 0u64..30_000, pressed, few(), prop_oneof![Just(0), 0u64..60_000]);
    let round = round.prop_map(|(before, wait, pressed, after, spare)| Round {
        before,
        wait: us(wait),
        pressed,
        after,
        spare: us(spare),
    });
    prop::collection::vec(round, 1..8)
}

/// The drive in round numbers with a link and a firmware.
fn bare() -> impl Strategy<Value = DriveParams> {
    let rate = prop::option::of(20_000_000u64..300_000_000);
    (orders(), rate, 0u64..300).prop_map(|(order, rate, overhead)| {
        let firmware = FirmwareParams { read_miss: Overhead::always(us(overhead)), ..Default::default() };
        let link = LinkParams { rate: rate.and_then(Rate::from_bytes_per_s), ..drive().link };
        DriveParams { queue: queue(32, order), protocol: ncq(true), firmware, link, ..drive() }
    })
}

/// The largest time that can be written: the deadline is then at the end of time, and nothing is abandoned for it.
#[test]
fn a_deadline_behind_the_end_of_time_is_met() {
    let protocol = Protocol::Ncq(NcqParams { rdnc: true, wdnc: true, ..NcqParams::USUAL });
    let params = DriveParams { protocol, queue: queue(4, Order::Sptf), ..drive() };
    let late = Priority::Isochronous(Span::from_ns(u64::MAX));
    let drafts = [read(0, 8, Priority::Normal), read(TRACK, 8, late), read(900 * TRACK, 8, Priority::Normal)];
    let steps = drafts.map(Step::Send);
    let mut probe = crate::common::Probe::of(&params);
    let answers: Vec<Outcome> = {
        for (id, step) in steps.iter().enumerate() {
            let Step::Send(draft) = step else { unreachable!("all are sent") };
            let command = draft.command(id as u64, id as u32, probe.capacity());
            let now = probe.now + ms(1);
            probe.now = now;
            probe.target().handle(now, drivelab_core::storage::TargetInput::Submit(command));
        }
        (0..3).filter_map(|_| probe.answer()).map(|answer| answer.outcome).collect()
    };
    assert_eq!(answers, [Outcome::Done; 3]);
}

/// A read and a write that come too late: each takes the others with it if the drive is told so for its kind.
#[test]
fn rdnc_is_about_reads_and_wdnc_about_writes() {
    for (access, rdnc, wdnc, aborts) in [
        (Access::Read, true, false, true),
        (Access::Read, false, true, false),
        (Access::Write, true, false, false),
        (Access::Write, false, true, true),
    ] {
        let protocol = Protocol::Ncq(NcqParams { rdnc, wdnc, ..NcqParams::USUAL });
        let params = DriveParams { protocol, queue: queue(4, Order::Fcfs), ..drive() };
        let late = Draft { access, ..read(500 * TRACK, 8, Priority::Isochronous(us(100))) };
        let steps =
            [read(0, 8, Priority::Normal), late, read(900 * TRACK, 8, Priority::Normal)].map(Step::Send);
        let run = play(&params, &steps, None);
        let outcomes = [0, 1, 2].map(|id| run.outcome(id).expect("it is answered"));
        let (late, other) =
            if aborts { (Outcome::TimedOut, Outcome::Aborted) } else { (Outcome::Done, Outcome::Done) };
        assert_eq!(outcomes, [other, late, other], "{access:?} {rdnc} {wdnc}");
    }
}

#[test]
fn a_fua_read_goes_to_the_media_for_what_the_buffer_holds() {
    let size = Sectors::new(1_000);
    let read_ahead = Some(CacheParams::reading_on(size).when(true, false));
    let params =
        DriveParams { protocol: ncq(true), queue: queue(4, Order::Sptf), cache: read_ahead, ..drive() };
    for force_unit_access in [false, true] {
        let again = Draft { force_unit_access, ..read(0, 8, Priority::Normal) };
        let steps = [Step::Send(read(0, 8, Priority::Normal)), Step::Wait(ms(20)), Step::Send(again)];
        let served = play(&params, &steps, None).traces[&1].served;
        assert_eq!(served, if force_unit_access { Served::Chosen } else { Served::Buffered });
    }
}

/// A whole track over a link that takes as long as the media: who may send what passes first need not wait for the
/// first sector, and is done when the track is.
#[test]
fn data_out_of_order_save_the_way_to_the_first_sector() {
    let settle = SettleParams { read_on_arrival: true, ..SettleParams::default() };
    let rate = Rate::from_bytes_per_s(Bytes::new(512 * TRACK).get() * 1_000_000_000 / TURN);
    let link = LinkParams { rate, ..drive().link };
    let completed = |out_of_order| {
        let params = DriveParams { protocol: ncq(out_of_order), settle, link, ..drive() };
        let run = play(&params, &[Step::Send(read(500 * TRACK, TRACK, Priority::Normal))], None);
        (run.traces[&0].begun, run.traces[&0].completed)
    };
    let ((begun, free), (same, bound)) = (completed(true), completed(false));
    assert_eq!(begun, same);
    // The last sector leaves when it has passed.
    assert_eq!(free - begun, Span::from_ns(TURN) + us(10));
    assert!(bound > free && bound - free < Span::from_ns(TURN), "{bound:?} {free:?}");
}
