//! How a drive lets go of its bus: each key of the file, and what it costs when nothing is said.
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::disconnect::DisconnectParams;
use drivelab_core::storage::drive::params::Overhead;
use drivelab_scenario::{NoFiles, Problems, Source, plan};
use drivelab_units::Span;

fn bus(keys: &str) -> Result<DisconnectParams, Problems> {
    let text = format!("[target.drive]\nbase = \"wd-4tb-7200\"\n{keys}\n");
    let plan = plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles)?;
    match &plan.points[0].setup.target {
        TargetParams::Drive(model) => Ok(model.disconnect),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_drive_lets_go_of_its_bus_as_its_file_says() {
    let us = Span::from_us;
    let plain = bus("").unwrap();
    assert!(!plain.holds && plain.second_release.is_none());
    assert!(plain.times().into_iter().all(Span::is_zero));
    let bus = bus("[target.drive.disconnect]\nkeeps_bus = true\npreparation = \"1us\"\nreselection = \"2us\"\n\
         read_release = { after_read = \"3us\", after_write = \"4us\" }\nwrite_release = \"5us\"\n\
         second = { command = \"6us\", release = \"7us\", away = \"8us\", arm = \"-9us\", release_again = \"10us\", \
         reselection = \"11us\" }")
    .unwrap();
    assert!(bus.holds);
    assert_eq!([bus.preparation, bus.reselection, bus.write_release], [us(1), us(2), us(5)]);
    assert_eq!(bus.read_release, Overhead { after_read: us(3), after_write: us(4) });
    let second = bus.second_release.unwrap();
    assert_eq!([second.command, second.release, second.away], [us(6), us(7), us(8)]);
    assert_eq!([second.release_again, second.reselection], [us(10), us(11)]);
    assert_eq!(second.arm_ns, -9_000);
}

#[test]
fn times_of_the_bus_have_a_limit() {
    let problems =
        bus("[target.drive.disconnect]\nreselection = \"11s\"\nsecond = { away = \"1min\" }").unwrap_err();
    let messages: Vec<&str> = problems.0.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["`reselection` is too long", "`away` is too long"]);
    // Each by itself may be, and both together not.
    let sum = bus("[target.drive.disconnect]\nsecond = { release = \"6s\", away = \"6s\" }").unwrap_err();
    assert!(sum.0[0].remedy.as_ref().unwrap().contains("disconnect"), "{sum}");
}
