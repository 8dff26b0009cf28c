//! The port of threads: one for each slot, with preadv2 and pwritev2, where io_uring is refused.
use crate::error::MeasureError;
use crate::port::{Port, fill};
use drivelab_ring::{Done, Kind, Request};
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant as Moment};

/// More threads do not tell more about a device.
pub const THREADS_MAX: u32 = 512;
/// The stack of a thread that only reads and writes.
const STACK_BYTES: usize = 64 << 10;
/// An alignment that O_DIRECT accepts on every device.
const ALIGN: usize = 4096;
/// Maximum time to wait for a thread to end.
const LEAVE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Default)]
struct Queues {
    pending: VecDeque<Request>,
    done: Vec<Done>,
    is_over: bool,
}

struct Shared {
    file: File,
    queues: Mutex<Queues>,
    /// Signalled when a request is waiting.
    request_ready: Condvar,
    /// Signalled when a request is done.
    answered: Condvar,
}

impl Shared {
    fn lock_queues(&self) -> MutexGuard<'_, Queues> {
        // No thread panics while it holds the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Threads {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    pushed: Vec<Request>,
}

impl Threads {
    /// # Errors
    /// When the system cannot create more threads.
    pub fn new(file: File, slots: u32, slot_bytes: u32, seed: u64) -> Result<Self, MeasureError> {
        let room = slots as usize;
        let queues =
            Queues { pending: VecDeque::with_capacity(room), done: Vec::with_capacity(room), is_over: false };
        let shared = Arc::new(Shared {
            file,
            queues: Mutex::new(queues),
            request_ready: Condvar::new(),
            answered: Condvar::new(),
        });
        // If a thread cannot be created, dropping this value ends those that were.
        let mut threads =
            Threads { shared, workers: Vec::with_capacity(room), pushed: Vec::with_capacity(room) };
        for number in 0..slots {
            let shared = Arc::clone(&threads.shared);
            let work = move || serve(&shared, slot_bytes as usize, seed ^ u64::from(number + 1));
            let worker = Builder::new().name(format!("measure-{number}")).stack_size(STACK_BYTES).spawn(work);
            threads.workers.push(worker.map_err(MeasureError::Port)?);
        }
        Ok(threads)
    }
}

/// The loop of a thread.
fn serve(shared: &Shared, bytes: usize, seed: u64) {
    let mut memory = vec![0; bytes + ALIGN];
    let start = memory.as_ptr().align_offset(ALIGN);
    let buffer = &mut memory[start..start + bytes];
    fill(buffer, seed);
    loop {
        let mut queues = shared.lock_queues();
        let request = loop {
            if queues.is_over {
                return;
            }
            match queues.pending.pop_front() {
                Some(request) => break request,
                None => queues = shared.request_ready.wait(queues).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queues);
        let result = execute(&shared.file, &request, buffer);
        let mut queues = shared.lock_queues();
        queues.done.push(Done { slot: request.slot, result });
        drop(queues);
        shared.answered.notify_one();
    }
}

fn execute(file: &File, request: &Request, buffer: &mut [u8]) -> i32 {
    let (offset, buffer) = (request.offset, &mut buffer[..request.bytes as usize]);
    loop {
        let done = match request.kind {
            Kind::Read => preadv2(file, &mut [IoSliceMut::new(buffer)], offset, ReadWriteFlags::empty()),
            Kind::Write { durable } => {
                let flags = if durable { ReadWriteFlags::DSYNC } else { ReadWriteFlags::empty() };
                pwritev2(file, &[IoSlice::new(buffer)], offset, flags)
            }
            Kind::Flush => rustix::fs::fdatasync(file).map(|()| 0),
        };
        match done {
            Ok(bytes) => return i32::try_from(bytes).unwrap_or(i32::MAX),
            Err(Errno::INTR) => {}
            Err(error) => return -error.raw_os_error(),
        }
    }
}

impl Port for Threads {
    fn slots(&self) -> u32 {
        self.workers.len() as u32
    }

    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        self.pushed.push(*request);
        Ok(())
    }

    fn submit(&mut self) -> Result<(), MeasureError> {
        let count = self.pushed.len();
        self.shared.lock_queues().pending.extend(self.pushed.drain(..));
        (0..count).for_each(|_| self.shared.request_ready.notify_one());
        Ok(())
    }

    fn wait(&mut self, most: Duration) -> Result<(), MeasureError> {
        let queues = self.shared.lock_queues();
        let waited = self.shared.answered.wait_timeout_while(queues, most, |queues| queues.done.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        done.append(&mut self.shared.lock_queues().done);
    }

    fn name(&self) -> &'static str {
        "threads"
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock_queues().is_over = true;
        self.shared.request_ready.notify_all();
        let began = Moment::now();
        for worker in self.workers.drain(..) {
            // A thread that the device blocks for longer is left to end by itself; it owns everything that it
            // needs until then.
            while !worker.is_finished() && began.elapsed() < LEAVE {
                std::thread::sleep(POLL_INTERVAL);
            }
            if worker.is_finished() {
                drop(worker.join());
            }
        }
    }
}
