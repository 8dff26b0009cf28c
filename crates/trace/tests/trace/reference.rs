//! Public traces that lie outside the repository: their exact counts.
//!
//! Below DRIVELAB_REFERENCE, or in shared/reference beside the checkout; without them a test says so and ends.
use crate::surveyed::report;
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Options, Reader};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[expect(clippy::print_stdout, reason = "a skip says why")]
fn path(name: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    let folder = std::env::var_os("DRIVELAB_REFERENCE").map_or(beside, PathBuf::from);
    let path = folder.join("traces").join(name);
    if !path.exists() {
        println!("skipped: no {name} (set DRIVELAB_REFERENCE)");
        return None;
    }
    Some(path)
}

/// The report of a reference trace, once with its format found and once given.
fn of(name: &str, format: Format, is_found: bool, options: &Options) -> Option<Value> {
    let bytes = std::fs::read(path(name)?).unwrap();
    let given = report(&bytes, &Options { format: Some(format), ..*options });
    if is_found {
        assert_eq!(report(&bytes, options), given);
    } else {
        let error = Reader::open(Box::new(&bytes[..]), options).err().unwrap().to_string();
        assert!(error.contains("read_flag"), "{error}");
    }
    Some(given)
}

fn numbers<const N: usize>(found: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| found[name].as_u64().unwrap())
}

const COUNTS: [&str; 4] = ["records", "requests", "reads", "devices"];
const STRICT: Options = Options {
    format: None,
    columns: None,
    among: &[],
    is_lenient: false,
    read_flag: None,
    unit_ns: None,
    device_bytes: None,
    is_sorted: false,
};

#[test]
fn msr_cambridge() {
    let Some(found) = of("msr-cambridge-hm0-sample.csv", Format::Msr, true, &STRICT) else { return };
    assert_eq!(numbers(&found, COUNTS), [1_000, 1_000, 508, 1]);
    let [first, last] = numbers(&found, ["first_ns", "last_ns"]);
    assert_eq!((last - first) / 1_000_000, 127_233);
    let mean = |kind: &str| found["responses"][kind]["mean_ns"].as_f64().unwrap().round();
    assert_eq!(((mean("read") / 1e3).round(), (mean("write") / 1e3).round()), (1_811.0, 141.0));
}

#[test]
fn systor_is_out_of_order_and_can_be_sorted() {
    let Some(path) = path("systor17-sample.csv.gz") else { return };
    let bytes = std::fs::read(path).unwrap();
    let strict = crate::tools::message(&bytes, &STRICT);
    assert!(strict.starts_with("line 3: the time is before that of the request above; sort"), "{strict}");
    for (is_lenient, is_sorted) in [(true, false), (false, true)] {
        let found = report(&bytes, &Options { is_lenient, is_sorted, ..STRICT });
        assert_eq!(numbers(&found, ["records", "requests"]), [999, 999]);
        assert_eq!(found["problems"].as_array().unwrap().is_empty(), is_sorted);
    }
}

#[test]
fn cloudphysics() {
    let Some(found) = of("cloudphysics.vscsi", Format::Vscsi1, true, &STRICT) else { return };
    assert_eq!(numbers(&found, COUNTS), [113_872, 113_872, 46_974, 1]);
    let [first, last] = numbers(&found, ["first_ns", "last_ns"]);
    assert_eq!((last - first + 500_000) / 1_000_000, 7_200_090);
}

#[test]
fn mqsim() {
    let Some(found) = of("mqsim-tpcc.trace", Format::Mqsim, false, &STRICT) else { return };
    assert_eq!(numbers(&found, COUNTS), [6_999, 6_999, 4_381, 16]);
    let [first, last] = numbers(&found, ["first_ns", "last_ns"]);
    assert_eq!((last - first + 50_000) / 100_000, 1_365);
}

#[test]
fn disksim_ascii() {
    let Some(found) = of("disksim-ascii.trace.gz", Format::Disksim, false, &STRICT) else { return };
    assert_eq!(numbers(&found, COUNTS), [100_000, 100_000, 79_634, 14]);
    assert_eq!(found["last_ns"].as_u64().unwrap() / 1_000_000, 1_532_949);
}

#[test]
fn blktrace_of_eight_processors() {
    let Some(folder) = path("blktrace-binary") else { return };
    let files: Vec<Vec<u8>> = (0..8)
        .map(|processor| std::fs::read(folder.join(format!("keks.blktrace.{processor}"))).unwrap())
        .collect();
    let sources = files.iter().map(|bytes| Box::new(&bytes[..]) as Box<_>).collect();
    let mut reader = Reader::open_blktrace(sources, &STRICT).unwrap();
    let mut survey = Survey::default();
    while let Some(record) = reader.next_request().unwrap() {
        survey.take(&record);
    }
    let found = serde_json::to_value(survey.report(&reader).unwrap()).unwrap();
    assert_eq!(found["records"], 2_589);
    // It has no queue events: requests begin as they are issued. Ten of 1,192 were issued twice.
    assert_eq!(numbers(&found, ["requests", "writes", "flushes", "discards"]), [1_182, 1_153, 24, 5]);
    assert_eq!(found["responses"]["recorded"], 1_182);
}
