//! The port against closed forms: late data, the share of a read that must be there, rounds of reports.
use super::{TURN, model, params};
use crate::command::{Access, Command};
use crate::storage::drive::cache::params::CacheParams;
use crate::storage::drive::mechanism::{Arm, Passage};
use crate::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, WriteData};
use crate::storage::drive::port::Port;
use crate::storage::drive::queue::QueueParams;
use crate::storage::drive::tasks::flight::InFlight;
use crate::storage::link::Carried;
use alloc::sync::Arc;
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};
use proptest::prelude::*;

fn port(params: &DriveParams) -> Port {
    Port::new(0, Arc::new(model(params)))
}

fn passage(seek: u64, rotation: u64, transfer: u64) -> Passage {
    let [seek, rotation, transfer] = [seek, rotation, transfer].map(Span::from_ns);
    let end = Instant::ZERO + seek + rotation + transfer;
    Passage { seek, rotation, transfer, end, arm: Arm::default(), track_left: Span::ZERO }
}

proptest! {
    /// Whole turns, no more and no fewer than until each sector is there before it passes the head, with its lead.
    #[test]
    fn media_wait_the_fewest_turns_for_late_data(
        begun in 0u64..40_000_000, sector_us in 1u64..2_500, first in 0u64..12,
        started in 0u64..10_000_000, rotation in 0u64..TURN, transfer in 1u64..10_000_000,
    ) {
        let rate = Rate::from_bytes_per_s(512_000_000 / sector_us);
        let link = LinkParams { rate, write_rate: None, write_data: WriteData::WhilePositioning, full_duplex: false };
        let cache = CacheParams { write_first: Sectors::new(first), ..CacheParams::reading_on(Sectors::new(100)) };
        let flow = link.time_of(Access::Write, Sectors::new(8)).as_ns();
        let (at, passage) = (Instant::from_ns, passage(1_000_000, rotation, transfer));
        let data = Carried { begun: at(begun), ended: at(begun + flow) };
        let port = port(&DriveParams { link, cache: Some(cache), ..params(1) });
        let lost = port.turns_lost(&data, Sectors::new(8), at(started), &passage).as_ns();
        prop_assert_eq!(lost % TURN, 0);
        let head = |lost: u64| started + 1_000_000 + rotation + lost;
        let lead = first.clamp(1, 8);
        let in_time = |head: u64| {
            (0..8).all(|sector| 8 * begun + flow * (sector + lead).min(8) <= 8 * head + transfer * sector)
        };
        prop_assert!(in_time(head(lost)));
        // A nanosecond for each rounded time.
        prop_assert!(lost == 0 || !in_time(head(lost - TURN) - 9));
    }

    #[test]
    fn a_read_is_sent_when_its_share_is_there(
        count in 1u64..200, tenths in 0u64..=10, begun in 0u64..1_000_000, passing in 1u64..10_000_000,
    ) {
        let share = Share::from_ratio(tenths, 10).unwrap();
        let cache = CacheParams { send_from: share, ..CacheParams::reading_on(Sectors::new(100)) };
        let port = port(&DriveParams { cache: Some(cache), ..params(1) });
        let mut flight = InFlight::new(&Command::new(0, Access::Read, Lba::ZERO, Sectors::new(count)));
        flight.begun = Instant::from_ns(begun);
        let (first, done) = (Instant::from_ns(begun + passing / count), Instant::from_ns(begun + passing));
        let from = port.sends_from(&flight, first, done);
        // 200 sectors are a segment: a longer read would be sent when that much is there.
        let sectors = count * tenths / 10;
        prop_assert!(from >= first.min(done) && from <= done);
        let there = from.since(flight.begun).as_ns() * count;
        prop_assert!(there + count >= passing * sectors.saturating_sub(1), "{} of {}", sectors, count);
        if tenths == 0 {
            prop_assert_eq!(from, first);
        }
    }

    #[test]
    fn a_round_is_reported_when_it_is_full_in_the_order_of_its_ends(round in 1u16..9, ends in 1u32..40) {
        let queue = QueueParams { coalesces: Some(round), ..params(64).queue };
        let mut port = port(&DriveParams { queue, ..params(64) });
        prop_assert!(!port.reports_each());
        for slot in 0..ends {
            let full = port.hold_back(slot);
            prop_assert_eq!(full, (slot + 1) % u32::from(round) == 0);
            if full {
                let held: alloc::vec::Vec<u32> = (slot + 1 - u32::from(round)..=slot).collect();
                let mut taken = port.take_round();
                prop_assert_eq!(&taken, &held);
                taken.clear();
                port.give_back(taken);
            }
            prop_assert_eq!(port.has_unreported(), !full);
        }
    }
}

#[test]
fn the_link_is_free_behind_the_last_data() {
    let rate = Rate::from_bytes_per_s(512_000).unwrap();
    let link = LinkParams {
        rate: Some(rate),
        write_rate: None,
        write_data: WriteData::BeforePositioning,
        full_duplex: false,
    };
    let completions = FirmwareParams {
        read_completion: Span::from_us(3),
        write_completion: Span::from_us(5),
        ..FirmwareParams::default()
    };
    let mut port = port(&DriveParams { link, firmware: completions, ..params(4) });
    let at = |ms| Instant::ZERO + Span::from_ms(ms);
    assert_eq!(port.across(at(10), Access::Read, Sectors::new(4)), at(14));
    assert_eq!(port.completes(Access::Read, at(30)), Span::from_us(3));
    assert_eq!(port.completes(Access::Write, at(20)), Span::from_us(5));
    assert_eq!(port.across(at(10), Access::Read, Sectors::new(4)), at(34));
    let write = Command::new(0, Access::Write, Lba::ZERO, Sectors::new(8));
    assert_eq!(port.lead(&write), Span::from_ms(8));
    assert_eq!(port.lead(&Command { access: Access::Read, ..write }), Span::ZERO);
    assert!(port.holds_arm(Access::Write) && !port.holds_arm(Access::Read));
    assert_eq!(port.longest(&write), Span::from_ms(8) + Span::from_us(5));
}

#[test]
fn a_write_ends_behind_its_last_steps() {
    let port = port(&params(1));
    let mut flight = InFlight::new(&Command::new(0, Access::Write, Lba::ZERO, Sectors::new(8)));
    let at = |us| Instant::ZERO + Span::from_us(us);
    flight.link.data_until = at(900);
    assert_eq!(port.ends_write(&flight, at(100)), at(100));
    flight.link.last_steps = (Span::from_us(50), Span::from_us(7));
    assert_eq!(port.ends_write(&flight, at(100)), at(957));
    assert_eq!(port.ends_write(&flight, at(2_000)), at(2_007));
}
