//! A random scenario: a skeleton that can run, and random keys over it, of which those go that the reader refuses.
use crate::keys::{Dice, KEYS};
use drivelab_scenario::{Loader, Plan, Problems, Source, catalogue, plan};

/// A scenario, one key a line, and the drive file that it may name.
#[derive(Clone, Default)]
pub struct Draft {
    pub scenario: Vec<Line>,
    pub drive: Vec<Line>,
}

/// A key with its value.
#[derive(Clone)]
pub struct Line {
    pub text: String,
    /// Without it there is no scenario.
    pub fixed: bool,
}

impl Line {
    pub fn key(&self) -> &str {
        self.text.split(" = ").next().unwrap_or("")
    }
}

const SCENARIO: &str = "fuzz.toml";
const DRIVE: &str = "own.toml";

impl Loader for Draft {
    fn load(&self, path: &str) -> Result<String, String> {
        if path == DRIVE { Ok(joined(&self.drive)) } else { Err("no such file".to_owned()) }
    }
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

fn fixed(text: &str) -> Vec<Line> {
    text.lines().map(|line| Line { text: line.trim().to_owned(), fixed: true }).collect()
}

impl Draft {
    pub fn plan(&self) -> Result<Plan, Problems> {
        plan(&Source { origin: SCENARIO.to_owned(), text: joined(&self.scenario) }, &[], self)
    }

    /// The whole, as a user would write it.
    pub fn text(&self) -> String {
        let mut text = format!("# {SCENARIO}\n{}", joined(&self.scenario));
        if !self.drive.is_empty() {
            text += &format!("\n# {DRIVE}\n{}", joined(&self.drive));
        }
        text
    }

    /// Every line that may go.
    pub fn loose(&self) -> Vec<(bool, usize)> {
        let of = |lines: &[Line], drive| {
            let loose = lines.iter().enumerate().filter(|(_, line)| !line.fixed);
            loose.map(|(at, _)| (drive, at)).collect::<Vec<_>>()
        };
        [of(&self.scenario, false), of(&self.drive, true)].concat()
    }

    pub fn without(&self, (drive, at): (bool, usize)) -> Draft {
        let mut less = self.clone();
        if drive {
            less.drive.remove(at)
        } else {
            less.scenario.remove(at)
        };
        less
    }

    /// The same with half the I/Os.
    pub fn shorter(&self) -> Option<Draft> {
        let mut less = self.clone();
        let line = less.scenario.iter_mut().find(|line| line.text.starts_with("run.ios = "))?;
        let ios: u64 = line.text.trim_start_matches("run.ios = ").parse().ok()?;
        line.text = format!("run.ios = {}", ios / 2);
        (ios >= 2).then_some(less)
    }

    /// Removes the lines that problems point at; where they point at none that may go, one by chance.
    fn mend(&mut self, problems: &Problems, dice: &mut Dice) -> bool {
        let mut guilty: Vec<(bool, usize)> =
            problems.0.iter().map(|problem| (problem.origin.ends_with(DRIVE), problem.line - 1)).collect();
        let loose = self.loose();
        guilty.retain(|line| loose.contains(line));
        if guilty.is_empty() && !loose.is_empty() {
            guilty.push(*dice.of(&loose));
        }
        guilty.sort_unstable();
        guilty.dedup();
        guilty.iter().rev().for_each(|line| *self = self.without(*line));
        !guilty.is_empty()
    }
}

/// A drive of 40 MB in a file of its own: rebuilds end, and sequential jobs come round.
fn own_drive(dice: &mut Dice) -> Vec<Line> {
    let geometry = *dice.of(&[
        "geometry.zones = [{ cylinders = 300, sectors_per_track = 90 }, { cylinders = 500, sectors_per_track = 60 }]",
        "geometry.zones = [{ cylinders = 40, sectors_per_track = 500 }]",
        "geometry.capacity = \"40MB\"\ngeometry.outer_rate = \"9MB/s\"\ngeometry.inner_to_outer = \"60%\"",
    ]);
    let seek = *dice.of(&[
        "seek.table = [[1, \"0.8ms\"], [40, \"3ms\"], [790, \"9ms\"]]",
        "seek.single = \"0.9ms\"\nseek.average = \"5ms\"\nseek.full = \"9ms\"",
    ]);
    let heads = 1 + dice.below(3);
    let rpm = dice.of(&["5400rpm", "7200rpm", "10000rpm"]);
    fixed(&format!("rpm = \"{rpm}\"\ngeometry.heads = {heads}\n{geometry}\n{seek}"))
}

/// Every level with numbers of members that it can have.
const LEVELS: [(&str, &[u32]); 15] = [
    ("jbod", &[1, 2, 3]),
    ("raid0", &[1, 2, 5]),
    ("raid1", &[2, 3]),
    ("raid01", &[4, 6]),
    ("raid10", &[2, 3, 4, 5]),
    ("raid3", &[3, 5]),
    ("raid30", &[6, 8]),
    ("raid4", &[3, 5]),
    ("raid5", &[3, 4, 8]),
    ("raid50", &[6, 8]),
    ("raid6", &[4, 5, 8]),
    ("raid60", &[8, 10]),
    ("raidz1", &[3, 4, 5]),
    ("raidz2", &[4, 5, 6]),
    ("raidz3", &[5, 7]),
];

fn skeleton(dice: &mut Dice) -> Draft {
    let mut draft = Draft::default();
    let catalogued = catalogue::entries("drives");
    let kind = dice.below(10);
    let name = if kind < 6 {
        draft.drive = own_drive(dice);
        DRIVE.to_owned()
    } else {
        dice.of(&catalogued).name.to_owned()
    };
    let mut text = format!("target.drive = \"{name}\"");
    if kind == 9 {
        text = "target.server.service = \"exponential\"\ntarget.server.mean = \"4ms\"".to_owned();
    } else if dice.one_in(2) {
        let (level, members) = *dice.of(&LEVELS);
        let members = *dice.of(members);
        text += &format!("\ntarget.array.level = \"{level}\"\ntarget.array.members = {members}");
    }
    let (ios, seed) = (20 + dice.below(280), dice.below(1_000));
    text += &format!("\nrun.ios = {ios}\nrun.duration = \"20s\"\nrun.seed = {seed}");
    draft.scenario = fixed(&text);
    draft
}

/// Keys that decide how long a run takes, and are drawn with the skeleton.
const HELD: [&str; 6] =
    ["run.ios", "run.duration", "run.seed", "run.warmup", "workload.runtime", "workload.ramp_time"];

/// Draws a scenario that can be planned; `None` where nothing was left of it that can.
pub fn draft(dice: &mut Dice) -> Option<(Draft, Plan)> {
    let mut draft = skeleton(dice);
    // Each draft knows some sections only, so that combinations within them are likely.
    let sections: Vec<bool> = (0..64).map(|_| !dice.one_in(3)).collect();
    let section = |path: &str| {
        let parts: Vec<&str> = path.split('.').take(3).collect();
        let name = parts[..parts.len().min(2)].join(".");
        name.bytes().fold(7usize, |sum, byte| sum * 31 % 4_093 + usize::from(byte)) % 64
    };
    let wanted = 1 + dice.below(24);
    let (mut drawn, mut tries) = (0, 0);
    while drawn < wanted && tries < 4_000 {
        tries += 1;
        let key = dice.of(&KEYS);
        let own = key.path.strip_prefix("target.drive.");
        let is_spare =
            key.path.starts_with("target.array.drives.") || key.path.starts_with("target.array.spare_drive.");
        if HELD.contains(&key.path.as_str()) || is_spare || !sections[section(&key.path)] {
            continue;
        }
        if own.is_some_and(|_| draft.drive.is_empty()) {
            continue;
        }
        drawn += 1;
        let name = own.unwrap_or(&key.path).to_owned();
        let line = |value: String| Line { text: format!("{name} = {value}"), fixed: false };
        let lines = if own.is_some() { &mut draft.drive } else { &mut draft.scenario };
        let value = key.value(dice);
        // A list of two is a sweep of a scenario's key.
        let value =
            if own.is_none() && dice.one_in(12) { format!("[{value}, {}]", key.value(dice)) } else { value };
        if !lines.iter().any(|known| known.key() == name) {
            lines.push(line(value));
        }
    }
    for _ in 0..60 {
        match draft.plan() {
            Ok(plan) => return Some((draft, plan)),
            Err(problems) => {
                if !draft.mend(&problems, dice) {
                    return None;
                }
            }
        }
    }
    None
}
