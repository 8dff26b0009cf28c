//! The queue: the scenario's keys over the drive's own, defaults, and what contradicts what.
//!
//! A key of the drive that a key of the scenario, or of a drive laid over it, makes pointless is dropped in silence: who
//! sets `protocol = "none"` need not set `depth = 1` too. Two keys of one author that contradict each other are a problem.
use crate::check::given;
use crate::keys::{At, Read};
use crate::raw::queue::{Protocol, QueueRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::target::drive::queue::{AgeWeight, Chooses, Joins, Knows, Order, QueueParams};
use drivelab_units::Span;

/// The credit for the time waited that `aged-sptf` gives unasked, in millionths.
const AGE_WEIGHT: u64 = 100_000;

/// A key's value and whether it was set above, in the scenario.
struct Layered<T> {
    at: At<T>,
    above: bool,
}

fn pick<T: Clone>(above: Option<&At<T>>, below: Option<&At<T>>) -> Option<Layered<T>> {
    let layered = |at: &At<T>, above| Layered { at: at.clone(), above };
    above.map(|at| layered(at, true)).or_else(|| below.map(|at| layered(at, false)))
}

/// What makes another key pointless: whether it was set above, and where.
type Decider = Option<(bool, Place)>;

fn decider<T>(layered: Option<&Layered<T>>) -> Decider {
    layered.map(|layered| (layered.above, layered.at.place))
}

/// Forgets a key that a key of who changes the drive, or the scenario, makes pointless.
fn unless_displaced<T>(dependent: Option<Layered<T>>, by: &[Decider], log: &Log) -> Option<Layered<T>> {
    dependent.filter(|dependent| {
        let displaces = |(above, place): &(bool, Place)| {
            *above && !dependent.above || log.changes(*place, dependent.at.place)
        };
        !by.iter().flatten().any(displaces)
    })
}

/// The queue in force; what cannot be is recorded.
pub fn queue(above: Option<&At<QueueRaw>>, below: Option<&At<QueueRaw>>, log: &mut Log) -> QueueParams {
    let empty = QueueRaw::default();
    let (above, below) = (above.map_or(&empty, |at| &at.value), below.map_or(&empty, |at| &at.value));
    let problems = log.count();
    let protocol = pick(above.protocol.as_ref(), below.protocol.as_ref());
    let named = protocol.as_ref().map_or(Protocol::None, |protocol| protocol.at.value);
    let mut depth = pick(above.depth.as_ref(), below.depth.as_ref());
    let mut order = pick(above.order.as_ref(), below.order.as_ref());
    let by = [decider(protocol.as_ref())];
    if depth.as_ref().is_some_and(|depth| depth.at.value.0 > tags(named)) {
        depth = unless_displaced(depth, &by, log);
    }
    if named == Protocol::None {
        order = unless_displaced(order, &by, log);
    }
    let clear = above.readable("protocol") && below.readable("protocol");
    if clear {
        check_protocol(named, depth.as_ref(), order.as_ref(), log);
    }
    let usual = match named {
        Protocol::None => (1, Order::Fcfs),
        Protocol::Ncq | Protocol::AtaTcq => (32, Order::Sptf),
        Protocol::ScsiTcq => (64, Order::Sptf),
    };
    let chosen = order.as_ref().map_or(usual.1, |order| order.at.value);
    let by_order = [decider(order.as_ref()), decider(protocol.as_ref())];
    let mut handicap = pick(above.write_handicap.as_ref(), below.write_handicap.as_ref());
    if !chosen.costs_time() {
        let pointless = unless_displaced(handicap.take(), &by_order, log);
        if let Some(pointless) = pointless.filter(|pointless| !pointless.at.value.is_zero())
            && above.readable("order")
        {
            let message = "`write_handicap` is a time, but the order's cost is none";
            let remedy = "set order to sstf, sptf or aged-sptf, or leave write_handicap out";
            log.no_effect(pointless.at.place, message.to_owned(), remedy.to_owned());
        }
    }
    handicap.iter().for_each(|handicap| log.has_effect(handicap.at.place));
    let (weight, knows) = beside_order([above, below], chosen, &by_order, log);
    let chooses = pick(above.chooses.as_ref(), below.chooses.as_ref());
    let answer_time = pick(above.answer_time.as_ref(), below.answer_time.as_ref());
    let answer_time = unless_displaced(answer_time, &[decider(chooses.as_ref())], log);
    let chooses = chooses.map_or(Chooses::AtMediaEnd, |chooses| chooses.at.value);
    if let Some(answer) = answer_time.as_ref().filter(|answer| !answer.at.value.is_zero()) {
        let message = "`answer_time` has no effect: the drive chooses at the media's end";
        let remedy = "set chooses = \"after-answer\", or leave answer_time out";
        if chooses == Chooses::AfterAnswer {
            log.has_effect(answer.at.place);
        } else if above.readable("chooses") {
            log.no_effect(answer.at.place, message.to_owned(), remedy.to_owned());
        }
    }
    if log.count() > problems {
        return QueueParams::NONE;
    }
    QueueParams {
        depth: depth.map_or(usual.0, |depth| depth.at.value.0 as u16),
        order: chosen,
        knows,
        chooses,
        answer_time: answer_time.map_or(Span::ZERO, |answer| answer.at.value),
        considers: given(above.considers.as_ref().or(below.considers.as_ref())).map(|count| count.0 as u16),
        write_handicap: handicap.map_or(Span::ZERO, |handicap| handicap.at.value),
        write_margin: given(above.write_margin.as_ref().or(below.write_margin.as_ref()))
            .unwrap_or(Span::ZERO),
        joins_reads: given(above.joins_reads.as_ref().or(below.joins_reads.as_ref())).unwrap_or(Joins::Never),
        joins_writes: given(above.joins_writes.as_ref().or(below.joins_writes.as_ref()))
            .unwrap_or(Joins::Never),
        age_limit: given(above.age_limit.as_ref().or(below.age_limit.as_ref())),
        age_weight: AgeWeight::from_ratio(weight, 1_000_000).unwrap_or_default(),
    }
}

/// The weight of age in millionths and what the drive knows, which count with some orders only.
fn beside_order(
    [above, below]: [&QueueRaw; 2],
    chosen: Order,
    by_order: &[Decider],
    log: &mut Log,
) -> (u64, Knows) {
    let clear = [above, below].iter().all(|raw| raw.readable("order") && raw.readable("protocol"));
    let pointless = |key: &str, place, orders: &str, log: &mut Log| {
        if clear {
            let message = format!("`{key}` has no effect with order = \"{}\"", spelled(chosen));
            log.no_effect(place, message, format!("set order to {orders}, or leave {key} out"));
        }
    };
    let weight = pick(above.age_weight.as_ref(), below.age_weight.as_ref());
    let weight = if chosen == Order::AgedSptf {
        weight.iter().for_each(|weight| log.has_effect(weight.at.place));
        weight.map_or(AGE_WEIGHT, |weight| weight.at.value.0)
    } else {
        let weight = unless_displaced(weight, by_order, log);
        if let Some(weight) = weight.filter(|weight| weight.at.value.0 > 0) {
            pointless("age_weight", weight.at.place, "aged-sptf", log);
        }
        0
    };
    let knows = pick(above.knows.as_ref(), below.knows.as_ref());
    if !matches!(chosen, Order::Fcfs | Order::Look | Order::CLook) {
        knows.iter().for_each(|knows| log.has_effect(knows.at.place));
        return (weight, knows.map_or(Knows::Angle, |knows| knows.at.value));
    }
    if let Some(knows) = unless_displaced(knows, by_order, log) {
        pointless("knows", knows.at.place, "sptf or aged-sptf", log);
    }
    (weight, Knows::Angle)
}

/// The name of an order.
fn spelled(order: Order) -> String {
    let mut name = String::new();
    order.write(&mut name);
    name
}

/// How many commands a drive can hold under this protocol.
fn tags(protocol: Protocol) -> u64 {
    match protocol {
        Protocol::None => 1,
        Protocol::Ncq | Protocol::AtaTcq => 32,
        Protocol::ScsiTcq => 65_534,
    }
}

fn check_protocol(
    named: Protocol,
    depth: Option<&Layered<crate::keys::quantities::Count<1, 65534>>>,
    order: Option<&Layered<Order>>,
    log: &mut Log,
) {
    if let Some(depth) = depth.filter(|depth| depth.at.value.0 > tags(named)) {
        let asked = depth.at.value.0;
        let (message, remedy) = match named {
            Protocol::None => (
                format!(
                    "a depth of {asked} needs a protocol that queues; without one a drive holds one command"
                ),
                "set protocol to ncq, ata-tcq or scsi-tcq",
            ),
            Protocol::Ncq => (format!("a depth of {asked}: NCQ has 32 tags"), "set depth to 32 or less"),
            _ => (format!("a depth of {asked}: ATA TCQ has 32 tags"), "set depth to 32 or less"),
        };
        log.contradiction(depth.at.place, message, remedy);
    }
    if let Some(order) = order.filter(|order| named == Protocol::None && order.at.value != Order::Fcfs) {
        let message = "one command at a time can only be served in its order of arrival";
        log.contradiction(
            order.at.place,
            message,
            "set protocol to ncq, ata-tcq or scsi-tcq, or order to fcfs",
        );
    }
}
