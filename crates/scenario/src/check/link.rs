//! Links: what a standard's name says of the rate, and what the two ends of a link agree on.
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::LinkRaw;
use crate::raw::link::Standard;
use crate::raw::system::PortRaw;
use crate::text::problem::Log;
use drivelab_core::target::drive::params::{LinkParams, WriteData};
use drivelab_units::Rate;

/// What data cross a link of this standard with, in bytes per second: the rate of the wire less its line code. Sources:
/// ATA/ATAPI-7, tables of Ultra DMA (a word at each edge, cycles of 30, 20 and 15 ns); SATA 1.0a to 3.0 and SAS to
/// SAS-3 (8b/10b: ten bits a byte); SPI-3 and SPI-4 (two bytes wide at 80 and 160 million transfers a second). What
/// frames and primitives take of that is not in it: at most some percent.
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
    })
}

/// The rate that is given, or that of the standard. A standard of the scenario goes before the rate of a drive file.
fn own_rate(standard: Option<&At<Standard>>, rate: Option<&At<Rate>>, log: &Log) -> Option<Rate> {
    let newer = |rate: &&At<Rate>| {
        standard.is_some_and(|standard| {
            log.is_of_a_named_file(rate.place) && !log.is_of_a_named_file(standard.place)
        })
    };
    let rate = rate.filter(|rate| !newer(rate));
    given(rate).or_else(|| standard.and_then(|standard| rate_of(standard.value)))
}

/// The link of a drive at a controller with such ports.
pub fn link(raw: Option<&LinkRaw>, port: Option<&PortRaw>, log: &Log) -> LinkParams {
    let own = raw.and_then(|raw| own_rate(raw.standard.as_ref(), raw.rate.as_ref(), log));
    let port = port.and_then(|port| own_rate(port.standard.as_ref(), port.rate.as_ref(), log));
    let rate = match (own, port) {
        (Some(own), Some(port)) => Some(own.min(port)),
        (own, port) => own.or(port),
    };
    let write_data = raw.and_then(|raw| given(raw.write_data.as_ref()));
    LinkParams { rate, write_data: write_data.unwrap_or(WriteData::WhilePositioning) }
}
