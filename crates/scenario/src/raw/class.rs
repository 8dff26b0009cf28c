//! Classes of drives: the queue parameters of a drive whose queueing was never measured, and the times that data sheets
//! leave out.
//!
//! The values of each class are in `catalogue/classes`, with the measured drives from which they were derived.
use super::drive::{FirmwareRaw, SeekRaw, SettleRaw, SkewRaw};
use super::queue::QueueRaw;
use crate::keys::read::Names;
use crate::keys::{choices, section};

/// The class whose values a drive takes for what its file leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    SataDesktop,
    SataNearline,
    Scsi,
    Mobile,
    Ideal,
}

choices!(Class {
    "sata-desktop" => Class::SataDesktop, "SATA drives of 3.5 inch for desktops, to about 2014";
    "sata-nearline" => Class::SataNearline, "SATA and SAS drives of 7 200 rpm for servers, 2015 on";
    "scsi" => Class::Scsi, "SCSI and SAS drives of 10 000 and 15 000 rpm";
    "mobile" => Class::Mobile, "SATA drives of 2.5 inch for notebooks";
    "ideal" => Class::Ideal, "no class: shortest positioning time first without a guard, a bound that no firmware reaches";
});

impl Class {
    /// The classes that have a file.
    pub const FILED: [Class; 4] = [Class::SataDesktop, Class::SataNearline, Class::Scsi, Class::Mobile];
    /// Their folder in the catalogue.
    pub const FOLDER: &'static str = "classes";

    /// As a drive file spells it.
    pub fn name(self) -> &'static str {
        match self {
            Class::SataDesktop => "sata-desktop",
            Class::SataNearline => "sata-nearline",
            Class::Scsi => "scsi",
            Class::Mobile => "mobile",
            Class::Ideal => "ideal",
        }
    }
}

section! {
    facts: true,
    /// A class of drives.
    pub struct ClassRaw {
        /// The drives that it covers.
        title: String = "",
        /// Short names for sources, with the full reference of each.
        sources: Names<String> = "",
        /// The measured sweeps over depth from which the values were derived: each drive with its source.
        sweeps: Names<String> = "none",
        /// The queue parameters where a drive file does not set `queue.order`.
        queue: QueueRaw = "",
        /// The form of a seek curve of which a drive file has three times.
        seek: SeekRaw = "",
        /// The overheads that a drive file leaves out.
        firmware: FirmwareRaw = "",
        /// The settling times that a drive file leaves out.
        settle: SettleRaw = "",
        /// The skews where a drive file has none.
        skew: SkewRaw = "",
    }
}
