//! Compressed traces, detected by their first bytes: gzip, zstd and bzip2, of one or several members.
use crate::error::LENIENT;
use bzip2::read::MultiBzDecoder;
use flate2::Compression as Level;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::StreamingDecoder;
use std::error::Error;
use std::io::{self, BufReader, Cursor, Read, Write};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BZIP2: &[u8] = b"BZh";

/// The compression of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    Gzip,
    Zstd,
    Bzip2,
}

impl Compression {
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// Detects the compression by the first bytes of a stream.
    pub fn of(first: &[u8]) -> Option<Compression> {
        if first.starts_with(GZIP) {
            Some(Compression::Gzip)
        } else if first.starts_with(ZSTD) {
            Some(Compression::Zstd)
        } else if first.starts_with(BZIP2) {
            Some(Compression::Bzip2)
        } else {
            None
        }
    }
}

/// A stream of bytes.
pub type Source<'a> = Box<dyn Read + Send + 'a>;

/// Reads up to `count` first bytes, and returns them and the whole stream.
pub fn peek<'a>(mut source: Source<'a>, count: usize) -> io::Result<(Vec<u8>, Source<'a>)> {
    let mut first = Vec::new();
    source.by_ref().take(count as u64).read_to_end(&mut first)?;
    Ok((first.clone(), Box::new(Cursor::new(first).chain(source))))
}

/// Decompresses a stream, one level; returns its compression too.
pub fn unpacked<'a>(source: Source<'a>) -> io::Result<(Option<Compression>, Source<'a>)> {
    let (first, source) = peek(source, 4)?;
    let compression = Compression::of(&first);
    let Some(packed) = compression else { return Ok((None, source)) };
    let source: Source<'a> = match packed {
        Compression::Gzip => Box::new(MultiGzDecoder::new(source)),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(source)),
        Compression::Zstd => Box::new(Frames { source: Some(BufReader::new(source)), frame: None }),
    };
    Ok((compression, Box::new(Packed { source, compression: packed })))
}

/// A compressed stream; every error names its compression.
struct Packed<'a> {
    source: Source<'a>,
    compression: Compression,
}

impl Read for Packed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.source.read(bytes).map_err(|error| {
            let name = self.compression.name();
            let text = if error.kind() == io::ErrorKind::UnexpectedEof {
                format!(
                    "its {name} data are cut off; fetch it again, or take what came before with {LENIENT}"
                )
            } else {
                format!("its {name} data are damaged ({error}); fetch it again, or repack what can be read")
            };
            io::Error::new(error.kind(), text)
        })
    }
}

/// The output of a trace, compressed or not.
pub enum Sink<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
}

impl<W: Write> Sink<W> {
    pub fn new(out: W, is_packed: bool) -> Self {
        if is_packed { Sink::Gzip(GzEncoder::new(out, Level::default())) } else { Sink::Plain(out) }
    }

    /// Writes the remaining bytes, and returns the inner writer.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Sink::Plain(out) => Ok(out),
            Sink::Gzip(out) => out.finish(),
        }
    }
}

impl<W: Write> Write for Sink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(out) => out.write(bytes),
            Sink::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(out) => out.flush(),
            Sink::Gzip(out) => out.flush(),
        }
    }
}

/// The concatenated frames of a zstd stream.
struct Frames<'a> {
    source: Option<BufReader<Source<'a>>>,
    frame: Option<Box<StreamingDecoder<BufReader<Source<'a>>, ruzstd::decoding::FrameDecoder>>>,
}

impl Read for Frames<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(bytes).map_err(|error| match error.get_ref() {
                    Some(inner) => unread(inner),
                    None => error,
                })?;
                if read > 0 || bytes.is_empty() {
                    return Ok(read);
                }
                self.source = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if io::BufRead::fill_buf(&mut source)?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(source).map_err(|error| unread(&error))?;
            self.frame = Some(Box::new(frame));
        }
    }
}

/// Converts an error of a zstd stream: distinguishes a truncated stream from a damaged one.
fn unread(error: &(dyn Error + 'static)) -> io::Error {
    let mut cause = Some(error);
    while let Some(found) = cause {
        if let Some(inner) = found.downcast_ref::<io::Error>()
            && inner.kind() == io::ErrorKind::UnexpectedEof
        {
            return io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a frame");
        }
        cause = found.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
