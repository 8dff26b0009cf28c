//! A shingled drive: where written data go, when it cleans, and what that costs.
use crate::common::*;
use drivelab_core::Access::{Flush, Read, Write};
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::geometry::GeometryParams;
use drivelab_core::storage::drive::params::{DriveError, DriveModel, DriveParams, Medium};
use drivelab_core::storage::drive::shingled::params::{ShingledError, ShingledParams};
use drivelab_core::storage::{Target, TargetInput};
use drivelab_core::{Command, Machine};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

/// Cylinders of the media cache, at the outer edge.
const OUTER: u32 = 20;
/// Sectors that the host addresses: 800 cylinders of one track.
const CAPACITY: u64 = 800 * TRACK;
/// Four tracks.
const BAND: u64 = 4 * TRACK;
const ENTRIES: u32 = 40;

fn translation() -> ShingledParams {
    ShingledParams {
        band: Sectors::new(BAND),
        cache: Sectors::new(u64::from(OUTER) * TRACK),
        map_entries: ENTRIES,
        append_extents: 8,
        append_most: Sectors::new(TRACK),
        append_overhead: Sectors::new(16),
        merged_extents: 100,
        slice: ms(50),
        idle: ms(500),
    }
}

/// The bare drive with a write cache of 4 096 sectors.
fn shingled(translation: ShingledParams) -> DriveParams {
    let write_back = WriteBackParams {
        limit: Sectors::new(4_096),
        segments: 64,
        destage: Destage::WhenIdle,
        idle: ms(20),
        age: None,
        press_from: Sectors::new(2_048),
        run: Sectors::new(4_096),
        while_busy: true,
    };
    let cache = CacheParams {
        size: Sectors::new(4_096),
        segments: 64,
        fixed: false,
        write_back: Some(write_back),
        ..CacheParams::reading_on(Sectors::new(8))
    };
    let geometry = GeometryParams {
        capacity: Some(Sectors::new(CAPACITY)),
        outer_last: OUTER,
        ..layout(1, vec![zone(0, 800 + OUTER, TRACK as u32)])
    };
    let seek = flat_seek(ms(1), 800 + OUTER);
    DriveParams { geometry, seek, cache: Some(cache), medium: Medium::Shingled(translation), ..drive() }
}

/// A shingled drive whose host waits for each command.
struct Rig {
    target: Target,
    now: Instant,
    next: u64,
}

impl Rig {
    fn new(params: &DriveParams) -> Self {
        let mut target = Target::new(&target(params), 1);
        target.keep_traces();
        Rig { target, now: Instant::ZERO, next: 0 }
    }

    /// Carries out a command: returns how long it took, and the cylinder that it went to.
    fn run(&mut self, command: Command) -> (Span, u32) {
        let (submitted, mut cylinder) = (self.now, u32::MAX);
        self.target.handle(self.now, TargetInput::Submit(command)).unwrap();
        loop {
            while let Some(output) = self.target.poll_output() {
                if let Some(trace) = output.trace() {
                    cylinder = trace.cylinder;
                }
                if let Some(done) = output.completed() {
                    self.next += 1;
                    return (done.completed - submitted, cylinder);
                }
            }
            self.now = self.target.poll_timeout().unwrap();
            self.target.handle(self.now, TargetInput::Tick).unwrap();
        }
    }

    fn write(&mut self, first: u64, count: u64) -> Span {
        self.run(command(self.next, Write, first, count)).0
    }

    fn read(&mut self, first: u64, count: u64) -> (Span, u32) {
        self.run(command(self.next, Read, first, count))
    }

    /// Reads so much else that the buffer has nothing left.
    fn displace(&mut self) {
        for number in 0..130 {
            self.read(TRACK * 300 + 50 * number, 8);
        }
    }

    fn flush(&mut self) -> Span {
        self.run(command(self.next, Flush, 0, 0)).0
    }

    fn wait(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(due) = self.target.poll_timeout().filter(|&due| due <= until) {
            self.target.handle(due, TargetInput::Tick).unwrap();
        }
        self.now = until;
        self.target.handle(until, TargetInput::Tick).unwrap();
    }

    /// Extents in the map, and merges so far.
    fn state(&self) -> (u32, u64) {
        let (entries, _, merges) = self.target.drive().unwrap().shingled().unwrap().state();
        (entries, merges)
    }
}

/// Places of 8 sectors, each in a band of its own and none where a band begins.
fn place(number: u64) -> u64 {
    (number * 7 % 200) * BAND + 64 + 8 * (number / 200)
}

#[test]
fn blocks_behind_the_media_cache_are_the_hosts_and_those_in_it_come_last() {
    let model = DriveModel::new(&shingled(translation())).unwrap();
    let geometry = &model.mechanism.geometry;
    assert_eq!(
        (model.capacity().get(), geometry.held().get()),
        (CAPACITY, CAPACITY + u64::from(OUTER) * TRACK)
    );
    let cylinder = |lba| {
        let slot = geometry.locate(Lba::new(lba));
        geometry.track(slot.zone, slot.track).cylinder
    };
    assert_eq!((cylinder(0), cylinder(CAPACITY - 1)), (OUTER, 799 + OUTER));
    assert_eq!((cylinder(CAPACITY), cylinder(CAPACITY + TRACK * u64::from(OUTER) - 1)), (0, OUTER - 1));
}

#[test]
fn a_map_is_filled_by_distinct_extents_alone() {
    let mut rig = Rig::new(&shingled(translation()));
    for number in 0..400 {
        rig.write(place(number % u64::from(ENTRIES - 1)), 8);
    }
    rig.flush();
    assert_eq!(rig.state(), (ENTRIES - 1, 0));
    // One more fits, and the next must wait for a slice of cleaning.
    assert!(rig.write(place(1_000), 8) < ms(1));
    rig.flush();
    assert_eq!(rig.state(), (ENTRIES, 0));
    let waited = rig.write(place(1_001), 8);
    assert!(waited > ms(40) && rig.state().1 == 1, "{waited:?}");
}

#[test]
fn a_full_map_admits_one_write_after_each_slice() {
    // A merge of one extent reads and writes a band of four turns: two slices of 30 ms, or three.
    let mut rig = Rig::new(&shingled(ShingledParams { slice: ms(30), ..translation() }));
    let mut slow = Vec::new();
    for number in 0..200 {
        let took = rig.write(place(number), 8);
        if took > ms(10) {
            slow.push(took);
        }
    }
    assert!(slow.len() > 50, "{}", slow.len());
    // A slice and the access in which it ends: four tracks of a turn each, and a turn lost at each switch; an append and its
    // record.
    assert!(slow.iter().all(|&took| took < ms(30 + 50 + 40)), "{:?}", slow.iter().max());
}

#[test]
fn without_a_write_cache_each_write_is_an_append_and_a_full_map_costs_a_slice() {
    let mut rig = Rig::new(&DriveParams { cache: None, ..shingled(translation()) });
    let before: Vec<Span> = (0..u64::from(ENTRIES)).map(|number| rig.write(place(number), 8)).collect();
    // Two movements, two turns at most, and the record.
    assert!(before.iter().all(|&took| took < ms(2 + 13)), "{before:?}");
    assert_eq!(rig.state(), (ENTRIES, 1));
    let behind: Vec<Span> = (100..700).map(|number| rig.write(place(number), 8)).collect();
    let mean = behind.iter().fold(0, |sum, took| sum + took.as_ns()) / 600;
    // As many as a queue holds may go beyond the map.
    let (entries, merges) = rig.state();
    assert!(mean > 40_000_000 && merges > 100 && entries <= ENTRIES + 65, "{mean} {entries} {merges}");
}

#[test]
fn an_idle_drive_cleans_everything_and_not_before_it_has_been_idle() {
    let mut rig = Rig::new(&shingled(translation()));
    for number in 0..12 {
        rig.write(place(number), 8);
    }
    rig.flush();
    rig.wait(ms(490));
    assert_eq!(rig.state(), (12, 0));
    // A command makes it wait again.
    rig.read(5 * BAND, 8);
    rig.wait(ms(490));
    assert_eq!(rig.state(), (12, 0));
    rig.wait(ms(2_000));
    assert_eq!(rig.state(), (0, 12));
}

#[test]
fn a_command_is_served_between_slices_of_idle_cleaning() {
    let mut rig = Rig::new(&shingled(ShingledParams { slice: ms(10), ..translation() }));
    for number in 0..12 {
        rig.write(place(number), 8);
    }
    rig.flush();
    rig.wait(ms(600));
    let (entries, merges) = rig.state();
    assert!(entries > 0 && merges > 0);
    // The access in which the slice ends, and a read.
    let (took, _) = rig.read(17 * BAND, 8);
    assert!(took < ms(50 + 14), "{took:?}");
}

#[test]
fn a_read_finds_its_sectors_where_they_lie_and_pays_for_each_part() {
    let mut rig = Rig::new(&shingled(ShingledParams { idle: ms(10_000), ..translation() }));
    let home = rig.read(TRACK * 100, 8).1;
    assert_eq!(home, 100 + OUTER);
    rig.write(TRACK * 100, 8);
    rig.flush();
    // Other sectors displace it from the buffer.
    rig.displace();
    let (_, cached) = rig.read(TRACK * 100, 8);
    assert!(cached < OUTER, "{cached}");
    // A read of a whole track with three such parts in it goes to and fro: seven parts, and six movements more.
    let clean = rig.read(TRACK * 200, TRACK).0;
    for part in 0..3 {
        rig.write(TRACK * 201 + 100 + 200 * part, 8);
    }
    rig.flush();
    rig.displace();
    let scattered = rig.read(TRACK * 201, TRACK).0;
    assert!(scattered > clean + ms(6), "{scattered:?} {clean:?}");
}

#[test]
fn a_stream_goes_to_its_bands_and_is_closed_when_the_drive_is_idle() {
    let mut rig = Rig::new(&shingled(translation()));
    // Three bands and a half.
    for number in 0..(7 * BAND / 2) / 64 {
        rig.write(10 * BAND + 64 * number, 64);
    }
    rig.flush();
    let (entries, merges) = rig.state();
    assert_eq!((entries, merges), (0, 0));
    rig.wait(ms(3_000));
    assert_eq!(rig.state(), (0, 1));
}

#[test]
fn a_shingled_drive_is_checked() {
    let error = |change: fn(&mut DriveParams)| {
        let mut params = shingled(translation());
        change(&mut params);
        match DriveModel::new(&params).unwrap_err() {
            DriveError::Shingled(error) => error,
            other => panic!("{other}"),
        }
    };
    fn set(params: &mut DriveParams, change: fn(&mut ShingledParams)) {
        if let Medium::Shingled(translation) = &mut params.medium {
            change(translation);
        }
    }
    assert_eq!(error(|params| params.geometry.capacity = None), ShingledError::Cache);
    assert_eq!(error(|params| set(params, |of| of.band = Sectors::new(7))), ShingledError::Band);
    assert_eq!(error(|params| set(params, |of| of.map_entries = 15)), ShingledError::Extents);
    let mut small = shingled(translation());
    set(&mut small, |translation| translation.cache = Sectors::new(2_048));
    assert_eq!(DriveModel::new(&small).unwrap_err(), DriveError::Shingled(ShingledError::Append));
    assert_eq!(error(|params| set(params, |of| of.slice = Span::ZERO)), ShingledError::Slice);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever is asked, every command is answered, and the drive comes to rest with an empty media cache.
    #[test]
    fn every_command_is_answered_and_rest_is_clean(
        steps in prop::collection::vec((0..4u8, 0..200u64, 0..2_400u64, 1..300u64, 0..3u64), 1..120),
        slice in 5..60u64,
        entries in 16..60u32,
        merged in 1..9u32,
    ) {
        let translation = ShingledParams { slice: ms(slice), map_entries: entries, merged_extents: merged, ..translation() };
        let mut rig = Rig::new(&shingled(translation));
        for (kind, band, offset, count, pause) in steps {
            let first = (band * BAND + offset % BAND).min(CAPACITY - count);
            match kind {
                0 => rig.read(first, count).0,
                3 if count < 20 => rig.flush(),
                _ => rig.write(first, count),
            };
            prop_assert!(rig.state().0 <= entries + 64);
            if pause == 0 {
                rig.wait(ms(offset % 900));
            }
        }
        rig.flush();
        rig.wait(Span::from_s(120));
        prop_assert_eq!(rig.state().0, 0);
        prop_assert!(rig.target.poll_timeout().is_none());
    }
}
