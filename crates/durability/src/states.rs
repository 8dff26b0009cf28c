//! The Markov chain of an array if every time is exponential. A state is the number of missing members of each cell,
//! in each part of their repair, up to symmetry; with counted spares also the number of drives that wait for a spare
//! and of spares in stock.
//!
//! The chain makes the same transitions as the simulation in `array.rs`: after each failure first the loss by missing
//! members, then, if the array is critical, the probability of an unreadable sector during the rebuild.
use crate::arrangement::Rule;
use crate::chain::Chain;
use crate::law::Law;
use crate::plan::{MEMBERS_MAX, Plan};
use libm::{expm1, pow};
use std::collections::BTreeMap;

/// The most states; a larger chain takes too long.
pub const STATES_MAX: usize = 400;
/// The same for one group whose members fail and return one by one: nearly all entries of its matrices are zero.
pub const STATES_OF_GROUP_MAX: usize = MEMBERS_MAX as usize + 1;
/// The same for repairs of several parts, whose histories do not take long either.
pub const STATES_OF_PARTS_MAX: usize = 150;
/// The parts of a repair: detection, replacement, rebuild.
const PARTS: usize = 3;

/// The cause of a loss, and the lost bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Whether unreadable sectors caused the loss; otherwise failed members.
    pub by_sectors: bool,
    pub bytes: f64,
}

/// Missing members by cell, in each part of their repair; drives of them that wait for a spare; spares in stock.
type State = (Vec<[u32; PARTS]>, u32, u32);

/// The chain of an array, and the loss of each way of absorption.
pub struct States {
    pub chain: Chain,
    pub losses: Vec<Loss>,
}

/// Why there is no chain; `None` if there is one, apart from its size.
pub fn not_exponential(plan: &Plan) -> Option<&'static str> {
    let about = &plan.about;
    let repair = &about.repair;
    let exponential = |law: &Law| law.exponential().is_some();
    if !exponential(&about.drive) {
        return Some("the lives of the drives are not exponential");
    }
    if plan.arrangement.bears_worst() == 0 {
        // The first failure is the loss: nothing is repaired or read before it.
        return None;
    }
    if about.latent.as_ref().is_some_and(|latent| latent.arrival.is_some()) {
        return Some("latent defects by the hour have a history");
    }
    if !repair.rebuild.iter().all(|step| exponential(&step.time)) {
        return Some("the rebuild is not exponential");
    }
    if repair.attended.is_some() {
        return Some("somebody is there at some hours only");
    }
    let is_simple = |law: &Law| law.is_zero() || exponential(law);
    if !is_simple(repair.detection()) {
        return Some("the detection is not exponential");
    }
    match about.spares {
        None if !is_simple(repair.replacement()) => Some("the replacement is not exponential"),
        None if parts(plan).len() > 1 && (repair.serial || repair.rebuild.len() > 1) => {
            Some("a repair of several parts changes its pace")
        }
        Some(_) if !repair.detection().is_zero() => Some("spares wait for the detection"),
        Some(_) if !exponential(repair.replacement()) => {
            Some("the replacement of a spare is not exponential")
        }
        Some(_) if plan.arrangement.cells.len() > 1 => Some("groups share their spares"),
        Some(_) if repair.serial => Some("rebuilds share their pace"),
        _ => None,
    }
}

/// The mean hours of each part of a repair that takes time; the rebuild is last.
fn parts(plan: &Plan) -> Vec<f64> {
    let repair = &plan.about.repair;
    let waits = [Some(repair.detection()), plan.about.spares.is_none().then_some(repair.replacement())];
    let waits = waits.into_iter().flatten().filter(|law| !law.is_zero()).map(Law::mean);
    waits.chain([plan.rebuild_mean(1)]).collect()
}

/// The number of missing members of each cell, in any part of their repair.
fn missing(cells: &[[u32; PARTS]]) -> Vec<u32> {
    cells.iter().map(|parts| parts.iter().sum()).collect()
}

/// The most states of the chain of an array.
fn states_max(plan: &Plan, parts: usize) -> usize {
    let is_one_by_one =
        plan.arrangement.cells.len() == 1 && plan.about.spares.is_none() && plan.about.common.is_empty();
    match (parts, is_one_by_one) {
        (1, true) => STATES_OF_GROUP_MAX,
        (1, false) => STATES_MAX,
        _ => STATES_OF_PARTS_MAX,
    }
}

/// Builds the chain, with drives that age faster by the factor `ageing`. `None` if it has more states than are
/// solved: [`STATES_MAX`], [`STATES_OF_GROUP_MAX`] or [`STATES_OF_PARTS_MAX`].
pub fn explored(plan: &Plan, ageing: f64) -> Option<States> {
    let parts = parts(plan);
    let most = states_max(plan, parts.len());
    let start: State = (vec![[0; PARTS]; plan.arrangement.cells.len()], 0, plan.about.spares.unwrap_or(0));
    let mut found = BTreeMap::from([(start.clone(), 0usize)]);
    let mut order = vec![start];
    let mut losses: Vec<Loss> = Vec::new();
    let mut moves: Vec<(usize, usize, f64)> = Vec::new();
    let mut lost: Vec<(usize, usize, f64)> = Vec::new();
    let mut at = 0;
    while at < order.len() {
        let mut branches = Branches { plan, parts: &parts, ends: Vec::new(), lost: Vec::new() };
        branches.explore(&order[at], ageing);
        for (mut state, rate) in branches.ends {
            canonical(plan, &mut state.0);
            let next = order.len();
            let to = *found.entry(state.clone()).or_insert(next);
            if to == next {
                order.push(state);
            }
            if to != at {
                moves.push((at, to, rate));
            }
        }
        for (loss, rate) in branches.lost {
            let way = losses.iter().position(|known| *known == loss).unwrap_or(losses.len());
            if way == losses.len() {
                losses.push(loss);
            }
            lost.push((at, way, rate));
        }
        if order.len() > most {
            return None;
        }
        at += 1;
    }
    let mut chain = Chain {
        between: vec![vec![0.0; order.len()]; order.len()],
        absorbed: vec![vec![0.0; losses.len()]; order.len()],
    };
    for (from, to, rate) in moves {
        chain.between[from][to] += rate;
    }
    for (from, way, rate) in lost {
        chain.absorbed[from][way] += rate;
    }
    Some(States { chain, losses })
}

/// The transitions of one state, with their rates.
struct Branches<'p> {
    plan: &'p Plan,
    parts: &'p [f64],
    ends: Vec<(State, f64)>,
    lost: Vec<(Loss, f64)>,
}

impl Branches<'_> {
    fn explore(&mut self, state: &State, ageing: f64) {
        let about = &self.plan.about;
        let hazard = ageing / about.drive.mean();
        for (cell, &size) in self.plan.arrangement.cells.iter().enumerate() {
            let live = size - state.0[cell].iter().sum::<u32>();
            let rate = f64::from(live) * hazard;
            if live == 0 {
                continue;
            }
            for (after, part) in self.failed(state, cell, rate) {
                let others = size - after.0[cell].iter().sum::<u32>();
                if about.wrong_drive == 0.0 || others == 0 {
                    self.ends.push((after, part));
                    continue;
                }
                let pulled = self.failed(&after, cell, part * about.wrong_drive);
                self.ends.extend(pulled);
                self.ends.push((after, part * (1.0 - about.wrong_drive)));
            }
        }
        for common in &about.common {
            self.common(state, 1.0 / common.mean_hours, common.share);
        }
        self.repairs(state);
    }

    /// One member of a cell fails: returns the resulting states, and records the losses.
    fn failed(&mut self, state: &State, cell: usize, rate: f64) -> Vec<(State, f64)> {
        let plan = self.plan;
        let (mut cells, mut waiting, mut stock) = state.clone();
        cells[cell][0] += 1;
        let missing = missing(&cells);
        if plan.about.spares.is_some() {
            // A spare replaces it, or it waits for the spare that is ordered now.
            if stock > 0 { stock -= 1 } else { waiting += 1 }
        }
        let mut rate = rate;
        let loss = plan.arrangement.loss(&missing, cell);
        if loss > 0.0 {
            let bytes = plan.arrangement.at_stake_drives(cell) * plan.about.capacity_bytes;
            self.lost.push((Loss { by_sectors: false, bytes }, rate * loss));
            rate *= 1.0 - loss;
        } else if let Some(per_byte) = plan.about.latent.as_ref().and_then(|latent| latent.per_byte)
            && per_byte > 0.0
            && plan.arrangement.is_critical(&missing, cell)
        {
            let expected =
                per_byte * plan.arrangement.exposed_drives(&missing, cell) * plan.about.capacity_bytes;
            let chance = -expm1(-expected);
            let bytes = crate::array::SECTOR_BYTES * expected / chance;
            self.lost.push((Loss { by_sectors: true, bytes }, rate * chance));
            rate *= 1.0 - chance;
        }
        if rate > 0.0 { vec![((cells, waiting, stock), rate)] } else { Vec::new() }
    }

    /// Each member fails with the same probability, cell by cell.
    fn common(&mut self, state: &State, rate: f64, share: f64) {
        let mut open = vec![(state.clone(), rate)];
        for (cell, &size) in self.plan.arrangement.cells.iter().enumerate() {
            let live = size - state.0[cell].iter().sum::<u32>();
            let mut after = Vec::new();
            for (from, part) in open {
                for count in 0..=live {
                    let chance = binomial(live, count)
                        * pow(share, f64::from(count))
                        * pow(1.0 - share, f64::from(live - count));
                    let mut parts = vec![(from.clone(), part * chance)];
                    for _ in 0..count {
                        parts = parts.iter().flat_map(|(one, rate)| self.failed(one, cell, *rate)).collect();
                    }
                    after.extend(parts.into_iter().filter(|one| one.1 > 0.0));
                }
            }
            open = after;
        }
        self.ends.extend(open);
    }

    fn repairs(&mut self, state: &State) {
        let (cells, waiting, stock) = state;
        let about = &self.plan.about;
        let counts = missing(cells);
        let all: u32 = counts.iter().sum();
        let last = self.parts.len() - 1;
        for (cell, parts) in cells.iter().enumerate() {
            for (part, &count) in parts.iter().enumerate() {
                let under_way = count - waiting.min(&count);
                if under_way == 0 {
                    continue;
                }
                let mut after = cells.clone();
                after[cell][part] -= 1;
                let rate = if part < last {
                    after[cell][part + 1] += 1;
                    f64::from(under_way) / self.parts[part]
                } else {
                    let shared = if about.repair.serial { f64::from(all) } else { 1.0 };
                    f64::from(under_way) / (self.plan.rebuild_mean(counts[cell]) * shared)
                };
                self.ends.push(((after, *waiting, *stock), rate));
            }
        }
        // Each used spare and each waiting drive has an outstanding order of its own.
        let Some(spares) = about.spares else { return };
        let orders = spares - stock + waiting;
        if orders > 0 {
            let rate = f64::from(orders) / about.repair.replacement().mean();
            let after = if *waiting > 0 {
                (cells.clone(), waiting - 1, *stock)
            } else {
                (cells.clone(), 0, stock + 1)
            };
            self.ends.push((after, rate));
        }
    }
}

fn binomial(n: u32, k: u32) -> f64 {
    (0..k).map(|step| f64::from(n - step) / f64::from(step + 1)).product()
}

/// Reduces states that differ only in the order of equivalent cells to one.
fn canonical(plan: &Plan, missing: &mut [[u32; PARTS]]) {
    match plan.arrangement.rule {
        Rule::Bears(_) | Rule::EveryCell => missing.sort_unstable(),
        Rule::Local { .. } => {
            let locals = missing.len() - 1;
            missing[..locals].sort_unstable();
        }
        Rule::Arc(_) => {
            let least = (0..missing.len()).map(|by| [&missing[by..], &missing[..by]].concat()).min();
            if let Some(least) = least {
                missing.copy_from_slice(&least);
            }
        }
        Rule::Declustered { .. } => {}
    }
}
