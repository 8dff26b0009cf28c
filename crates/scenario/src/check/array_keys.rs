//! Keys of an array that have no effect: those that its level does not use, and those whose precondition is
//! not set.
use super::array::ArrayContext;
use crate::check::given;
use crate::raw::array::HoleName;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::array::levels::{LevelName, Uses};

/// Keys without effect at this point.
pub fn check_keys(known: &ArrayContext<'_>, log: &mut Log) {
    for (key, place) in known.raw.set() {
        let what = match key {
            "stripe_unit" => Uses::StripeUnit,
            "copies" => Uses::CopyCount,
            "groups" => Uses::Groups,
            "layout" => Uses::Layout,
            "read_choice" | "split_reads" => Uses::Copies,
            "partial_writes" => Uses::Rows,
            "parity_granule" => Uses::Granule,
            "parity_rate" | "start_dirty_degraded" => Uses::Parity,
            "write_hole" | "resync_at" => Uses::WriteHole,
            "record_size" | "fill" => Uses::Records,
            "spares" | "replaced_after" | "rebuild" | "scrub_at" => Uses::Redundancy,
            _ => {
                check_needs(known, key, place, log);
                continue;
            }
        };
        if known.level.uses(what) {
            check_needs(known, key, place, log);
            continue;
        }
        let message = format!("`{key}` has no effect with level = \"{}\"", known.level.name());
        // A pool writes new versions to another place: a power cut leaves nothing inconsistent.
        let remedy = if key == "resync_at" && known.level.uses(Uses::Records) {
            "set scrub_at to go over the pool, or leave resync_at out".to_owned()
        } else {
            format!("set level to {}, or leave {key} out", those(what))
        };
        log.no_effect(place, message, remedy);
    }
}

/// Keys that need another key.
fn check_needs(known: &ArrayContext<'_>, key: &str, place: Place, log: &mut Log) {
    let raw = known.raw;
    // In a served target, and in the replay of a captured session, drives may fail, and rebuilds and scrubs
    // begin, by `drivelab fault` as well.
    let is_acted_on = log.is_served || log.is_replayed;
    let fails = is_acted_on
        || known.faults.and_then(|faults| faults.fail.as_ref()).is_some_and(|list| !list.value.is_empty());
    let misses = raw.missing.as_ref().is_some_and(|list| !list.value.is_empty());
    let has_spares = known.spares() > 0;
    let replaces = has_spares && (fails || misses);
    let rebuilding = given(raw.rebuilding.as_ref()).unwrap_or(false);
    let goes_over =
        is_acted_on || rebuilding && misses || replaces || raw.scrub_at.is_some() || raw.resync_at.is_some();
    let synchronised = given(raw.synchronised.as_ref())
        .unwrap_or(matches!(known.level, LevelName::Raid3 | LevelName::Raid30));
    let (counts, why, remedy) = match key {
        "bitmap_region" | "bitmap_clears_after" => (
            given(raw.write_hole.as_ref()) == Some(HoleName::Bitmap) || !raw.readable("write_hole"),
            "without a bitmap",
            "set write_hole to bitmap",
        ),
        "spares" => {
            (!has_spares || fails || misses, "where no drive fails", "add target.faults.fail, or missing")
        }
        "replaced_after" => (
            replaces || !raw.readable("spares"),
            "where no spare takes the place of a member",
            "set spares, and target.faults.fail or missing",
        ),
        "spare_drive" => (
            has_spares || known.has_journal() || !raw.readable("spares") || !raw.readable("write_hole"),
            "without a spare and without a journal",
            "set spares, or write_hole to journal",
        ),
        "rebuild" => (
            goes_over || !raw.readable("spares"),
            "where the array never goes over its members by itself",
            "set spares and let a drive fail, or set rebuilding, scrub_at or resync_at",
        ),
        "rebuilding" => (
            !rebuilding || misses || !raw.readable("missing"),
            "where no member is missing",
            "add missing = [0]",
        ),
        "rebuilt" => (
            rebuilding && misses || !raw.readable("rebuilding") || !raw.readable("missing"),
            "where no rebuild begins with the run",
            "add missing = [0] and rebuilding = true",
        ),
        "spindle_deviation" => (!synchronised, "where all spindles turn as one", "set synchronised to false"),
        // Whether it comes in time is checked once the length of the run is known.
        "scrub_at" | "resync_at" => return,
        _ => (true, "", ""),
    };
    if counts {
        log.has_effect(place);
    } else {
        log.no_effect(place, format!("`{key}` has no effect {why}"), format!("{remedy}, or leave {key} out"));
    }
}

/// The levels that have the feature, or `another one than` those that lack it where these are few.
fn those(what: Uses) -> String {
    let named = |uses| {
        let levels = LevelName::ALL.into_iter().filter(|level| level.uses(what) == uses);
        levels.map(LevelName::name).collect::<Vec<_>>()
    };
    let (with, without) = (named(true), named(false));
    if with.len() > 2 * without.len() {
        format!("another one than {}", either(&without))
    } else {
        either(&with)
    }
}

/// Names with commas, and `or` before the last one.
fn either(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
