//! The scatter of the arm, as typed in a drive file: one width, or widths by distance.
use crate::keys::numbers::Count;
use crate::keys::read::{Example, wrong_type};
use crate::keys::{Kind, Read};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::storage::drive::scatter::ScatterParams;
use drivelab_units::Span;
use std::fmt::Write;

/// Standard deviations by distance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Widths(pub ScatterParams);

const EXAMPLE: &str = "[[1, \"0.03ms\"], [10000, \"0.08ms\"]]";

impl Example for Widths {
    const EXAMPLE: &'static str = EXAMPLE;
}

/// A width at a distance, which may be zero: a head switch.
type Distance = Count<0, 4_194_304>;

fn point(node: &Node, log: &mut Log) -> Option<(u32, Span)> {
    let Value::List(items) = &node.value else {
        wrong_type(node, &point_kind(), log);
        return None;
    };
    let [distance, width] = &items[..] else {
        let remedy = "write [cylinders, \"time\"], such as [1000, \"0.05ms\"]";
        log.fault(node.place, "a width of the scatter has two values", remedy);
        return None;
    };
    let (distance, width) = (Distance::read(distance, log), Span::read(width, log));
    Some((distance?.0 as u32, width?))
}

fn point_kind() -> Kind {
    let each = Box::new(Kind::Either(vec![Distance::kind(), Span::kind()]));
    Kind::List { each, example: "[1000, \"0.05ms\"]" }
}

impl Read for Widths {
    fn kind() -> Kind {
        Kind::Either(vec![Span::kind(), Kind::List { each: Box::new(point_kind()), example: EXAMPLE }])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::List(items) = &node.value else {
            return Span::read(node, log).map(|width| Widths(ScatterParams::constant(width)));
        };
        let read: Vec<Option<(u32, Span)>> = items.iter().map(|item| point(item, log)).collect();
        Some(Widths(ScatterParams { widths: read.into_iter().collect::<Option<_>>()? }))
    }

    fn write(&self, out: &mut String) {
        for (distance, width) in &self.0.widths {
            let _ = write!(out, "{distance}:{} ", width.as_ns());
        }
    }
}
