//! The keys of the log of commands, each with the value that a row has for it: for JSON row by row, and for long
//! logs column by column.
use crate::commands::{CommandRecord, MemberRecord, Parts};
use Getter::{Flag, Ids, Integer, Signed, Word};
use drivelab_core::Breakdown;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A key, and how its value is read.
pub type Column<R> = (&'static str, Getter<R>);

/// What a row has for a key; a row without a value has null.
pub enum Getter<R> {
    Integer(fn(&R) -> Option<u64>),
    Signed(fn(&R) -> Option<i64>),
    Flag(fn(&R) -> bool),
    Word(fn(&R) -> &'static str),
    /// A table with the keys of [`Breakdown::PARTS`].
    Parts(fn(&R) -> Option<Parts>),
    /// A row without a value has no such key: only a short log has these.
    Ids(fn(&R) -> Option<&[u64]>),
}

/// A row of a log.
pub trait Row: Serialize + Sized + 'static {
    /// The columns in the order of a row's keys, in several pieces.
    const COLUMNS: &'static [&'static [Column<Self>]];

    /// What each log has of a command.
    const TRACE: &'static [Column<Self>] = &[
        ("access", Word(|row| row.command().access)),
        ("first_sector", Integer(|row| Some(row.command().first_sector))),
        ("sectors", Integer(|row| Some(row.command().sectors))),
        ("outcome", Word(|row| row.command().outcome)),
        ("served", Word(|row| row.command().served)),
        ("carried_by", Integer(|row| Some(row.command().carried_by))),
        ("submitted_ns", Integer(|row| Some(row.command().submitted_ns))),
        ("accepted_ns", Integer(|row| Some(row.command().accepted_ns))),
        ("chosen_ns", Integer(|row| row.command().chosen_ns)),
        ("begun_ns", Integer(|row| row.command().begun_ns)),
        ("ended_ns", Integer(|row| row.command().ended_ns)),
        ("completed_ns", Integer(|row| Some(row.command().completed_ns))),
        ("from_cylinder", Integer(|row| row.command().from_cylinder.map(u64::from))),
        ("first_cylinder", Integer(|row| row.command().first_cylinder.map(u64::from))),
        ("to_cylinder", Integer(|row| row.command().to_cylinder.map(u64::from))),
        ("breakdown_ns", Getter::Parts(|row| row.command().breakdown_ns)),
        ("rank", Integer(|row| row.command().rank)),
    ];

    fn command(&self) -> &CommandRecord;

    fn columns() -> impl Iterator<Item = &'static Column<Self>> {
        Self::COLUMNS.iter().copied().flatten()
    }

    fn serialize_columns<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, getter) in Self::columns() {
            match getter {
                Integer(get) => map.serialize_entry(key, &get(self))?,
                Signed(get) => map.serialize_entry(key, &get(self))?,
                Flag(get) => map.serialize_entry(key, &get(self))?,
                Word(get) => map.serialize_entry(key, get(self))?,
                Getter::Parts(get) => map.serialize_entry(key, &get(self))?,
                Ids(get) => get(self).map_or(Ok(()), |ids| map.serialize_entry(key, ids))?,
            }
        }
        map.end()
    }
}

impl Row for CommandRecord {
    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[
            ("id", Integer(|row| Some(row.id))),
            ("initiator", Integer(|row| Some(row.initiator.into()))),
            ("logical_unit", Integer(|row| Some(row.logical_unit.into()))),
            ("tag", Integer(|row| Some(row.tag.into()))),
            ("attempt", Integer(|row| Some(row.attempt.into()))),
            ("attribute", Word(|row| row.attribute)),
            ("priority", Word(|row| row.priority)),
            ("deadline_ns", Integer(|row| row.deadline_ns)),
            ("force_unit_access", Flag(|row| row.force_unit_access)),
            ("process", Integer(|row| Some(row.process.into()))),
            ("synchronous", Flag(|row| row.synchronous)),
        ],
        Self::TRACE,
        &[
            ("arrival_rank", Integer(|row| Some(row.arrival_rank))),
            ("service_rank", Integer(|row| row.service_rank)),
            ("reorder_distance", Signed(|row| row.reorder_distance)),
            ("overtaken_by", Integer(|row| row.overtaken_by)),
            ("overtook", Integer(|row| row.overtook)),
            ("overtaken_by_ids", Ids(|row| row.overtaken_by_ids.as_deref())),
            ("overtook_ids", Ids(|row| row.overtook_ids.as_deref())),
        ],
    ];

    fn command(&self) -> &CommandRecord {
        self
    }
}

impl Row for MemberRecord {
    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[
            ("drive", Integer(|row| Some(row.drive.into()))),
            ("id", Integer(|row| Some(row.command.id))),
            ("part_of", Integer(|row| row.part_of)),
        ],
        Self::TRACE,
    ];

    fn command(&self) -> &CommandRecord {
        &self.command
    }
}

impl Serialize for CommandRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_columns(serializer)
    }
}

impl Serialize for MemberRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_columns(serializer)
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Breakdown::PARTS.into_iter().zip(self.values()))
    }
}
