//! Figures of a trace against pencil and paper, and against a plain model.
use crate::tools::read_with;
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Kind, Options, Record};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashMap;

const TRACE: &str = "fio version 3 iolog\n\
    0 a write 0 4096\n\
    1000 a write 4096 4096\n\
    2000 a read 0 8192\n\
    3000 b read 1048576 4096\n\
    2003000 a read 12288 1024\n\
    2003000 a sync 0 0\n";

/// The report of a trace as JSON.
pub fn report(bytes: &[u8], options: &Options) -> Value {
    let (records, reader) = read_with(bytes, options).unwrap();
    let mut survey = Survey::default();
    records.iter().for_each(|record| survey.take(record));
    serde_json::to_value(survey.report(&reader).unwrap()).unwrap()
}

#[test]
fn figures_are_what_pencil_and_paper_say() {
    let found = report(TRACE.as_bytes(), &Options::default());
    let number = |name: &str| found[name].as_u64().unwrap();
    assert_eq!(
        ["records", "requests", "reads", "writes", "flushes", "discards", "devices"].map(number),
        [6, 6, 3, 2, 1, 0, 2]
    );
    assert_eq!(
        ["bytes_read", "bytes_written", "first_ns", "last_ns"].map(number),
        [13_312, 8_192, 0, 2_003_000_000]
    );
    assert_eq!(found["problems"].as_array().unwrap().len(), 0);
    // One of three follows; of the others one goes back 8192 and one forward 4096.
    let locality = &found["locality"];
    assert_eq!(locality["sequential_share"], 1.0 / 3.0);
    assert_eq!(
        (&locality["backward_share"], &locality["mean_distance_bytes"]),
        (&(1.0 / 3.0).into(), &6_144.0.into())
    );
    // Blocks 0 and 1 twice, block 3, and one of b.
    let working = &found["working_set"];
    assert_eq!((&working["method"], &working["bytes"]), (&"exact".into(), &16_384.into()));
    assert_eq!((&working["both_bytes"], &working["uses_per_block"]), (&8_192.into(), &1.5.into()));
    assert_eq!(working["reads_of_used_share"], 0.5);
    // Five, four of them in the first second, none in the second: counts 4, 0, 2 of mean 2.
    assert_eq!(found["arrivals"]["peak_requests_in_1s"], 4);
    let dispersion = found["arrivals"]["dispersion_1s"].as_f64().unwrap();
    assert!((dispersion - (20.0 / 3.0 - 4.0) / 2.0).abs() < 1e-12);
    assert_eq!(found["sizes"]["read"]["p50_bytes"], 4_096);
    assert!(found["responses"].is_null());
}

#[test]
fn depth_is_time_in_the_system_over_time() {
    // Two of 1 ms at once, one of 2 ms after 4 ms; 100 ns ticks.
    let text = "130000000000000000,h,0,Read,0,512,10000\n130000000000000000,h,0,Read,512,512,10000\n\
        130000000000040000,h,0,Write,0,512,20000\n";
    let found = report(text.as_bytes(), &Options::default());
    let responses = &found["responses"];
    // 4 ms in the system within 6 ms.
    assert_eq!((&responses["mean_depth"], &responses["max_depth"]), (&(4.0 / 6.0).into(), &2.into()));
    assert_eq!(found["over_time"]["mean_depth"], serde_json::json!([2.0, 0.0, 0.0, 0.0, 1.0, 1.0]));
    assert_eq!(found["over_time"]["reads"], serde_json::json!([2, 0, 0, 0, 0, 0]));
}

#[test]
fn one_that_arrives_as_another_ends_is_alone() {
    let text = "130000000000000000,h,0,Read,0,512,10000\n130000000000010000,h,0,Read,512,512,10000\n";
    let found = report(text.as_bytes(), &Options::default());
    assert_eq!(
        (&found["responses"]["mean_depth"], &found["responses"]["max_depth"]),
        (&1.0.into(), &1.into())
    );
}

#[test]
fn a_percentile_is_the_smallest_size_that_so_many_do_not_exceed() {
    let line = |size: u64| format!("{} a read 0 {size}\n", size / 512);
    let text: String = [1_024, 2_048, 4_096, 8_192].into_iter().map(line).collect();
    let found = report(format!("fio version 3 iolog\n{text}").as_bytes(), &Options::default());
    let read = &found["sizes"]["read"];
    assert_eq!((&read["p50_bytes"], &read["p95_bytes"]), (&2_048.into(), &8_192.into()));
}

#[test]
fn a_working_set_beyond_the_limit_is_estimated_well() {
    let blocks = 3_000_000u64;
    let mut survey = Survey::default();
    for at in 0..blocks {
        // Every second block is read again at once.
        for _ in 0..1 + at % 2 {
            survey.take(&Record::new(at, 0, Kind::Read, at * 4_096, 4_096));
        }
    }
    let options = Options { format: Some(Format::Spc), ..Options::default() };
    let (_, reader) = read_with(b"0,0,512,R,0\n", &options).unwrap();
    let found = serde_json::to_value(survey.report(&reader).unwrap()).unwrap();
    let working = &found["working_set"];
    assert_eq!(working["method"], "sampled");
    let share = working["bytes"].as_f64().unwrap() / (blocks * 4_096) as f64;
    let error = working["standard_error"].as_f64().unwrap();
    assert!(error < 0.002 && (share - 1.0).abs() < 5.0 * error, "{share} {error}");
    assert!((working["uses_per_block"].as_f64().unwrap() - 1.5).abs() < 0.01);
}

proptest! {
    #[test]
    fn figures_agree_with_a_plain_model(
        requests in prop::collection::vec((0u64..200_000_000, 0u32..2, any::<bool>(), 0u64..64, 1u64..40), 1..80),
    ) {
        let mut survey = Survey::default();
        let (mut time, mut blocks, mut ends) = (0, HashMap::<(u32, u64), u64>::new(), HashMap::<u32, u64>::new());
        let (mut sequential, mut followed) = (0u64, 0u64);
        for &(gap, device, is_read, sector, count) in &requests {
            time += gap;
            let kind = if is_read { Kind::Read } else { Kind::Write };
            let record = Record::new(time, device, kind, sector * 512, count * 512);
            survey.take(&record);
            for block in record.offset / 4_096..=(record.end() - 1) / 4_096 {
                *blocks.entry((device, block)).or_default() += 1;
            }
            if let Some(end) = ends.insert(device, record.end()) {
                followed += 1;
                sequential += u64::from(end == record.offset);
            }
        }
        let options = Options { format: Some(Format::Spc), ..Options::default() };
        let (_, reader) = read_with(b"0,0,512,R,0\n", &options).unwrap();
        let found = serde_json::to_value(survey.report(&reader).unwrap()).unwrap();
        prop_assert_eq!(&found["working_set"]["bytes"], blocks.len() as u64 * 4_096);
        let uses: u64 = blocks.values().sum();
        prop_assert_eq!(&found["working_set"]["uses_per_block"], uses as f64 / blocks.len() as f64);
        if followed > 0 {
            prop_assert_eq!(&found["locality"]["sequential_share"], sequential as f64 / followed as f64);
        }
        let sum = |name: &str| found["over_time"][name].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).sum::<u64>();
        prop_assert_eq!(sum("reads") + sum("writes"), requests.len() as u64);
    }

    #[test]
    fn time_in_the_system_is_spread_whole(
        requests in prop::collection::vec((0u64..1 << 40, 0u64..1 << 36), 1..40),
    ) {
        let mut survey = Survey::default();
        for &(time, response) in &requests {
            let record = Record { response_ns: Some(response), ..Record::new(time, 0, Kind::Write, 0, 512) };
            survey.take(&record);
        }
        let options = Options { format: Some(Format::Spc), ..Options::default() };
        let (_, reader) = read_with(b"0,0,512,R,0\n", &options).unwrap();
        let found = serde_json::to_value(survey.report(&reader).unwrap()).unwrap();
        let series = &found["over_time"];
        let depths = series["mean_depth"].as_array().unwrap();
        prop_assert!(depths.len() <= 512);
        let spread: f64 = depths.iter().map(|depth| depth.as_f64().unwrap()).sum::<f64>() * series["width_ns"].as_f64().unwrap();
        let whole: u64 = requests.iter().map(|(_, response)| response).sum();
        prop_assert!((spread - whole as f64).abs() <= 1e-6 * (whole as f64 + 1.0));
    }
}
