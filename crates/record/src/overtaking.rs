//! Which command overtook which: two orders of the same commands compared, in n log n time.
//!
//! A command is overtaken by each one that arrived later and was served earlier. Counting them is counting inversions
//! of a permutation, with a tree of partial sums (P. Fenwick, "A new data structure for cumulative frequency tables",
//! 1994).

/// A command's place in the order of service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    pub service_rank: u64,
    /// Commands that arrived later and were served earlier.
    pub overtaken_by: u64,
    /// Commands that arrived earlier and were served later.
    pub overtook: u64,
}

/// The commands of a log by their arrival rank.
pub struct Overtaking {
    orders: Vec<Option<Order>>,
}

impl Overtaking {
    /// `ranks` in order of arrival: a command that the drive served earlier has a smaller one, and one that
    /// it never served has none. Of two with the same rank, which one access served together, the earlier
    /// arrival counts as the first.
    pub fn of(ranks: &[Option<u64>]) -> Self {
        let mut served: Vec<(u64, usize)> =
            ranks.iter().enumerate().filter_map(|(arrival, rank)| Some(((*rank)?, arrival))).collect();
        served.sort_unstable();
        let mut orders = vec![None; ranks.len()];
        let mut before = Counts::new(ranks.len());
        let mut arrived = Counts::new(ranks.len());
        served.iter().for_each(|&(_, arrival)| arrived.add(arrival));
        for (service, &(_, arrival)) in served.iter().enumerate() {
            let earlier_before = before.below(arrival);
            let (service_rank, earlier) = (service as u64, arrived.below(arrival));
            let (overtaken_by, overtook) = (service_rank - earlier_before, earlier - earlier_before);
            orders[arrival] = Some(Order { service_rank, overtaken_by, overtook });
            before.add(arrival);
        }
        Overtaking { orders }
    }

    /// The place of the command with this arrival rank; `None` where it was not served.
    pub fn order(&self, arrival: usize) -> Option<Order> {
        self.orders[arrival]
    }

    /// The arrival ranks of the commands that overtook this one.
    pub fn who_overtook(&self, arrival: usize) -> Vec<usize> {
        let range = arrival + 1..self.orders.len();
        self.with(arrival, range, |other, own| other.service_rank < own.service_rank)
    }

    /// The arrival ranks of the commands that this one overtook.
    pub fn whom_overtook(&self, arrival: usize) -> Vec<usize> {
        self.with(arrival, 0..arrival, |other, own| other.service_rank > own.service_rank)
    }

    fn with(
        &self,
        arrival: usize,
        others: std::ops::Range<usize>,
        wanted: impl Fn(Order, Order) -> bool,
    ) -> Vec<usize> {
        let Some(own) = self.orders[arrival] else { return Vec::new() };
        others.filter(|&other| self.orders[other].is_some_and(|other| wanted(other, own))).collect()
    }
}

/// Counts how many of a growing set of numbers lie below another.
struct Counts(Vec<u64>);

impl Counts {
    fn new(size: usize) -> Self {
        Counts(vec![0; size + 1])
    }

    fn add(&mut self, number: usize) {
        let mut at = number + 1;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn below(&self, number: usize) -> u64 {
        let (mut at, mut sum) = (number, 0);
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn three_commands_of_which_the_last_goes_first() {
        let overtaking = Overtaking::of(&[Some(7), Some(9), Some(4)]);
        let order =
            |service_rank, overtaken_by, overtook| Some(Order { service_rank, overtaken_by, overtook });
        assert_eq!(overtaking.order(0), order(1, 1, 0));
        assert_eq!(overtaking.order(1), order(2, 1, 0));
        assert_eq!(overtaking.order(2), order(0, 0, 2));
        assert_eq!((overtaking.who_overtook(1), overtaking.whom_overtook(2)), (vec![2], vec![0, 1]));
    }

    proptest! {
        #[test]
        fn the_counts_are_those_of_the_definition(
            ranks in prop::collection::vec(prop::option::weighted(0.9, 0u64..40), 0..60),
        ) {
            let overtaking = Overtaking::of(&ranks);
            let served = |at: usize| ranks[at].map(|rank| (rank, at));
            let mut seen = Vec::new();
            for at in 0..ranks.len() {
                let Some(own) = served(at) else {
                    prop_assert_eq!(overtaking.order(at), None);
                    prop_assert!(overtaking.who_overtook(at).is_empty());
                    continue;
                };
                let order = overtaking.order(at).unwrap();
                let naive_by: Vec<usize> =
                    (at + 1..ranks.len()).filter(|&other| served(other).is_some_and(|o| o < own)).collect();
                let naive: Vec<usize> =
                    (0..at).filter(|&other| served(other).is_some_and(|o| o > own)).collect();
                prop_assert_eq!(order.overtaken_by, naive_by.len() as u64);
                prop_assert_eq!(order.overtook, naive.len() as u64);
                prop_assert_eq!(overtaking.who_overtook(at), naive_by);
                prop_assert_eq!(overtaking.whom_overtook(at), naive);
                seen.push(order.service_rank);
            }
            seen.sort_unstable();
            let all: Vec<u64> = (0..seen.len() as u64).collect();
            prop_assert_eq!(seen, all);
        }
    }
}
