//! Every buffer has an end: what the executor needs does not grow with the commands, behind caches and with logs.
use crate::common::sorted::Target;
use crate::common::{command, ms};
use crate::setups;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Machine};
use drivelab_data::Executor;
use drivelab_units::{Sectors, Span};

const WRITES: u64 = 200_000;
/// After so many everything has been written that there is, and logs have come round.
const FIRST: u64 = 40_000;

fn memory(battery: bool) -> WriteBehindParams {
    WriteBehindParams {
        size: Sectors::new(400),
        limit: Sectors::new(200),
        background: Sectors::new(100),
        age: Some(ms(8)),
        order: FlushOrder::Address,
        request: Sectors::new(64),
        outstanding: 2,
        rate: None,
        overhead: Span::ZERO,
        battery,
        force_unit_access: battery,
        keeps_reads: true,
        stripe: None,
        stripe_wait: Span::ZERO,
        write_through: false,
        read_ahead: None,
    }
}

/// The most bytes, and the most buffers, up to the first writes and afterwards.
fn most(params: &SystemParams) -> [(u64, usize); 2] {
    let mut target = Target::new(&TargetParams::System(params.clone()), 1);
    target.keep_data();
    let mut executor: Executor = Executor::of_system(params);
    let (mut now, mut most) = (drivelab_units::Instant::ZERO, [(0, 0); 2]);
    let capacity = target.capacity().get();
    for id in 0..WRITES {
        let (first, count) = (id * 7_919 % (capacity - 12), 1 + id % 12);
        let command = command(id, if id % 5 == 4 { Access::Read } else { Access::Write }, first, count);
        if command.access == Access::Write {
            executor.write(id, command.first, command.count);
        }
        target.handle(now, TargetInput::Submit(command));
        loop {
            while let Some(op) = target.poll_data() {
                executor.apply(now, op).expect("the target is right");
            }
            if let Some(completion) = target.poll_output() {
                executor.answered(&command, &completion).expect("the target is right");
                break;
            }
            now = target.poll_timeout().expect("it is answered").max(now);
            target.handle(now, TargetInput::Tick);
        }
        let part = &mut most[usize::from(id >= FIRST)];
        *part = (part.0.max(executor.bytes()), part.1.max(executor.buffers().len()));
    }
    most
}

fn is_flat(name: &str, params: &SystemParams) {
    let [first, later] = most(params);
    println!("{name}: {first:?} bytes and buffers up to {FIRST} commands, {later:?} up to {WRITES}");
    assert!(later.0 <= first.0 + first.0 / 10, "{name}: {first:?}, then {later:?}");
    assert!(later.1 <= first.1 + first.1 / 10 + 8, "{name}: {first:?}, then {later:?}");
}

fn raid5(consistency_policy: ConsistencyPolicy) -> ArrayParams {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    ArrayParams { consistency_policy, ..ArrayParams::plain(level, 4) }
}

#[test]
fn behind_a_host_cache_memory_stays_flat() {
    let plain = setups::bare(raid5(ConsistencyPolicy::None));
    is_flat("host cache", &SystemParams { host_cache: Some(memory(false)), ..plain });
}

#[test]
fn behind_a_controller_cache_memory_stays_flat() {
    let mut params = setups::forgetful(raid5(ConsistencyPolicy::None));
    params.controller.cache = Some(memory(true));
    is_flat("controller cache", &params);
}

#[test]
fn behind_both_caches_and_without_an_array_memory_stays_flat() {
    let mut params = setups::alone(5);
    params.controller.cache = Some(memory(false));
    params.host_cache = Some(WriteBehindParams { keeps_reads: false, ..memory(false) });
    is_flat("both caches", &params);
}

#[test]
fn with_a_journal_memory_stays_flat() {
    is_flat("journal", &setups::reordering(raid5(ConsistencyPolicy::Journal)));
}

#[test]
fn with_a_partial_parity_log_memory_stays_flat() {
    is_flat("partial parity log", &setups::reordering(raid5(ConsistencyPolicy::PartialParityLog)));
}

#[test]
fn with_a_bitmap_memory_stays_flat() {
    let bitmap = ConsistencyPolicy::Bitmap { region: Sectors::new(32), clears_after: ms(5) };
    is_flat("bitmap", &setups::forgetful(raid5(bitmap)));
}
