"""Workloads on real files and block devices.

What lives here: what a target is (`device`), what may be written to (`guard`, `signatures`), the run and its record
(`run`), which figures are implausible (`plausibility`), ready-made measurements (`ready`, `reorder`). What never
does: the engine itself, which is in Rust (`crates/measure`).
"""
