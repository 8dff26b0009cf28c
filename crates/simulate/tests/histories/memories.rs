//! What memories owe to those above them where that shows seldom: reads that went down as parts of others', and data that
//! were taken and that nobody below takes.
use crate::common::{command, ms, us};
use crate::planted::memory;
use crate::setups;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Level, Rotation};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{ReadAhead, WriteBehindParams};
use drivelab_core::{Access, Command, Outcome};
use drivelab_data::stamp::BLANK;
use drivelab_simulate::checker::{CheckedTarget, PolicyRecovery, Violation, Wrong};
use drivelab_units::Sectors;

/// A direct read is merged with the first line of a read that goes on to a second one, and is answered before that comes:
/// its host may do with its buffer what it likes.
#[test]
fn a_line_that_came_with_another_read_outlives_it() {
    let read_ahead =
        ReadAhead { unit: Sectors::new(8), window: Sectors::new(8), outstanding: 2, after: 2, streams: 1 };
    let elevator = ElevatorParams {
        order: ElevatorOrder::Noop,
        depth: 1,
        merge_limit: Some(Sectors::new(16)),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    };
    let params = SystemParams {
        elevator: Some(elevator),
        host_cache: Some(WriteBehindParams { read_ahead: Some(read_ahead), ..memory() }),
        array: None,
        ..setups::bare(ArrayParams::plain(Level::Striped, 2))
    };
    let mut watched = CheckedTarget::new(&params, 1);
    watched.go(Access::Write, 0, 64).expect("nothing else is there");
    let direct = |id, first, count| Command { direct: true, ..command(id, Access::Read, first, count) };
    // The first keeps the device busy while the others wait.
    let reads = [direct(1, 1_000, 8), direct(2, 0, 8), command(3, Access::Read, 8, 16)];
    reads.iter().for_each(|read| watched.submit(read).unwrap_or_else(|wrong| panic!("{wrong}")));
    watched.run_out().unwrap_or_else(|wrong| panic!("{wrong}"));
    let answers: Vec<u64> =
        std::iter::from_fn(|| watched.poll_answer()).map(|(completion, _)| completion.id).collect();
    assert_eq!(answers, [1, 2, 3]);
}

/// A level with parity that misses a member and cannot read another one's first sectors, behind a controller whose memory
/// takes writes for good.
fn degraded() -> SystemParams {
    let level = Level::Parity { parities: 1, rotation: Rotation::Last, groups: 1 };
    let plain = setups::bare(ArrayParams { missing: vec![2], ..ArrayParams::plain(level, 4) });
    let cache = WriteBehindParams { age: Some(ms(1)), battery: true, force_unit_access: true, ..memory() };
    let mut drives = plain.drives.clone();
    drives[1] = setups::unreadable(8);
    SystemParams { drives, controller: ControllerParams { cache: Some(cache), ..plain.controller }, ..plain }
}

/// Writes a little, and then more of the same row: of that neither the old data nor the rest can be had. Returns what the
/// first sectors are before and afterwards.
fn give_up(watched: &mut CheckedTarget) -> Result<[Vec<u64>; 2], Violation> {
    let mut write_and_read = |count| {
        watched.go(Access::Write, 0, count)?;
        watched.run_out()?;
        watched.go(Access::Read, 0, 4)
    };
    let ((_, before), (_, after)) = (write_and_read(4)?, write_and_read(20)?);
    Ok([before, after])
}

#[test]
fn what_a_battery_keeps_and_no_array_takes_is_given_up_and_the_next_flush_reports_it() {
    let mut watched = CheckedTarget::new(&degraded(), 1);
    let mut play = || {
        let [before, after] = give_up(&mut watched)?;
        assert_eq!(before, after, "the older data are back");
        let mut flush = || watched.go(Access::Flush, 0, 0).map(|(outcome, _)| outcome);
        assert_eq!([flush()?, flush()?], [Outcome::MediaError, Outcome::Done]);
        // A whole row needs nothing of what was there.
        watched.go(Access::Write, 0, 24)?;
        watched.read_back()?;
        watched.go(Access::Read, 0, 24).map(|(outcome, found)| (outcome, found[..4] == before))
    };
    assert_eq!(play().unwrap_or_else(|wrong| panic!("{wrong}")), (Outcome::Done, false));
}

#[test]
fn what_is_given_up_in_silence_is_found() {
    let mut watched = CheckedTarget::new(&degraded(), 1);
    watched.tap(Box::new(|op| (!matches!(op, DataOp::GiveUp { .. })).then_some(op)));
    let found = give_up(&mut watched).expect_err("older data in place of what was answered");
    assert!(matches!(found.wrong, Wrong::Read { .. }), "{found}");
}

/// Stripes of which a member does not come back after a power cut: what the battery has kept of it is given up, and from
/// then on the memory hands writes on. One that is for both members fails, and what is read of the other one is older.
#[test]
fn what_a_battery_kept_and_no_array_takes_after_a_cut_is_given_up() {
    let plain = setups::bare(ArrayParams::plain(Level::Striped, 2));
    let (background, overhead) = (Sectors::ZERO, us(50));
    let cache =
        WriteBehindParams { battery: true, force_unit_access: true, background, overhead, ..memory() };
    let params =
        SystemParams { controller: ControllerParams { cache: Some(cache), ..plain.controller }, ..plain };
    let play = |missing: &[u16]| {
        let mut watched = CheckedTarget::new(&params, 1);
        for (first, count) in [(0, 4), (12, 2), (32, 64)] {
            watched.go(Access::Write, first, count)?;
        }
        assert_eq!(
            watched.target().controller_cache().map(drivelab_core::storage::write_behind::WriteBehind::dirty),
            Some(Sectors::new(70))
        );
        let mut watched = watched.cut_power(missing, &mut PolicyRecovery::default())?;
        let [first, other] = [watched.go(Access::Read, 32, 8)?, watched.go(Access::Read, 40, 8)?];
        watched.read_back()?;
        Ok::<_, Violation>([first, other].map(|(outcome, found)| (outcome, found.first() == Some(&BLANK))))
    };
    let of = |missing: &[u16]| play(missing).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(of(&[]), [(Outcome::Done, false), (Outcome::Done, false)]);
    assert_eq!(of(&[0]), [(Outcome::Lost, false), (Outcome::Done, true)]);
}
