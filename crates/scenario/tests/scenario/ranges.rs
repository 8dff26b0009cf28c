//! The range of a job, in amounts and in percent, and the rates of arrival that are accepted.
use drivelab_scenario::{NoFiles, Plan, Problems, Source, plan, scenario_reference};

fn read(keys: &str) -> Result<Plan, Problems> {
    let text = format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{keys}\n");
    plan(&Source { origin: "a.toml".to_owned(), text }, &[], &NoFiles)
}

#[test]
fn the_rates_of_the_reference_are_those_that_are_accepted() {
    assert!(scenario_reference().contains("| `rate_iops` | number, 0.001 to 10000000, or"));
    for rate in ["0.001", "10000000", "\"0.5/s\""] {
        assert!(read(&format!("rate_iops = {rate}")).is_ok(), "{rate}");
    }
    for rate in ["0", "0.0001", "10000001"] {
        let problems = read(&format!("rate_iops = {rate}")).err().expect(rate);
        assert!(problems.to_string().contains("from 0.001 to 10000000 per second"), "{problems}");
    }
}
