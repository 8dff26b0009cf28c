//! A crash test of a Rust program: it saves pages by writing a draft, renaming it and syncing the directory.
//!
//!     saves write             the draft is synced before it is renamed: nothing is lost
//!     saves write --no-sync   it is not: the name survives a power cut, the contents need not
//!     saves check             status 1 if a page is not there that was reported as committed

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const PAGES: u32 = 30;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let folder = PathBuf::from(std::env::var_os("DRIVELAB_MOUNT").unwrap_or_default());
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write"] => write(&folder, true).map(|()| true),
        ["write", "--no-sync"] => write(&folder, false).map(|()| true),
        ["check"] => check(&folder),
        _ => Err(io::Error::other("usage: saves write [--no-sync] | saves check")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// What a page contains.
fn page(number: u32) -> Vec<u8> {
    format!("page {number:3}\n").repeat(400).into_bytes()
}

fn name(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("page-{number}"))
}

fn write(folder: &Path, is_synced: bool) -> io::Result<()> {
    let draft = folder.join("draft");
    for number in 1..=PAGES {
        let mut file = File::create(&draft)?;
        file.write_all(&page(number))?;
        if is_synced {
            file.sync_all()?;
        }
        drop(file);
        fs::rename(&draft, name(folder, number))?;
        // The name becomes durable with its directory.
        File::open(folder)?.sync_all()?;
        println!("committed {number}");
        io::stdout().flush()?;
    }
    Ok(())
}

/// Whether every page is there that was committed.
fn check(folder: &Path) -> io::Result<bool> {
    let committed = std::env::var("DRIVELAB_COMMITTED").unwrap_or_default().parse().unwrap_or(0);
    for number in 1..=committed {
        let found = match fs::read(name(folder, number)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            other => other.unwrap_or_default(),
        };
        if found != page(number) {
            println!(
                "page {number} has {} bytes, not {}, and {committed} was committed",
                found.len(),
                page(number).len()
            );
            return Ok(false);
        }
    }
    Ok(true)
}
