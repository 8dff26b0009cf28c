//! The order `firmware`: [`aged_sptf`] under the name used to describe a measured drive. Positioning time as
//! far as the drive knows it, minus a credit for the time waited, among as many of the oldest entries as the
//! drive examines. Nothing is implied: each property counts as far as it is set.
//! Source: B. L. Worthington, G. R. Ganger, Y. N. Patt, J. Wilkes, "On-line extraction of SCSI disk drive parameters",
//! SIGMETRICS 1995 (the properties by which drives differ).
use super::{Order, Rule, Weighs, aged_sptf};
use crate::storage::drive::queue::params::AgeWeight;

pub const USUAL: Order = Order::Firmware(AgeWeight::NONE);

pub const RULE: Rule = Rule {
    name: "firmware",
    summary: "positioning time as far as known, less a credit for the time waited if set",
    weighs: Some(Weighs {
        usual: 0,
        order: |credit| Order::Firmware(AgeWeight::of(credit)),
        ..aged_sptf::WEIGHS
    }),
    ..aged_sptf::RULE
};
