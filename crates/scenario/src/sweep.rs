//! Sweeps: every list in place of a single value is an axis, several lists form a grid.
use crate::keys::Kind;
use crate::text::problem::{Log, Place};
use crate::text::tree::{Node, Table, Value};

/// One list of values.
#[derive(Debug)]
pub struct Axis {
    /// The key's full name.
    pub key: String,
    path: Vec<Step>,
    pub place: Place,
    pub values: Vec<Node>,
}

/// From a value to one inside it.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    /// In a list that is no sweep: of `target.faults.slow` the first entry, the second.
    Place(usize),
}

/// A scenario of more points is a mistake, or wants several scenarios.
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

fn walk_table(table: &Table, kind: &Kind, path: &mut Vec<Step>, found: &mut Vec<Axis>) {
    for entry in &table.entries {
        let Some(kind) = kind.child(&entry.key) else { continue };
        path.push(Step::Key(entry.key.clone()));
        match &entry.node.value {
            Value::List(values) if !kind.takes_list() => found.push(Axis {
                key: name(path),
                path: path.clone(),
                place: entry.node.place,
                values: values.clone(),
            }),
            Value::List(entries) => walk_list(entries, kind, path, found),
            Value::Table(table) => walk_table(table, kind, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// The tables of a list that is no sweep.
fn walk_list(entries: &[Node], kind: &Kind, path: &mut Vec<Step>, found: &mut Vec<Axis>) {
    let Some(each) = kind.entries() else { return };
    for (place, entry) in entries.iter().enumerate() {
        if let Value::Table(table) = &entry.value {
            path.push(Step::Place(place));
            walk_table(table, each, path, found);
            path.pop();
        }
    }
}

/// As a person writes it: `target.faults.slow[0].by`.
fn name(path: &[Step]) -> String {
    path.iter().fold(String::new(), |name, step| match step {
        Step::Place(place) => format!("{name}[{place}]"),
        Step::Key(key) if name.is_empty() => key.clone(),
        Step::Key(key) => format!("{name}.{key}"),
    })
}

/// The number of points; one without axes. `None`, with a problem, when they are too many.
pub fn points(axes: &[Axis], root_size: usize, log: &mut Log) -> Option<usize> {
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.values.len()));
    let total = count.map_or("far more".to_owned(), |count| count.to_string());
    match count {
        Some(count) if count <= POINTS_MAX && count.saturating_mul(root_size) <= COPIED_MAX => Some(count),
        _ => {
            let place = axes.last().map_or_else(Place::default, |axis| axis.place);
            let lists: Vec<String> =
                axes.iter().map(|axis| format!("{} x{}", axis.key, axis.values.len())).collect();
            let message = format!("the grid has {total} points; at most {POINTS_MAX} are possible");
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

fn find<'a>(table: &'a mut Table, path: &[Step]) -> Option<&'a mut Node> {
    let (Step::Key(first), rest) = path.split_first()? else { return None };
    let mut node = table.get_mut(first)?;
    for step in rest {
        node = match (step, &mut node.value) {
            (Step::Key(key), Value::Table(table)) => table.get_mut(key)?,
            (Step::Place(place), Value::List(entries)) => entries.get_mut(*place)?,
            _ => return None,
        };
    }
    Some(node)
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

    #[test]
    fn a_list_within_a_list_that_is_no_sweep_is_an_axis() {
        let text = "[target.faults]\nslow = [{ by = \"1ms\" }, { drive = 1, by = [\"2ms\", \"3ms\"] }]\n\
                    bad_sectors = [[\"1GiB\", \"4KiB\"]]\n";
        let mut log = Log::default();
        let all = log.add("a.toml", text, true);
        let root = document(text, all, &mut log).unwrap();
        let axes = axes(&root, &ScenarioRaw::kind(), &mut log);
        let keys: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
        assert_eq!(keys, ["target.faults.slow[1].by"]);
        let json = |point| {
            let table = substitute(&root, &axes, &values(&axes, point));
            Node { place: all, value: Value::Table(table) }.to_json().to_string()
        };
        assert!(json(1).contains("[{\"by\":\"1ms\"},{\"by\":\"3ms\",\"drive\":1}]"), "{}", json(1));
        assert!(log.into_problems().is_none());
    }
}
