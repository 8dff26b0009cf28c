//! The lines that the workload of a session writes to stdout, each with the model's time.
//!
//! The thread that serves the device reads the pipe itself, before it accepts any request: a line that precedes a
//! request has no later time than the request, and a line that follows a reply has no earlier time than the reply.
use drivelab_units::Instant;
use rustix::event::{PollFd, PollFlags};
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longer lines are split.
const LINE_MAX: usize = 1 << 16;

/// A line, and the model time at which it was read.
pub type Line = (Instant, Vec<u8>);

#[derive(Default, Debug)]
struct LineBuffer {
    /// The incomplete last line, without a newline.
    partial: Vec<u8>,
    lines: Vec<Line>,
}

/// The pipe, and the lines that were read from it.
#[derive(Debug)]
pub struct Transcript {
    reader: PipeReader,
    writer: PipeWriter,
    buffer: Mutex<LineBuffer>,
}

impl Transcript {
    /// # Errors
    /// When no pipe can be created.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        Ok(Transcript { reader, writer, buffer: Mutex::default() })
    }

    /// The descriptor for the workload's stdout.
    pub fn stdout(&self) -> RawFd {
        self.writer.as_raw_fd()
    }

    /// Removes and returns the lines since the last call.
    pub fn take(&self) -> Vec<Line> {
        std::mem::take(&mut self.lock().lines)
    }

    pub(crate) fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        fds.push(PollFd::from_borrowed_fd(self.reader.as_fd(), PollFlags::IN));
    }

    /// Reads available output at this time of the model.
    pub(crate) fn read_available(&self, now: Instant) {
        let mut bytes = [0; 4_096];
        // This object holds a writer of the pipe, so there is no end of file: a read fails only if the pipe is empty.
        while let Ok(count @ 1..) = (&self.reader).read(&mut bytes) {
            self.lock().put(now, &bytes[..count]);
        }
    }

    fn lock(&self) -> MutexGuard<'_, LineBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LineBuffer {
    fn put(&mut self, now: Instant, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n");
            self.partial.extend_from_slice(text.unwrap_or(piece));
            if text.is_some() || self.partial.len() > LINE_MAX {
                self.lines.push((now, std::mem::take(&mut self.partial)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_line_has_the_time_at_which_its_end_is_received() {
        let transcript = Transcript::new().expect("a pipe");
        let [first, second, third] = [1, 2, 3].map(Instant::from_ns);
        transcript.read_available(first);
        assert_eq!(transcript.take(), []);
        (&transcript.writer).write_all(b"one\ntw").expect("room");
        transcript.read_available(second);
        (&transcript.writer).write_all(b"o\n\nthr").expect("room");
        transcript.read_available(third);
        let lines = [(second, b"one".to_vec()), (third, b"two".to_vec()), (third, Vec::new())];
        assert_eq!(transcript.take(), lines);
        assert_eq!(transcript.take(), []);
    }

    #[test]
    fn a_line_without_end_comes_in_pieces() {
        let transcript = Transcript::new().expect("a pipe");
        for _ in 0..33 {
            (&transcript.writer).write_all(&[b'x'; 4_096]).expect("room");
            transcript.read_available(Instant::ZERO);
        }
        let lengths: Vec<_> = transcript.take().iter().map(|(_, line)| line.len()).collect();
        assert_eq!(lengths, [LINE_MAX + 4_096]);
    }
}
