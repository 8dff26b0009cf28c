//! An order supplied by the embedder of the core: it is defined by a cost, and all waiting entries are
//! compared.
//!
//! The rules common to all orders (bounds on starvation, window, choosing ahead) apply to it too. A drive
//! asks for a choice more often than it takes one, and also compares costs; so a cost must depend on the
//! entry and the view alone. Any state that an order needs must be found there: the age of an entry, the
//! position of the arm, its direction.
use super::{CostIs, Rule};
use crate::storage::drive::queue::choose::least;
use crate::storage::drive::queue::{Entry, SlotIndex, Slots, View};
use core::hash::{Hash, Hasher};

/// An embedder's order. Two are equal when they have the same rule, at one address.
#[derive(Clone, Copy, Debug)]
pub struct OwnOrder(&'static Rule);

impl OwnOrder {
    /// The order with this rule, made with [`Rule::own`].
    pub const fn new(rule: &'static Rule) -> Self {
        OwnOrder(rule)
    }

    pub(super) fn rule(self) -> &'static Rule {
        self.0
    }
}

impl PartialEq for OwnOrder {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.0, other.0)
    }
}

impl Eq for OwnOrder {}

impl Hash for OwnOrder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl Rule {
    /// An embedder's order: of all waiting entries the one with the least cost goes next, the older one on a
    /// tie.
    ///
    /// ```
    /// use drivelab_core::storage::drive::geometry::GeometryParams;
    /// use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
    /// use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
    /// use drivelab_core::storage::drive::queue::orders::{OwnOrder, Rule};
    /// use drivelab_core::storage::drive::queue::{Entry, Order, PositionKnowledge, QueueParams, View};
    /// use drivelab_core::storage::drive::seek::SeekParams;
    /// use drivelab_core::storage::{Target, TargetInput, TargetParams};
    /// use drivelab_core::{Access, Command, Machine};
    /// use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
    ///
    /// /// Shortest positioning time first, but whatever lies beyond the middle of the drive counts 20 ms more.
    /// fn outer_first(entry: &Entry, view: &View<'_>) -> i64 {
    ///     let middle = view.mechanism.geometry.cylinders() / 2;
    ///     view.positioning(entry) as i64 + if entry.cylinder < middle { 0 } else { 20_000_000 }
    /// }
    /// static OUTER_FIRST: Rule = Rule::own("outer-first", "what lies on the outer half first", outer_first);
    ///
    /// let rpm = Rpm::from_milli(7_200_000).unwrap();
    /// let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
    /// let order = Order::Own(OwnOrder::new(&OUTER_FIRST));
    /// let queue = QueueParams { depth: 32, order, knows: PositionKnowledge::Angle, ..QueueParams::NONE };
    /// let drive = DriveParams {
    ///     queue,
    ///     protocol: Protocol::Ncq(NcqParams::USUAL),
    ///     ..DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek)
    /// };
    /// let mut target = Target::new(&TargetParams::Drive(DriveModel::new(&drive).unwrap().into()), 1);
    /// let cylinders = [500, 990, 10, 800, 400, 600, 20];
    /// for (id, cylinder) in (0..).zip(cylinders) {
    ///     let read = Command::new(id, Access::Read, Lba::new(cylinder * 4 * 600), Sectors::new(8));
    ///     target.handle(Instant::ZERO, TargetInput::Submit(read)).unwrap();
    /// }
    /// while let Some(due) = target.poll_timeout() {
    ///     target.handle(due, TargetInput::Tick).unwrap();
    /// }
    /// let answers = std::iter::from_fn(|| target.poll_output()).filter_map(|output| output.completed());
    /// let served: Vec<u64> = answers.map(|answer| cylinders[answer.id as usize]).collect();
    /// // The first found the drive idle.
    /// assert_eq!(served[0], 500);
    /// assert!(served[1..4].iter().all(|&cylinder| cylinder < 500), "{served:?}");
    /// ```
    pub const fn own(name: &'static str, summary: &'static str, cost: fn(&Entry, &View<'_>) -> i64) -> Self {
        Rule {
            name,
            summary,
            weighs: None,
            cost_is: CostIs::NoTime,
            counts_rotation: true,
            keeps_writes_apart: false,
            cost,
            pick,
        }
    }
}

fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    least(slots.by_age(), slots, view)
}
