//! Drive files drawn at random: any layout, order and cache that a plausible drive may have.
use drivelab_core::rng::Stream;
use drivelab_scenario::{NoFiles, Source, plan};
use std::fmt::Write;

struct Dice(Stream);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    /// From `least` to `most`, in thousandths.
    fn between(&mut self, least: u64, most: u64) -> f64 {
        (1_000 * least + self.below(1_000 * (most - least))) as f64 / 1_000.0
    }
}

/// The drive of this seed as the section `[target]` of a scenario, unless it contradicts itself.
pub fn random_drive(seed: u64) -> Option<String> {
    let mut dice = Dice(Stream::named(seed, "stream/drive"));
    let dice = &mut dice;
    let mut text = String::from("[target.drive]\n");
    mechanics(dice, &mut text);
    firmware(dice, &mut text);
    queue(dice, &mut text);
    cache(dice, &mut text);
    accepted(text)
}

/// Without the lines that are refused, because their keys have no effect beside others.
fn accepted(mut text: String) -> Option<String> {
    for _ in 0..5 {
        let read = Source {
            origin: "drive.toml".to_owned(),
            text: format!("{text}[workload]\nrw = \"read\"\nbs = \"4KiB\"\n[run]\nduration = \"1s\"\n"),
        };
        let Err(problems) = plan(&read, &[], &NoFiles) else { return Some(text) };
        if problems.0.iter().any(|problem| problem.line_text.starts_with("geometry")) {
            return None;
        }
        let is_refused = |line: usize| problems.0.iter().any(|problem| problem.line == line + 1);
        let lines = text.lines().enumerate().filter(|&(number, _)| !is_refused(number));
        text = lines.map(|(_, line)| format!("{line}\n")).collect();
    }
    None
}

fn mechanics(dice: &mut Dice, text: &mut String) {
    let rpm = [5_400, 7_200, 10_000, 15_000][dice.below(4) as usize];
    let (heads, rate) = (1 + dice.below(10), 20 + dice.below(260));
    let cylinders = [80_000, 300_000][dice.below(2) as usize];
    // The inner tracks hold less.
    let capacity = heads * cylinders * (rate * 60_000 / rpm) * 8 / 10_000;
    let single = dice.between(1, 12) / 10.0;
    let average = single + dice.between(2, 8);
    let full = average * (1.7 + dice.between(0, 5) / 10.0);
    let order = match dice.below(4) {
        0 | 1 => format!(
            "geometry.surface_order = \"serpentine\"\ngeometry.cylinders_per_head = {}",
            1 + dice.below(300)
        ),
        2 => "geometry.surface_order = \"alternating\"".to_owned(),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "rpm = \"{rpm}rpm\"\ngeometry.heads = {heads}\n{order}\ngeometry.capacity = \"{capacity}MB\"\ngeometry.outer_rate = \"{rate}MB/s\"\n\
         geometry.inner_to_outer = {}\ngeometry.zone_count = {}\nseek.single = \"{single:.3}ms\"\n\
         seek.average = \"{average:.3}ms\"\nseek.full = \"{full:.3}ms\"\nsettle.head_switch = \"{:.3}ms\"\n\
         settle.write_settle = \"{:.3}ms\"\nskew.margin = \"{:.3}ms\"",
        40 + dice.below(50),
        1 + dice.below(4),
        dice.between(1, 12) / 10.0,
        dice.between(0, 5) / 10.0,
        dice.between(0, 4) / 10.0,
    );
    for key in ["settle.read_on_arrival", "settle.write_on_arrival"] {
        if dice.one_in(3) {
            let _ = writeln!(text, "{key} = true");
        }
    }
}

fn firmware(dice: &mut Dice, text: &mut String) {
    for key in ["read_hit", "read_miss", "write", "write_hit", "read_completion", "write_completion"] {
        let time = if dice.one_in(4) { 0.0 } else { dice.between(0, 4) / 10.0 };
        let _ = writeln!(text, "firmware.{key} = \"{time:.3}ms\"");
    }
    let standard = dice.of(&["sata-300", "sata-600", "sas-6", "sas-12", "scsi-ultra320", "none"]);
    if standard != "none" {
        let _ = writeln!(text, "link.standard = \"{standard}\"");
    }
    let data = dice.of(&["before-positioning", "while-positioning"]);
    let _ = writeln!(text, "link.write_data = \"{data}\"");
}

fn queue(dice: &mut Dice, text: &mut String) {
    let protocol = dice.of(&["ncq", "scsi-tcq", "ata-tcq"]);
    let _ = writeln!(text, "queue.protocol = \"{protocol}\"");
    if protocol == "scsi-tcq" {
        let _ = writeln!(text, "queue.depth = {}", [64, 128, 256][dice.below(3) as usize]);
    }
    if dice.one_in(4) {
        let class = dice.of(&["sata-desktop", "sata-nearline", "scsi", "mobile", "ideal"]);
        let _ = writeln!(text, "firmware.class = \"{class}\"");
        return;
    }
    let order = dice.of(&[
        "fcfs",
        "sstf",
        "look",
        "c-look",
        "vscan",
        "sptf",
        "aged-sptf",
        "weighted-sptf",
        "read-first-sptf",
        "share-aged-sptf",
    ]);
    let chooses = dice.of(&["at-media-end", "after-answer", "one-ahead", "at-completion"]);
    let _ = writeln!(text, "queue.order = \"{order}\"\nqueue.chooses = \"{chooses}\"");
    if chooses == "after-answer" {
        let _ = writeln!(text, "queue.answer_time = \"{:.3}ms\"", dice.between(0, 3) / 10.0);
    }
    for key in ["joins_reads", "joins_writes"] {
        let until = dice.of(&["never", "never", "before-start", "until-end"]);
        let _ = writeln!(text, "queue.{key} = \"{until}\"");
    }
    if dice.one_in(3) {
        let _ = writeln!(text, "queue.knows = \"distance\"");
    } else if dice.one_in(2) && order.ends_with("sptf") {
        let _ = writeln!(
            text,
            "queue.read_margin = \"{:.3}ms\"\nqueue.write_margin = \"{:.3}ms\"",
            dice.between(0, 2),
            dice.between(0, 2)
        );
    }
    if dice.one_in(4) {
        let _ = writeln!(text, "queue.considers = {}", 2 + dice.below(30));
    }
    if dice.one_in(3) {
        let _ = writeln!(text, "queue.age_limit = \"{}ms\"", 500 + dice.below(4_000));
    }
}

fn cache(dice: &mut Dice, text: &mut String) {
    let writes = dice.one_in(2);
    let _ = writeln!(text, "write_cache = {writes}");
    if !writes && dice.one_in(5) {
        let _ = writeln!(text, "cache = false");
        return;
    }
    let segments = 1 + dice.below(64);
    let size = [2, 8, 16, 64, 256][dice.below(5) as usize];
    let segmentation = dice.of(&["fixed", "adaptive"]);
    let read_ahead = dice.of(&["none", "limit", "limit", "track", "cylinder", "next-track"]);
    let _ = writeln!(
        text,
        "cache.size = \"{size}MiB\"\ncache.segments = {segments}\ncache.segmentation = \"{segmentation}\"\ncache.read_ahead = \"{read_ahead}\""
    );
    for key in [
        "keeps_passing",
        "read_ahead_when_queued",
        "read_ahead_when_sequential",
        "read_ahead_on_hit",
        "ends_sector",
    ] {
        if dice.one_in(3) {
            let _ = writeln!(text, "cache.{key} = true");
        }
    }
    if writes {
        let destage = dice.of(&["at-once", "when-idle"]);
        let _ = writeln!(text, "cache.destage = \"{destage}\"");
    }
}
