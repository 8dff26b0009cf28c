//! Actions on a device while it is served: faults with their length, and what concerns the session alone.
use drivelab_core::setup::Injection;
use drivelab_core::storage::{Fault, Lasting, Slowness};
use drivelab_trace::formats::native::InjectedKind;
use drivelab_units::{Span, key};

/// Every corrupted sector has its own content in memory afterwards: 32 MiB at most.
const CORRUPT_MAX: u64 = 65_536;
/// The longest time that an action takes: with it the model's clock does not overflow.
const LASTS_MAX: Span = Span::from_s(366 * 24 * 3_600);

/// An action on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    pub kind: Kind,
    /// Whether the scenario has scheduled it; all others come from a user.
    pub scenario: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A fault, or other work from outside. A power cut lasts until the power returns.
    Fault(Fault, Lasting),
    /// The power is cut at a random instant while a write is under way, and returns.
    CutInWrite(Lasting),
    /// An array that was not started after a power cut, because it was dirty and degraded, starts.
    Start,
    /// Reports the status of the device, and changes nothing.
    Status,
}

impl From<Fault> for Kind {
    fn from(fault: Fault) -> Self {
        Kind::Fault(fault, Lasting::ForGood)
    }
}

impl From<Kind> for Action {
    fn from(kind: Kind) -> Self {
        Action { kind, scenario: false }
    }
}

impl From<Fault> for Action {
    fn from(fault: Fault) -> Self {
        Kind::from(fault).into()
    }
}

/// An injection of the scenario, as exactly as a trace records it.
impl From<&Injection> for Action {
    fn from(injection: &Injection) -> Self {
        let fault = InjectedKind::recorded(injection.fault);
        Action { kind: Kind::Fault(fault, injection.lasting), scenario: true }
    }
}

impl Action {
    /// The member that it affects; `None` if it affects the whole device.
    pub fn member(&self) -> Option<u16> {
        if let Kind::Fault(fault, _) = self.kind { fault.drive() } else { None }
    }

    /// Its name in requests and records.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Fault(fault, _) => fault.name(),
            Kind::CutInWrite(_) => Fault::CutPower.name(),
            Kind::Start => "start",
            Kind::Status => "status",
        }
    }

    /// Checks the limits of its values.
    ///
    /// # Errors
    /// What is wrong, in one sentence with a remedy.
    pub fn check(&self) -> Result<(), String> {
        let (fault, lasting) = match self.kind {
            Kind::Fault(fault, lasting) => (Some(fault), lasting),
            Kind::CutInWrite(lasting) => (None, lasting),
            Kind::Start | Kind::Status => return Ok(()),
        };
        if let Some(Fault::Corrupt { count, .. }) = fault
            && count.get() > CORRUPT_MAX
        {
            return Err(format!(
                "{}: corrupt takes at most {CORRUPT_MAX} at a time, whose bytes are drawn anew",
                key!("sectors")
            ));
        }
        let hangs = if let Some(Fault::Hang { lasts, .. }) = fault { lasts } else { None };
        let over = match fault {
            Some(Fault::Slow { how: Some(Slowness::Ramp { over, .. }), .. }) => Some(over),
            _ => None,
        };
        let times = [
            (key!("for_ns"), lasting.length().or(hangs)),
            (key!("over_ns"), over),
            (key!("every_ns"), lasting.every()),
        ];
        match times.iter().find(|(_, time)| time.is_some_and(|time| time > LASTS_MAX)) {
            Some((option, _)) => {
                Err(format!("{option}: the longest time is 366 days, {LASTS_MAX}: give a shorter one"))
            }
            None => Ok(()),
        }
    }

    /// Whether a scheduled action `later` is obsolete because this action has set the same state of the same member
    /// anew, on the same side (user or scenario).
    pub fn overtakes(&self, later: &Action) -> bool {
        let state = |action: &Action| match action.kind {
            Kind::Fault(Fault::Slow { drive, .. }, _) => Some((0, drive)),
            Kind::Fault(Fault::LyingFlush { drive, .. }, _) => Some((1, drive)),
            Kind::Fault(Fault::Fail { drive } | Fault::Replace { drive }, _) => Some((2, drive)),
            _ => None,
        };
        self.scenario == later.scenario && state(self).is_some() && state(self) == state(later)
    }
}

#[cfg(test)]
#[path = "action_tests.rs"]
mod tests;
