//! How a drive disconnects from its bus and reconnects, for the core.
use super::system::bounded;
use crate::check::given;
use crate::keys::At;
use crate::raw::disconnect::{DisconnectRaw, SecondReleaseRaw, SectorCount, SectorsFirstRaw};
use crate::text::problem::Log;
use drivelab_core::storage::drive::disconnect::{DisconnectParams, SecondRelease, SectorsFirst};
use drivelab_core::storage::drive::params::Overhead;
use drivelab_units::Span;

/// The drive's end of its bus; without any time where the file does not describe it.
pub fn disconnect(raw: Option<&At<DisconnectRaw>>, log: &mut Log) -> DisconnectParams {
    let Some(At { value: raw, .. }) = raw else { return DisconnectParams::default() };
    let mut time = |at: &Option<At<Span>>, key| bounded(at.as_ref(), key, Span::ZERO, log);
    let read_release = raw.read_release.as_ref().map(|at| at.value);
    DisconnectParams {
        holds: given(raw.keeps_bus.as_ref()).unwrap_or(false),
        preparation: time(&raw.preparation, "preparation"),
        reselection: time(&raw.reselection, "reselection"),
        read_release: read_release.map_or_else(Overhead::default, |times| Overhead {
            after_read: times.after_read,
            after_write: times.after_write,
        }),
        write_release: time(&raw.write_release, "write_release"),
        second_release: raw.second.as_ref().map(|at| second(&at.value, log)),
    }
}

fn second(raw: &SecondReleaseRaw, log: &mut Log) -> SecondRelease {
    let mut time = |at: &Option<At<Span>>, key| bounded(at.as_ref(), key, Span::ZERO, log);
    SecondRelease {
        command: time(&raw.command, "command"),
        release: time(&raw.release, "release"),
        away: time(&raw.away, "away"),
        arm_ns: given(raw.arm.as_ref()).map_or(0, |arm| arm.0),
        release_again: time(&raw.release_again, "release_again"),
        reselection: time(&raw.reselection, "reselection"),
        sectors_first: raw.sectors_first.as_ref().map_or(SectorsFirst::SHOWN, |at| sectors_first(&at.value)),
    }
}

fn sectors_first(raw: &SectorsFirstRaw) -> SectorsFirst {
    let SectorsFirst { short, long, long_from } = SectorsFirst::SHOWN;
    let count = |at: &Option<At<SectorCount>>, usual| given(at.as_ref()).map_or(usual, |count| count.0);
    SectorsFirst {
        short: count(&raw.short, short),
        long: count(&raw.long, long),
        long_from: count(&raw.long_from, long_from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::problem::Place;

    #[test]
    fn sectors_before_the_media_are_what_is_shown_but_for_what_is_set() {
        assert_eq!(sectors_first(&SectorsFirstRaw::default()), SectorsFirst::SHOWN);
        let long = Some(At::new(crate::keys::numbers::Count(99), Place::default()));
        let set = sectors_first(&SectorsFirstRaw { long, ..SectorsFirstRaw::default() });
        assert_eq!(set, SectorsFirst { long: 99, ..SectorsFirst::SHOWN });
    }
}
