//! Links between drives and controllers, and the bus of the host, by the names of their standards.
use crate::keys::quantities::Extent;
use crate::keys::read::wrong_type;
use crate::keys::{At, Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_units::{Rate, Span};

/// A link standard, by its data rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standard {
    Ata66,
    Ata100,
    Ata133,
    Sata150,
    Sata300,
    Sata600,
    Ultra160,
    Ultra320,
    Sas3,
    Sas6,
    Sas12,
    Pcie3x2,
    Pcie3x4,
    Pcie4x4,
    Pcie5x4,
}

choices!(Standard {
    "ata-66" => Standard::Ata66, "Ultra DMA mode 4, 66.7 MB/s";
    "ata-100" => Standard::Ata100, "Ultra DMA mode 5, 100 MB/s";
    "ata-133" => Standard::Ata133, "Ultra DMA mode 6, 133.3 MB/s";
    "sata-150" => Standard::Sata150, "Serial ATA at 1.5 Gbit/s: 150 MB/s";
    "sata-300" => Standard::Sata300, "Serial ATA at 3 Gbit/s: 300 MB/s";
    "sata-600" => Standard::Sata600, "Serial ATA at 6 Gbit/s: 600 MB/s";
    "scsi-ultra160" => Standard::Ultra160, "parallel SCSI, 160 MB/s";
    "scsi-ultra320" => Standard::Ultra320, "parallel SCSI, 320 MB/s";
    "sas-3" => Standard::Sas3, "Serial Attached SCSI at 3 Gbit/s: 300 MB/s";
    "sas-6" => Standard::Sas6, "Serial Attached SCSI at 6 Gbit/s: 600 MB/s";
    "sas-12" => Standard::Sas12, "Serial Attached SCSI at 12 Gbit/s: 1200 MB/s";
    "pcie-3x2" => Standard::Pcie3x2, "PCI Express 3.0 with two lanes: 1703 MB/s in either direction";
    "pcie-3x4" => Standard::Pcie3x4, "PCI Express 3.0 with four lanes: 3406 MB/s in either direction";
    "pcie-4x4" => Standard::Pcie4x4, "PCI Express 4.0 with four lanes: 6813 MB/s in either direction";
    "pcie-5x4" => Standard::Pcie5x4, "PCI Express 5.0 with four lanes: 13625 MB/s in either direction";
});

/// A bus of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BusStandard {
    Pci32At33,
    Pci32At66,
    Pci64At66,
    Pcie1x1,
    Pcie2x4,
    Pcie3x8,
}

choices!(BusStandard {
    "pci-32-33" => BusStandard::Pci32At33, "PCI of 32 bits at 33 MHz: 126 MB/s";
    "pci-32-66" => BusStandard::Pci32At66, "PCI of 32 bits at 66 MHz: 252 MB/s";
    "pci-64-66" => BusStandard::Pci64At66, "PCI of 64 bits at 66 MHz: 504 MB/s";
    "pcie-1x1" => BusStandard::Pcie1x1, "PCI Express 1.0 with one lane: 216 MB/s in either direction";
    "pcie-2x4" => BusStandard::Pcie2x4, "PCI Express 2.0 with four lanes: 1730 MB/s in either direction";
    "pcie-3x8" => BusStandard::Pcie3x8, "PCI Express 3.0 with eight lanes: 6812 MB/s in either direction";
});

section! {
    facts: true,
    /// A bus between a controller and the memory of the host; its standard alone may be given in place of the
    /// table. Transfers use it one after the other, whichever drive they belong to.
    pub struct BusRaw {
        /// The standard that it follows.
        standard: BusStandard = "",
        /// Its rate, in place of the standard's.
        rate: Rate = "the standard's",
        /// Arbitration time for data, once per connection.
        fixed: Span = "0s",
        /// The most data of one connection.
        burst: Extent = "a whole transfer",
        /// Full duplex: whether reads and writes are transferred at the same time, each at the full rate.
        full_duplex: bool = "true for PCI Express, else false",
        /// Whether a transfer occupies the bus from its first byte to its last, even while it has nothing to send.
        holds: bool = "false",
    }
}

/// A bus as a table, or by its standard alone.
#[derive(Clone, Debug)]
pub struct BusChoice(pub BusRaw);

impl Read for BusChoice {
    fn kind() -> Kind {
        Kind::Either(vec![BusRaw::kind(), BusStandard::kind()])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Text(_) => {
                let standard = BusStandard::read(node, log).map(|name| At::new(name, node.place))?;
                Some(BusChoice(BusRaw { standard: Some(standard), ..BusRaw::default() }))
            }
            Value::Table(_) => BusRaw::read(node, log).map(BusChoice),
            _ => {
                wrong_type(node, &Self::kind(), log);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }

    fn over(self, below: Self) -> Self {
        BusChoice(self.0.over(below.0))
    }
}
