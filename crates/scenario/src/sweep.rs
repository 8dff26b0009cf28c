//! Sweeps: every list in place of a single value is an axis, several lists form a grid.
use crate::keys::Kind;
use crate::text::problem::{Log, Place};
use crate::text::tree::{Node, Table, Value};

/// One list of values.
#[derive(Debug)]
pub struct Axis {
    /// The key's full name.
    pub key: String,
    path: Vec<String>,
    pub place: Place,
    pub values: Vec<Node>,
}

/// A scenario of more points is a mistake, or should be split.
pub const POINTS_MAX: usize = 100_000;
/// Maximum number of values in the text times the number of points for which it is copied; more than any
/// scenario has.
const COPIED_MAX: usize = 200_000_000;

/// All axes in the order of the text; those of overrides come last.
pub fn axes(root: &Table, kind: &Kind, log: &mut Log) -> Vec<Axis> {
    let mut found = Vec::new();
    walk_table(root, kind, &mut Vec::new(), &mut found);
    found.sort_by_key(|axis| axis.place);
    for axis in found.iter().filter(|axis| axis.values.is_empty()) {
        let message = format!("empty sweep: `{}` has no value", axis.key);
        log.fault(axis.place, message, "give the list one value or more, or leave the key out");
    }
    found.retain(|axis| !axis.values.is_empty());
    found
}

fn walk_table(table: &Table, kind: &Kind, path: &mut Vec<String>, found: &mut Vec<Axis>) {
    for entry in &table.entries {
        let Some(kind) = kind.child(&entry.key) else { continue };
        path.push(entry.key.clone());
        match &entry.node.value {
            Value::List(values) if !kind.takes_list() => found.push(Axis {
                key: path.join("."),
                path: path.clone(),
                place: entry.node.place,
                values: values.clone(),
            }),
            Value::Table(table) => walk_table(table, kind, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// The number of points; one without axes. `None`, with a problem, if there are too many.
pub fn points(axes: &[Axis], root_size: usize, log: &mut Log) -> Option<usize> {
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
    let asked = count.map_or("far more".to_owned(), |count| count.to_string());
    match count {
        Some(count) if count <= POINTS_MAX && count.saturating_mul(root_size) <= COPIED_MAX => Some(count),
        _ => {
            let place = axes.last().map_or_else(Place::default, |axis| axis.place);
            let lists: Vec<String> =
                axes.iter().map(|axis| format!("{} x{}", axis.key, axis.values.len())).collect();
            let message = format!("the grid has {asked} points; at most {POINTS_MAX} are possible");
            log.fault(place, message, format!("shorten a list, or split the scenario: {}", lists.join(", ")));
            None
        }
    }
}

/// The values of the axes at a point; the first axis changes slowest.
pub fn values(axes: &[Axis], mut point: usize) -> Vec<&Node> {
    let mut values: Vec<&Node> = axes
        .iter()
        .rev()
        .map(|axis| {
            let value = &axis.values[point % axis.values.len()];
            point /= axis.values.len();
            value
        })
        .collect();
    values.reverse();
    values
}

/// The document with the axes replaced by these values.
pub fn substitute(root: &Table, axes: &[Axis], values: &[&Node]) -> Table {
    let mut table = root.clone();
    for (axis, value) in axes.iter().zip(values) {
        if let Some(node) = find(&mut table, &axis.path) {
            *node = (*value).clone();
        }
    }
    table
}

fn find<'a>(table: &'a mut Table, path: &[String]) -> Option<&'a mut Node> {
    let (first, rest) = path.split_first()?;
    let node = table.get_mut(first)?;
    if rest.is_empty() {
        return Some(node);
    }
    match &mut node.value {
        Value::Table(table) => find(table, rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Read;
    use crate::raw::ScenarioRaw;
    use crate::text::tree::document;

    #[test]
    fn lists_are_axes_in_the_order_of_the_text() {
        let text = "[workload]\niodepth = [1, 4]\nbs = [\"4k\"]\n[target.drive.seek]\ntable = [[1, \"1ms\"]]\n\
                    [run]\nseed = []\n";
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let root = document(text, all, &mut log).unwrap();
        let axes = axes(&root, &ScenarioRaw::kind(), &mut log);
        let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
        assert_eq!(keys, ["workload.iodepth", "workload.bs"]);
        assert_eq!(points(&axes, 10, &mut log), Some(2));
        let json =
            |point| values(&axes, point).iter().map(|node| node.to_json().to_string()).collect::<Vec<_>>();
        assert_eq!(json(1), ["4", "\"4k\""]);
        let problems = log.into_problems().unwrap().0;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].message.contains("empty sweep"));
    }
}
