//! The port of a network block device: one connection, with all commands outstanding at once.
//!
//! When a connection is lost, everything outstanding, and everything after it, is answered as by a device
//! that is gone.
use crate::error::MeasureError;
use crate::port::{Port, fill};
use drivelab_core::host::params::{Flushes, JobParams, Marking};
use drivelab_nbd::{
    Address, Connection, Export, Kind as NbdKind, NbdError, ReplyEvent, Request as NbdRequest,
};
use drivelab_ring::{Done, Kind, Request};
use drivelab_units::{Share, key};
use rustix::io::Errno;
use std::time::Duration;

pub struct Nbd {
    connection: Connection,
    slots: u32,
    slot_bytes: u32,
    /// Completions that were not reaped yet.
    done: Vec<Done>,
    /// Slots whose command was unanswered when the connection was lost, or was pushed after that.
    unanswered: Vec<u32>,
    lost: Option<NbdError>,
    /// Why sending failed; kept until the answers received before have been taken.
    failed: Option<NbdError>,
}

impl Nbd {
    /// # Errors
    /// When the server cannot be reached, or does not offer what the jobs ask for.
    pub fn new(
        text: &str,
        jobs: &[JobParams],
        slots: u32,
        slot_bytes: u32,
        seed: u64,
    ) -> Result<Self, MeasureError> {
        let failed = |error| MeasureError::Address { address: text.into(), error };
        let address: Address = text.parse().map_err(failed)?;
        let writes = jobs.iter().any(|job| job.reads != Share::ALL);
        // Each slot has its own data, so that no server can deduplicate them.
        let mut payload = vec![0; if writes { slots as usize * slot_bytes as usize } else { 0 }];
        for (slot, buffer) in payload.chunks_mut(slot_bytes.max(1) as usize).enumerate() {
            fill(buffer, seed ^ (slot as u64 + 1));
        }
        let connection = Connection::open(&address, slots as usize, payload).map_err(failed)?;
        let room = slots as usize;
        let (done, unanswered) = (Vec::with_capacity(room), Vec::with_capacity(room));
        Ok(Nbd { connection, slots, slot_bytes, done, unanswered, lost: None, failed: None })
    }

    /// What the server reports of the export.
    pub fn export(&self) -> &Export {
        self.connection.export()
    }

    /// The connection is lost: no outstanding command will be answered.
    #[cold]
    fn lose(&mut self, error: NbdError) {
        self.lost.get_or_insert(error);
        let unanswered = &mut self.unanswered;
        self.connection.give_up(|slot| unanswered.push(slot as u32));
    }

    /// A connection that no longer accepts requests may already have received answers: those are taken first.
    fn send(&mut self) {
        if self.lost.is_none() && self.failed.is_none() {
            self.failed = self.connection.send().err();
        }
    }

    /// Receives until a command has completed or nothing is left. Completions are not delayed for others that
    /// may follow.
    #[inline]
    fn receive(&mut self) {
        while self.lost.is_none() && self.done.is_empty() {
            let done = &mut self.done;
            let received = self.connection.receive(|event| {
                if let ReplyEvent::Answer { tag, errno } = event {
                    done.push(answered(tag, errno));
                }
            });
            match (received, self.failed.take()) {
                (Ok(0), None) => return,
                (Ok(0), Some(error)) | (Err(error), _) => self.lose(error),
                (Ok(_), failed) => self.failed = failed,
            }
        }
    }
}

/// A tag holds the slot, and the bytes that its command transfers.
#[inline]
fn tag(request: &Request) -> u64 {
    u64::from(request.bytes) << 32 | u64::from(request.slot)
}

#[inline]
fn answered(tag: u64, errno: u32) -> Done {
    let result = if errno == 0 { (tag >> 32) as i32 } else { -i32::try_from(errno).unwrap_or(i32::MAX) };
    Done { slot: tag as u32, result }
}

/// Whether a server offers what the jobs need.
pub fn check(export: &Export, jobs: &[JobParams]) -> Result<(), String> {
    for job in jobs {
        let writes = job.reads != Share::ALL;
        if writes && export.read_only {
            return Err("is a read-only export, and the workload writes".into());
        }
        if job.flushes != Flushes::Never && !export.flush {
            return Err(format!(
                "offers no FLUSH, and the workload flushes; leave {} out",
                key!("workload.fsync")
            ));
        }
        let Marking { force_unit_access, sync, .. } = job.marking;
        if writes && (force_unit_access || sync) && !export.fua {
            let key = if sync { key!("workload.sync") } else { key!("workload.fua") };
            return Err(format!("offers no FUA, and the workload's writes ask for it; leave {key} out"));
        }
        let largest = job.largest().bytes().get();
        if largest > u64::from(export.block_most_bytes) {
            return Err(format!(
                "takes at most {} bytes in a request, and the workload has {largest}; give a smaller {}",
                export.block_most_bytes,
                key!("workload.bs")
            ));
        }
    }
    Ok(())
}

impl Port for Nbd {
    fn slots(&self) -> u32 {
        self.slots
    }

    #[inline]
    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        if self.lost.is_some() {
            self.unanswered.push(request.slot);
            return Ok(());
        }
        let kind = match request.kind {
            Kind::Read => NbdKind::Read,
            Kind::Write { durable } => {
                NbdKind::Write { fua: durable, payload: request.slot as usize * self.slot_bytes as usize }
            }
            Kind::Flush => NbdKind::Flush,
        };
        let (offset, length) = (request.offset, request.bytes);
        self.connection.put(&NbdRequest { tag: tag(request), kind, offset, length });
        Ok(())
    }

    #[inline]
    fn submit(&mut self) -> Result<(), MeasureError> {
        self.send();
        Ok(())
    }

    #[inline]
    fn wait(&mut self, most: Duration) -> Result<(), MeasureError> {
        if self.lost.is_some() && self.unanswered.is_empty() {
            std::thread::sleep(most);
        }
        if self.lost.is_some() || !self.done.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.connection.wait(most) {
            self.lose(error);
        }
        // Requests that did not fit before.
        self.send();
        Ok(())
    }

    #[inline]
    fn reap(&mut self, done: &mut Vec<Done>) {
        self.receive();
        done.append(&mut self.done);
        if !self.unanswered.is_empty() {
            let gone = -Errno::SHUTDOWN.raw_os_error();
            done.extend(self.unanswered.drain(..).map(|slot| Done { slot, result: gone }));
        }
    }

    fn name(&self) -> &'static str {
        "nbd"
    }

    fn lost(&self) -> Option<String> {
        self.lost.as_ref().map(ToString::to_string)
    }
}
