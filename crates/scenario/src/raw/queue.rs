//! The queue of a drive, as typed in a drive file or overridden in a scenario.
use super::duration::DurationLimitsRaw;
use super::protocol::{NcqRaw, Protocol, ScsiRaw};
use crate::keys::numbers::{Count, Decimal};
use crate::keys::{At, Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::Node;
use drivelab_core::storage::drive::queue::orders::Rule;
use drivelab_core::storage::drive::queue::{ChoiceTime, DEPTH_MAX, JoinsUntil, Order, PositionKnowledge};
use drivelab_units::Span;

impl Read for Order {
    fn kind() -> Kind {
        Kind::Choice(Order::ALL.map(|order| (order.rule().name, order.rule().summary)).to_vec())
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        crate::keys::choices::read(
            node,
            &Order::ALL.map(|order| (order.rule().name, order)),
            &Self::kind(),
            log,
        )
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.rule().name);
    }
}

choices!(PositionKnowledge {
    "distance" => PositionKnowledge::Distance, "seek time by distance";
    "angle" => PositionKnowledge::Angle, "the angle of the platter too";
});

choices!(ChoiceTime {
    "at-media-end" => ChoiceTime::AtMediaEnd, "as the media transfer ends";
    "after-answer" => ChoiceTime::AfterAnswer, "only after the host could answer the completion";
    "one-ahead" => ChoiceTime::OneAhead, "as the arm turns to the command before it";
    "at-completion" => ChoiceTime::AtCompletion, "as the completion goes out, after the link is done";
});

choices!(JoinsUntil {
    "never" => JoinsUntil::Never, "each command by itself";
    "before-start" => JoinsUntil::BeforeStart, "if it is there before the arm starts";
    "until-end" => JoinsUntil::UntilEnd, "while the media transfer runs";
});

/// Commands in a queue.
pub type Depth = Count<1, { DEPTH_MAX as u64 }>;

section! {
    facts: true,
    /// A drive's queue. In a scenario, `target.queue` overrides the drive's own keys.
    pub struct QueueRaw {
        /// The queueing protocol. `none` implies depth 1 and order fcfs unless they are set too.
        protocol: Protocol = "none",
        /// Commands that the drive holds at once, the one in service included.
        depth: Depth = "1 for none, 32 for ncq and ata-tcq, 64 for scsi-tcq",
        /// The scheduling policy of the waiting commands.
        order: Order = "fcfs for none, sptf for the others",
        /// What the drive knows of a command's position when it chooses by an order that includes rotation.
        knows: PositionKnowledge = "angle",
        /// When the drive chooses the next command.
        chooses: ChoiceTime = "at-media-end",
        /// With `after-answer`: how long after a media transfer the drive waits for the host's answer. Commands that
        /// arrive within this time are among those it chooses from; at 0 those that arrive at the same instant. A real
        /// host answers after its link, its interrupt and its system call: measured drives that wait for it wait for
        /// about 0.05 ms (2022) to 0.17 ms (2007).
        answer_time: Span = "0s",
        /// The most waiting commands that it examines, oldest first.
        considers: Depth = "all",
        /// The least number of waiting commands that are reordered; fewer are served in order of arrival.
        sorts_from: Depth = "1: always",
        /// The time that the firmware needs, at each choice, per waiting command that it examines.
        look_time: Span = "0s",
        /// Added to the cost of a write, so that a read goes first even if its positioning takes this much longer.
        /// Needs an order whose cost is a time.
        write_handicap: Span = "0s",
        /// Margin by which a write is planned to arrive early at its sector, unless it is on this cylinder or the next.
        write_margin: Span = "0s",
        /// The same for a read: the firmware's margin against an arm that arrives late.
        read_margin: Span = "0s",
        /// The same for both as a share of the seek time: a margin that grows with the distance, as the scatter of
        /// seeks does. The margins add up.
        seek_margin: Decimal<0, 1> = "0",
        /// Until when a read that begins where the one in service ends is merged with it into one access.
        joins_reads: JoinsUntil = "never",
        /// The same for writes.
        joins_writes: JoinsUntil = "never",
        /// The age limit: a command that has been ready to be served this long goes before any younger one; time for which an older one held it back (the same sectors, a task attribute) does not count.
        age_limit: Span = "none",
        /// The limit by count: a command is served before any younger one once this many others have been started since
        /// its arrival, older ones included: below the depth in use this is fcfs.
        pass_limit: Count<1, 1000000> = "none",
        /// How long a running stream of sequential reads keeps other commands waiting. Until the oldest of them has waited
        /// this long, the drive carries out the stream's commands before them, and where the next one is not there yet it
        /// reads on for it, as far as `read_ahead_limit`; not while its queue is full. A write cache under pressure, a
        /// FLUSH, priorities and deadlines go before it. Known are 1 to 4 s, by model.
        stream_limit: Span = "none: no stream is recognized",
        /// With `aged-sptf`: credit per unit of waiting time.
        age_weight: Decimal<0, 1000> = "0.006",
        /// With `share-aged-sptf`: credit per unit of waiting time, divided by the number of waiting commands.
        age_share: Decimal<0, 1000> = "1.5",
        /// With `weighted-sptf`: the age at which a command is served first.
        age_full: Span = "1s",
        /// With `read-first-sptf`: the age from which a write is served before the reads.
        write_deadline: Span = "5s",
        /// With `vscan`: the penalty of a change of direction, as a share of all cylinders, from 0 (the nearest) to 1
        /// (look).
        scan_weight: Decimal<0, 1> = "0.2",
        /// Completion coalescing: the number of completions that it reports together, or fewer when nothing is left to
        /// do.
        coalesces: Count<1, 65534> = "1: each by itself",
        /// With `scsi-tcq` and `ata-tcq`: the time to release the bus after the arrival of a command that needs the
        /// mechanism.
        release_time: Span = "0s",
        /// With `scsi-tcq` and `ata-tcq`: the time to regain the bus before the data: reselection, or the
        /// round trip of SERVICE.
        service_time: Span = "0s",
        /// For each command that waits, the time within which the drive means to serve one that has no guideline
        /// (`duration_limits`). To an order that weighs age, a command with a guideline is as much older as that is
        /// shorter, and as much younger as it is longer.
        own_guideline: Span = "0s: guidelines change no age",
        /// The duration limits that its hosts have set.
        duration_limits: DurationLimitsRaw = "none",
        /// Options of `scsi-tcq`.
        scsi: ScsiRaw = "the usual ones",
        /// Options of `ncq`.
        ncq: NcqRaw = "the usual ones",
    }
}

impl QueueRaw {
    /// The parameter of some orders, under its key: in millionths or nanoseconds.
    pub fn weighed(&self, key: &str) -> Option<At<u64>> {
        fn of<T>(at: Option<&At<T>>, value: impl Fn(&T) -> u64) -> Option<At<u64>> {
            at.map(|at| At { value: value(&at.value), place: at.place, source: at.source.clone() })
        }
        match key {
            "age_weight" => of(self.age_weight.as_ref(), |weight| weight.0),
            "age_share" => of(self.age_share.as_ref(), |share| share.0),
            "age_full" => of(self.age_full.as_ref(), |age| age.as_ns()),
            "write_deadline" => of(self.write_deadline.as_ref(), |age| age.as_ns()),
            "scan_weight" => of(self.scan_weight.as_ref(), |weight| weight.0),
            _ => unreachable!("an order weighs {key}, which has no key here"),
        }
    }
}

/// The names of the orders that satisfy this, as a list for people.
pub fn orders_that(holds: impl Fn(&Rule) -> bool) -> String {
    let names: Vec<&str> =
        Order::ALL.into_iter().map(Order::rule).filter(|rule| holds(rule)).map(|rule| rule.name).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::storage::drive::queue::orders::Unit;

    #[test]
    fn every_order_has_its_name() {
        let Kind::Choice(names) = Order::kind() else { panic!() };
        assert_eq!(names.len(), Order::ALL.len());
        for order in Order::ALL {
            let mut name = String::new();
            order.write(&mut name);
            assert!(names.iter().any(|(known, _)| *known == name), "{order:?}");
        }
    }

    /// The text of the reference and the schema for a parameter of some orders: which orders, its range, its default.
    #[test]
    fn the_weights_of_orders_are_documented_as_in_their_rules() {
        let kind = QueueRaw::kind();
        let keys = &kind.section().unwrap().keys;
        for rule in Order::ALL.map(Order::rule) {
            let Some(weighs) = rule.weighs else { continue };
            let key = keys.iter().find(|key| key.name == weighs.key).unwrap();
            assert!(QueueRaw::default().weighed(weighs.key).is_none());
            assert!(key.doc.split(':').next().unwrap().contains(&format!("`{}`", rule.name)), "{}", key.doc);
            let alone = orders_that(|other| other.weighs.is_some_and(|other| other.key == weighs.key));
            let usual = match (weighs.unit, &key.kind) {
                (Unit::Share { most: range }, Kind::Number { least: 0, most }) if range == *most => {
                    format!("{}", weighs.usual as f64 / 1e6)
                }
                (Unit::Time, Kind::Quantity { .. }) => format!("{}", Span::from_ns(weighs.usual)),
                (unit, kind) => panic!("{}: {unit:?} is not {kind:?}", weighs.key),
            };
            let default = if alone == rule.name { usual } else { format!("{usual} for {}", rule.name) };
            assert!(key.default.split(", ").any(|part| part == default), "{}: {default}", key.default);
        }
    }
}
