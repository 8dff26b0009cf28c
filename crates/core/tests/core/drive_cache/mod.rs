//! A drive's cache against what can be said of it without looking inside.
//!
//! [`dirty`] holds written data to one entry a sector. [`oracle`] says for histories with pauses which read is a hit, what
//! is kept and what goes: `model` is the cache in plain words. [`destaging`] and [`hits`] are closed forms: when written
//! data go to the media, in what order and in what pieces; what a read finds, and when.
mod destaging;
mod dirty;
mod hits;
mod model;
mod oracle;
mod rig;
