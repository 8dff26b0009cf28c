//! The drive's cache: segments that reads leave and find, and written data on their way to the media.
pub mod params;
