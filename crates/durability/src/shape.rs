//! The shape of an array: its level and numbers, and which arrangement they make. The levels that the simulation has
//! are named and described in the core; declustered parity and local-reconstruction codes are here alone.
use crate::arrangement::{Arrangement, Rule};
use crate::description::Description;
use crate::plan::{MEMBERS_MAX, Problem, Problems};
use drivelab_core::storage::array::levels::{Kind, LevelName, Uses};
use drivelab_units::key;

/// Levels that are not simulated, and another name of `jbod`.
const OTHERS: [&str; 3] = ["linear", "draid", "lrc"];

/// A level with its numbers, as given.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub level: &'a str,
    pub members: u32,
    /// The layout of the copies of RAID 10: near, far or offset.
    pub layout: Option<&'a str>,
    /// The number of copies of RAID 01 and RAID 10.
    pub copies: u32,
    /// The number of groups of RAID 30, 50, 60; of local groups of a local-reconstruction code.
    pub groups: u32,
    /// Members that hold parity, of `draid` and `lrc`.
    pub parity: u32,
    /// Members per stripe of declustered parity.
    pub width: Option<u32>,
    /// The number of stripes of declustered parity.
    pub stripes: f64,
}

enum Level {
    Named(LevelName),
    Declustered,
    LocalCode,
}

impl Level {
    fn of(name: &str) -> Option<Self> {
        match name {
            "linear" => Some(Level::Named(LevelName::Jbod)),
            "draid" => Some(Level::Declustered),
            "lrc" => Some(Level::LocalCode),
            _ => LevelName::of(name).map(Level::Named),
        }
    }
}

impl<'a> Shape<'a> {
    pub fn of(about: &'a Description) -> Self {
        Shape {
            level: &about.level,
            members: about.members,
            layout: about.layout.as_deref(),
            copies: about.copies.unwrap_or(2),
            groups: about.groups.unwrap_or(2),
            parity: about.parity.unwrap_or(2),
            width: about.width,
            stripes: about.stripes.unwrap_or(1e6),
        }
    }

    /// The arrangement.
    ///
    /// # Errors
    /// Everything that is wrong with the shape.
    pub fn arrangement(&self) -> Result<Arrangement, Vec<Problem>> {
        let mut problems = Problems(Vec::new());
        self.arranged(&mut problems).ok_or(problems.0)
    }

    /// What a level of the simulation needs that these numbers do not have, as a noun phrase; `None` where they make it,
    /// and for a name that is none of these levels.
    pub fn lacking(&self) -> Option<String> {
        if self.members > MEMBERS_MAX {
            return Some(format!("{MEMBERS_MAX} members at most"));
        }
        LevelName::of(self.level).and_then(|level| self.needs(level))
    }

    /// The arrangement; `None` with problems if there is none.
    pub(crate) fn arranged(&self, problems: &mut Problems) -> Option<Arrangement> {
        let (name, n, before) = (self.level, self.members, problems.0.len());
        let level = Level::of(name);
        let names: Vec<&str> = LevelName::ALL.map(LevelName::name).into_iter().chain(OTHERS).collect();
        let remedy = format!("it is {}", names.join(", "));
        problems.hold(level.is_some(), "level", format!("there is no level {name}"), &remedy);
        problems.hold(n > 0, "members", "an array of no members", "give how many drives it has");
        let remedy = format!("give {MEMBERS_MAX} at most");
        problems.hold(n <= MEMBERS_MAX, "members", format!("{n} members"), &remedy);
        if let Some(layout) = self.layout {
            let fits = name == LevelName::Raid10.name() && ["near", "far", "offset"].contains(&layout);
            let message = format!("{name} has no layout {layout}");
            problems.hold(fits, "layout", message, "raid10 has near, far and offset");
        }
        if problems.0.len() > before {
            return None;
        }
        match level? {
            Level::Named(level) => match self.needs(level) {
                None => Some(self.named(level)),
                Some(needed) => self.lacks(problems, &needed),
            },
            Level::Declustered => self.declustered(problems),
            Level::LocalCode => self.local_code(problems),
        }
    }

    /// What a level needs that these numbers do not have, as a noun phrase.
    fn needs(&self, level: LevelName) -> Option<String> {
        let (copies, parts) = (self.copies, self.parts(level));
        if level.uses(Uses::CopyCount) && copies < 2 {
            return Some("2 copies or more".into());
        }
        if parts == 0 {
            return Some("1 group or more".into());
        }
        if !self.members.is_multiple_of(parts) {
            let what = if level.has_groups() { "groups" } else { "copies" };
            return Some(format!("a number of members that {parts} {what} divide"));
        }
        // RAID 01 has a member in each copy.
        let whole = if level.has_groups() { parts } else { 1 };
        let least = u32::from(level.least(u16::try_from(copies).unwrap_or(u16::MAX)));
        (self.members / whole < least).then(|| match whole {
            1 if level.uses(Uses::CopyCount) => format!("{least} members or more for {copies} copies"),
            1 => format!("{least} members or more"),
            groups => format!("{least} members or more in each of {groups} groups"),
        })
    }

    /// The number of parts of one size: groups, or the copies of a striped set.
    fn parts(&self, level: LevelName) -> u32 {
        match level.kind() {
            Kind::MirroredStripes => self.copies,
            _ if level.has_groups() => self.groups,
            _ => 1,
        }
    }

    fn named(&self, level: LevelName) -> Arrangement {
        let (n, parts) = (self.members, self.parts(level));
        let grouped = |size: u32, bears: u32, count: u32| Arrangement {
            cells: vec![size; count as usize],
            rule: Rule::Bears(bears),
        };
        match level.kind() {
            // A failed drive loses its own data; with a stripe over all drives it loses everything.
            Kind::Concatenated => grouped(1, 0, n),
            Kind::Striped => grouped(n, 0, 1),
            Kind::Mirrored => grouped(n, n - 1, 1),
            Kind::MirroredStripes => {
                Arrangement { cells: vec![n / parts; parts as usize], rule: Rule::EveryCell }
            }
            Kind::StripedMirrors => raid10(n, self.copies, self.layout),
            Kind::Interleaved | Kind::Rows { .. } | Kind::Records { .. } => {
                grouped(n / parts, level.parities().unwrap_or(0).into(), parts)
            }
        }
    }

    fn lacks<T>(&self, problems: &mut Problems, needed: &str) -> Option<T> {
        let message = match self.members {
            1 => format!("1 member does not make {}", self.level),
            members => format!("{members} members do not make {}", self.level),
        };
        problems.hold(false, "members", message, &format!("it needs {needed}"));
        None
    }

    fn local_code(&self, problems: &mut Problems) -> Option<Arrangement> {
        let (n, groups, parity) = (self.members, self.groups, self.parity);
        // Data and local parity in equal groups, then the global parities.
        let locals = n.saturating_sub(parity);
        let fits = groups > 0 && locals.is_multiple_of(groups) && locals / groups >= 2 && n > parity;
        if !fits {
            let needed = format!(
                "{parity} global parities and {groups} local groups of two members or more, all of one size"
            );
            return self.lacks(problems, &needed);
        }
        let mut cells = vec![locals / groups; groups as usize];
        cells.push(parity);
        Some(Arrangement { cells, rule: Rule::Local { globals: parity } })
    }

    fn declustered(&self, problems: &mut Problems) -> Option<Arrangement> {
        let Some(width) = self.width else {
            let remedy = "give the members of a stripe of declustered parity, data and parity";
            problems.hold(false, "width", "it is missing", remedy);
            return None;
        };
        let before = problems.0.len();
        let fits = self.parity >= 1 && width > self.parity && width <= self.members;
        let remedy =
            concat!("it is above ", key!("parity"), " (1 or more), and ", key!("members"), " at most");
        problems.hold(fits, "width", format!("stripes of {width} with {} of parity", self.parity), remedy);
        problems.hold(self.stripes >= 1.0, "stripes", format!("{}", self.stripes), "give 1 or more");
        let rule = Rule::Declustered { width, bears: self.parity, stripes: self.stripes };
        (problems.0.len() == before).then(|| Arrangement { cells: vec![self.members], rule })
    }
}

fn raid10(n: u32, copies: u32, layout: Option<&str>) -> Arrangement {
    let near = matches!(layout, None | Some("near"));
    let block = if near { gcd(n, copies) } else { 1 };
    if block == copies || n == copies {
        let count = (n / copies) as usize;
        return Arrangement { cells: vec![copies; count], rule: Rule::Bears(copies - 1) };
    }
    // Each stripe unit is on a drive and its successors; with near copies these begin at multiples of the block.
    Arrangement { cells: vec![block; (n / block) as usize], rule: Rule::Arc((copies / block) as usize) }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
