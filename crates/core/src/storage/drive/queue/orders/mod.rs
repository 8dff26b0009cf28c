//! The orders of the queue: one file each, which opens with the rule and ends with its description as a [`Rule`].
//!
//! Everything known of an order follows from its rule: the scenario's names and keys, their documentation and
//! schema, which other keys apply, and what the tests check. A new order is a file here, its lines below,
//! and, where it weighs something that no other order does, a key in the scenario.
pub(crate) mod aged_sptf;
pub(crate) mod clook;
pub(crate) mod fcfs;
pub(crate) mod look;
mod own;
pub(crate) mod read_first_sptf;
pub(crate) mod share_aged_sptf;
pub(crate) mod sptf;
pub(crate) mod sstf;
pub(crate) mod vscan;
pub(crate) mod weighted_sptf;

use super::params::{AgeFull, AgeWeight, ScanWeight};
use super::{Entry, SlotIndex, Slots, View};
use drivelab_units::Span;
pub use own::OwnOrder;

/// The order in which waiting commands are served, with the parameters particular to each.
/// The names that a scenario can use are those of [`Order::ALL`]; the tests check each of these against its
/// definition. An embedder supplies another with [`Rule::own`].
///
/// ```
/// use drivelab_core::storage::drive::geometry::GeometryParams;
/// use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
/// use drivelab_core::storage::drive::seek::SeekParams;
/// use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
/// use drivelab_core::storage::drive::queue::{Order, PositionKnowledge, QueueParams};
/// use drivelab_core::storage::{Target, TargetInput, TargetParams};
/// use drivelab_core::{Access, Command, Machine};
/// use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
///
/// /// The ids in the order of their completions, and when the last one was done.
/// fn served(order: Order) -> (Vec<u64>, Instant) {
///     let rpm = Rpm::from_milli(7_200_000).unwrap();
///     let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
///     let plain = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
///     let queue = QueueParams { depth: 32, order, knows: PositionKnowledge::Angle, ..QueueParams::NONE };
///     let model = DriveModel::new(&DriveParams { queue, protocol: Protocol::Ncq(NcqParams::USUAL), ..plain }).unwrap();
///     let mut target = Target::new(&TargetParams::Drive(model.into()), 1);
///     for id in 0..16 {
///         let first = Lba::new(id * 1_234_567 % 2_400_000);
///         target.handle(Instant::ZERO, TargetInput::Submit(Command::new(id, Access::Read, first, Sectors::new(8)))).unwrap();
///     }
///     let mut now = Instant::ZERO;
///     while let Some(due) = target.poll_timeout() {
///         now = due;
///         target.handle(due, TargetInput::Tick).unwrap();
///     }
///     let answers = std::iter::from_fn(|| target.poll_output()).filter_map(|output| output.completed());
///     (answers.map(|answer| answer.id).collect(), now)
/// }
///
/// let (in_order, slow) = served(Order::Fcfs);
/// let (_, fast) = served(Order::Sptf);
/// assert_eq!(in_order, (0..16).collect::<Vec<_>>());
/// assert!(2 * fast.as_ns() < slow.as_ns());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Shortest seek time first.
    Sstf,
    /// The nearest cylinder ahead; turns round where nothing is ahead.
    Look,
    /// The nearest cylinder ahead in one direction; then back to the lowest.
    CLook,
    /// The weight is the cost of turning round.
    VScan(ScanWeight),
    /// Shortest positioning time first: seek and rotation.
    Sptf,
    /// The weight is the credit for the time waited.
    AgedSptf(AgeWeight),
    /// The weight is the credit for the time waited, shared by all waiting commands.
    ShareAgedSptf(AgeWeight),
    /// The weight is the age at which a command goes first.
    WeightedSptf(AgeFull),
    /// The weight is the age from which on a write goes before the reads.
    ReadFirstSptf(Span),
    /// An order supplied by the embedder.
    Own(OwnOrder),
}

impl Order {
    /// Shortest positioning time with the default credit for age: the order of most drives in the catalogue.
    pub const AGED_SPTF: Order = aged_sptf::USUAL;

    /// Every order of the core, each with its default weight.
    pub const ALL: [Order; 10] = [
        Order::Fcfs,
        Order::Sstf,
        Order::Look,
        Order::CLook,
        vscan::USUAL,
        Order::Sptf,
        Order::AGED_SPTF,
        weighted_sptf::USUAL,
        read_first_sptf::USUAL,
        share_aged_sptf::USUAL,
    ];

    /// The rule of this order, whatever its weight.
    #[inline]
    pub fn rule(self) -> &'static Rule {
        match self {
            Order::Fcfs => &fcfs::RULE,
            Order::Sstf => &sstf::RULE,
            Order::Look => &look::RULE,
            Order::CLook => &clook::RULE,
            Order::VScan(_) => &vscan::RULE,
            Order::Sptf => &sptf::RULE,
            Order::AgedSptf(_) => &aged_sptf::RULE,
            Order::ShareAgedSptf(_) => &share_aged_sptf::RULE,
            Order::WeightedSptf(_) => &weighted_sptf::RULE,
            Order::ReadFirstSptf(_) => &read_first_sptf::RULE,
            Order::Own(own) => own.rule(),
        }
    }

    /// The same order with this weight; unchanged if it has none.
    #[must_use]
    pub fn weighing(self, value: u64) -> Self {
        self.rule().weighs.map_or(self, |weighs| (weighs.order)(value))
    }
}

/// The description of an order.
#[derive(Debug)]
pub struct Rule {
    /// The name as users write it.
    pub name: &'static str,
    /// One line of description.
    pub summary: &'static str,
    /// The order's own parameter, if it has one.
    pub weighs: Option<Weighs>,
    pub(crate) cost_is: CostIs,
    /// Whether the cost counts rotation, as far as the drive knows the angle.
    pub counts_rotation: bool,
    /// Whether reads and writes are kept in separate lists.
    pub keeps_writes_apart: bool,
    /// The definition: the entry with the least cost goes next, the older one on a tie.
    pub cost: fn(&Entry, &View<'_>) -> i64,
    /// The entry with the least cost, found without a full scan.
    pub pick: fn(&Slots, &View<'_>) -> Option<SlotIndex>,
}

/// What kind of quantity an order's cost is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CostIs {
    /// Not a time, or not the same quantity for reads and writes.
    NoTime,
    /// A time for reads and writes alike, so that a read preference in time can be added to it.
    Time,
    /// A time as well, namely the sum of the positioning time and terms independent of it.
    PositioningAndMore,
}

impl Rule {
    /// Whether a read preference in time can be added to the cost.
    pub fn costs_time(&self) -> bool {
        self.cost_is != CostIs::NoTime
    }
}

/// The parameter of an order.
#[derive(Clone, Copy, Debug)]
pub struct Weighs {
    /// The key under which users set it. Orders with the same parameter share a key.
    pub key: &'static str,
    /// Unit and range of the value.
    pub unit: Unit,
    /// Its default value.
    pub usual: u64,
    /// Whether a value of zero has no effect, so that the key may be given with any order.
    pub none_is_idle: bool,
    /// The order with this value.
    pub order: fn(u64) -> Order,
}

/// The unit of an order's parameter, and its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Millionths, up to `most` times one.
    Share {
        /// The largest value, in whole ones.
        most: u64,
    },
    /// Nanoseconds.
    Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_that_of_one_order() {
        for (number, order) in Order::ALL.into_iter().enumerate() {
            let rule = order.rule();
            assert!(Order::ALL[..number].iter().all(|other| other.rule().name != rule.name), "{}", rule.name);
            assert!(rule.costs_time() || rule.cost_is == CostIs::NoTime);
            let Some(weighs) = rule.weighs else {
                assert_eq!(order.weighing(17), order);
                continue;
            };
            // The default is what the rule says, and another value makes another order of the same name.
            assert_eq!(order.weighing(weighs.usual), order, "{}", rule.name);
            let other = order.weighing(weighs.usual + 100_000);
            assert!(other != order && other.rule().name == rule.name, "{}", rule.name);
        }
    }
}
