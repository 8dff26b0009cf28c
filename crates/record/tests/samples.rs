//! Sample records of every version, in `tests/records`: another program reads their histograms and finds their figures.
//! `tests/python/test_record_samples.py` reads the same files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drivelab_record::RECORD_VERSION;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn samples() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/records");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap_or(Value::Null);
        if name.starts_with('v') && document["record_version"].is_u64() {
            found.push((name, document));
        }
    }
    found
}

#[test]
fn every_version_has_a_sample() {
    let versions: BTreeSet<u64> =
        samples().iter().map(|(_, document)| document["record_version"].as_u64().unwrap()).collect();
    assert_eq!(versions, (1..=u64::from(RECORD_VERSION)).collect());
}

#[test]
fn the_histograms_of_samples_hold_their_figures() {
    let mut read = 0;
    for (name, document) in samples() {
        for point in document["points"].as_array().unwrap() {
            for direction in ["read", "write"] {
                let part = &point[direction];
                let bytes = STANDARD.decode(part["histogram"].as_str().unwrap()).unwrap();
                let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                let latency = &part["latency_ns"];
                assert_eq!(histogram.len(), latency["n"].as_u64().unwrap(), "{name}, {direction}");
                read += histogram.len();
                for (key, share) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999)] {
                    if let Some(ns) = latency[key].as_u64() {
                        assert_eq!(histogram.value_at_quantile(share), ns, "{name}, {direction}, {key}");
                    }
                }
            }
        }
    }
    assert!(read > 1_000);
}
