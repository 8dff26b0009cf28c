//! Faults injected into drives during a run: when they are due, the calls to the target, and their effect.
use drivelab_core::Machine;
use drivelab_core::setup::Injection;
use drivelab_core::storage::{Fault, Target, TargetInput};
use drivelab_record::injections::InjectionRecord;
use drivelab_units::Instant;
use std::collections::VecDeque;

/// See the module.
#[derive(Debug, Default)]
pub struct Injections {
    /// In order of time; at one instant in the scenario's order.
    due: VecDeque<InjectionEvent>,
    /// When the first of them is due.
    next_at: Option<Instant>,
    records: Vec<InjectionRecord>,
}

#[derive(Clone, Copy, Debug)]
struct InjectionEvent {
    at: Instant,
    /// Its number in the scenario.
    number: usize,
    fault: Fault,
    /// Whether it ends a fault that began before.
    ends: bool,
}

impl Injections {
    pub fn new(injections: &[Injection]) -> Self {
        let due = injections.iter().enumerate();
        let due = due.map(|(number, &Injection { at, fault, .. })| InjectionEvent {
            at,
            number,
            fault,
            ends: false,
        });
        let next_at = injections.first().map(|injection| injection.at);
        Injections { due: due.collect(), next_at, records: injections.iter().map(record).collect() }
    }

    /// When the next fault is due; `None` where there is none.
    #[inline]
    pub fn next_at(&self) -> Option<Instant> {
        self.next_at
    }

    /// Injects one fault that is due by now. Returns it if the target has accepted it.
    #[cold]
    pub fn inject_next(
        &mut self,
        now: Instant,
        target: &mut Target,
        injections: &[Injection],
    ) -> Option<Fault> {
        if self.next_at()? > now {
            return None;
        }
        let InjectionEvent { at, number, fault, ends } = self.due.pop_front()?;
        let Injection { lasting, .. } = injections[number];
        if !ends && let (Some(lasts), Some(fault)) = (lasting.length(), fault.end()) {
            self.put(InjectionEvent { at: at + lasts, number, fault, ends: true });
        }
        if !ends && let Some(every) = lasting.every() {
            self.put(InjectionEvent { at: at + every, number, fault, ends });
        }
        self.next_at = self.due.front().map(|due| due.at);
        let result = target.handle(now, TargetInput::Inject(fault));
        let record = &mut self.records[number];
        match result {
            Ok(_) => {
                record.times += u64::from(!ends);
                Some(fault)
            }
            // On a failed drive a fault need not be ended.
            Err(error) => {
                if !ends {
                    record.refused = Some(error.to_string());
                }
                None
            }
        }
    }

    fn put(&mut self, new: InjectionEvent) {
        let place = self.due.partition_point(|due| due.at <= new.at);
        self.due.insert(place, new);
    }

    /// The records of all faults; `None` where none was scheduled.
    pub fn close(self) -> Option<Vec<InjectionRecord>> {
        (!self.records.is_empty()).then_some(self.records)
    }
}

fn record(injection: &Injection) -> InjectionRecord {
    let Injection { at, fault, .. } = *injection;
    let (what, drive) = (fault.name(), fault.drive().unwrap_or(0));
    InjectionRecord { what, drive, at_ns: at.as_ns(), times: 0, refused: None }
}
