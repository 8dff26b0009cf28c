//! Grids some of whose points cannot be: those are left out and named, and the others are what they would be alone.
use drivelab_core::target::TargetParams;
use drivelab_core::target::drive::queue::Order;
use drivelab_scenario::{NoFiles, Override, Plan, Problems, Source, plan};

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    let source = Source { origin: "a.toml".to_owned(), text: text.to_owned() };
    let over = |(key, value): &(&str, &str)| Override {
        key: (*key).to_owned(),
        value: (*value).to_owned(),
        origin: format!("--set {key}={value}"),
    };
    plan(&source, &overrides.iter().map(over).collect::<Vec<_>>(), &NoFiles)
}

const DRIVE: &str = "target.drive = \"seagate-10k-scsi-74gb\"\n";
const PROTOCOLS: (&str, &str) = ("target.queue.protocol", "none,ncq,scsi-tcq");
const ORDERS: (&str, &str) = ("target.queue.order", "fcfs,c-look,sptf");

/// The values of a place in the grid, joined.
fn at(axes: &[(String, serde_json::Value)]) -> String {
    axes.iter().map(|(_, value)| value.to_string().replace('"', "")).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_protocol_that_does_not_queue_leaves_out_the_orders_that_need_one() {
    let plan = read(DRIVE, &[PROTOCOLS, ORDERS, ("workload.iodepth", "1,64")]).unwrap();
    let skipped: Vec<String> = plan.skipped.iter().map(|skipped| at(&skipped.axes)).collect();
    assert_eq!(skipped, ["none c-look 1", "none c-look 64", "none sptf 1", "none sptf 64"]);
    assert!(plan.skipped.iter().all(|skipped| skipped.reason.contains("one command at a time")));
    assert_eq!((plan.points.len(), at(&plan.points[2].axes)), (14, "ncq fcfs 1".to_owned()));
    let alone = read(DRIVE, &[(PROTOCOLS.0, "ncq"), (ORDERS.0, "sptf"), ("workload.iodepth", "64")]);
    let same = plan.points.iter().find(|point| at(&point.axes) == "ncq sptf 64").unwrap();
    assert_eq!(same.hash, alone.unwrap().points[0].hash);
}

#[test]
fn a_depth_beyond_the_tags_is_left_out_where_the_protocol_has_fewer() {
    let plan = read(DRIVE, &[PROTOCOLS, ("target.queue.depth", "1,32,64")]).unwrap();
    let skipped: Vec<String> = plan.skipped.iter().map(|skipped| at(&skipped.axes)).collect();
    assert_eq!(skipped, ["none 32", "none 64", "ncq 64"]);
    assert!(plan.skipped[2].reason.contains("NCQ has 32 tags"));
}

#[test]
fn a_range_beyond_the_smaller_of_two_drives_is_left_out_there() {
    let drives = ("target.drive", "seagate-10k-scsi-74gb,wd-4tb-7200");
    let plan = read("", &[drives, ("workload.size", "50GB,500GB")]).unwrap();
    assert_eq!(plan.skipped.len(), 1);
    assert!(plan.skipped[0].reason.contains("behind the target's"), "{}", plan.skipped[0].reason);
}

#[test]
fn an_io_larger_than_its_range_is_left_out_where_the_range_is_small() {
    let text =
        "[target]\nserver.mean = \"1ms\"\n[workload]\nbs = [\"4k\", \"1m\"]\nsize = [\"8k\", \"2m\"]\n";
    let plan = read(text, &[]).unwrap();
    assert_eq!((plan.points.len(), at(&plan.skipped[0].axes)), (3, "1m 8k".to_owned()));
}

#[test]
fn where_no_point_can_be_it_is_an_error_with_every_reason_once() {
    let orders = (ORDERS.0, "c-look,sptf");
    let problems = read(DRIVE, &[("target.queue.protocol", "none"), orders]).unwrap_err();
    assert_eq!(problems.0.len(), 2);
    assert!(problems.0.iter().all(|problem| problem.message.contains("one command at a time")));
    assert_eq!((problems.0[0].text.as_str(), problems.0[1].text.as_str()), ("c-look", "sptf"));
    let single = read(DRIVE, &[("target.queue.protocol", "ncq"), ("target.queue.depth", "64")]);
    assert!(single.unwrap_err().to_string().contains("NCQ has 32 tags"));
}

#[test]
fn a_value_that_is_none_stays_an_error_beside_points_that_are_left_out() {
    let problems = read(DRIVE, &[PROTOCOLS, ORDERS, ("workload.bs", "4k,4q")]).unwrap_err();
    assert_eq!(problems.0.len(), 1, "{problems}");
    assert_eq!(problems.0[0].text, "4q");
}

#[test]
fn a_protocol_of_the_scenario_displaces_a_depth_of_the_drive_that_it_has_no_tags_for() {
    let plan = read(DRIVE, &[PROTOCOLS]).unwrap();
    let queues: Vec<(u32, Order)> = plan
        .points
        .iter()
        .map(|point| match &point.setup.target {
            TargetParams::Drive(model) => (model.queue.depth, model.queue.order),
            _ => panic!("the target is a drive"),
        })
        .collect();
    assert_eq!(queues, [(1, Order::Fcfs), (32, Order::Sptf), (64, Order::Sptf)]);
}
