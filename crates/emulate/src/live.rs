//! The figures of a device while it is served, for whoever watches the session: counts and times since its beginning.
use crate::clock::Clock;
use crate::engine::Engine;
use crate::lateness::Lateness;
use crate::session::Served;
use drivelab_record::latency::Latencies;
use serde::Serialize;

/// The times of a session so far: their number and sum, so that two answers tell the mean between them.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    pub n: u64,
    pub sum: u64,
    pub p50: Option<u64>,
    pub p99: Option<u64>,
    pub max: Option<u64>,
}

impl From<&Latencies> for Times {
    fn from(of: &Latencies) -> Self {
        let (p50, p99) = (of.percentile_ns(50_000), of.percentile_ns(99_000));
        let sum = u64::try_from(of.sum_ns()).unwrap_or(u64::MAX);
        Times { n: of.count(), sum, p50, p99, max: of.most_ns() }
    }
}

/// See the module.
#[derive(Clone, Debug, Serialize)]
pub struct Live {
    pub name: String,
    pub clock: String,
    pub size_bytes: u64,
    /// The duration so far by the model's clock, and by the machine's.
    pub model_ns: u64,
    pub real_ns: u64,
    /// Commands that the target has and has not completed.
    pub under_way: u64,
    pub reads: Served,
    pub writes: Served,
    pub flushes: Served,
    /// How long commands took by the model's clock.
    pub latency_ns: Times,
    /// How late replies were sent by the machine's clock.
    pub lateness_ns: Times,
}

impl Live {
    pub(crate) fn of(engine: &Engine, clock: &mut Clock, lateness: &Lateness) -> Self {
        let log = engine.log();
        Live {
            name: engine.model.device.name.clone(),
            clock: clock.pace().to_string(),
            size_bytes: engine.capacity().get() * drivelab_units::SECTOR_BYTES,
            model_ns: clock.now().as_ns(),
            real_ns: clock.real().as_nanos() as u64,
            under_way: engine.orders.len() as u64,
            reads: log.reads,
            writes: log.writes,
            flushes: log.flushes,
            latency_ns: (&log.latency).into(),
            lateness_ns: lateness.so_far().into(),
        }
    }
}
