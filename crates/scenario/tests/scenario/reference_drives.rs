//! Drives of the catalogue against the files that they were taken from, which are not part of the repository:
//! `DRIVELAB_REFERENCE` names their folder, `../shared/reference` beside the checkout otherwise.
//! What the parameters mean: J. Bucy et al., "The DiskSim simulation environment version 4.0", CMU-PDL-08-101.
#![allow(clippy::print_stdout, reason = "what a test measured, or left out, is worth reading")]
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::{Target, TargetOutput, TargetParams};
use drivelab_core::{Access, Command, Machine};
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

const CHEETAH: &str = "seagate-cheetah-9lp";

fn model(name: &str) -> Arc<DriveModel> {
    let text = format!("[target]\ndrive = \"{name}\"\ncache = false");
    let plan = plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles).unwrap();
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => Arc::clone(model),
        other => panic!("{name} is {other:?}"),
    }
}

/// A file of the drive's; `None`, said aloud, where there is no such folder.
fn file(test: &str, name: &str) -> Option<String> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    let folder = env::var_os("DRIVELAB_REFERENCE").map_or_else(beside, PathBuf::from).join("disksim");
    if !folder.is_dir() {
        println!("skipped {test}: no reference data (set DRIVELAB_REFERENCE)");
        return None;
    }
    Some(fs::read_to_string(folder.join(name)).unwrap())
}

/// The number behind `key =`.
fn number(text: &str, key: &str) -> f64 {
    let (_, rest) = text.split_once(&format!("{key} = ")).unwrap_or_else(|| panic!("no {key}"));
    rest.split([',', '\n']).next().unwrap().trim().parse().unwrap()
}

struct Zone {
    first: u32,
    last: u32,
    per_track: u32,
    track_skew: u32,
    cylinder_skew: u32,
    spares: u64,
    slips: Vec<u64>,
}

fn zones(layout: &str) -> Vec<Zone> {
    let read = |text: &str| {
        let (_, slips) = text.split_once("slips = [").unwrap();
        let slips = slips.split(']').next().unwrap().split(',');
        Zone {
            first: number(text, "First cylinder number") as u32,
            last: number(text, "Last cylinder number") as u32,
            per_track: number(text, "Blocks per track") as u32,
            track_skew: number(text, "Skew for track switch") as u32,
            cylinder_skew: number(text, "Skew for cylinder switch") as u32,
            spares: number(text, "Number of spares") as u64,
            slips: slips.filter_map(|slip| slip.trim().parse().ok()).collect(),
        }
    };
    layout.split("dm_layout_g1_zone {").skip(1).map(read).collect()
}

/// How far the platter turns between two tracks of a zone, in sectors.
fn skew(model: &DriveModel, zone: u32, track: u32, per_track: u32) -> f64 {
    let start = |track| model.mechanism.geometry.track(zone, track).start.as_ns() as f64;
    let turns = (start(track + 1) - start(track)) / model.period.as_ns() as f64;
    turns.rem_euclid(1.0) * f64::from(per_track)
}

#[test]
fn the_cheetahs_zones_skews_and_defects_are_those_of_its_layout() {
    let Some(layout) = file("the Cheetah's layout", "cheetah9LP.model") else { return };
    let model = model(CHEETAH);
    let geometry = &model.mechanism.geometry;
    let zones = zones(&layout);
    assert_eq!(geometry.heads(), number(&layout, "Number of data surfaces") as u32);
    assert_eq!(geometry.cylinders(), number(&layout, "Number of cylinders") as u32);
    assert_eq!(geometry.capacity().get(), number(&layout, "Block count") as u64);
    assert_eq!(geometry.zones() as usize, zones.len());
    let (heads, mut defects) = (geometry.heads(), 0);
    for (number, zone) in (0u32..).zip(&zones) {
        let first = geometry.zone_start(number).get();
        assert_eq!(geometry.track(number, 0).cylinder, zone.first);
        assert_eq!(geometry.sectors_per_track(number), zone.per_track);
        assert!((skew(&model, number, 0, zone.per_track) - f64::from(zone.track_skew)).abs() < 0.001);
        let across = skew(&model, number, heads - 1, zone.per_track);
        assert!((across - f64::from(zone.cylinder_skew)).abs() < 0.001);
        // The blocks on both sides of each defect, and the first of all.
        let slots = zone.slips.iter().flat_map(|&slip| [slip.saturating_sub(1), slip + 1]).chain([0]);
        for slot in slots.filter(|slot| !zone.slips.contains(slot)) {
            let block = slot - zone.slips.partition_point(|&slip| slip < slot) as u64;
            let found = geometry.locate(Lba::new(first + block));
            let at = u64::from(found.track) * u64::from(zone.per_track) + u64::from(found.sector);
            assert_eq!((found.zone, at), (number, slot));
        }
        defects += zone.slips.len();
    }
    println!("{} zones, {defects} slipped defects", zones.len());
    assert_eq!(defects, 594);
}

/// A drive file cannot say that a zone ends in spares that nothing has used.
#[test]
fn the_cheetahs_unused_spares_move_no_block_by_more_than_six_cylinders() {
    let Some(layout) = file("the Cheetah's spares", "cheetah9LP.model") else { return };
    let model = model(CHEETAH);
    let geometry = &model.mechanism.geometry;
    let (mut next, mut farthest) = (0u64, 0u32);
    for zone in zones(&layout) {
        let cylinders = u64::from(zone.last - zone.first + 1);
        let blocks = cylinders * u64::from(geometry.heads()) * u64::from(zone.per_track) - zone.spares;
        for block in (0..blocks).step_by(997) {
            let lba = next + block;
            if lba >= geometry.capacity().get() {
                break;
            }
            let slot = block + zone.slips.partition_point(|&slip| slip <= block) as u64;
            let there = zone.first + (slot / u64::from(zone.per_track * geometry.heads())) as u32;
            let found = geometry.locate(Lba::new(lba));
            farthest = farthest.max(there.abs_diff(geometry.track(found.zone, found.track).cylinder));
        }
        next += blocks;
    }
    println!("at most {farthest} cylinders from its place");
    assert!((1..=6).contains(&farthest), "{farthest}");
}

#[test]
fn the_cheetahs_seek_curve_misses_no_measured_point_by_10_us() {
    let Some(curve) = file("the Cheetah's seek curve", "cheetah9LP.seek") else { return };
    let model = model(CHEETAH);
    let point = |line: &str| {
        let (distance, ms) = line.split_once(',')?;
        Some((distance.trim().parse::<u32>().ok()?, ms.trim().parse::<f64>().ok()?))
    };
    let points: Vec<(u32, f64)> = curve.lines().filter_map(point).collect();
    assert_eq!(points.len(), 106);
    let error =
        |&(distance, ms): &(u32, f64)| (f64::from(model.mechanism.seek.time(distance)) / 1e6 - ms).abs();
    let worst = points.iter().map(error).fold(0.0, f64::max);
    let mean = model.mechanism.seek.mean_of_random_pairs() / 1e6;
    println!("worst {:.1} us; mean over random pairs {mean:.3} ms", worst * 1e3);
    assert!(worst < 0.01, "{worst} ms");
    // 5.467 ms with all points.
    assert!((mean - 5.467).abs() < 0.001, "{mean}");
}

#[test]
fn the_cheetahs_overheads_are_those_of_its_description() {
    let Some(text) = file("the Cheetah's overheads", "cheetah9LP.diskspecs") else { return };
    let Some(layout) = file("the Cheetah's settle times", "cheetah9LP.model") else { return };
    let model = model(CHEETAH);
    let ms = |span: Span| span.as_ns() as f64 / 1e6;
    let (firmware, settle) = (&model.firmware, &model.mechanism.settle);
    for (ours, text, key) in [
        (ms(firmware.read_hit.after_read), &text, "Read hit over. after read"),
        (ms(firmware.read_hit.after_write), &text, "Read hit over. after write"),
        (ms(firmware.read_miss.after_read), &text, "Read miss over. after read"),
        (ms(firmware.read_miss.after_write), &text, "Read miss over. after write"),
        // Without its cache every write is a miss.
        (ms(firmware.write.after_read), &text, "Write miss over. after read"),
        (ms(firmware.write.after_write), &text, "Write miss over. after write"),
        (ms(model.link.time_for(Sectors::new(1))), &text, "Bulk sector transfer time"),
        (ms(settle.head_switch), &layout, "Head switch time"),
        (settle.write_settle_ns as f64 / 1e6, &layout, "Add. write settling delay"),
    ] {
        assert!((ours - number(text, key)).abs() < 1e-5, "{key}: {ours}");
    }
    let rpm = number(&layout, "Rotation speed (in rpms)");
    assert!((ms(model.period) - 60_000.0 / rpm).abs() < 1e-5);
}

/// Replays the measured trace, one command after the other with its measured gaps, and returns the milliseconds of the
/// reads that begin farther than 2 % of the capacity from the end of the command before, which no buffer can help, here
/// and as measured. What the platter's angle was at first does not matter: each command follows from the one before.
fn far_reads(model: &Arc<DriveModel>, trace: &str) -> (Vec<f64>, Vec<f64>) {
    let capacity = model.capacity().get();
    let mut target = Target::new(&TargetParams::Drive(Arc::clone(model)), 1);
    let (mut now, mut end, mut ours, mut measured) = (Instant::ZERO, None::<u64>, Vec::new(), Vec::new());
    for line in trace.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [kind, _, first, count, service, gap] = fields[..] else { panic!("{line}") };
        let (first, count): (u64, u64) = (first.parse().unwrap(), count.parse().unwrap());
        let access = if kind == "R" { Access::Read } else { Access::Write };
        let command = Command::new(0, access, Lba::new(first), Sectors::new(count));
        target.take(now, &command).unwrap();
        let done = loop {
            if let Some(done) = target.poll_output().and_then(TargetOutput::completed) {
                break done;
            }
            target.pass_to(target.poll_timeout().unwrap()).unwrap();
        };
        if access == Access::Read && end.is_some_and(|end| end.abs_diff(first) > capacity / 50) {
            ours.push((done.completed - done.submitted).as_ns() as f64 / 1e6);
            measured.push(service.parse::<f64>().unwrap() / 1e3);
        }
        end = Some(first + count);
        now = done.completed + Span::from_us(gap.parse::<f64>().unwrap() as u64);
    }
    (ours, measured)
}

#[test]
fn the_cheetahs_far_reads_take_as_long_as_they_were_measured_to() {
    let Some(trace) = file("the Cheetah's measured reads", "cheetah9LP.trace") else { return };
    let model = model(CHEETAH);
    let sorted = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times
    };
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    let (ours, measured) = far_reads(&model, &trace);
    let (ours, measured) = (sorted(ours), sorted(measured));
    assert_eq!(measured.len(), 3150);
    let square: f64 = ours.iter().zip(&measured).map(|(a, b)| (a - b) * (a - b)).sum();
    let distance = (square / measured.len() as f64).sqrt();
    let (mean, expected) = (mean(&ours), mean(&measured));
    println!("mean {mean:.3} ms, measured {expected:.3}; between the distributions {distance:.3} ms rms");
    assert!((mean / expected - 1.0).abs() < 0.005, "{mean}");
    assert!(distance < 0.1, "{distance}");
}
