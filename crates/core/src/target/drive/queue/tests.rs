//! The queue held to its naive definition: every policy against the plain search over all entries.
