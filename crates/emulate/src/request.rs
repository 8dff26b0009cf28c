//! An action as JSON: a request of the control socket, and an entry of a session's record.
use crate::action::{Action, Kind};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::{Cure, Fault, Lasting, Slowness};
use drivelab_trace::formats::native::millionths;
use drivelab_units::{Lba, Sectors, Share, Span, key};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

const MILLION: u64 = 1_000_000;
const BY: &str = key!("by_ns");
const FACTOR: &str = key!("factor");
const OVER: &str = key!("over_ns");
const SHARE: &str = key!("share_ppm");
const FOR: &str = key!("for_ns");
const EVERY: &str = key!("every_ns");
/// The largest multiple of the time that a slow member takes.
const FACTOR_MAX: u64 = 1_000;
const ACTIONS: &str = "media, corrupt, slow, hang, reset, lie, honest, fail, replace, power-cut, scrub, rebuild, start, \
                       status";
const FIELDS: &str =
    "action, member, lba, sectors, for_ns, by_ns, over_ns, share_ppm, every_ns, factor, during_write";

/// The fields of an action. Times are in nanoseconds.
#[derive(Clone, Default, Debug, Serialize)]
struct Request {
    action: String,
    member: u16,
    /// First sector of the member.
    lba: Option<u64>,
    sectors: Option<u64>,
    /// The action is undone after this time.
    for_ns: Option<u64>,
    /// The delay of a slow member; zero ends it.
    by_ns: Option<u64>,
    /// The delay grows linearly to its full value over this time.
    over_ns: Option<u64>,
    /// The share of the commands that are delayed, per million.
    share_ppm: Option<u64>,
    /// The period of bursts, from start to start.
    every_ns: Option<u64>,
    /// Everything takes the member this many times as long; 1 ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<u64>,
    /// The power goes at a random instant while a write is under way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    during_write: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    scenario: bool,
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Request::of(self).serialize(serializer)
    }
}

impl Action {
    /// The action that a line of JSON asks for.
    ///
    /// # Errors
    /// What is wrong, in one sentence with a remedy.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        Request::read(line)?.action()
    }
}

impl Request {
    fn of(action: &Action) -> Self {
        let (name, scenario) = (action.name().into(), action.scenario);
        let plain = Request { action: name, scenario, ..Request::default() };
        let (fault, lasting, during_write) = match action.kind {
            Kind::Start | Kind::Status => return plain,
            Kind::CutInWrite(lasting) => (Fault::CutPower, lasting, true),
            Kind::Fault(fault, lasting) => (fault, lasting, false),
        };
        let request = Request {
            member: fault.drive().unwrap_or(0),
            for_ns: lasting.length().map(Span::as_ns),
            every_ns: lasting.every().map(Span::as_ns),
            during_write,
            ..plain
        };
        let slow = |by: Span| Request { by_ns: Some(by.as_ns()), ..request.clone() };
        match fault {
            Fault::MediaError { first, count, .. } | Fault::Corrupt { first, count, .. } => {
                Request { lba: Some(first.get()), sectors: Some(count.get()), ..request }
            }
            Fault::Hang { lasts, .. } => Request { for_ns: lasts.map(Span::as_ns), ..request },
            Fault::Slow { how: None, .. } => slow(Span::ZERO),
            Fault::Slow { how: Some(how), .. } => match how {
                Slowness::Constant(by) => slow(by),
                Slowness::Ramp { by, over } => Request { over_ns: Some(over.as_ns()), ..slow(by) },
                Slowness::Some { by, share } => Request { share_ppm: Some(millionths(share)), ..slow(by) },
                Slowness::Times(times) => Request { factor: Some(times.into()), ..request },
            },
            _ => request,
        }
    }

    /// Reads the fields. A field that is null is left out.
    fn read(line: &[u8]) -> Result<Self, String> {
        const EXPECTED: &str =
            "a request is a JSON object that names an action, such as {\"action\": \"status\"}";
        let mut fields: Map<String, Value> = serde_json::from_slice(line).map_err(|_| EXPECTED)?;
        fields.retain(|_, value| !value.is_null());
        let Some(Value::String(action)) = fields.remove("action") else { return Err(EXPECTED.into()) };
        let during_write = match fields.remove("during_write") {
            None => false,
            Some(Value::Bool(set)) => set,
            Some(value) => return Err(format!("during_write: {value} is neither true nor false")),
        };
        let mut number = |name: &str, most: u64| match fields.remove(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number <= most) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("{name}: {value} is not a whole number from 0 to {most}")),
            },
        };
        let request = Request {
            action,
            member: number("member", u16::MAX.into())?.unwrap_or(0) as u16,
            lba: number("lba", u64::MAX)?,
            sectors: number("sectors", u64::MAX)?,
            for_ns: number("for_ns", u64::MAX)?,
            by_ns: number("by_ns", u64::MAX)?,
            over_ns: number("over_ns", u64::MAX)?,
            share_ppm: number("share_ppm", u32::MAX.into())?,
            every_ns: number("every_ns", u64::MAX)?,
            factor: number("factor", u32::MAX.into())?,
            during_write,
            scenario: false,
        };
        match fields.keys().next() {
            Some(name) => Err(format!("{name}: an action has no such field; there are {FIELDS}")),
            None => Ok(request),
        }
    }

    /// The action. Each kind takes its fields; what is left does not belong to it.
    fn action(mut self) -> Result<Action, String> {
        let name = std::mem::take(&mut self.action);
        let kind = match &*name {
            "start" => Kind::Start,
            "status" => Kind::Status,
            "power-cut" => {
                let lasting = self.lasting();
                match std::mem::take(&mut self.during_write) {
                    true => Kind::CutInWrite(lasting),
                    false => Kind::Fault(Fault::CutPower, lasting),
                }
            }
            "scrub" => Fault::Begin { work: SyncKind::Scrub }.into(),
            "rebuild" => Fault::Begin { work: SyncKind::Rebuild }.into(),
            _ => self.of_member(&name)?,
        };
        self.check_rest()?;
        Ok(kind.into())
    }

    fn of_member(&mut self, name: &str) -> Result<Kind, String> {
        let drive = std::mem::take(&mut self.member);
        Ok(match name {
            "media" => {
                let (first, count) = self.range()?;
                Fault::MediaError { drive, first, count, until: Cure::Written }.into()
            }
            "corrupt" => {
                let (first, count) = self.range()?;
                Fault::Corrupt { drive, first, count }.into()
            }
            "slow" => {
                let how = self.slowness()?;
                Kind::Fault(Fault::Slow { drive, how }, self.bursts()?)
            }
            "hang" => Fault::Hang { drive, lasts: self.for_ns.take().map(Span::from_ns) }.into(),
            "reset" => Fault::LinkReset { drive }.into(),
            "lie" => Kind::Fault(Fault::LyingFlush { drive, lies: true }, self.lasting()),
            "honest" => Fault::LyingFlush { drive, lies: false }.into(),
            "fail" => Kind::Fault(Fault::Fail { drive }, self.lasting()),
            "replace" => Fault::Replace { drive }.into(),
            _ => return Err(format!("{name}: there is no such action; there are {ACTIONS}")),
        })
    }

    fn range(&mut self) -> Result<(Lba, Sectors), String> {
        match (self.lba.take(), self.sectors.take()) {
            (Some(first), Some(count)) if count > 0 => Ok((Lba::new(first), Sectors::new(count))),
            _ => Err(format!(
                "media and corrupt take {} and {}: the sectors of the member",
                key!("lba"),
                key!("sectors")
            )),
        }
    }

    fn lasting(&mut self) -> Lasting {
        self.for_ns.take().map_or(Lasting::ForGood, |lasts| Lasting::For(Span::from_ns(lasts)))
    }

    fn bursts(&mut self) -> Result<Lasting, String> {
        match (self.lasting(), self.every_ns.take().map(Span::from_ns)) {
            (lasting, None) => Ok(lasting),
            (Lasting::For(lasts), Some(every)) if lasts < every => Ok(Lasting::Bursts { lasts, every }),
            _ => Err(format!("{EVERY}: bursts of slow last a time ({FOR}) that is shorter than {EVERY}")),
        }
    }

    /// How a member is slow; `None` where it is no longer.
    fn slowness(&mut self) -> Result<Option<Slowness>, String> {
        let (over, share) = (self.over_ns.take(), self.share_ppm.take());
        let by = match (self.by_ns.take(), self.factor.take()) {
            (None, Some(factor)) if over.is_none() && share.is_none() => {
                let times = u32::try_from(factor).ok().filter(|_| (1..=FACTOR_MAX).contains(&factor));
                let times = times.ok_or_else(|| {
                    format!("{FACTOR}: how many times as long, up to {FACTOR_MAX}; 1 ends it")
                })?;
                return Ok((times > 1).then_some(Slowness::Times(times)));
            }
            (_, Some(_)) => {
                return Err(format!("{FACTOR}: it is of the whole time; leave {BY}, {OVER} and {SHARE} out"));
            }
            (None, None) => {
                return Err(format!(
                    "slow takes {BY}, how much later each command is taken up (0 ends it), or {FACTOR}, how many times as \
                     long everything takes (1 ends it)"
                ));
            }
            (Some(by), None) => Span::from_ns(by),
        };
        let how = match (over, share) {
            (Some(_), Some(_)) => {
                return Err(format!("{OVER} and {SHARE}: slow takes one of the two; leave the other out"));
            }
            (Some(over), None) => Slowness::Ramp { by, over: Span::from_ns(over) },
            (None, Some(share)) => match Share::from_ratio(share, MILLION) {
                Some(share) if share > Share::NONE => Slowness::Some { by, share },
                _ => return Err(format!("{SHARE} is of commands: more than 0 and at most 100%")),
            },
            (None, None) => Slowness::Constant(by),
        };
        Ok((!by.is_zero()).then_some(how))
    }

    /// Checks that no field is left.
    fn check_rest(&self) -> Result<(), String> {
        let is_set = |fields: &[Option<u64>]| fields.iter().any(Option::is_some);
        let why = if self.member > 0 {
            let what = key!("member");
            format!(
                "{what}: power-cut, scrub, rebuild, start and status are of the whole device: leave it out"
            )
        } else if is_set(&[self.lba, self.sectors]) {
            let (lba, sectors) = (key!("lba"), key!("sectors"));
            format!("{lba} and {sectors} are for media and corrupt alone: leave them out")
        } else if self.for_ns.is_some() {
            format!("{FOR} is for lie, fail, power-cut, slow and hang alone: nothing else ends by itself")
        } else if self.during_write {
            format!("{} is for power-cut alone: leave it out", key!("during_write"))
        } else if self.every_ns.is_some() {
            format!("{EVERY} is for slow alone, which comes in bursts: leave it out")
        } else if is_set(&[self.by_ns, self.over_ns, self.share_ppm, self.factor]) {
            format!("{BY}, {FACTOR}, {OVER} and {SHARE} are for slow alone: leave them out")
        } else {
            return Ok(());
        };
        Err(why)
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
