//! An independent model of what a device owes its clients against the record: every sector that is lost is listed, and
//! none that is there, whatever destroyed it: caches, the write hole, corruption, failures and rebuilds.
//!
//! The model knows only requests and answers: for each sector the last answered version, and one that may be under way.
//! `SHADOW_RUNS` sets how many runs of each setup there are.
use crate::rig::{Dice, Rig, asked, device};
use drivelab_emulate::ledger::Lost;
use drivelab_emulate::transport::{Answer, DeviceRequest};
use drivelab_units::Span;
use std::collections::{BTreeMap, BTreeSet};

const SECTOR: u64 = 512;
/// The sectors that are written.
const SPAN: u64 = 640;
const CUTS: u64 = 6;
/// The cut before which a member fails in a run with corruption, and the end of its description.
const FAILS_BEFORE: u64 = 3;
const FAILS: &str = "cut 3";

fn array(level: &str, members: u16, write_hole: &str, write_cache: bool) -> String {
    let hole = if write_hole.is_empty() { String::new() } else { format!("write_hole = \"{write_hole}\"\n") };
    let unit = if level == "raid1" { "" } else { "stripe_unit = \"4KiB\"\n" };
    format!(
        "[target]\ndrive = {{ base = \"wd-wd740gd-00fla0\", geometry.capacity = \"16MiB\" }}\n\
         write_cache = {write_cache}\n[target.array]\nlevel = \"{level}\"\nmembers = {members}\n{unit}{hole}"
    )
}

/// What destroys data in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Harm {
    Cuts,
    CutsWhileDegraded,
    CutsWhileRebuilding,
    Corruption,
}

/// What clients know of a device.
#[derive(Default)]
struct Model {
    /// The version of each sector that was answered last, or seen after a cut.
    answered: BTreeMap<u64, Vec<u8>>,
    /// The version that was answered last where another one was seen after a cut: corruption of what is corrupt already
    /// can bring it back.
    before: BTreeMap<u64, Vec<u8>>,
    /// Writes under way, by cookie: their sectors and their data.
    under_way: BTreeMap<u64, (u64, Vec<u8>)>,
}

impl Model {
    fn expected(&self, at: u64) -> Vec<u8> {
        self.answered.get(&at).cloned().unwrap_or_else(|| vec![0; SECTOR as usize])
    }

    fn is_busy(&self, first: u64, count: u64) -> bool {
        let end = |(other, data): &(u64, Vec<u8>)| other + data.len() as u64 / SECTOR;
        self.under_way.values().any(|write| write.0 < first + count && first < end(write))
    }

    fn parts((first, data): &(u64, Vec<u8>)) -> impl Iterator<Item = (u64, &[u8])> {
        (*first..).zip(data.chunks(SECTOR as usize))
    }

    fn take(&mut self, rig: &mut Rig) {
        for reply in std::mem::take(&mut rig.replies) {
            if let Some(write) = self.under_way.remove(&reply.request_id.cookie) {
                assert_eq!(reply.answer, Ok(Answer::Done));
                for (at, part) in Self::parts(&write) {
                    self.answered.insert(at, part.to_vec());
                    self.before.remove(&at);
                }
            }
        }
    }

    /// The sectors that hold neither the answered version nor one that was under way.
    fn wrong(&self, found: &BTreeMap<u64, Vec<u8>>) -> BTreeSet<u64> {
        let newer = |at: u64, found: &[u8]| {
            self.under_way.values().flat_map(Self::parts).any(|part| part == (at, found))
        };
        let is_wrong = |(at, found): &(&u64, &Vec<u8>)| {
            self.expected(**at) != **found && self.before.get(at) != Some(found) && !newer(**at, found)
        };
        found.iter().filter(is_wrong).map(|(at, _)| *at).collect()
    }

    /// This was read after a cut.
    fn see(&mut self, wrong: &BTreeSet<u64>, found: BTreeMap<u64, Vec<u8>>) {
        self.under_way.clear();
        for (at, found) in found {
            if wrong.contains(&at) && !self.before.contains_key(&at) {
                self.before.insert(at, self.expected(at));
            } else if !wrong.contains(&at) && self.answered.get(&at) != Some(&found) {
                self.before.remove(&at);
            }
            self.answered.insert(at, found);
        }
    }
}

struct Run {
    rig: Rig,
    dice: Dice,
    model: Model,
    version: u64,
    first: u64,
    /// Cuts, lost sectors, and sectors compared.
    counts: [u64; 3],
}

impl Run {
    fn new(text: &str, seed: u64) -> Self {
        let rig = Rig::new(device(text, seed));
        let mut dice = Dice::new(seed);
        let first = [0, 4_000, 9_001][dice.below(3) as usize];
        Run { rig, dice, model: Model::default(), version: 0, first, counts: [0; 3] }
    }

    fn act(&mut self, name: &str, member: u16) -> Result<String, String> {
        self.rig.engine.act(self.rig.now, &asked(&format!("{name} member={member}")))
    }

    /// Some requests, and a time that is often shorter than they take.
    fn write_some(&mut self, requests: u64) {
        for _ in 0..requests {
            let at = self.dice.below(SPAN);
            let at = if self.dice.below(2) == 0 { at / 8 * 8 } else { at };
            let count = [1, 1, 3, 8, 8, 24, 70][self.dice.below(7) as usize].min(SPAN - at);
            let first = self.first + at;
            if self.model.is_busy(first, count) {
                continue;
            }
            self.version += 1;
            let data: Vec<u8> = (first..first + count)
                .flat_map(|at| [at, self.version].map(u64::to_le_bytes).concat().repeat(32))
                .collect();
            let fua = self.dice.below(10) == 0;
            let write = DeviceRequest::Write { offset: first * SECTOR, data: data.clone(), fua };
            let cookie = self.rig.submit(write);
            self.model.under_way.insert(cookie, (first, data));
            if self.dice.below(12) == 0 {
                self.rig.submit(DeviceRequest::Flush);
            }
            if self.dice.below(3) > 0 {
                let us = self.dice.below(12_000);
                self.rig.pass(Span::from_us(us));
            }
            self.model.take(&mut self.rig);
        }
    }

    fn settle(&mut self) {
        self.rig.settle();
        self.model.take(&mut self.rig);
    }

    /// Everything as reads deliver it.
    fn read_all(&mut self) -> BTreeMap<u64, Vec<u8>> {
        let mut found = BTreeMap::new();
        let (begin, end) = (self.first.saturating_sub(64), self.first + SPAN + 64);
        for at in (begin..end).step_by(64) {
            let data = self.rig.read(at * SECTOR, (64 * SECTOR) as u32);
            found.extend((at..).zip(data.chunks(SECTOR as usize).map(<[u8]>::to_vec)));
        }
        found
    }

    /// Compares what is wrong with what was listed: by the last cut, and by damage recorded since there were `before`
    /// entries.
    fn compare(&mut self, before: usize, context: &str) {
        let found = self.read_all();
        let wrong = self.model.wrong(&found);
        let log = self.rig.engine.log();
        let cut = log.power_cuts.last().expect("the power was cut");
        // What was corrupted elsewhere is not read.
        let sectors = |lost: &Lost| (lost.lba..lost.lba + lost.sectors).filter(|at| found.contains_key(at));
        let in_cut: BTreeSet<u64> = cut.lost.iter().flat_map(sectors).collect();
        let mut listed: BTreeSet<u64> =
            log.damage[before..].iter().flat_map(|damage| &damage.lost).flat_map(sectors).collect();
        // A log that is replayed after the cut makes some of what was corrupted right again, and so does the failure of
        // the member that was corrupted.
        let fails = context.contains("Corruption") && context.ends_with(FAILS);
        if fails || context.contains("journal") || context.contains("ppl") {
            listed.retain(|at| wrong.contains(at));
        }
        listed.extend(in_cut);
        let unlisted: Vec<_> = wrong.difference(&listed).collect();
        let intact: Vec<_> = listed.difference(&wrong).collect();
        assert!(
            unlisted.is_empty() && intact.is_empty(),
            "{context}: lost and not listed {unlisted:?}, listed and there {intact:?}"
        );
        if context.contains("write_cache = false") && !context.contains("Corruption") {
            let is_safe = context.contains("\"journal\"") && !context.contains("Rebuilding");
            assert!(wrong.is_empty() || !is_safe, "{context}: a journal loses nothing");
            // A stripe unit is a page here.
            let is_in_page = |at: &u64| self.model.is_busy(at / 8 * 8, 8);
            let all = wrong.iter().all(is_in_page);
            assert!(all || !context.contains("\"ppl\""), "{context}: beyond the pages under way: {wrong:?}");
        }
        self.counts[0] += 1;
        self.counts[1] += wrong.len() as u64;
        self.counts[2] += found.len() as u64;
        self.model.see(&wrong, found);
    }

    fn cut(&mut self, before: usize, context: &str) {
        let told = self.act("power-cut", 0).expect("it can be cut");
        self.rig.take();
        self.model.take(&mut self.rig);
        self.rig.settle();
        if told.contains("not started") {
            assert!(self.rig.write(0, vec![1; 512], false).is_err());
            self.act("start", 0).expect("it can be started");
        }
        self.compare(before, context);
    }

    fn corrupt(&mut self, members: u16) {
        let member = self.dice.below(members.into()) as u16;
        // Where the sectors of the span lie on a member, or near.
        let lba = self.first / u64::from(members) + self.dice.below(SPAN);
        let sectors = 1 + self.dice.below(12);
        let action = asked(&format!("corrupt member={member} lba={lba} sectors={sectors}"));
        if let Err(why) = self.rig.engine.act(self.rig.now, &action) {
            assert_eq!(why, format!("drive {member} has failed before"));
        }
    }
}

fn run(text: &str, members: u16, harm: Harm, seed: u64) -> [u64; 3] {
    let mut run = Run::new(text, seed);
    let member = run.dice.below(members.into()) as u16;
    for number in 0..CUTS {
        let context = format!("{text}\n{harm:?}, seed {seed}, cut {number}");
        let requests = 10 + run.dice.below(40);
        run.write_some(requests);
        let before = run.rig.engine.log().damage.len();
        match harm {
            Harm::Cuts => {}
            Harm::CutsWhileDegraded if number == 0 => _ = run.act("fail", member).expect("it can fail"),
            Harm::CutsWhileRebuilding => {
                if number == 0 {
                    run.act("fail", member).expect("it can fail");
                }
                // After a cut it is missing again.
                let _ = run.act("replace", member);
                let ms = run.dice.below(2_000);
                run.rig.pass(Span::from_ms(ms));
                run.model.take(&mut run.rig);
            }
            Harm::CutsWhileDegraded => {}
            Harm::Corruption => {
                run.settle();
                run.rig.flush();
                run.corrupt(members);
                if members > 2 && number == FAILS_BEFORE {
                    run.act("fail", member).expect("it can fail");
                }
            }
        }
        if harm != Harm::Corruption {
            let requests = run.dice.below(30);
            run.write_some(requests);
        }
        run.cut(before, &context);
    }
    run.counts
}

fn runs() -> u64 {
    std::env::var("SHADOW_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1)
}

#[expect(clippy::print_stderr, reason = "the figures of a long run")]
fn run_all(setups: &[(String, u16, &[Harm])]) {
    let mut sums = BTreeMap::<String, [u64; 3]>::new();
    for (text, members, harms) in setups {
        for &harm in *harms {
            for seed in 1..=runs() {
                let counts = run(text, *members, harm, seed);
                let sum = sums.entry(format!("{harm:?}")).or_default();
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
        }
    }
    for (harm, [cuts, lost, sectors]) in &sums {
        eprintln!("{harm}: {cuts} cuts, {lost} sectors lost, {sectors} compared");
    }
    let lost: u64 = sums.values().map(|sum| sum[1]).sum();
    assert!(lost > 0, "something is lost");
}

const WHOLE: &[Harm] = &[Harm::Cuts, Harm::Corruption];
const ALL: &[Harm] = &[Harm::Cuts, Harm::CutsWhileDegraded, Harm::CutsWhileRebuilding];
const PARITY: &[Harm] = &[Harm::Cuts, Harm::CutsWhileDegraded, Harm::CutsWhileRebuilding, Harm::Corruption];

#[test]
fn a_drive_lists_its_losses() {
    let drive = |cache| {
        format!(
            "[target]\ndrive = {{ base = \"wd-wd740gd-00fla0\", geometry.capacity = \"16MiB\" }}\nwrite_cache = {cache}"
        )
    };
    run_all(&[(drive(true), 1, WHOLE), (drive(false), 1, WHOLE)]);
}

#[test]
fn mirrors_list_their_losses() {
    let both = |level, members| [true, false].map(|cache| (array(level, members, "", cache), members, ALL));
    run_all(&[both("raid1", 2), both("raid10", 4)].concat());
}

#[test]
fn arrays_with_parity_list_their_losses() {
    for hole in ["open", "bitmap", "journal", "ppl"] {
        let mut setups = Vec::new();
        for cache in [true, false] {
            setups.push((array("raid5", 4, hole, cache), 4, PARITY));
            if hole != "ppl" {
                setups.push((array("raid6", 5, hole, cache), 5, PARITY));
            }
        }
        run_all(&setups);
    }
}

/// Of a row that was written twice the log may have both records after a cut: the newer one is of the missing member,
/// so that nothing can be computed from it, and the older one would take back what was answered since.
#[test]
fn an_old_record_of_a_partial_parity_log_takes_nothing_back() {
    let [_, lost, _] = run(&array("raid5", 4, "ppl", false), 4, Harm::CutsWhileDegraded, 11);
    assert!(lost > 0, "pages under way are given up");
}
