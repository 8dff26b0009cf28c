//! Links and buses: the rate of each standard, and the rate that the two ends of a link agree on.
use super::system::bounded;
use crate::check::given;
use crate::keys::{At, Read};
use crate::raw::drive::LinkRaw;
use crate::raw::link::{BusChoice, BusRaw, BusStandard, Standard};
use crate::raw::system::PortRaw;
use crate::text::problem::Log;
use drivelab_core::storage::drive::params::{LinkParams, WriteData};
use drivelab_core::storage::link::params::BusParams;
use drivelab_units::{Rate, Sectors, Span};

/// One lane of PCI Express 3.0, as in [`bus_rate`]; 4.0 has twice as much, and 5.0 twice that.
const LANE_OF_8_GT: u64 = 7_876_923_077 * 128 / 148 / 8;

/// The rate at which data cross a link of this standard, in bytes per second: the rate of the wire less its
/// line code. Sources: ATA/ATAPI-7, tables of Ultra DMA (a word at each edge, cycles of 30, 20 and 15 ns);
/// SATA 1.0a to 3.0 and SAS to SAS-3 (8b/10b: ten bits a byte); SPI-3 and SPI-4 (two bytes wide at 80 and 160
/// million transfers a second). The overhead of frames and primitives is not deducted: at most a few percent.
fn rate_of(standard: Standard) -> Option<Rate> {
    Rate::from_bytes_per_s(match standard {
        Standard::Ata66 => 66_666_667,
        Standard::Ata100 => 100_000_000,
        Standard::Ata133 => 133_333_333,
        Standard::Sata150 => 150_000_000,
        Standard::Sata300 | Standard::Sas3 => 300_000_000,
        Standard::Sata600 | Standard::Sas6 => 600_000_000,
        Standard::Ultra160 => 160_000_000,
        Standard::Ultra320 => 320_000_000,
        Standard::Sas12 => 1_200_000_000,
        Standard::Pcie3x2 => LANE_OF_8_GT * 2,
        Standard::Pcie3x4 => LANE_OF_8_GT * 4,
        Standard::Pcie4x4 => LANE_OF_8_GT * 8,
        Standard::Pcie5x4 => LANE_OF_8_GT * 16,
    })
}

/// The given rate, or that of the standard; a rate above its standard is noted. A standard set by the
/// scenario overrides the rate of a file.
fn own_rate<S: Copy + Read>(
    standard: Option<&At<S>>,
    rate_of: fn(S) -> Option<Rate>,
    rate: Option<&At<Rate>>,
    what: &str,
    log: &mut Log,
) -> Option<Rate> {
    let newer = |rate: &&At<Rate>| {
        standard.is_some_and(|standard| {
            log.is_of_a_named_file(rate.place) && !log.is_of_a_named_file(standard.place)
        })
    };
    let rate = rate.filter(|rate| !newer(rate));
    let of_standard = standard.and_then(|standard| Some((standard.value, rate_of(standard.value)?)));
    if let (Some(rate), Some((standard, most))) = (given(rate), of_standard)
        && rate > most
    {
        let mut name = String::new();
        standard.write(&mut name);
        let [rate, most] = [rate, most].map(|rate| rate.bytes_per_s() as f64 / 1e6);
        log.note(format!(
            "{what}.rate is {rate} MB/s, above the {most} MB/s of its standard {name}: the rate counts, whatever the standard allows"
        ));
    }
    given(rate).or(of_standard.map(|(_, rate)| rate))
}

/// The link of a drive to a controller with these ports.
pub fn link(raw: Option<&LinkRaw>, port: Option<&PortRaw>, log: &mut Log) -> LinkParams {
    let own = raw.and_then(|raw| own_rate(raw.standard.as_ref(), rate_of, raw.rate.as_ref(), "link", log));
    let port = port.and_then(|port| {
        own_rate(port.standard.as_ref(), rate_of, port.rate.as_ref(), "the controller's link", log)
    });
    let slower = |own: Option<Rate>| match (own, port) {
        (Some(own), Some(port)) => Some(own.min(port)),
        (own, port) => own.or(port),
    };
    let rate = slower(own);
    let writes = raw.and_then(|raw| given(raw.write_rate.as_ref()));
    let write_rate = writes.and_then(|writes| slower(Some(writes))).filter(|&writes| Some(writes) != rate);
    let write_data = raw.and_then(|raw| given(raw.write_data.as_ref()));
    let write_data = write_data.unwrap_or(WriteData::WhilePositioning);
    LinkParams { rate, write_rate, write_data, full_duplex: false }
}

/// The rate at which data cross a host bus, in bytes per second. PCI: 126 of the 133.3 MB/s of 32 bits at 33
/// MHz, the maximum that any array of a study read (storagereview.com, "TCQ, RAID, SCSI and SATA", 2004); the
/// same share is assumed for the faster ones. PCI Express: 2.5, 5 and 8 GT/s a lane with 8b/10b, 8b/10b and
/// 128b/130b, less 20 bytes of header, check and framing for each 128 of data, the payload that every root
/// port accepts (PCI Express Base Specification 3.0, 2.2 and 3.3).
fn bus_rate(standard: BusStandard) -> Option<Rate> {
    Rate::from_bytes_per_s(match standard {
        BusStandard::Pci32At33 => 126_000_000,
        BusStandard::Pci32At66 => 252_000_000,
        BusStandard::Pci64At66 => 504_000_000,
        BusStandard::Pcie1x1 => 250_000_000 * 128 / 148,
        BusStandard::Pcie2x4 => 2_000_000_000 * 128 / 148,
        BusStandard::Pcie3x8 => 7_876_923_077 * 128 / 148,
    })
}

/// The bus between the controller and the memory of the host: the slower of the controller's own and that of
/// its slot.
pub fn bus(own: Option<&At<BusChoice>>, slot: Option<&At<BusChoice>>, log: &mut Log) -> Option<BusParams> {
    let [own, slot] = [own, slot].map(|at| at.and_then(|at| one_bus(at, log)));
    match (own, slot) {
        (Some(own), Some(slot)) => Some(if slot.rate <= own.rate { slot } else { own }),
        (own, slot) => own.or(slot),
    }
}

fn one_bus(at: &At<BusChoice>, log: &mut Log) -> Option<BusParams> {
    let raw: &BusRaw = &at.value.0;
    let rate = own_rate(raw.standard.as_ref(), bus_rate, raw.rate.as_ref(), "bus", log);
    if rate.is_none() && raw.readable("standard") && raw.readable("rate") {
        log.fault(at.place, "a bus of no rate", "write its standard, such as \"pci-32-33\", or its rate");
    }
    let burst = given(raw.burst.as_ref()).map(|burst| burst.0);
    if let (Some(Sectors::ZERO), Some(burst)) = (burst, &raw.burst) {
        log.fault(burst.place, "`burst` must be more than zero", "write an amount such as \"64KiB\"");
    }
    let standard = given(raw.standard.as_ref());
    let express =
        matches!(standard, Some(BusStandard::Pcie1x1 | BusStandard::Pcie2x4 | BusStandard::Pcie3x8));
    Some(BusParams {
        rate: Some(rate?),
        write_rate: None,
        fixed: bounded(raw.fixed.as_ref(), "fixed", Span::ZERO, log),
        burst,
        full_duplex: given(raw.full_duplex.as_ref()).unwrap_or(express),
        holds: given(raw.holds.as_ref()).unwrap_or(false),
    })
}
