//! The devices of a trace in the order of their first occurrence.
use crate::lines::Fault;
use std::collections::HashMap;

/// The most devices; more than any published trace has.
pub const DEVICES_MAX: usize = 1 << 16;
/// The longest name of a device.
pub const NAME_BYTES_MAX: usize = 255;
/// The most devices that a message names.
const LISTED_MAX: usize = 8;

/// The first names, as a message lists them.
pub fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED_MAX).map(|name| format!("\"{name}\"")).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The names of devices, each with its index.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    names: Vec<String>,
    places: HashMap<Vec<u8>, u32>,
    last: (Vec<u8>, u32),
}

impl Devices {
    /// The index of a device, which is added if it is new.
    pub fn place(&mut self, name: &[u8]) -> Result<u32, Fault> {
        if !self.names.is_empty() && self.last.0 == name {
            return Ok(self.last.1);
        }
        let place = match self.places.get(name) {
            Some(&place) => place,
            None => self.add(name)?,
        };
        self.last.0.clear();
        self.last.0.extend_from_slice(name);
        self.last.1 = place;
        Ok(place)
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> Result<u32, Fault> {
        // Different names that are not UTF-8 remain different.
        let text = str::from_utf8(name).map_or_else(|_| name.escape_ascii().to_string(), str::to_owned);
        if text.len() > NAME_BYTES_MAX {
            return Err(Fault::LongName);
        }
        if self.names.len() == DEVICES_MAX {
            return Err(Fault::TooManyDevices);
        }
        let place = self.names.len() as u32;
        self.names.push(text);
        self.places.insert(name.to_vec(), place);
        Ok(place)
    }

    /// The names in the order of their indexes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of an index; "0" if the trace names no device.
    pub fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or("0", String::as_str)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
