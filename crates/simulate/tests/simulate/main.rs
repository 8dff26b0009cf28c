//! Whole runs from outside, in one program: a module for each question. What is run alone by name has a program of its
//! own: `determinism`, `histories`, `fuzz`.
mod accepted;
mod accounts;
mod catalogue;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod drive;
mod gain;
mod injected;
mod jobs;
mod kept_in_passing;
mod memories;
mod power_cuts;
mod published;
mod queueing;
mod rebuilds;
mod recorded;
mod replay;
mod streams;
mod zones;
