//! The range of a job, in amounts and in percent, and the rates of arrival that are accepted.
use drivelab_scenario::{NoFiles, Plan, Problems, Source, plan, scenario_reference};

fn read(keys: &str) -> Result<Plan, Problems> {
    let text = format!("target.drive = \"wd-4tb-7200\"\n[workload]\n{keys}\n");
    plan(&Source { origin: "a.toml".to_owned(), text }, &[], &NoFiles)
}

/// The first sector of the job, and how many there are.
fn range(keys: &str) -> (u64, u64) {
    let plan = read(keys).unwrap_or_else(|problems| panic!("{keys}\n{problems}"));
    let job = &plan.points[0].setup.jobs[0];
    (job.first.get(), job.count.get())
}

#[test]
fn all_of_the_target_is_all_from_the_offset_on_and_other_lengths_are_held_to() {
    let (_, all) = range("");
    let (half, _) = range("offset = \"50%\"");
    assert_eq!(range("offset = \"50%\"\nsize = \"100%\""), (half, all - half));
    assert_eq!(range("offset = \"50%\"\nsize = \"25%\"").1, all / 4 / 8 * 8);
    for size in ["60%", "99%", "3TB"] {
        let problems = read(&format!("offset = \"50%\"\nsize = \"{size}\"")).expect_err(size);
        assert!(problems.to_string().contains("behind the target's"), "{problems}");
    }
}

#[test]
fn round_figures_lose_a_remainder_and_bytes_are_held_to() {
    assert_eq!(range("offset = \"100MB\"\nsize = \"0.5GB\""), (195_312, 976_562));
    assert_eq!(range("offset = \"1024B\"\nsize = \"1024kB\""), (2, 2000));
    for key in ["offset", "size"] {
        let problems = read(&format!("{key} = \"100kB\"")).expect_err(key);
        assert!(problems.to_string().contains("100000 bytes are no whole number of sectors"), "{problems}");
    }
}

#[test]
fn the_rates_of_the_reference_are_those_that_are_accepted() {
    assert!(scenario_reference().contains("| `rate_iops` | number, 0.001 to 10000000, or"));
    for rate in ["0.001", "10000000", "\"0.5/s\""] {
        assert!(read(&format!("rate_iops = {rate}")).is_ok(), "{rate}");
    }
    for rate in ["0", "0.0001", "10000001"] {
        let problems = read(&format!("rate_iops = {rate}")).expect_err(rate);
        assert!(problems.to_string().contains("from 0.001 to 10000000 per second"), "{problems}");
    }
}
