//! The sections of a scenario: target, workload, run.
use super::array::ArrayRaw;
use super::cache::CacheRaw;
use super::choice::Choice;
use super::drive::DriveRaw;
use super::link::BusChoice;
use super::queue::QueueRaw;
use super::switch::Switch;
use super::system::{ControllerRaw, ElevatorChoice, FaultsRaw};
use super::workload::WorkloadRaw;
use super::write_behind::WriteBehindRaw;
use crate::keys::numbers::Count;
use crate::keys::quantities::{Duration, Extent, Seconds};
use crate::keys::{choices, section};
use drivelab_units::Span;

section! {
    facts: false,
    /// A storage system, a workload and the length of the run.
    pub struct ScenarioRaw {
        /// The name of the scenario in results.
        name: String = "the file's name",
        /// The storage system.
        target: TargetRaw = "",
        /// The workload.
        workload: WorkloadRaw = "4 KiB random reads, one at a time",
        /// The length of the run, and its seed.
        run: RunRaw = "60 s from seed 1",
    }
}

section! {
    facts: false,
    /// The storage system. Exactly one of `drive`, `server` and `null`; an array may name its drives itself.
    pub struct TargetRaw {
        /// A drive of the catalogue by name, the path of a drive file (from the scenario's folder), or a drive written
        /// here as a table; its `base` names the drive that it changes.
        drive: Choice<DriveRaw> = "",
        /// Several drives presented as one device.
        array: ArrayRaw = "none",
        /// Stations of queueing theory in place of a drive.
        server: ServerRaw = "",
        /// A target that answers at once.
        null: NullRaw = "",
        /// Overrides keys of the drive's own queue.
        queue: QueueRaw = "the drive's own",
        /// Overrides keys of the drive's own cache; false for none.
        cache: Switch<CacheRaw> = "the drive's own",
        /// The host's end of the protocol: a controller of the catalogue by name, the path of a controller file, or a
        /// table; its `base` names the controller that it changes.
        controller: Choice<ControllerRaw> = "one that speaks the drive's protocol and costs nothing",
        /// The host bus of the controller: a table, or its standard alone. Of this one and the
        /// controller's own the slower is in force.
        bus: BusChoice = "the controller's own",
        /// The host's I/O scheduler: a table, or its order alone.
        elevator: ElevatorChoice = "none",
        /// The host's own cache, in front of its I/O scheduler: the page cache of an operating system. Only I/Os that
        /// are not `direct` use it.
        host_cache: Switch<WriteBehindRaw> = "none",
        /// Faults: of the drive's media, of drives at an instant, and power cuts.
        faults: FaultsRaw = "nothing",
        /// Whether writes complete in the drive's cache, or only on the media.
        write_cache: bool = "the drive's own",
    }
}

impl TargetRaw {
    /// The controller, once it has been looked up.
    pub fn controller_written_out(&self) -> Option<&ControllerRaw> {
        match self.controller.as_ref().map(|at| &at.value) {
            Some(Choice::Inline(raw)) => Some(raw),
            _ => None,
        }
    }
}

/// The distribution of a server's time for one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServiceName {
    Fixed,
    Exponential,
    Uniform,
    Erlang,
}

choices!(ServiceName {
    "fixed" => ServiceName::Fixed, "always `mean`";
    "exponential" => ServiceName::Exponential, "exponential of mean `mean`";
    "uniform" => ServiceName::Uniform, "uniform from `least` to `most`";
    "erlang" => ServiceName::Erlang, "the sum of `phases` exponentials, of total mean `mean`";
});

section! {
    facts: false,
    /// Stations that a command passes one after the other, each with its own queue and one server. A FLUSH is served as
    /// any other command, and forced unit access has no effect.
    pub struct ServerRaw {
        /// The distribution of the time for one command.
        service: ServiceName = "exponential",
        /// The mean time, for fixed, exponential and erlang.
        mean: Span = "",
        /// The shortest time, for uniform.
        least: Span = "0s",
        /// The longest time, for uniform.
        most: Span = "",
        /// The number of exponential phases, for erlang.
        phases: Count<1, 1000> = "2",
        /// The number of stations.
        stations: Count<1, 1024> = "1",
        /// Its capacity.
        capacity: Extent = "1TB",
    }
}

section! {
    facts: false,
    /// A target that answers at once: only the host takes time.
    pub struct NullRaw {
        /// Its capacity.
        capacity: Extent = "1TB",
    }
}

/// A condition that ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    Rebuilt,
    Sampled,
}

choices!(Until {
    "rebuilt" => Until::Rebuilt, "the last rebuild of the array has ended, and no other is to come";
    "sampled" => Until::Sampled, "the rebuild was sampled at `places` places; what lies between them is skipped";
});

section! {
    facts: false,
    /// When the run ends: at the first limit that is reached.
    pub struct RunRaw {
        /// The warm-up, which is excluded from all figures.
        warmup: Seconds = "0s",
        /// Measured time, after the warm-up.
        duration: Duration = "60s, or none when `ios`, `until`, `workload.trace` or `target.faults.power_cut` is set",
        /// I/Os finished after the warm-up.
        ios: Count<1, 1_000_000_000_000> = "",
        /// A further condition that ends the run.
        until: Until = "",
        /// With `until = "sampled"`: the number of places of the rebuild, each in the middle of an equal share of it. Where
        /// write caches take longer than twenty seconds to fill, a quarter of them is visited, if the number is a multiple
        /// of four, for four times `stay` each.
        places: Count<2, 1000> = "16",
        /// With `until = "sampled"`: the time that counts at each place. What does not count comes before it: at the first
        /// place until written data no longer gather in the caches, at each as long as that took, and at least four seconds.
        stay: Duration = "10s",
        /// The seed of all random numbers.
        seed: Count<0, 0x7fff_ffff_ffff_ffff> = "1",
    }
}
