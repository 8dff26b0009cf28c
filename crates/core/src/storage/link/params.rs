//! The documented properties of a bus or a link between drives and the memory of their host.
use drivelab_units::{Rate, Sectors, Span};

/// One stage on the path of the data. One drive uses it exclusively, or several share it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BusParams {
    /// Infinitely fast when `None`.
    pub rate: Option<Rate>,
    /// The rate for writes, where it differs.
    pub write_rate: Option<Rate>,
    /// To acquire the bus for data: arbitration and reselection (SCSI), the turnaround of a transaction
    /// (PCI). Spent again at each connection.
    pub fixed: Span,
    /// Maximum data of one connection, the "maximum burst size" of SCSI; a whole transfer when `None`.
    pub burst: Option<Sectors>,
    /// Whether reads and writes flow at the same time, each at the full rate (PCI Express). A parallel bus
    /// carries one transfer at a time, and so does the Serial ATA link of one drive.
    pub full_duplex: bool,
    /// Whether a transfer keeps the bus from its first datum to its last, even while it has nothing to send
    /// (no disconnection). Otherwise it occupies the bus only for as long as its data take.
    pub holds: bool,
}

impl BusParams {
    /// A link that one drive uses exclusively.
    pub const fn link(rate: Option<Rate>) -> Self {
        BusParams { rate, write_rate: None, fixed: Span::ZERO, burst: None, full_duplex: false, holds: true }
    }

    /// A bus that drives share, disconnecting while they have nothing to send.
    pub const fn shared(rate: Option<Rate>) -> Self {
        BusParams { holds: false, ..BusParams::link(rate) }
    }
}

/// A bus on the path of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Index of the bus in the target.
    pub bus: u16,
    /// The rate negotiated by the drive with a faster bus: its transfers then occupy the bus for longer.
    pub rate: Option<Rate>,
}
