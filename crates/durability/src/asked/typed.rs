//! Values as typed: a text or a number with its place, and the quantities in it. What is wrong is recorded at the part of
//! the text that is wrong.
use drivelab_scenario::keys::At;
use drivelab_scenario::text::problem::{Log, Place};
use drivelab_scenario::text::tree::{Node, Value};
use drivelab_units::{QuantityError, parse};
use std::ops::Deref;

/// A text, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub text: &'a str,
    pub place: Place,
}

/// Reads a value of a text.
pub type Reader<T> = fn(Part<'_>, &mut Log) -> Option<T>;

impl<'a> Part<'a> {
    /// The bytes of it in this range.
    fn within(self, from: usize, to: usize) -> Self {
        let (start, end) = (self.place.start + from as u32, self.place.start + to as u32);
        Part { text: &self.text[from..to], place: Place { start, end, ..self.place } }
    }

    pub fn trim(self) -> Self {
        let from = self.text.len() - self.text.trim_start().len();
        self.within(from, from + self.text.trim().len())
    }

    /// What stands before, between and after these separators, of one byte each.
    pub fn split(self, between: &[char]) -> Vec<Self> {
        let mut from = 0;
        let each = |part: &str| {
            from += part.len() + 1;
            self.within(from - part.len() - 1, from - 1)
        };
        self.text.split(between).map(each).collect()
    }

    /// A value with an interval, `20h(18h..23h)`: the value and its two ends.
    pub fn interval(self) -> Option<[Self; 3]> {
        let all = self.trim();
        let open = all.text.strip_suffix(')')?.rfind('(')?;
        let inner = all.within(open + 1, all.text.len() - 1);
        let dots = inner.text.rfind("..")?;
        Some([all.within(0, open), inner.within(0, dots), inner.within(dots + 2, inner.text.len())])
    }

    /// Its N parts; `form` describes all of them.
    pub fn parts<const N: usize>(self, between: &[char], form: &str, log: &mut Log) -> Option<[Self; N]> {
        let found = self.split(between).try_into().ok();
        found.or_else(|| {
            log.error(self.place, format!("it is {form}"), None);
            None
        })
    }

    /// Records what is wrong with it.
    pub fn wrong<T>(self, log: &mut Log, message: impl Into<String>, remedy: impl Into<String>) -> Option<T> {
        log.fault(self.place, message, remedy);
        None
    }

    /// The value where it holds; what is wrong with it else.
    pub fn hold<T>(self, holds: bool, found: T, log: &mut Log, message: &str, remedy: &str) -> Option<T> {
        if holds { Some(found) } else { self.wrong(log, message, remedy) }
    }
}

/// The value of a text or a number.
pub fn one<T>(node: &Node, example: &str, read: Reader<T>, log: &mut Log) -> Option<T> {
    let all = Part { text: "", place: node.place };
    match &node.value {
        Value::Text(text) | Value::Decimal(text) => read(Part { text, ..all }, log),
        Value::List(_) => all.wrong(log, "it takes one value, not a list", "run it once for each value"),
        _ => all.wrong(log, "it takes a text or a number", format!("such as {example}")),
    }
}

/// The values of a list, or of a single text.
pub fn many<T>(node: &Node, example: &str, read: Reader<T>, log: &mut Log) -> Option<Vec<T>> {
    let items = if let Value::List(items) = &node.value { items } else { std::slice::from_ref(node) };
    let found: Vec<_> = items.iter().map(|item| one(item, example, read, log)).collect();
    found.into_iter().collect()
}

/// A time in hours.
pub fn hours(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let message = match parse::lifetime_ns(&part.text.to_lowercase()) {
        Ok(ns) => return Some(ns as f64 / 3.6e12),
        Err(_) if part.text.trim().starts_with('-') => "a time is not below zero",
        Err(QuantityError::TooLarge) => "too large a time",
        Err(_) => "a time has its unit, s, min, h, d, w or y",
    };
    part.wrong(log, message, "such as 20h")
}

/// A time above zero.
pub fn time(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let found = hours(part, log)?;
    part.hold(found > 0.0, found, log, "a time is above zero here", "such as 20h")
}

/// A share: a percentage or a number, however large.
pub fn share(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let (remedy, text) = ("such as 1.5%", part.text.trim());
    let (number, whole) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
    match decimal(number) {
        Some(found) => sound(found / whole, part, "a chance", remedy, log),
        None => part.wrong(log, "a chance is a percentage or a number from 0 to 1", remedy),
    }
}

pub fn chance(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let found = share(part, log)?;
    let message = format!("{found} is no chance");
    part.hold(found <= 1.0, found, log, &message, "give a chance between 0 and 1, or a percentage: 2%")
}

/// A number in digits; none that `parse` has besides, such as `nan`.
pub fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse().ok().filter(|_| is_plain)
}

/// A finite number, not below zero; `what` names it in a message.
pub fn sound(found: f64, part: Part<'_>, what: &str, remedy: &str, log: &mut Log) -> Option<f64> {
    if !found.is_finite() {
        return part.wrong(log, "out of the range of numbers", "give one from 1e-300 to 1e300");
    }
    part.hold(found >= 0.0, found, log, &format!("{what} is not below zero"), remedy)
}

pub fn number(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let found = part.text.trim().replace('_', "").parse().ok().filter(|found: &f64| found.is_finite());
    found.or_else(|| part.wrong(log, "it is a number", "such as 2"))
}

/// A whole number.
pub fn whole(part: Part<'_>, log: &mut Log) -> Option<u32> {
    let message = format!("it is a whole number in digits, from 0 to {}", u32::MAX);
    let found = part.text.trim().replace('_', "").parse().ok();
    found.or_else(|| part.wrong(log, message, "such as 8"))
}

/// The bytes of a capacity.
pub fn capacity(part: Part<'_>, log: &mut Log) -> Option<f64> {
    let text = part.text.trim();
    let message = match parse::bytes(text) {
        _ if text.starts_with('-') => "a capacity is not below zero".to_owned(),
        // The bare letters of a block size, 16T, are powers of 1024: nobody means that of a drive.
        _ if !text.ends_with('B') => "a capacity has its unit".to_owned(),
        Ok(bytes) => return Some(bytes.get() as f64),
        Err(error) => error.to_string(),
    };
    part.wrong(log, message, "such as 16TB or 14.5TiB")
}

/// The value of a key, if it is set and could be read.
pub fn get<T: Deref<Target: Clone>>(at: &Option<At<T>>) -> Option<T::Target> {
    at.as_ref().map(|at| (*at.value).clone())
}

/// Types of the values of keys: what each is, its units, an example, and how it is read, as `one` value or `many`; where
/// not every value is possible, which are, what is wrong with others, and the remedy.
macro_rules! typed {
    ($(
        $name:ident($type:ty): $what:literal, $units:literal, $example:literal, $how:ident($read:expr)
        $(, $holds:expr => $message:literal, $remedy:literal)?;
    )+) => { $(
        #[derive(Clone, Debug)]
        pub struct $name(pub $type);

        impl Read for $name {
            fn kind() -> Kind {
                Kind::Quantity { what: $what, units: $units, example: $example }
            }

            fn read(node: &Node, log: &mut Log) -> Option<Self> {
                let found: $type = $how(node, $example, $read, log)?;
                $( if !($holds)(found) {
                    log.fault(node.place, $message, $remedy);
                    return None;
                } )?
                Some($name(found))
            }

            fn write(&self, out: &mut String) {
                let _ = write!(out, "{:?}", self.0);
            }
        }

        impl Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                &self.0
            }
        }
    )+ };
}
pub(super) use typed;
