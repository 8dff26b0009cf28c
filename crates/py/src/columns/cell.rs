//! One value of a row, appended to its column: a row may hold integers, flags, words, tables of these and
//! nothing. A row that holds anything else, or other keys than the rows before it, is an error.
use super::{Column, Kind};
use serde::ser::{Error as _, Impossible, SerializeStruct, Serializer};
use serde::{Serialize, de::value::Error};

/// The column that takes a row's value.
pub struct Cell<'a>(pub &'a mut Column);

fn mixed() -> Error {
    Error::custom("a column holds values of two kinds")
}

fn unknown() -> Error {
    Error::custom("no column holds such a value")
}

impl<'a> Serializer for Cell<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeStruct = TableCell<'a>;
    type SerializeSeq = Impossible<(), Error>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        match self.0.push(|before| Kind::Flags(vec![0; before])) {
            Kind::Flags(values) => values.push(u64::from(value)),
            _ => return Err(mixed()),
        }
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        match self.0.push(|before| Kind::Integers(vec![0; before])) {
            Kind::Integers(values) => values.push(value),
            _ => return Err(mixed()),
        }
        Ok(())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        match self.0.push(|before| Kind::Signed(vec![0; before])) {
            Kind::Signed(values) => values.push(value),
            _ => return Err(mixed()),
        }
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        match self.0.push(|before| Kind::Words { words: Vec::new(), at: vec![0; before] }) {
            Kind::Words { words, at } => {
                let known = words.iter().position(|word| word == value);
                at.push(known.unwrap_or(words.len()) as u64);
                if known.is_none() {
                    words.push(value.to_owned());
                }
            }
            _ => return Err(mixed()),
        }
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.0.push_none();
        Ok(())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<TableCell<'a>, Error> {
        let before = self.0.there.len();
        match self.0.push(|_| Kind::Table(Vec::new())) {
            Kind::Table(fields) => Ok(TableCell { before, fields, next: 0 }),
            _ => Err(mixed()),
        }
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_f32(self, _: f32) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_f64(self, _: f64) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_char(self, _: char) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_unit(self) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Error> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(unknown())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        Err(unknown())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Err(unknown())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        Err(unknown())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(unknown())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Err(unknown())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(unknown())
    }
}

/// A table within a row, key by key.
pub struct TableCell<'a> {
    /// The number of rows before this one.
    before: usize,
    fields: &'a mut Vec<(&'static str, Column)>,
    /// The index of the next key.
    next: usize,
}

impl SerializeStruct for TableCell<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
        if self.next == self.fields.len() {
            self.fields.push((key, Column::without(self.before)));
        }
        let (name, column) = &mut self.fields[self.next];
        // A key that appears late would have no values for the rows before it; one that is left out, none for
        // this row.
        if *name != key || column.there.len() != self.before {
            return Err(Error::custom("rows of a table have the same keys"));
        }
        self.next += 1;
        value.serialize(Cell(column))
    }

    fn end(self) -> Result<(), Error> {
        if self.next == self.fields.len() {
            Ok(())
        } else {
            Err(Error::custom("rows of a table have the same keys"))
        }
    }
}
