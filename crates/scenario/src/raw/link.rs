//! The names of links between drives and controllers.
use crate::keys::choices;

/// A standard of links, by what its data cross with.
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
});
