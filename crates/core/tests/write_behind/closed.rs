//! closed
