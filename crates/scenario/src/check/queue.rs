//! The queue: the scenario's keys override the drive's own, then defaults, and contradictions are recorded.
use crate::check::given;
use crate::check::layered::{Decider, Layered, decider, pick, unless_displaced};
use crate::check::protocol::depth_max;
use crate::keys::At;
use crate::raw::queue::{Depth, QueueRaw, orders_that};
use crate::text::problem::Log;
use drivelab_core::storage::drive::protocol::Protocol;
use drivelab_core::storage::drive::queue::orders::Rule;
use drivelab_core::storage::drive::queue::{
    ChoiceTime, DEPTH_MAX, JoinsUntil, Order, PositionKnowledge, QueueParams,
};
use drivelab_units::{Share, Span};

/// The queue of a drive that speaks this protocol; invalid values are recorded.
pub fn queue(
    above: Option<&At<QueueRaw>>,
    below: Option<&At<QueueRaw>>,
    spoken: Protocol,
    log: &mut Log,
) -> QueueParams {
    let empty = QueueRaw::default();
    let (above, below) = (above.map_or(&empty, |at| &at.value), below.map_or(&empty, |at| &at.value));
    let problems = log.count();
    let protocol = pick(above.protocol.as_ref(), below.protocol.as_ref());
    let scsi = pick(above.scsi.as_ref(), below.scsi.as_ref());
    let mut depth = pick(above.depth.as_ref(), below.depth.as_ref());
    let mut order = pick(above.order.as_ref(), below.order.as_ref());
    let by = [decider(protocol.as_ref()), decider(scsi.as_ref())];
    let most = depth_max(spoken);
    if depth.as_ref().is_some_and(|depth| depth.at.value.0 > most.into()) {
        depth = unless_displaced(depth, &by, log);
    }
    if spoken == Protocol::None {
        order = unless_displaced(order, &by, log);
    }
    let clear = above.readable("protocol") && below.readable("protocol");
    if clear {
        check_protocol(spoken, depth.as_ref(), order.as_ref(), log);
    }
    let usual = match spoken {
        Protocol::None => (1, Order::Fcfs),
        Protocol::Ncq(_) | Protocol::AtaTcq => (32, Order::Sptf),
        Protocol::ScsiTcq(_) => (most.min(64), Order::Sptf),
        Protocol::Nvme => (1_024, Order::Sptf),
    };
    let chosen = order.as_ref().map_or(usual.1, |order| order.at.value);
    let by_order = [decider(order.as_ref()), decider(protocol.as_ref())];
    let beside = BesideOrder { above, below, chosen, by_order: &by_order };
    let weighs = beside.weighs(log);
    let chooses = pick(above.chooses.as_ref(), below.chooses.as_ref());
    let answer_time = pick(above.answer_time.as_ref(), below.answer_time.as_ref());
    let answer_time = unless_displaced(answer_time, &[decider(chooses.as_ref())], log);
    let chooses = chooses.map_or(ChoiceTime::AtMediaEnd, |chooses| chooses.at.value);
    if let Some(answer) = answer_time.as_ref().filter(|answer| !answer.at.value.is_zero()) {
        let message = "`answer_time` has no effect: the drive does not wait for the answer";
        let remedy = "set chooses = \"after-answer\", or leave answer_time out";
        if chooses == ChoiceTime::AfterAnswer {
            log.has_effect(answer.at.place);
        } else if above.readable("chooses") {
            log.no_effect(answer.at.place, message.to_owned(), remedy.to_owned());
        }
    }
    if log.count() > problems {
        return QueueParams::NONE;
    }
    QueueParams {
        depth: depth.map_or(usual.0, |depth| depth.at.value.0 as u32),
        chooses,
        answer_time: answer_time.map_or(Span::ZERO, |answer| answer.at.value),
        joins_reads: given(above.joins_reads.as_ref().or(below.joins_reads.as_ref()))
            .unwrap_or(JoinsUntil::Never),
        joins_writes: given(above.joins_writes.as_ref().or(below.joins_writes.as_ref()))
            .unwrap_or(JoinsUntil::Never),
        age_limit: given(above.age_limit.as_ref().or(below.age_limit.as_ref())),
        stream_limit: given(above.stream_limit.as_ref().or(below.stream_limit.as_ref())),
        own_guideline: given(above.own_guideline.as_ref().or(below.own_guideline.as_ref()))
            .unwrap_or(Span::ZERO),
        pass_limit: given(above.pass_limit.as_ref().or(below.pass_limit.as_ref()))
            .map(|count| count.0 as u32),
        coalesces: given(above.coalesces.as_ref().or(below.coalesces.as_ref()))
            .map(|count| count.0 as u16)
            .filter(|&round| round > 1),
        ..weighs
    }
}

/// The keys that only some orders use.
struct BesideOrder<'a> {
    above: &'a QueueRaw,
    below: &'a QueueRaw,
    chosen: Order,
    by_order: &'a [Decider],
}

impl BesideOrder<'_> {
    /// The order and all its parameters; defaults where a key is not set or has no effect.
    fn weighs(&self, log: &mut Log) -> QueueParams {
        let (order, rule) = (self.chosen, self.chosen.rule());
        let rotational = orders_that(|rule| rule.counts_rotation);
        let timed = orders_that(Rule::costs_time);
        let not_fcfs = "any but fcfs";
        let (rotates, chooses) = (rule.counts_rotation, order != Order::Fcfs);
        let no_time = |span: &Span| span.is_zero();
        let knows = self.key("knows", |raw| raw.knows.clone(), rotates, &rotational, |_| false, log);
        let considers = self.key("considers", |raw| raw.considers.clone(), chooses, not_fcfs, |_| false, log);
        let sorts_from =
            self.key("sorts_from", |raw| raw.sorts_from.clone(), chooses, not_fcfs, |_| false, log);
        let look_time = self.key("look_time", |raw| raw.look_time.clone(), chooses, not_fcfs, no_time, log);
        let adds = rule.costs_time();
        let handicap =
            self.key("write_handicap", |raw| raw.write_handicap.clone(), adds, &timed, no_time, log);
        let margin =
            self.key("write_margin", |raw| raw.write_margin.clone(), rotates, &rotational, no_time, log);
        let guard =
            self.key("read_margin", |raw| raw.read_margin.clone(), rotates, &rotational, no_time, log);
        let grows = self.key(
            "seek_margin",
            |raw| raw.seek_margin.clone(),
            rotates,
            &rotational,
            |share| share.0 == 0,
            log,
        );
        QueueParams {
            order: self.weighing(log),
            knows: knows.unwrap_or(PositionKnowledge::Angle),
            considers: considers.map(|count| count.0 as u32),
            sorts_from: sorts_from.map(|count| count.0 as u32),
            look_time: look_time.unwrap_or(Span::ZERO),
            write_handicap: handicap.unwrap_or(Span::ZERO),
            write_margin: margin.unwrap_or(Span::ZERO),
            read_margin: guard.unwrap_or(Span::ZERO),
            seek_margin: grows.and_then(|share| Share::from_ratio(share.0, 1_000_000)).unwrap_or(Share::NONE),
            ..QueueParams::NONE
        }
    }

    /// The order with the value of its own weight key. Keys that belong to the weights of other orders are
    /// recorded.
    fn weighing(&self, log: &mut Log) -> Order {
        let mut order = self.chosen;
        let mut seen: Vec<&str> = Vec::new();
        for weighs in Order::ALL.into_iter().filter_map(|order| order.rule().weighs) {
            let key = weighs.key;
            // Some orders share a key.
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            let has = |rule: &Rule| rule.weighs.is_some_and(|own| own.key == key);
            // A share of zero has no effect anywhere.
            let idle = |value: &u64| *value == 0 && weighs.none_is_idle;
            let counts = has(self.chosen.rule());
            let value = self.key(key, |raw| raw.weighed(key), counts, &orders_that(has), idle, log);
            order = value.map_or(order, |value| order.weighing(value));
        }
        order
    }

    /// The value of a key that these orders use, if the chosen one is among them. A value that is `idle` is
    /// allowed with any order.
    fn key<T: Clone>(
        &self,
        name: &str,
        of: impl Fn(&QueueRaw) -> Option<At<T>>,
        counts: bool,
        orders: &str,
        idle: impl Fn(&T) -> bool,
        log: &mut Log,
    ) -> Option<T> {
        let layered = pick(of(self.above).as_ref(), of(self.below).as_ref());
        if counts {
            let layered = layered?;
            log.has_effect(layered.at.place);
            return Some(layered.at.value);
        }
        let pointless = unless_displaced(layered, self.by_order, log)?;
        let clear =
            [self.above, self.below].iter().all(|raw| raw.readable("order") && raw.readable("protocol"));
        if clear && !idle(&pointless.at.value) {
            let message = format!("`{name}` has no effect with order = \"{}\"", self.chosen.rule().name);
            log.no_effect(pointless.at.place, message, format!("set order to {orders}, or leave {name} out"));
        }
        None
    }
}

fn check_protocol(
    spoken: Protocol,
    depth: Option<&Layered<Depth>>,
    order: Option<&Layered<Order>>,
    log: &mut Log,
) {
    if let Some(depth) = depth.filter(|depth| depth.at.value.0 > depth_max(spoken).into()) {
        let requested = depth.at.value.0;
        let (message, remedy) = match spoken {
            Protocol::None => (
                format!(
                    "a depth of {requested} needs a protocol that queues; without one a drive holds one command"
                ),
                "set protocol to ncq, ata-tcq or scsi-tcq",
            ),
            Protocol::ScsiTcq(_) => (
                format!(
                    "a depth of {requested}: a drive that may not disconnect keeps the bus, one command at a time"
                ),
                "set scsi.disconnects = true, or depth to 1",
            ),
            Protocol::Ncq(_) => {
                (format!("a depth of {requested}: NCQ has 32 tags"), "set depth to 32 or less")
            }
            Protocol::Nvme => {
                (format!("a depth of {requested}: a host has {DEPTH_MAX} commands"), "set a smaller depth")
            }
            Protocol::AtaTcq => {
                (format!("a depth of {requested}: ATA TCQ has 32 tags"), "set depth to 32 or less")
            }
        };
        log.contradiction(depth.at.place, message, remedy);
    }
    if let Some(order) = order.filter(|order| spoken == Protocol::None && order.at.value != Order::Fcfs) {
        let message = "one command at a time can only be served in its order of arrival";
        log.contradiction(
            order.at.place,
            message,
            "set protocol to ncq, ata-tcq or scsi-tcq, or order to fcfs",
        );
    }
}
