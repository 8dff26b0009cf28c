//! The cache: the scenario's keys override the drive's own, then defaults, and contradictions are recorded.
//!
//! A drive file describes its cache whether or not the write cache is on: its keys on dirty data have no
//! effect, without a message, until somebody switches the write cache on.
use super::cached_writes::section;
use super::drive::Overrides;
use super::layered::{Decider, Layered, decider, pick, unless_displaced};
use crate::keys::At;
use crate::keys::quantities::Extent;
use crate::raw::cache::{CacheRaw, Segmentation, Segments};
use crate::raw::drive::DriveRaw;
use crate::raw::switch::Switch;
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::cache::params::{
    CacheParams, Destage, Reach, ReadAheadParams, WriteBackParams,
};
use drivelab_units::{Sectors, Share, Span, counted};

/// Default time that a drive must be idle before it destages.
const DESTAGE_IDLE: Span = Span::from_ms(50);
/// Default maximum of one destage access: 1 MiB.
const DESTAGE_RUN: Sectors = Sectors::new(2_048);
/// Default share of the limit on dirty data from which destages compete with the host's commands: a half, in
/// steps of 2^-32.
const DESTAGE_FROM: u64 = 1 << 31;

/// The cache of a drive, with the scenario's own keys and switch; `afresh` is the firmware's time to switch
/// to a new read. Invalid values are recorded.
pub fn cache(above: &Overrides<'_>, raw: &DriveRaw, afresh: Span, log: &mut Log) -> Option<CacheParams> {
    let writes = pick(above.write_cache, raw.write_cache.as_ref());
    let switch = pick(above.cache, raw.cache.as_ref());
    let clear = above.clear && raw.readable("cache") && raw.readable("write_cache");
    if switch.as_ref().is_none_or(|switch| matches!(switch.at.value, Switch::Off)) {
        let requested = writes.filter(|writes| writes.at.value);
        if let Some(requested) = unless_displaced(requested, &[decider(switch.as_ref())], log)
            && clear
        {
            let message = "write_cache = true: there is no cache that could take a write";
            let remedy = "add cache = { size = \"8MiB\" }, or set write_cache = false";
            log.contradiction(requested.at.place, message, remedy);
        }
        return None;
    }
    let empty = CacheRaw::default();
    let described = |at| section(at).unwrap_or(&empty);
    let layers = Layers { above: described(above.cache), below: described(raw.cache.as_ref()) };
    let problems = log.count();
    let place = switch.map_or_else(Place::default, |switch| switch.at.place);
    let memory = layers.memory(place, log)?;
    let by = [decider(writes.as_ref())];
    let taken = Use {
        counts: writes.is_some_and(|writes| writes.at.value),
        clear,
        by: &by,
        spares_files: true,
        why: "without a write cache",
        remedy: "set write_cache = true",
    };
    let cache = CacheParams {
        separate_writes: layers.separate_writes(&memory, log),
        keeps_written: layers.keeps_written(taken, log),
        send_from: layers.value(|raw| &raw.send_from).unwrap_or(Share::NONE),
        write_from: layers.value(|raw| &raw.write_from).unwrap_or(Share::NONE),
        write_first: layers.value(|raw| &raw.write_first).map_or(Sectors::ZERO, |first| first.0),
        keeps_passing: layers.value(|raw| &raw.keeps_passing).unwrap_or(false),
        hits_while_busy: layers.value(|raw| &raw.hits_while_busy).unwrap_or(true),
        read_ahead: layers.read_ahead(&memory, afresh, log),
        write_back: layers.write_back(taken, &memory, log),
        ..memory.params
    };
    (log.count() == problems).then_some(cache)
}

/// The scenario's keys and the drive's.
struct Layers<'a> {
    above: &'a CacheRaw,
    below: &'a CacheRaw,
}

/// The size of the memory and its division, and the keys that decided them.
struct Memory {
    params: CacheParams,
    by: [Decider; 4],
}

/// An amount that must not exceed another one; the drive's amount is dropped if keys of the scenario made the
/// other one smaller.
fn within(
    key: Option<Layered<Extent>>,
    name: &str,
    (most, whose, raise): (Sectors, &str, &str),
    by: &[Decider],
    log: &mut Log,
) -> Option<Sectors> {
    let key = key?;
    let requested = key.at.value.0;
    if requested <= most {
        return Some(requested);
    }
    let key = unless_displaced(Some(key), by, log)?;
    let message = format!("`{name}` of {} is more than {whose}, {}", requested.bytes(), most.bytes());
    log.contradiction(key.at.place, message, format!("lower {name}, or {raise}"));
    None
}

/// Whether some keys count, and the message for those that do not.
#[derive(Clone, Copy)]
struct Use<'a> {
    counts: bool,
    /// Whether the keys that decide it could be read.
    clear: bool,
    by: &'a [Decider],
    /// Whether a key without effect in a drive file is not a mistake.
    spares_files: bool,
    why: &'a str,
    remedy: &'a str,
}

impl Use<'_> {
    /// The key, if it counts.
    fn of<T>(&self, name: &str, key: Option<Layered<T>>, log: &mut Log) -> Option<Layered<T>> {
        if self.counts {
            key.iter().for_each(|key| log.has_effect(key.at.place));
            return key;
        }
        let place = unless_displaced(key, self.by, log)?.at.place;
        if self.clear && !(self.spares_files && log.is_of_a_named_file(place)) {
            let message = format!("`{name}` has no effect {}", self.why);
            log.no_effect(place, message, format!("{}, or leave {name} out", self.remedy));
        }
        None
    }
}

impl Layers<'_> {
    fn key<T: Clone>(&self, of: impl Fn(&CacheRaw) -> &Option<At<T>>) -> Option<Layered<T>> {
        pick(of(self.above).as_ref(), of(self.below).as_ref())
    }

    fn value<T: Clone>(&self, of: impl Fn(&CacheRaw) -> &Option<At<T>>) -> Option<T> {
        self.key(of).map(|key| key.at.value)
    }

    fn readable(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.above.readable(name) && self.below.readable(name))
    }

    /// Size and segments; `place` is where the cache is described.
    fn memory(&self, place: Place, log: &mut Log) -> Option<Memory> {
        let (size, segment_size) = (self.key(|raw| &raw.size), self.key(|raw| &raw.segment_size));
        let (segments, segmentation) = (self.key(|raw| &raw.segments), self.key(|raw| &raw.segmentation));
        let by = [
            decider(size.as_ref()),
            decider(segment_size.as_ref()),
            decider(segments.as_ref()),
            decider(segmentation.as_ref()),
        ];
        let fixed = segmentation.as_ref().is_none_or(|key| key.at.value == Segmentation::Fixed);
        let count = segments.as_ref().map_or(1, |key| key.at.value.0);
        // They exclude each other, unless one is set by the scenario and overrides the drive's other one.
        let size =
            size.filter(|size| size.above || segment_size.as_ref().is_none_or(|segment| !segment.above));
        let (total, place) = match (size, segment_size) {
            (Some(size), _) => (size.at.value.0, size.at.place),
            (None, Some(segment)) => {
                let place = segment.at.place;
                let total = Sectors::new(segment.at.value.0.get() * count);
                // A drive whose memory is given by the size of its segments keeps that size however the
                // segments are changed.
                let own = unless_displaced(Some(segment), &by[3..], log);
                if own.is_some() && !fixed {
                    let message = "adaptive segments have no size of their own";
                    log.contradiction(place, message, "give the size of them all: size = \"8MiB\"");
                }
                (total, place)
            }
            (None, None) => {
                if self.readable(&["size", "segment_size"]) {
                    log.fault(place, "the cache has no size", "add size = \"8MiB\", or set cache = false");
                }
                return None;
            }
        };
        if total == Sectors::ZERO {
            log.fault(place, "a cache of no size", "write a size such as \"8MiB\", or set cache = false");
            return None;
        }
        if total.get() < count {
            let place = segments.map_or(place, |key| key.at.place);
            let message =
                format!("{} in a cache of {}", counted(count, "segment"), counted(total.get(), "sector"));
            log.contradiction(place, message, "lower segments, or raise size");
            return None;
        }
        Some(Memory {
            params: CacheParams {
                size: total,
                segments: count as u32,
                fixed,
                ..CacheParams::reading_on(Sectors::ZERO)
            },
            by,
        })
    }

    fn separate_writes(&self, memory: &Memory, log: &mut Log) -> bool {
        let separate = self.key(|raw| &raw.separate_writes).filter(|key| key.at.value);
        if memory.params.segments > 1 {
            return separate.is_some();
        }
        if let Some(separate) = unless_displaced(separate, &memory.by, log) {
            let message = "with its one segment kept for writes, the cache has none for reads";
            let remedy = "set segments to 2 or more, or separate_writes = false";
            log.contradiction(separate.at.place, message, remedy);
        }
        false
    }

    fn read_ahead(&self, memory: &Memory, afresh: Span, log: &mut Log) -> ReadAheadParams {
        let reach_key = self.key(|raw| &raw.read_ahead);
        let by = [decider(reach_key.as_ref())];
        let reach = reach_key.as_ref().map_or(Reach::Limit, |key| key.at.value);
        let reads_on = Use {
            counts: reach != Reach::Nothing,
            clear: self.readable(&["read_ahead", "covers_front"]),
            by: &by,
            spares_files: false,
            why: "with read_ahead = \"none\"",
            remedy: "set read_ahead to limit, track, cylinder or next-track",
        };
        let unlimited = Use {
            counts: false,
            why: "with read_ahead = \"next-track\", which ends where the track does",
            remedy: "set read_ahead to limit, track or cylinder",
            ..reads_on
        };
        let limited = if reach == Reach::NextTrack { unlimited } else { reads_on };
        let mut flag = |name, key, default| {
            let key: Option<Layered<bool>> = reads_on.of(name, key, log);
            key.map_or(default, |key| key.at.value)
        };
        let when_queued = flag("read_ahead_when_queued", self.key(|raw| &raw.read_ahead_when_queued), false);
        let sequential = self.key(|raw| &raw.read_ahead_when_sequential);
        let when_sequential = flag("read_ahead_when_sequential", sequential, false);
        let on_hit = flag("read_ahead_on_hit", self.key(|raw| &raw.read_ahead_on_hit), false);
        let front = self.key(|raw| &raw.covers_front);
        let by_front = [decider(reach_key.as_ref()), decider(front.as_ref())];
        let covers_front = flag("covers_front", front, true);
        let ends_sector = flag("ends_sector", self.key(|raw| &raw.ends_sector), false);
        let passes = Use {
            counts: reads_on.counts && covers_front,
            by: &by_front,
            why: if reads_on.counts { "with covers_front = false" } else { reads_on.why },
            remedy: if reads_on.counts { "set covers_front = true" } else { reads_on.remedy },
            ..reads_on
        };
        let within_reach = passes.of("covers_within", self.key(|raw| &raw.covers_within), log);
        let limit = limited.of("read_ahead_limit", self.key(|raw| &raw.read_ahead_limit), log);
        let least = reads_on.of("read_ahead_least", self.key(|raw| &raw.read_ahead_least), log);
        let [a, b, c, d] = memory.by;
        let by_limit = [a, b, c, d, decider(limit.as_ref())];
        let segment = (memory.params.segment(), "a segment", "enlarge the segments");
        let limit = within(limit, "read_ahead_limit", segment, &memory.by, log);
        let bound = limit.map_or(segment, |limit| (limit, "read_ahead_limit", "raise that"));
        let least = within(least, "read_ahead_least", bound, &by_limit, log);
        ReadAheadParams {
            reach,
            limit: bound.0,
            least: least.unwrap_or(Sectors::ZERO),
            when_queued,
            when_sequential,
            on_hit,
            covers_front,
            covers_within: within_reach.map_or(afresh, |key| key.at.value),
            ends_sector,
        }
    }

    /// Whether reads find dirty data, which they do unless separate segments keep those apart.
    fn keeps_written(&self, taken: Use<'_>, log: &mut Log) -> bool {
        let separate = self.key(|raw| &raw.separate_writes);
        let by = [decider(separate.as_ref())];
        let found = Use {
            counts: separate.is_none_or(|separate| !separate.at.value),
            clear: self.readable(&["separate_writes"]),
            by: &by,
            spares_files: false,
            why: "with separate_writes = true: reads never find written data",
            remedy: "set separate_writes = false",
        };
        let kept = if taken.counts { found } else { taken };
        kept.of("keeps_written", self.key(|raw| &raw.keeps_written), log).is_none_or(|key| key.at.value)
    }

    /// `None` where the write cache is off.
    fn write_back(&self, taken: Use<'_>, memory: &Memory, log: &mut Log) -> Option<WriteBackParams> {
        let destage = self.key(|raw| &raw.destage);
        let by = [decider(destage.as_ref())];
        let destage = taken.of("destage", destage, log).map_or(Destage::WhenIdle, |key| key.at.value);
        let later = Use {
            counts: destage == Destage::WhenIdle,
            clear: self.readable(&["destage"]),
            by: &by,
            spares_files: false,
            why: "with destage = \"at-once\"",
            remedy: "set destage to when-idle",
        };
        let waits = if taken.counts { later } else { taken };
        let segments = taken.of("write_segments", self.key(|raw| &raw.write_segments), log);
        let limit = taken.of("write_limit", self.key(|raw| &raw.write_limit), log);
        let run = taken.of("destage_run", self.key(|raw| &raw.destage_run), log);
        let busy = taken.of("takes_writes_while_busy", self.key(|raw| &raw.takes_writes_while_busy), log);
        let idle = waits.of("destage_idle", self.key(|raw| &raw.destage_idle), log);
        let age = taken.of("destage_age", self.key(|raw| &raw.destage_age), log);
        let from = taken.of("destage_from", self.key(|raw| &raw.destage_from), log);
        if !taken.counts {
            return None;
        }
        for (name, key) in [("write_limit", &limit), ("destage_run", &run)] {
            if let Some(none) = key.as_ref().filter(|key| key.at.value.0 == Sectors::ZERO) {
                let message = format!("`{name}` must be more than zero");
                log.fault(none.at.place, message, "write an amount such as \"1MiB\"");
            }
        }
        let size = memory.params.size;
        let limit = within(limit, "write_limit", (size, "the cache", "enlarge that"), &memory.by, log)
            .unwrap_or(size);
        let from = u128::from(from.map_or(DESTAGE_FROM, |key| key.at.value.bits()));
        Some(WriteBackParams {
            limit,
            segments: write_segments(segments, memory, log),
            destage,
            idle: idle.map_or(DESTAGE_IDLE, |key| key.at.value),
            age: age.map(|key| key.at.value),
            press_from: Sectors::new(((u128::from(limit.get()) * from) >> 32) as u64),
            run: run.map_or(DESTAGE_RUN, |key| key.at.value.0),
            while_busy: busy.is_none_or(|key| key.at.value),
        })
    }
}

/// Segments for dirty data: no more than there are.
fn write_segments(key: Option<Layered<Segments>>, memory: &Memory, log: &mut Log) -> u32 {
    let all = memory.params.segments;
    let Some(key) = key else { return all };
    let requested = key.at.value.0;
    if requested <= all.into() {
        return requested as u32;
    }
    if let Some(key) = unless_displaced(Some(key), &memory.by, log) {
        let message = format!("`write_segments` of {requested} is more than the cache's {all}");
        log.contradiction(key.at.place, message, "lower write_segments, or raise segments");
    }
    all
}
