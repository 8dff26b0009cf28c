//! The ring on real files: what was written is read, errors are told, and a busy slot belongs to the kernel.
#![cfg(target_os = "linux")]
use drivelab_ring::{Done, Kind, Request, Ring};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const BLOCK: u32 = 4096;

#[expect(clippy::print_stderr, reason = "a skip says why")]
/// A file without a name, of so many blocks, each filled with its own number. None with a reason where io_uring is
/// refused.
fn ring(name: &str, slots: u32, blocks: u8) -> Option<Ring> {
    let path = std::env::temp_dir().join(format!("drivelab-ring-{}-{name}", std::process::id()));
    let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    for block in 0..blocks {
        file.write_all(&[block; BLOCK as usize]).unwrap();
    }
    std::fs::remove_file(path).unwrap();
    match Ring::new(file, slots, BLOCK) {
        Ok(ring) => Some(ring),
        Err(error) => {
            eprintln!("skipped: io_uring is refused here: {error}");
            None
        }
    }
}

fn all(ring: &mut Ring) -> Vec<Done> {
    let mut done = Vec::new();
    ring.submit().unwrap();
    while ring.in_flight() > 0 {
        ring.wait(Duration::from_secs(5)).unwrap();
        ring.reap(&mut done);
    }
    done.sort_by_key(|done| done.slot);
    done
}

fn read(slot: u32, block: u64) -> Request {
    Request { slot, kind: Kind::Read, offset: block * u64::from(BLOCK), bytes: BLOCK }
}

#[test]
fn each_slot_gets_the_bytes_of_its_own_request() {
    let Some(mut ring) = ring("read", 8, 16) else { return };
    for slot in 0..8 {
        ring.push(&read(slot, u64::from(15 - slot))).unwrap();
    }
    let done = all(&mut ring);
    assert_eq!(done, (0..8).map(|slot| Done { slot, result: BLOCK as i32 }).collect::<Vec<_>>());
    for slot in 0..8 {
        assert!(ring.buffer_mut(slot).unwrap().iter().all(|byte| *byte == 15 - slot as u8));
    }
}

#[test]
fn what_is_written_and_flushed_is_read_again() {
    let Some(mut ring) = ring("write", 2, 4) else { return };
    ring.buffer_mut(0).unwrap().fill(0xa5);
    ring.push(&Request { kind: Kind::Write { durable: true }, ..read(0, 2) }).unwrap();
    assert_eq!(all(&mut ring)[0].result, BLOCK as i32);
    ring.push(&Request { slot: 1, kind: Kind::Flush, offset: 0, bytes: 0 }).unwrap();
    assert_eq!(all(&mut ring), [Done { slot: 1, result: 0 }]);
    ring.push(&read(1, 2)).unwrap();
    all(&mut ring);
    assert!(ring.buffer_mut(1).unwrap().iter().all(|byte| *byte == 0xa5));
}

#[test]
fn a_busy_slot_is_out_of_reach_and_takes_no_second_request() {
    let Some(mut ring) = ring("busy", 2, 4) else { return };
    ring.push(&read(0, 0)).unwrap();
    assert!(ring.buffer_mut(0).is_none());
    assert!(ring.push(&read(0, 1)).is_err());
    assert!(ring.push(&read(2, 1)).is_err(), "no such slot");
    assert!(ring.push(&Request { bytes: BLOCK * 2, ..read(1, 0) }).is_err(), "longer than its buffer");
    assert_eq!(all(&mut ring).len(), 1);
    assert!(ring.buffer_mut(0).is_some());
}

#[test]
fn the_end_of_the_file_is_a_short_answer_and_a_closed_door_is_an_error() {
    let Some(mut ring) = ring("end", 1, 4) else { return };
    ring.push(&read(0, 4)).unwrap();
    assert_eq!(all(&mut ring), [Done { slot: 0, result: 0 }]);
    let read_only = File::open("/proc/self/exe").unwrap();
    let Ok(mut ring) = Ring::new(read_only, 1, BLOCK) else { return };
    ring.push(&Request { kind: Kind::Write { durable: false }, ..read(0, 0) }).unwrap();
    assert_eq!(all(&mut ring)[0].result, -9, "EBADF");
}

#[test]
fn a_wait_ends_after_its_time_with_nothing_done() {
    let Some(mut ring) = ring("wait", 1, 1) else { return };
    ring.wait(Duration::from_millis(1)).unwrap();
    let mut done = Vec::new();
    ring.reap(&mut done);
    assert_eq!(done, []);
}

#[test]
fn a_ring_that_is_dropped_with_requests_under_way_frees_nothing() {
    for _ in 0..20 {
        let Some(mut ring) = ring("dropped", 32, 64) else { return };
        for slot in 0..32 {
            ring.push(&read(slot, u64::from(slot))).unwrap();
        }
        ring.submit().unwrap();
        drop(ring);
    }
}

#[test]
fn no_slots_and_too_many_are_refused() {
    for slots in [0, drivelab_ring::SLOTS_MAX + 1] {
        let file = File::open("/dev/null").unwrap();
        assert!(Ring::new(file, slots, BLOCK).is_err());
    }
}
