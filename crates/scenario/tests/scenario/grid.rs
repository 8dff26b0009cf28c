//! Grids some of whose points cannot be: those are left out and named, and the others are what they would be alone.
use crate::common;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::protocol::{Naca, NcqParams, Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_scenario::{InForce, NoFiles, Plan, Problems};

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &NoFiles)
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
    assert_eq!(problems.0.len(), 1);
    assert!(problems.0[0].message.contains("one command at a time"));
    assert_eq!(problems.0[0].text, "c-look");
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

/// The protocol in force at each point, with its depth.
fn in_force(plan: &Plan) -> Vec<String> {
    let named = |point: &drivelab_scenario::Point| {
        let InForce { protocol, depth, .. } = point.in_force.clone().unwrap();
        format!("{} {protocol} {depth}", at(&point.axes))
    };
    plan.points.iter().map(named).collect()
}

#[test]
fn what_controller_and_drive_share_is_in_force() {
    let interfaces = ("target.controller.interface", "ahci,legacy-ide,ata-tcq,scsi");
    let protocols = ("target.queue.protocol", "ncq,ata-tcq,scsi-tcq,none");
    let plan = read(DRIVE, &[protocols, interfaces]).unwrap();
    let shared: Vec<String> =
        in_force(&plan).into_iter().filter(|point| !point.ends_with(" none 1")).collect();
    assert_eq!(plan.points.len(), 16);
    assert_eq!(shared, ["ncq ahci ncq 32", "ata-tcq ata-tcq ata-tcq 32", "scsi-tcq scsi scsi-tcq 64"]);
}

#[test]
fn the_depth_in_force_is_the_least_of_drive_controller_and_tags() {
    let depths = [("target.queue.depth", "4,600"), ("target.controller.depth", "1,31,300")];
    let plan = read(DRIVE, &[depths[0], depths[1], ("target.queue.scsi.tags", "256")]).unwrap();
    let expected = ["4 1 scsi-tcq 1", "4 31 scsi-tcq 4", "600 1 scsi-tcq 1", "600 31 scsi-tcq 31"];
    assert_eq!(in_force(&plan), expected);
    assert!(plan.skipped.iter().all(|skipped| skipped.reason.contains("an initiator has 256 tags")));
    let plan = read(DRIVE, &[("target.queue.scsi.disconnects", "true,false")]).unwrap();
    assert_eq!(in_force(&plan), ["true scsi-tcq 64", "false scsi-tcq 1"]);
}

#[test]
fn a_depth_is_left_out_behind_an_interface_that_shares_no_queue() {
    let plan = read(
        "target.drive = \"wd-4tb-7200\"\n",
        &[("target.controller.interface", "ahci,legacy-ide"), ("target.controller.depth", "1,31,64")],
    );
    let plan = plan.unwrap();
    assert_eq!(in_force(&plan), ["ahci 1 ncq 1", "ahci 31 ncq 31", "legacy-ide 1 none 1"]);
    let skipped: Vec<String> = plan.skipped.iter().map(|skipped| at(&skipped.axes)).collect();
    assert_eq!(skipped, ["ahci 64", "legacy-ide 31", "legacy-ide 64"]);
}

#[test]
fn a_drives_queue_and_a_schedulers_order_make_one_grid() {
    let text =
        "[target]\ndrive = \"wd-4tb-7200\"\nqueue.depth = [1, 31]\nelevator = [\"none\", \"c-look\"]\n";
    let orders = |plan: &Plan| -> Vec<(u32, Option<u32>)> {
        let of = |point: &drivelab_scenario::Point| match &point.setup.target {
            TargetParams::Drive(model) => (model.queue.depth, None),
            TargetParams::System(system) => {
                (system.drives[0].queue.depth, system.elevator.map(|elevator| elevator.depth))
            }
            _ => panic!("the target is a drive"),
        };
        plan.points.iter().map(of).collect()
    };
    let plan = read(text, &[]).unwrap();
    assert_eq!(orders(&plan), [(1, None), (1, Some(1)), (31, None), (31, Some(31))]);
    // A key beside a name keeps the name, and where there is no scheduler it changes nothing.
    let deeper = read(text, &[("target.elevator.depth", "4")]).unwrap();
    assert_eq!(orders(&deeper), [(1, None), (1, Some(4)), (31, None), (31, Some(4))]);
    let tables = text.replace("[\"none\", \"c-look\"]", "{ order = [\"none\", \"c-look\"] }");
    assert_eq!(orders(&read(&tables, &[]).unwrap()), orders(&plan));
    let both = [("target.elevator.order", "fair,deadline"), ("target.elevator.quantum", "2,4")];
    assert_eq!(read(DRIVE, &both).unwrap().points.len(), 4);
}

#[test]
fn an_attribute_is_left_out_where_the_protocol_lacks_it() {
    let attributes = ("workload.attribute", "simple,ordered,head-of-queue,untagged");
    let plan = read(DRIVE, &[PROTOCOLS, attributes]).unwrap();
    let skipped: Vec<String> = plan.skipped.iter().map(|skipped| at(&skipped.axes)).collect();
    let lacking = ["none ordered", "none head-of-queue", "ncq ordered", "ncq head-of-queue"];
    assert_eq!((plan.points.len(), skipped), (8, lacking.map(String::from).to_vec()));
    let priorities = ("workload.priority", "normal,high,isochronous");
    let plan = read(DRIVE, &[PROTOCOLS, priorities, ("workload.icc", "10ms,20ms")]).unwrap();
    assert_eq!((plan.points.len(), plan.skipped.len()), (10, 8));
    let hosts =
        read(DRIVE, &[PROTOCOLS, ("workload.job.a.initiator", "1"), ("workload.job.b.initiator", "2")]);
    assert_eq!((hosts.as_ref().unwrap().points.len(), hosts.unwrap().skipped.len()), (1, 2));
}

#[test]
fn options_of_the_drives_protocol_give_way_to_the_scenarios() {
    let text = "[target.drive]\nbase = \"seagate-10k-scsi-74gb\"\n[target.drive.queue]\nrelease_time = \"0.1ms\"\n\
                scsi = { naca = true, disconnects = false }\n";
    let protocols = |text: &str, overrides: &[(&str, &str)]| -> Vec<Protocol> {
        let of = |point: &drivelab_scenario::Point| match &point.setup.target {
            TargetParams::Drive(model) => model.protocol,
            _ => panic!("the target is a drive"),
        };
        read(text, overrides).unwrap().points.iter().map(of).collect()
    };
    let own = ScsiParams { naca: Naca::ALL, disconnects: false, ..ScsiParams::USUAL };
    assert_eq!(protocols(text, &[]), [Protocol::ScsiTcq(own)]);
    assert_eq!(protocols(text, &[("target.queue.protocol", "ncq")]), [Protocol::Ncq(NcqParams::USUAL)]);
    let tags = ScsiParams { tags: 256, ..own };
    assert_eq!(protocols(text, &[("target.queue.scsi.tags", "256")]), [Protocol::ScsiTcq(tags)]);
    let both = [("target.queue.protocol", "scsi-tcq,ncq"), ("target.queue.ncq.rdnc", "true")];
    let aborts = NcqParams { rdnc: true, ..NcqParams::USUAL };
    assert_eq!(protocols(text, &both), [Protocol::ScsiTcq(own), Protocol::Ncq(aborts)]);
}
