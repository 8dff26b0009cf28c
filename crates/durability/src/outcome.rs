//! The losses of an array, and the method that found them: the chain if every time is exponential, plain Monte Carlo
//! if losses are frequent, failure biasing if they are rare; splitting if few biased histories determine the result,
//! and on request.
use crate::HOURS_PER_YEAR;
use crate::arrangement::Rule;
use crate::array::HistoryOptions;
use crate::chain::Chain;
use crate::closed_forms::{Mttdl, mttdl};
use crate::estimate::{CONFIDENCE, Estimate, Moments};
use crate::monte_carlo::{CHUNK, Histories, Sampler, Workers};
use crate::plan::{Plan, Problem};
use crate::splitting::{REPLICATES, split};
use crate::states::{Loss, explored, not_exponential};
use drivelab_units::key;
use libm::log1p;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// The largest relative half-width of an interval of weighted histories; above it the result depends on few of them.
const WIDE: f64 = 0.3;

/// The least chance that a chain gives as a value, and one by its longest mean time in years. What is less is a
/// bound: the products that make it up leave the range of a double, and would be missing in the sum.
pub const LEAST: f64 = 1e-290;

/// The method that finds the losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    Auto,
    Chain,
    MonteCarlo,
    Biasing,
    Splitting,
}

/// The effort and options of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    pub method: Method,
    pub seed: u64,
    /// The most histories; with splitting, of one stage in all replicates.
    pub histories: u64,
    /// The run ends earlier if half the interval is below this share of the probability.
    pub relative: f64,
    /// Whether histories continue after a loss and count every loss.
    #[serde(default)]
    pub every_loss: bool,
}

/// The losses of an array. Probabilities are between 0 and 1; intervals are of 95 % confidence.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub method: Method,
    /// Why the method is not the chain, unless another method was requested.
    pub reason: Option<&'static str>,
    /// The method that was tried before this one, and the problem with its result.
    pub instead_of: Option<Method>,
    pub instead_because: Option<&'static str>,
    pub confidence: f64,
    pub histories: f64,
    pub drive_years: f64,
    pub loss_in_a_year: Estimate,
    pub loss_in_life: Estimate,
    /// The same, over the intervals of the rebuild times.
    pub loss_in_a_year_over_rebuilds: Option<Estimate>,
    /// Losses within the life: only the first, or every one.
    pub losses_in_life: Estimate,
    /// The share of first losses due to unreadable sectors; `None` if none were specified.
    pub share_by_sectors: Option<f64>,
    pub mttdl_years: Estimate,
    /// Bytes lost within the life.
    pub bytes_lost: Estimate,
    /// Minus the decimal logarithm of the probability of loss in a year.
    pub nines: Option<f64>,
    /// The share of time in which data are unavailable but not lost; `None` if no outages were specified.
    pub unavailability: Option<f64>,
    pub usable_bytes: f64,
    pub bears_worst: u32,
    /// The textbook values for one group, if drives have a mean life and nothing else fails.
    pub textbook: Option<Mttdl>,
}

/// Finds the losses of an array.
///
/// # Errors
/// A method that the array does not allow, or an invalid setting.
pub fn solve(plan: &Plan, settings: &Settings) -> Result<Outcome, Vec<Problem>> {
    solve_with(plan, settings, Workers { runner: None, stop: &AtomicBool::new(false) })
}

/// The same, with histories run by the caller; those of splitting run in this process.
///
/// # Errors
/// As for [`solve`]. If histories could not be run, or were stopped, the outcome is invalid.
pub fn solve_with(plan: &Plan, settings: &Settings, workers: Workers<'_>) -> Result<Outcome, Vec<Problem>> {
    check(plan, settings)?;
    let mut outcome = run(plan, settings, workers)?;
    let ends = [plan.at_end(|step| step.low_hours), plan.at_end(|step| step.high_hours)];
    for end in ends.iter().flatten() {
        let other = run(end, settings, workers)?.loss_in_a_year;
        let sum = outcome.loss_in_a_year_over_rebuilds.unwrap_or(outcome.loss_in_a_year).over(&other);
        outcome.loss_in_a_year_over_rebuilds = Some(sum);
    }
    Ok(outcome)
}

/// Checks whether the losses of an array can be found with these settings; nothing is run.
///
/// # Errors
/// A method that the array does not allow, or an invalid setting.
pub fn check(plan: &Plan, settings: &Settings) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    let mut hold = |holds: bool, place: &str, message: String, remedy: &str| {
        if !holds {
            problems.push(Problem::of(place, message, remedy));
        }
    };
    let rare = matches!(settings.method, Method::Chain | Method::Biasing | Method::Splitting);
    hold(
        !settings.every_loss || !rare,
        "every_loss",
        "a history ends with its loss in this method".into(),
        concat!("give ", key!("method", "monte-carlo")),
    );
    let (is_redundant, is_at_once) = can_split(plan);
    hold(
        settings.method != Method::Splitting || is_redundant,
        "method",
        format!("{} loses data with its first failure", plan.about.level),
        concat!("splitting needs redundancy: give ", key!("method", "monte-carlo")),
    );
    hold(
        settings.method != Method::Splitting || !is_at_once,
        "method",
        "a common cause takes several drives at once, past the stages of splitting".into(),
        concat!("give ", key!("method", "biasing")),
    );
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Whether there are stages, one per missing member, and whether a common cause can skip them.
fn can_split(plan: &Plan) -> (bool, bool) {
    (plan.arrangement.depth_of_loss() >= 2, plan.about.common.iter().any(|common| common.share > 0.0))
}

fn run(plan: &Plan, settings: &Settings, workers: Workers<'_>) -> Result<Outcome, Vec<Problem>> {
    let way = HistoryOptions {
        life: plan.about.life_hours.max(HOURS_PER_YEAR),
        biased: false,
        every_loss: settings.every_loss,
    };
    let mut method = settings.method;
    let mut reason = None;
    if matches!(method, Method::Auto | Method::Chain) {
        reason = if settings.every_loss { Some("every loss is counted") } else { not_exponential(plan) };
        if reason.is_none() {
            if let Some(outcome) = by_chain(plan) {
                return Ok(outcome);
            }
            reason = Some("the chain has too many states");
        }
        if let (Method::Chain, Some(reason)) = (method, reason) {
            let remedy = concat!("give ", key!("method", "auto"), ", or exponential times");
            return Err(vec![Problem::of("method", format!("there is no chain: {reason}"), remedy)]);
        }
        method = Method::MonteCarlo;
        // Frequent losses are counted by plain histories; biasing would only add variance.
        let mut pilot = Sampler::new(plan, way, settings.seed, workers);
        pilot.reach((8 * CHUNK).min(settings.histories));
        if pilot.found.year.hits < 100.0 && !settings.every_loss {
            method = Method::Biasing;
        }
    }
    let mut tried = Vec::from([method]);
    if method == Method::Splitting {
        tried.push(Method::Biasing);
    }
    if method != Method::MonteCarlo {
        // Weighted histories without a loss give no bound: plain histories do.
        tried.push(Method::MonteCarlo);
    }
    let last = tried.len() - 1;
    for (place, &method) in tried.iter().enumerate() {
        let bound = place > 0 && place == last;
        let found = histories(
            plan,
            HistoryOptions { biased: method == Method::Biasing, ..way },
            method,
            (settings, bound),
            workers,
        );
        if found.year.hits > 0.0 || place == last {
            let (mut instead_of, mut instead_because) =
                (place > 0).then_some((tried[0], "it saw no loss")).unzip();
            let mut outcome = by_histories(plan, way, method, reason, &found, settings);
            if settings.method == Method::Auto
                && method == Method::Biasing
                && let Some(other) = split_where_few_carry(plan, way, &outcome, settings, workers)
            {
                outcome = Outcome { reason, ..other };
                (instead_of, instead_because) =
                    (Some(method), Some("a few of its histories carried the figure"));
            }
            return Ok(Outcome { instead_of, instead_because, ..outcome });
        }
    }
    unreachable!("the last method gives its bound")
}

/// The result of splitting if the biased result has a wide interval, which may not cover rare histories that were
/// missed: with many copies the result is then too small by orders of magnitude. `None` if splitting is no better or
/// not possible.
fn split_where_few_carry(
    plan: &Plan,
    way: HistoryOptions,
    biased: &Outcome,
    settings: &Settings,
    workers: Workers<'_>,
) -> Option<Outcome> {
    let width = |one: &Outcome| one.loss_in_a_year.relative().max(one.loss_in_life.relative());
    if can_split(plan) != (true, false) || width(biased) <= WIDE {
        return None;
    }
    let found = histories(plan, way, Method::Splitting, (settings, false), workers);
    let other = by_histories(plan, way, Method::Splitting, None, &found, settings);
    (width(&other) < width(biased)).then_some(other)
}

/// The outcome of histories by one method; runs all of them if a bound is wanted.
fn histories(
    plan: &Plan,
    way: HistoryOptions,
    method: Method,
    (settings, bound): (&Settings, bool),
    workers: Workers<'_>,
) -> Histories {
    if method == Method::Splitting {
        return split(
            plan,
            way,
            (settings.histories / REPLICATES).clamp(50, 1 << 24),
            settings.seed,
            workers.stop,
        );
    }
    let mut sampler = Sampler::new(plan, way, settings.seed, workers);
    if bound {
        sampler.reach(settings.histories);
    } else {
        sampler.until(settings.relative, settings.histories);
    }
    sampler.found
}

fn by_histories(
    plan: &Plan,
    way: HistoryOptions,
    method: Method,
    reason: Option<&'static str>,
    found: &Histories,
    settings: &Settings,
) -> Outcome {
    let effort = if method == Method::Splitting { (settings.histories / REPLICATES) as f64 } else { 1.0 };
    let life = found.life.estimate();
    // For a process whose losses occur at a constant rate: time divided by losses.
    let hours = found.all.hours / found.count();
    let mttdl_years = Estimate {
        value: life.value.map(|chance| hours / chance / HOURS_PER_YEAR),
        low: hours / life.high / HOURS_PER_YEAR,
        high: if life.low > 0.0 { hours / life.low / HOURS_PER_YEAR } else { f64::MAX },
        error: life.value.map_or(0.0, |chance| life.error / chance * hours / chance / HOURS_PER_YEAR),
    };
    let bytes = if found.bytes.hits == 0.0 {
        life.times(plan.usable_bytes())
    } else {
        Moments { fractions: true, ..found.bytes }.estimate()
    };
    let losses = Moments { fractions: found.losses.fractions || way.every_loss, ..found.losses };
    let histories = found.count() * effort;
    Outcome {
        reason,
        histories,
        drive_years: histories * plan.cell_of.len() as f64 * hours / HOURS_PER_YEAR,
        losses_in_life: losses.estimate(),
        share_by_sectors: life
            .value
            .filter(|_| plan.about.latent.is_some())
            .map(|_| found.all.by_sectors / found.all.life),
        mttdl_years,
        bytes_lost: bytes,
        ..outcome(plan, method, found.year.estimate(), life)
    }
}

fn by_chain(plan: &Plan) -> Option<Outcome> {
    let batch = plan.about.batch.as_ref();
    let (mut in_year, mut in_life) = (0.0, 0.0);
    let mut hours = 0.0;
    let (mut by_sectors, mut bytes) = (0.0, 0.0);
    let share = batch.map_or(0.0, |batch| batch.share);
    for (part, ageing) in [(1.0 - share, 1.0), (share, batch.map_or(1.0, |batch| batch.factor))] {
        if part == 0.0 {
            continue;
        }
        let states = explored(plan, ageing)?;
        let sums = |chances: &[f64], factor: &dyn Fn(&Loss) -> f64| -> f64 {
            chances.iter().zip(&states.losses).map(|(chance, loss)| chance * factor(loss)).sum()
        };
        let chain: &Chain = &states.chain;
        let year = chain.chances(HOURS_PER_YEAR);
        let life = chain.chances(plan.about.life_hours.max(HOURS_PER_YEAR));
        in_year += part * sums(&year, &|_| 1.0);
        in_life += part * sums(&life, &|_| 1.0);
        by_sectors += part * sums(&life, &|loss| f64::from(u8::from(loss.by_sectors)));
        bytes += part * sums(&life, &|loss| loss.bytes);
        hours += part * chain.mean_time();
    }
    let (year, life) = (Estimate::exact_from(LEAST, in_year), Estimate::exact_from(LEAST, in_life));
    let bytes = life.value.map_or_else(|| life.times(plan.usable_bytes()), |_| Estimate::exact(bytes));
    Some(Outcome {
        losses_in_life: life,
        share_by_sectors: life
            .value
            .filter(|&chance| chance > 0.0 && plan.about.latent.is_some())
            .map(|chance| by_sectors / chance),
        mttdl_years: Estimate::exact_to(1.0 / LEAST, hours / HOURS_PER_YEAR),
        bytes_lost: bytes,
        ..outcome(plan, Method::Chain, year, life)
    })
}

/// The parts of the outcome that do not depend on the method.
fn outcome(plan: &Plan, method: Method, year: Estimate, life: Estimate) -> Outcome {
    let about = &plan.about;
    let available: f64 = about.outages.iter().map(|part| -log1p(part.mttr_hours / part.mttf_hours)).sum();
    let textbook = match plan.arrangement.rule {
        Rule::Bears(bears) if about.drive.mean().is_finite() => {
            let repair = &about.repair;
            let waits = repair.detection().mean()
                + if about.spares.unwrap_or(0) == 0 { repair.replacement().mean() } else { 0.0 };
            let one = mttdl(
                plan.arrangement.cells[0],
                bears,
                about.drive.mean(),
                waits + plan.rebuild_mean(1),
                repair.serial,
            );
            let groups = plan.arrangement.cells.len() as f64;
            Some(Mttdl {
                approximate_hours: one.approximate_hours / groups,
                exact_hours: one.exact_hours.filter(|_| groups == 1.0),
            })
        }
        _ => None,
    };
    let zero = Estimate::exact(0.0);
    Outcome {
        method,
        reason: None,
        instead_of: None,
        instead_because: None,
        confidence: CONFIDENCE,
        histories: 0.0,
        drive_years: 0.0,
        nines: year.value.filter(|&chance| chance > 0.0).map(|chance| -libm::log10(chance)),
        loss_in_a_year: year,
        loss_in_life: life,
        loss_in_a_year_over_rebuilds: None,
        losses_in_life: zero,
        share_by_sectors: None,
        mttdl_years: zero,
        bytes_lost: zero,
        unavailability: (!about.outages.is_empty()).then(|| -libm::expm1(available)),
        usable_bytes: plan.usable_bytes(),
        bears_worst: plan.arrangement.bears_worst(),
        textbook,
    }
}
