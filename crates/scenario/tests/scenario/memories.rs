//! The caches of hosts and controllers: what their keys come to, and whose I/Os use them.
use crate::common;
use crate::common::Files;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_scenario::{Plan, Problems};
use drivelab_units::{Rate, Sectors, Span};

const CARD: &str =
    "base = \"intel-ich9r\"\ncache = { size = \"64MiB\", limit = \"48MiB\", battery = true }\n";

const FILES: Files = Files(&[("card.toml", CARD)]);

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Problems> {
    common::read(text, overrides, &FILES)
}

fn planned(keys: &str, overrides: &[(&str, &str)]) -> Plan {
    let text = format!("[target]\ndrive = \"wd-4tb-7200\"\n{keys}\n");
    read(&text, overrides).unwrap_or_else(|problems| panic!("{text}\n{problems}"))
}

fn system(keys: &str) -> SystemParams {
    match &planned(keys, &[]).points[0].setup.target {
        TargetParams::System(system) => system.clone(),
        other => panic!("{other:?}"),
    }
}

fn mib(mib: u64) -> Sectors {
    Sectors::new(mib << 11)
}

#[test]
fn what_is_left_out_of_a_hosts_cache_is_as_linux_has_it() {
    let expected = WriteBehindParams {
        size: mib(1_000),
        limit: mib(200),
        background: mib(100),
        age: Some(Span::from_s(30)),
        order: FlushOrder::Address,
        request: Sectors::new(1_024),
        outstanding: 128,
        rate: Rate::from_bytes_per_s(2_000_000_000),
        overhead: Span::from_us(5),
        battery: false,
        force_unit_access: false,
        keeps_reads: true,
        stripe: None,
        stripe_wait: WriteBehindParams::STRIPE_WAIT,
        write_through: false,
        read_ahead: None,
    };
    let system = system("host_cache.size = \"1000MiB\"");
    assert_eq!((system.host_cache, system.controller.cache), (Some(expected), None));
    assert_eq!(expected.check(), Ok(()));
}

#[test]
fn what_is_left_out_of_a_controllers_cache_goes_on_as_it_comes() {
    let of = |keys: &str| system(keys).controller.cache.unwrap();
    let cache = of("controller.cache.size = \"64MiB\"");
    assert_eq!((cache.limit, cache.background, cache.age), (mib(64), Sectors::ZERO, None));
    assert_eq!((cache.outstanding, cache.keeps_reads, cache.battery), (32, false, false));
    // As many as the controller keeps with this drive.
    assert_eq!(of("controller = { interface = \"legacy-ide\", cache.size = \"64MiB\" }").outstanding, 1);
    assert_eq!(of("controller = { depth = 7, cache.size = \"64MiB\" }").outstanding, 7);
    assert_eq!(system("host_cache.size = \"1MiB\"\ncontroller = { cache = false }").controller.cache, None);
}

#[test]
fn every_key_of_a_memory_arrives() {
    let keys = "{ size = \"64MiB\", limit = \"50%\", background = \"8MiB\", age = \"3s\", order = \"age\", \
                request = \"64KiB\", outstanding = 4, rate = \"2GB/s\", overhead = \"5us\", battery = true, \
                force_unit_access = true, keeps_reads = true }";
    let expected = WriteBehindParams {
        size: mib(64),
        limit: mib(32),
        background: mib(8),
        age: Some(Span::from_s(3)),
        order: FlushOrder::Age,
        request: Sectors::new(128),
        outstanding: 4,
        rate: Rate::from_bytes_per_s(2_000_000_000),
        overhead: Span::from_us(5),
        battery: true,
        force_unit_access: true,
        keeps_reads: true,
        stripe: None,
        stripe_wait: WriteBehindParams::STRIPE_WAIT,
        write_through: false,
        read_ahead: None,
    };
    assert_eq!(system(&format!("controller.cache = {keys}")).controller.cache, Some(expected));
    let host = WriteBehindParams { battery: false, ..expected };
    let keys = keys.replace("battery = true, ", "");
    assert_eq!(system(&format!("host_cache = {keys}")).host_cache, Some(host));
}

#[test]
fn keys_of_read_ahead_and_of_rows_arrive() {
    let of = |keys: &str| {
        let cache = format!("controller.cache = {{ size = \"64MiB\", {keys} }}");
        system(&cache).controller.cache.unwrap()
    };
    let lines = |unit, window, outstanding| ReadAhead {
        unit: Sectors::new(unit),
        window: Sectors::new(window),
        outstanding,
        after: 2,
        streams: 32,
    };
    let cache = of("stripe_wait = \"20ms\", write_through = true, read_ahead = false");
    assert_eq!((cache.stripe, cache.stripe_wait), (None, Span::from_ms(20)));
    assert_eq!((cache.write_through, cache.read_ahead), (true, None));
    assert_eq!(of("read_ahead = {}").read_ahead, Some(lines(128, 512, 4)));
    assert_eq!(of("read_ahead = { unit = \"16KiB\" }").read_ahead, Some(lines(32, 128, 4)));
    assert_eq!(of("read_ahead = { window = \"1MiB\" }").read_ahead, Some(lines(128, 2_048, 16)));
    assert_eq!(of("read_ahead = { window = \"0B\" }").read_ahead, Some(lines(128, 0, 1)));
    let every = "unit = \"64KiB\", window = \"2MiB\", outstanding = 3, after = 5, streams = 7";
    let expected = ReadAhead { after: 5, streams: 7, ..lines(128, 4_096, 3) };
    assert_eq!(of(&format!("read_ahead = {{ {every} }}")).read_ahead, Some(expected));
    // As Linux reads ahead in pages.
    let host = system("host_cache = { size = \"64MiB\", read_ahead = {} }").host_cache.unwrap();
    assert_eq!(host.read_ahead, Some(lines(8, 256, 32)));
    // No more than there is room for.
    let small = system("host_cache = { size = \"64KiB\", read_ahead = {} }").host_cache.unwrap();
    assert_eq!(small.read_ahead, Some(lines(8, 128, 16)));
    assert_eq!([cache, host, small].map(|cache| cache.check()), [Ok(()); 3]);
}

#[test]
fn what_is_read_ahead_must_fit_into_the_memory() {
    let card = "{ base = \"card.toml\", cache = { size = \"1MiB\", read_ahead = { unit = \"2MiB\" } } }";
    let text = format!("[target]\ndrive = \"wd-4tb-7200\"\ncontroller = {card}\n");
    let problems = read(&text, &[]).unwrap_err().to_string();
    assert!(problems.contains("`unit` of 2MiB is more than the cache, 1MiB"), "{problems}");
    let nothing = "controller.cache = { size = \"1MiB\", read_ahead = { unit = \"0B\" } }";
    let text = format!("[target]\ndrive = \"wd-4tb-7200\"\n{nothing}\n");
    assert!(read(&text, &[]).unwrap_err().to_string().contains("`unit` must be more than zero"));
}

#[test]
fn a_controllers_file_gives_way_to_the_size_of_the_scenario() {
    let own = system("controller = \"card.toml\"").controller.cache.unwrap();
    assert_eq!((own.size, own.limit, own.battery), (mib(64), mib(48), true));
    let small =
        system("controller = { base = \"card.toml\", cache.size = \"8MiB\" }").controller.cache.unwrap();
    assert_eq!((small.size, small.limit, small.battery), (mib(8), mib(8), true));
    let sizes = [("target.controller.cache.size", "8MiB,16MiB")];
    let limits = [("target.controller.cache.limit", "4MiB,12MiB")];
    let swept = planned("controller = \"card.toml\"", &[sizes[0], limits[0]]);
    assert_eq!((swept.points.len(), swept.skipped.len()), (3, 1));
    assert_eq!(
        system("host_cache.size = \"1MiB\"\ncontroller = { base = \"card.toml\", cache = false }")
            .controller
            .cache,
        None
    );
}

#[test]
fn ios_are_direct_unless_the_host_has_a_cache() {
    let direct = |keys: &str, overrides: &[(&str, &str)]| -> Vec<bool> {
        let points = planned(keys, overrides).points;
        points.iter().map(|point| point.setup.jobs[0].marking.direct).collect()
    };
    assert_eq!(direct("", &[]), [true]);
    assert_eq!(direct("", &[("workload.direct", "1")]), [true]);
    let cached = "host_cache.size = \"1GiB\"";
    assert_eq!(direct(cached, &[]), [false]);
    assert_eq!(direct(cached, &[("workload.direct", "0,1")]), [false, true]);
    assert_eq!(direct(cached, &[("workload.direct", "false,true")]), [false, true]);
    // In a sweep over hosts with a cache and without, the key counts for some of the points.
    let sizes = [("target.host_cache", "[false, { size = \"1GiB\" }]"), ("workload.direct", "false")];
    assert_eq!(direct("", &sizes), [true, false]);
    let listed = planned(
        "host_cache.size = \"1GiB\"\n[workload]\ncommands = [{ rw = \"write\" }, { direct = true }]",
        &[],
    );
    let fed = listed.points[0].setup.fed.as_ref().unwrap();
    let listed: Vec<bool> = fed.ios.iter().map(|io| io.command.direct).collect();
    assert_eq!(listed, [false, true]);
}

#[test]
fn fio_goes_through_the_page_cache_where_the_host_has_one() {
    let fio = |keys: &str| planned(keys, &[]).points[0].fio.clone();
    assert!(!fio("").contains("direct=0"));
    assert!(fio("host_cache.size = \"1GiB\"").contains("\ndirect=0\n"));
    assert!(!fio("host_cache.size = \"1GiB\"\n[workload]\ndirect = 1").contains("direct=0"));
}
