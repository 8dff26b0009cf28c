//! Caches: what the keys of a drive file and of a scenario come to, and which of them gives way.
use crate::common;
use crate::common::Files;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, Reach, WriteBackParams};
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_scenario::{Plan, Problems};
use drivelab_units::{Sectors, Span};
use std::sync::Arc;

/// A drive whose file says all of its cache, with its write cache off.
const MINE: &str = "base = \"seagate-cheetah-9lp\"\nwrite_cache = false\nfirmware.write_hit = \"0.3ms\"\n\
                    cache = { segments = 3, segment_size = \"561 sectors\", write_segments = 2, \
                    write_limit = \"500KiB\", destage_idle = \"20ms\", destage_run = \"64KiB\", \
                    read_ahead_limit = \"280KiB\", read_ahead_least = \"4KiB\" }\n";
/// A drive that writes at once, and one without any buffer.
const PROMPT: &str = "base = \"drives/mine.toml\"\nwrite_cache = true\ncache = { destage = \"at-once\" }\n";
const BARE: &str = "base = \"seagate-cheetah-9lp\"\ncache = false\n";

const FILES: Files =
    Files(&[("drives/mine.toml", MINE), ("drives/prompt.toml", PROMPT), ("drives/bare.toml", BARE)]);

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &FILES)
}

fn models(text: &str, overrides: &[(&str, &str)]) -> Vec<Arc<DriveModel>> {
    let of = |target: &TargetParams| match target {
        TargetParams::Drive(model) => Arc::clone(model),
        _ => panic!("the target is a drive"),
    };
    let plan = read(text, overrides).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    plan.points.iter().map(|point| of(&point.setup.target)).collect()
}

fn cache(drive: &str, keys: &str) -> Option<CacheParams> {
    models(&format!("[target]\ndrive = \"{drive}\"\n{keys}"), &[])[0].cache
}

fn kib(kib: u64) -> Sectors {
    Sectors::new(2 * kib)
}

const ANY: &str = "drives/bare.toml";

#[test]
fn what_is_left_out_of_a_cache() {
    let plain = cache(ANY, "cache.size = \"8MiB\"\nwrite_cache = true").unwrap();
    assert_eq!((plain.size, plain.segments, plain.segment()), (kib(8_192), 16, kib(512)));
    assert!(plain.fixed && plain.keeps_written && !plain.separate_writes);
    assert_eq!(plain.send_from.bits(), 0);
    let ahead = plain.read_ahead;
    assert_eq!((ahead.reach, ahead.limit, ahead.least), (Reach::Limit, kib(512), kib(0)));
    assert!(ahead.covers_front && !ahead.when_queued && !ahead.when_sequential);
    assert!(!ahead.on_hit && !ahead.ends_sector);
    let expected = WriteBackParams {
        limit: kib(8_192),
        segments: 16,
        destage: Destage::WhenIdle,
        idle: Span::from_ms(50),
        age: None,
        press_from: kib(4_096),
        run: kib(1_024),
        while_busy: true,
    };
    assert_eq!(plain.write_back, Some(expected));
}

#[test]
fn every_key_of_a_cache_arrives() {
    let keys = "write_cache = true\n[target.cache]\nsize = \"8MiB\"\nsegments = 16\nsegmentation = \"adaptive\"\n\
                write_segments = 4\nwrite_limit = \"1MiB\"\nkeeps_written = false\n\
                send_from = \"25%\"\nwrite_from = \"50%\"\nwrite_first = \"5KiB\"\nkeeps_passing = true\nread_ahead = \"cylinder\"\nread_ahead_limit = \"600KiB\"\n\
                read_ahead_least = \"8KiB\"\nread_ahead_when_queued = true\nread_ahead_when_sequential = true\n\
                read_ahead_on_hit = true\ncovers_within = \"1ms\"\nends_sector = true\ndestage_idle = \"5ms\"\n\
                destage_age = \"2s\"\ndestage_from = \"25%\"\ndestage_run = \"64KiB\"\n\
                takes_writes_while_busy = false\n";
    let all = cache(ANY, keys).unwrap();
    assert_eq!((all.size, all.segments, all.segment()), (kib(8_192), 16, kib(8_192)));
    assert!(!all.fixed && !all.separate_writes && !all.keeps_written);
    let apart = keys.replace("keeps_written = false", "separate_writes = true");
    let apart = cache(ANY, &apart).unwrap();
    assert!(apart.separate_writes && apart.keeps_written);
    assert_eq!((all.send_from.bits(), all.write_from.bits(), all.keeps_passing), (1 << 30, 1 << 31, true));
    assert_eq!(all.write_first, kib(5));
    let ahead = all.read_ahead;
    assert_eq!((ahead.reach, ahead.limit, ahead.least), (Reach::Cylinder, kib(600), kib(8)));
    assert!(ahead.when_queued && ahead.when_sequential && ahead.on_hit && ahead.ends_sector);
    assert_eq!((ahead.covers_front, ahead.covers_within), (true, Span::from_ms(1)));
    let expected = WriteBackParams {
        limit: kib(1_024),
        segments: 4,
        destage: Destage::WhenIdle,
        idle: Span::from_ms(5),
        age: Some(Span::from_s(2)),
        press_from: kib(256),
        run: kib(64),
        while_busy: false,
    };
    assert_eq!(all.write_back, Some(expected));
    let fixed = keys.replace("adaptive", "fixed").replace("600KiB", "512KiB");
    assert_eq!(cache(ANY, &fixed).unwrap().segment(), kib(512));
}

#[test]
fn a_segments_size_times_their_number_is_the_size() {
    let mine = cache("drives/mine.toml", "").unwrap();
    assert_eq!((mine.size, mine.segment()), (Sectors::new(3 * 561), Sectors::new(561)));
    // However the memory of a drive is given, it keeps it under another division.
    let adaptive = cache("drives/mine.toml", "cache.segmentation = \"adaptive\"").unwrap();
    assert_eq!((adaptive.size, adaptive.segment()), (Sectors::new(3 * 561), Sectors::new(3 * 561)));
    let other = cache("drives/mine.toml", "cache.size = \"2MiB\"").unwrap();
    assert_eq!((other.size, other.segments), (kib(2_048), 3));
    let larger = cache("wd-4tb-7200", "cache = { segment_size = \"2MiB\", segments = 2 }").unwrap();
    assert_eq!(larger.size, kib(4_096));
}

#[test]
fn the_write_cache_of_the_scenario_goes_before_the_drives() {
    let both = [("target.write_cache", "false,true")];
    for (drive, own) in [("drives/mine.toml", false), ("drives/prompt.toml", true)] {
        let written = |cache: Option<CacheParams>| cache.unwrap().write_back;
        assert_eq!(written(cache(drive, "")).is_some(), own);
        let text = format!("target.drive = \"{drive}\"");
        let [off, on] = &models(&text, &both)[..] else { panic!("two points") };
        assert_eq!(written(off.cache), None);
        let on = written(on.cache).unwrap();
        assert_eq!((on.segments, on.limit, on.run), (2, kib(500), kib(64)));
        assert_eq!(on.destage == Destage::AtOnce, own);
    }
}

#[test]
fn a_write_that_the_cache_takes_has_a_time_of_its_own() {
    let mine = &models("target.drive = \"drives/mine.toml\"", &[])[0].firmware;
    assert_eq!(mine.write_hit.after_read, Span::from_us(300));
    let other = &models("target.drive = \"seagate-cheetah-9lp\"", &[])[0].firmware;
    assert!(other.write.after_read != other.write.after_write);
    assert_eq!(other.write_hit, other.write);
    let text = "[target]\ndrive = { base = \"wd-4tb-7200\", firmware.write_hit = \"1ms\" }\n";
    assert!(read(text, &[]).is_err());
    assert!(read(text, &[("target.write_cache", "true,false")]).is_ok());
}

#[test]
fn a_limit_of_a_drive_file_larger_than_the_cache_is_reduced() {
    let small = "write_cache = true\ncache = { segments = 1, segment_size = \"64KiB\" }";
    let small = cache("drives/mine.toml", small).unwrap();
    let written = small.write_back.unwrap();
    assert_eq!((small.size, small.read_ahead.limit), (kib(64), kib(64)));
    assert_eq!((written.segments, written.limit, written.press_from), (1, kib(64), kib(32)));
    let near = cache("drives/mine.toml", "cache.read_ahead_limit = \"2KiB\"").unwrap().read_ahead;
    assert_eq!((near.limit, near.least), (kib(2), kib(0)));
    let none = cache("drives/mine.toml", "cache.read_ahead = \"none\"").unwrap().read_ahead;
    assert_eq!((none.reach, none.least), (Reach::Nothing, kib(0)));
    // The same keys of one author contradict each other.
    let own = "[target]\ndrive = \"drives/bare.toml\"\nwrite_cache = true\n\
               cache = { size = \"64KiB\", segments = 1, write_limit = \"500KiB\", write_segments = 2 }\n";
    assert_eq!(read(own, &[]).unwrap_err().0.len(), 2);
}

#[test]
fn a_drive_whose_cache_is_taken_away_has_no_write_cache_either() {
    assert_eq!(cache("drives/prompt.toml", "cache = false"), None);
    assert!(cache("drives/bare.toml", "write_cache = false").is_none());
    for text in [
        "drive = \"drives/bare.toml\"\nwrite_cache = true",
        "drive = \"drives/mine.toml\"\ncache = false\nwrite_cache = true",
    ] {
        let problems = read(&format!("[target]\n{text}\n"), &[]).unwrap_err();
        assert!(problems.to_string().contains("there is no cache that could take a write"), "{problems}");
    }
}

#[test]
fn points_without_what_a_key_needs_make_no_error_of_it() {
    let drive = "target.drive = \"drives/bare.toml\"\n";
    let count = |overrides: &[(&str, &str)]| {
        let plan = read(drive, overrides).unwrap_or_else(|problems| panic!("{problems}"));
        (plan.points.len(), plan.skipped.len())
    };
    let size = ("target.cache.size", "1MiB");
    let destage = ("target.cache.destage_idle", "1ms,10ms");
    assert_eq!(count(&[size, ("target.write_cache", "true,false"), destage]), (4, 0));
    let on = ("target.write_cache", "true");
    assert_eq!(count(&[size, on, ("target.cache.destage", "at-once,when-idle"), destage]), (4, 0));
    let reach = ("target.cache.read_ahead", "none,limit,track,cylinder,next-track");
    assert_eq!(count(&[size, reach, ("target.cache.read_ahead_limit", "64KiB")]), (5, 0));
    let (segments, limit) = (("target.cache.segments", "1,16"), ("target.cache.read_ahead_limit", "128KiB"));
    assert_eq!(count(&[size, segments, limit]), (1, 1));
    assert!(read(drive, &[size, destage]).is_err());
}

#[test]
fn a_cache_by_its_segments_or_by_its_size_is_another_scenario() {
    let hash = |keys: &str| read(&format!("target.drive = \"drives/bare.toml\"\n{keys}"), &[]).unwrap().hash;
    let by_size = hash("target.cache.size = \"64KiB\"");
    assert_eq!(by_size, hash("target.cache = { size = \"128 sectors\" }"));
    assert_ne!(by_size, hash("target.cache = { size = \"64KiB\", read_ahead = \"track\" }"));
    assert_ne!(by_size, hash("target.cache.size = \"64KiB\"\ntarget.write_cache = true"));
}

#[test]
fn a_flag_is_on_or_off() {
    let with = |word: &str| {
        models("[target]\ndrive = \"drives/mine.toml\"\n", &[("target.drive.write_cache", word)])[0].cache
    };
    assert_eq!(with("on"), with("true"));
    assert_eq!(with("off"), with("false"));
    assert_ne!(with("on"), with("off"));
}
