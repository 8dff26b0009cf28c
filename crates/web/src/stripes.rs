//! Where the addresses of an array lie: what each sector of each member holds, as the core lays it out.
use crate::runs::Scenario;
use drivelab_core::Setup;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::levels::raidz::RaidZ;
use drivelab_core::storage::array::levels::{Copied, Layout, Linear, Redundancy, Rows, SectorRole, Spot};
use drivelab_core::storage::array::params::ArrayParams;
use drivelab_units::Sectors;
use serde::{Deserialize, Serialize};

/// Rows of one answer.
const ROWS_MAX: u64 = 256;
/// A row of a level that has no stripe unit: 64 KiB.
const PLAIN_ROW: u64 = 128;
const NO_ARRAY: &str = "the target of this scenario is no array";

/// Which part of the map is asked for. All numbers but that of the point count sectors of 512 bytes, or rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    pub scenario: Scenario,
    /// Which point of the scenario's sweep.
    #[serde(default)]
    point: usize,
    /// The first row, and how many.
    #[serde(default)]
    first_row: u64,
    #[serde(default)]
    rows: u64,
    /// Addresses of the array whose places are wanted.
    #[serde(default)]
    addresses: Vec<u64>,
}

/// The map: what of it was asked for.
#[derive(Serialize)]
pub struct Map {
    members: u16,
    /// Members with redundancy of their own.
    groups: u64,
    /// What the level stores beside the data: copies, parity or nothing.
    redundancy: Option<&'static str>,
    /// Sectors that hosts can address, and those of each member that the array uses.
    capacity: u64,
    used: u64,
    /// Sectors of each member in front of the first row: they hold logs.
    start: u64,
    /// Sectors of a member in a row, and rows.
    row_sectors: u64,
    rows_in_all: u64,
    rows: Vec<Row>,
    addresses: Vec<Address>,
}

/// The same sectors of all members.
#[derive(Serialize)]
struct Row {
    row: u64,
    /// The first sector on each member.
    at: u64,
    /// What they hold, by slot.
    cells: Vec<Held>,
}

/// What a place holds.
#[derive(Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(tag = "what", rename_all = "kebab-case")]
enum Held {
    /// A copy of so many addresses.
    Data { first: u64, sectors: u64, copy: u16 },
    /// Number 0 is P, 1 is Q, 2 is R.
    Parity { which: u8 },
    /// No address of the array.
    Nothing,
}

/// Where an address lies while no member is missing.
#[derive(Serialize)]
struct Address {
    address: u64,
    row: u64,
    places: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    slot: u16,
    /// Sector on the member.
    at: u64,
    #[serde(flatten)]
    held: Held,
}

/// The map of the array of a setup.
pub fn map(asked: &Asked, setup: &[&Setup]) -> Result<Map, String> {
    let setup = setup.get(asked.point).ok_or("the scenario has no such point")?;
    let TargetParams::System(system) = &setup.target else { return Err(NO_ARRAY.to_owned()) };
    let Some(array) = &system.array else { return Err(NO_ARRAY.to_owned()) };
    let capacities: Vec<Sectors> = system.drives.iter().map(|drive| drive.capacity()).collect();
    let layout = Layout::new(array, &capacities).map_err(|error| error.to_string())?;
    let shape = Shape::of(&layout, array);
    let end = (asked.first_row + asked.rows.min(ROWS_MAX)).min(shape.rows);
    let row = |row: u64| {
        let at = shape.start + row * shape.row_sectors;
        let cells = (0..array.members).map(|slot| shape.held(&layout, Spot { slot, at })).collect();
        Row { row, at, cells }
    };
    let capacity = layout.capacity().get();
    let known = asked.addresses.iter().filter(|address| **address < capacity);
    Ok(Map {
        members: array.members,
        groups: if let Layout::Rows(rows) = &layout { rows.groups() } else { 1 },
        redundancy: layout.redundancy().map(|kind| match kind {
            Redundancy::Copies => "copies",
            Redundancy::Parity => "parity",
        }),
        capacity,
        used: layout.used().get(),
        start: shape.start,
        row_sectors: shape.row_sectors,
        rows_in_all: shape.rows,
        rows: (asked.first_row..end).map(row).collect(),
        addresses: known.map(|&address| shape.address(&layout, array.members, address)).collect(),
    })
}

/// How the members are cut into rows.
struct Shape {
    start: u64,
    row_sectors: u64,
    rows: u64,
}

impl Shape {
    fn of(layout: &Layout, array: &ArrayParams) -> Self {
        let used = layout.used().get();
        let (start, row_sectors) = match layout {
            Layout::Linear(_) => (0, PLAIN_ROW),
            Layout::Copied(copied) => (
                copied.start(),
                if copied.start() + copied.unit() >= used { PLAIN_ROW } else { copied.unit() },
            ),
            Layout::Rows(rows) => (rows.start(), rows.unit()),
            Layout::RaidZ(_) => (0, array.parity.granule.get()),
        };
        Shape { start, row_sectors, rows: used.saturating_sub(start) / row_sectors }
    }

    /// What a place holds, up to the end of its row.
    fn held(&self, layout: &Layout, spot: Spot) -> Held {
        let left = self.row_sectors - (spot.at - self.start) % self.row_sectors;
        match layout {
            Layout::Linear(linear) => Self::of_linear(linear, spot, left),
            Layout::Copied(copied) => Self::of_copied(copied, spot, left),
            Layout::Rows(rows) => Self::of_rows(rows, spot, left),
            Layout::RaidZ(pool) => of_pool(pool, spot, left),
        }
    }

    fn of_linear(linear: &Linear, spot: Spot, left: u64) -> Held {
        let first = linear.address(spot);
        // Members differ in size: behind the end of one there is nothing.
        let is_there = first < linear.capacity() && linear.spot(first).0 == spot;
        if is_there {
            Held::Data { first, sectors: left.min(linear.spot(first).1), copy: 0 }
        } else {
            Held::Nothing
        }
    }

    fn of_copied(copied: &Copied, spot: Spot, left: u64) -> Held {
        let (role, count) = copied.held(spot);
        of_role(role, left.min(count))
    }

    fn of_rows(rows: &Rows, spot: Spot, left: u64) -> Held {
        let (role, count) = rows.held(spot);
        of_role(role, left.min(count))
    }

    /// The places of an address: its copies, then the parities over it.
    fn address(&self, layout: &Layout, members: u16, address: u64) -> Address {
        let home = layout.home(address);
        let copies = match layout.redundancy() {
            Some(Redundancy::Copies) => layout.copies_of(address),
            _ => vec![home],
        };
        let parities: Vec<Spot> = match layout {
            Layout::Rows(rows) => {
                let of_group = rows.members() as u16;
                let first = home.slot / of_group * of_group;
                (first..first + of_group).map(|slot| Spot { slot, at: home.at }).collect()
            }
            Layout::RaidZ(pool) => {
                let (place, _, offset) = pool.column_at(address);
                let columns = (0..usize::from(pool.map().parities())).map(|which| pool.column(place, which));
                columns.map(|column| Spot { slot: column.slot, at: column.at + offset }).collect()
            }
            Layout::Linear(_) | Layout::Copied(_) => Vec::new(),
        };
        let place = |spot: Spot| Place { slot: spot.slot, at: spot.at, held: self.held(layout, spot) };
        let places = copies.into_iter().map(place);
        let parities = parities.into_iter().filter(|spot| spot.slot < members).map(place);
        let parities = parities.filter(|place| matches!(place.held, Held::Parity { .. }));
        let row = home.at.saturating_sub(self.start) / self.row_sectors;
        Address { address, row, places: places.chain(parities).collect() }
    }
}

fn of_role(role: SectorRole, sectors: u64) -> Held {
    match role {
        SectorRole::Data { first, copy } => Held::Data { first, sectors, copy },
        SectorRole::Parity { which } => Held::Parity { which },
        SectorRole::Nothing => Held::Nothing,
    }
}

/// What a place of a new pool holds: no record has been moved yet.
fn of_pool(pool: &RaidZ, spot: Spot, left: u64) -> Held {
    let map = pool.map();
    let sector = spot.at / map.sector() * map.members() + u64::from(spot.slot);
    let place = sector / map.taken();
    let Some(record) = Some(place).filter(|&place| place < pool.records()) else { return Held::Nothing };
    for column in 0..map.columns() {
        let found = pool.column(place, column);
        if found.slot != spot.slot || !(found.at..found.at + found.count).contains(&spot.at) {
            continue;
        }
        if column < usize::from(map.parities()) {
            return Held::Parity { which: column as u8 };
        }
        let first = record * pool.record() + map.begins(column) + (spot.at - found.at);
        return Held::Data { first, sectors: left, copy: 0 };
    }
    Held::Nothing
}
