//! Memory in front of a device that takes writes and hands them on later: the page cache of a host before its I/O
//! scheduler, or the cache of a RAID controller behind it.
pub mod params;
