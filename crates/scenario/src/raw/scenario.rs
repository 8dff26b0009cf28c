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
        /// What the scenario is called in results.
        name: String = "the file's name",
        /// The storage system.
        target: TargetRaw = "",
        /// What is asked of it.
        workload: WorkloadRaw = "4 KiB random reads, one at a time",
        /// How long, and from which seed.
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
        /// Several drives that look like one.
        array: ArrayRaw = "none",
        /// Stations of queueing theory in place of a drive.
        server: ServerRaw = "",
        /// A target that answers at once.
        null: NullRaw = "",
        /// Laid over the drive's own queue.
        queue: QueueRaw = "the drive's own",
        /// Laid over the drive's own cache; false for none.
        cache: Switch<CacheRaw> = "the drive's own",
        /// The host's end of the protocol: a controller of the catalogue by name, the path of a controller file, or a
        /// table; its `base` names the controller that it changes.
        controller: Choice<ControllerRaw> = "one that speaks the drive's protocol and costs nothing",
        /// The bus of the host that the controller is put on: a table, or its standard alone. Of this one and the
        /// controller's own the slower is in force.
        bus: BusChoice = "the controller's own",
        /// The host's I/O scheduler: a table, or its order alone.
        elevator: ElevatorChoice = "none",
        /// The host's own cache, before its I/O scheduler: the page cache of an operating system. Only I/Os that are not
        /// `direct` use it.
        host_cache: Switch<WriteBehindRaw> = "none",
        /// What goes wrong: with the drive's media, with drives at an instant, and when the power goes.
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
    /// Stations that a command visits one after the other, each with its own queue and one server. A FLUSH is served as any
    /// other, and writes have nothing to be forced through.
    pub struct ServerRaw {
        /// The distribution of the time for one command.
        service: ServiceName = "exponential",
        /// The mean time, for fixed, exponential and erlang.
        mean: Span = "",
        /// The shortest time, for uniform.
        least: Span = "0s",
        /// The longest time, for uniform.
        most: Span = "",
        /// How many exponentials, for erlang.
        phases: Count<1, 1000> = "2",
        /// How many stations.
        stations: Count<1, 1024> = "1",
        /// The addresses that it answers for.
        capacity: Extent = "1TB",
    }
}

section! {
    facts: false,
    /// A target that answers at once: what is left is the host.
    pub struct NullRaw {
        /// The addresses that it answers for.
        capacity: Extent = "1TB",
    }
}

/// What a run may wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    Rebuilt,
}

choices!(Until {
    "rebuilt" => Until::Rebuilt, "the last rebuild of the array has ended, and no other is to come";
});

section! {
    facts: false,
    /// When the run ends: at whichever limit comes first.
    pub struct RunRaw {
        /// Left out of every figure.
        warmup: Seconds = "0s",
        /// Measured time, after the warm-up.
        duration: Duration = "60s, or none when `ios`, `until`, `workload.trace` or `target.faults.power_cut` is set",
        /// I/Os finished after the warm-up.
        ios: Count<1, 1_000_000_000_000> = "",
        /// What ends the run beside these.
        until: Until = "",
        /// Every random draw follows from it.
        seed: Count<0, 0x7fff_ffff_ffff_ffff> = "1",
    }
}
