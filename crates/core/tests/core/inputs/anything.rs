//! Random inputs at random targets: nothing panics, and what is wrong is told.
use super::{forgetful, small};
use crate::array::rig::array_of;
use crate::common::count_step;
use crate::common::scenarios::targets;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::{Accepted, Cure, Fault, Manage, Target, TargetInput, TargetParams};
use drivelab_core::{Access, Attribute, Command, Machine, Priority};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn arrays() -> impl Strategy<Value = TargetParams> {
    let parity = |parities| Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups: 1 };
    let levels = vec![(Level::Striped, 2), (Level::Mirrored, 3), (parity(1), 3), (parity(2), 4)];
    (prop::sample::select(levels), 0u16..2, any::<bool>(), any::<bool>()).prop_map(
        |((level, members), spares, journal, forgets)| {
            let journal = journal && matches!(level, Level::Parity { .. });
            let params = ArrayParams {
                spares: if level == Level::Striped { 0 } else { spares },
                consistency_policy: if journal {
                    ConsistencyPolicy::Journal
                } else {
                    ConsistencyPolicy::None
                },
                ..ArrayParams::plain(level, members)
            };
            array_of(params, &if forgets { forgetful() } else { small() })
        },
    )
}

fn wires() -> impl Strategy<Value = TargetParams> {
    crate::common::scenarios::all_drives()
        .prop_map(|params| TargetParams::Wire(Arc::new(DriveModel::new(&params).unwrap())))
}

/// Small numbers most of the time, and the greatest.
fn numbers(small: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        12 => 0..small,
        1 => prop::sample::select(vec![u64::MAX, u64::MAX - 1, 1 << 62, 1 << 52, 1 << 50, 1 << 32]),
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    let access = prop_oneof![3 => Just(Access::Read), 3 => Just(Access::Write), 1 => Just(Access::Flush)];
    let attribute = prop::sample::select(vec![
        Attribute::Simple,
        Attribute::Simple,
        Attribute::Simple,
        Attribute::Ordered,
        Attribute::HeadOfQueue,
        Attribute::Aca,
        Attribute::Untagged,
    ]);
    let priority = prop_oneof![
        6 => Just(Priority::Normal),
        1 => Just(Priority::High),
        1 => numbers(50_000_000).prop_map(|ns| Priority::Isochronous(Span::from_ns(ns))),
    ];
    let marks = (any::<bool>(), any::<bool>(), any::<bool>(), 0u8..3);
    let who = (0u16..3, 0u32..40);
    (numbers(30), access, numbers(4_900), numbers(40), attribute, priority, marks, who).prop_map(
        |(id, access, first, count, attribute, priority, marks, (initiator, tag))| Command {
            initiator,
            tag,
            attribute,
            priority,
            force_unit_access: marks.0,
            direct: marks.1,
            synchronous: marks.2,
            attempt: marks.3,
            ..Command::new(id, access, Lba::new(first), Sectors::new(count))
        },
    )
}

fn inputs() -> impl Strategy<Value = TargetInput> {
    let drive = || prop_oneof![9 => 0u16..5, 1 => any::<u16>()];
    let until = prop_oneof![Just(Cure::Written), Just(Cure::Never), any::<u8>().prop_map(Cure::Retries)];
    let spoils = (drive(), numbers(4_900), numbers(60), until).prop_map(|(drive, first, count, until)| {
        Fault::MediaError { drive, first: Lba::new(first), count: Sectors::new(count), until }
    });
    let fault = prop_oneof![
        spoils,
        drive().prop_map(|drive| Fault::LinkReset { drive }),
        (drive(), any::<bool>()).prop_map(|(drive, lies)| Fault::LyingFlush { drive, lies }),
    ];
    let manage = prop_oneof![
        (0u16..3, 0u32..40).prop_map(|(initiator, tag)| Manage::Abort { initiator, tag }),
        (0u16..3).prop_map(|initiator| Manage::ClearAllegiance { initiator }),
        Just(Manage::ReadLog),
    ];
    let work = prop::sample::select(vec![SyncKind::Rebuild, SyncKind::Resync, SyncKind::Scrub]);
    prop_oneof![
        20 => commands().prop_map(TargetInput::Submit),
        4 => Just(TargetInput::Tick),
        4 => numbers(30).prop_map(|id| TargetInput::Abort { id }),
        2 => drive().prop_map(|drive| TargetInput::Inject(Fault::Fail { drive })),
        2 => drive().prop_map(|drive| TargetInput::Inject(Fault::Replace { drive })),
        2 => work.prop_map(|work| TargetInput::Inject(Fault::Begin { work })),
        3 => fault.prop_map(TargetInput::Inject),
        3 => manage.prop_map(TargetInput::Manage),
        1 => Just(TargetInput::Inject(Fault::CutPower)),
    ]
}

/// Hears answers: each is that of a command that is under way.
fn drain_outputs(target: &mut Target, under_way: &mut BTreeSet<u64>) -> Result<(), TestCaseError> {
    while let Some(output) = target.poll_output() {
        let Some(completion) = output.completed() else { continue };
        prop_assert!(under_way.remove(&completion.id), "{:?}", completion);
        prop_assert_eq!(completion.breakdown.total(), completion.completed - completion.submitted);
    }
    Ok(())
}

/// Instants of a few events each at the most that are played after the last input.
const STEPS: u32 = 3_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 256 } else { 1_024 }))]
    #[test]
    fn no_input_makes_a_target_panic_and_each_command_is_answered_once(
        params in prop_oneof![2 => targets(), 2 => arrays(), 1 => wires()],
        inputs in prop::collection::vec((prop_oneof![20 => 0u64..3_000_000, 1 => numbers(3_000_000)], inputs()), 1..60),
        keeps in any::<(bool, bool)>(),
    ) {
        let mut target = Target::new(&params, 1);
        if keeps.0 {
            target.keep_traces();
        }
        if keeps.1 {
            target.keep_data();
        }
        let (mut now, mut under_way, mut steps) = (0u64, BTreeSet::new(), 0);
        for (ahead, input) in inputs.into_iter().map(Some).chain([None]).map(|next| next.unwrap_or((0, TargetInput::Tick))) {
            let at = now.wrapping_add(ahead);
            // Everything on the way at its own instant, so that the test can count.
            while let Some(due) = target.poll_timeout().filter(|due| due.as_ns() <= at && at < 1 << 40 && steps < STEPS) {
                count_step(due);
                target.pass_to(due).unwrap();
                steps += 1;
            }
            if steps == STEPS {
                break;
            }
            let passed = target.pass_to(Instant::from_ns(at));
            drain_outputs(&mut target, &mut under_way)?;
            let accepted = target.handle(Instant::from_ns(at), input);
            let is_time = at >= now && at <= 1 << 62;
            prop_assert!(passed.is_ok() == is_time && (is_time || accepted.is_err()), "{:?} at {}", input, at);
            if is_time {
                now = at;
            }
            if let (TargetInput::Submit(command), Ok(accepted)) = (input, accepted) {
                let is_numbered = matches!(accepted, Accepted::Submitted { .. });
                prop_assert!(is_numbered, "{:?}", accepted);
                prop_assert!(under_way.insert(command.id), "{} is under way", command.id);
            }
            let is_cut = input == TargetInput::Inject(Fault::CutPower) && accepted.is_ok();
            drain_outputs(&mut target, &mut under_way)?;
            if is_cut {
                under_way.clear();
            }
        }
    }
}
