//! The traces that a scenario names by path: opened for each run, with what identifies their bytes.
use crate::errors::in_words;
use drivelab_core::digest::Digest;
use drivelab_scenario::{RemapRequest, TraceFound, TraceRequest};
use drivelab_simulate::recorded::{Replayed, Replaying};
use drivelab_trace::formats::columns::Columns;
use drivelab_trace::shape::Remap;
use drivelab_trace::{Format, Options, Reader, TraceError};
use drivelab_units::key;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of the trace at a path: the file itself, or for a folder the files that blktrace wrote, one per
/// processor.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    let message = |error: std::io::Error| in_words(&error);
    if !path.exists()
        && let Some(name) = path.file_name().and_then(|name| name.to_str())
    {
        let beside = processors(path.parent().unwrap_or(Path::new(".")), Some(name)).unwrap_or_default();
        if !beside.is_empty() {
            return Ok(beside.into_iter().map(|(_, _, file)| file).collect());
        }
    }
    let kind = fs::metadata(path).map_err(message)?.file_type();
    if kind.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    if !kind.is_dir() {
        return Err(
            "it is a pipe or a device, and each run reads it again; write it to a file first".to_owned()
        );
    }
    let found = processors(path, None).map_err(message)?;
    match (found.first(), found.last()) {
        (Some((one, ..)), Some((other, ..))) if one == other => {
            Ok(found.into_iter().map(|(_, _, file)| file).collect())
        }
        (Some(_), _) => Err("the folder holds several traces; name the files of one".to_owned()),
        _ => Err("it is a folder without a file NAME.blktrace.0; name a trace in it".to_owned()),
    }
}

/// The files that blktrace wrote for the processors, of one name or of all: each with its name and processor, in order.
fn processors(folder: &Path, name: Option<&str>) -> std::io::Result<Vec<(String, u32, PathBuf)>> {
    // The folder of a bare name is the empty path.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        let own = file.file_name().and_then(|own| own.to_str()).unwrap_or_default().to_owned();
        if let Some((stem, processor)) = own.rsplit_once(".blktrace.")
            && name.is_none_or(|name| name == stem)
            && let Ok(processor) = processor.parse::<u32>()
        {
            found.push((stem.to_owned(), processor, file));
        }
    }
    found.sort();
    Ok(found)
}

/// The same for the same bytes.
pub fn fingerprint(files: &[PathBuf]) -> Result<String, String> {
    let (mut digest, mut length) = (Digest::default(), 0);
    let mut buffer = vec![0; 1 << 16];
    for path in files {
        let mut file = File::open(path).map_err(|error| in_words(&error))?;
        loop {
            let count = file.read(&mut buffer).map_err(|error| in_words(&error))?;
            if count == 0 {
                break;
            }
            length += count as u64;
            for chunk in buffer[..count].chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                digest.fold(u64::from_le_bytes(word));
            }
        }
    }
    Ok(format!("trace:{length}:{:016x}", digest.value()))
}

/// The trace that a scenario asks for, ready to be opened.
pub fn found(
    request: &TraceRequest,
    files: Vec<PathBuf>,
    fingerprint: String,
) -> Result<(Arc<Replayed>, TraceFound), String> {
    let told = |error: TraceError| error.to_string();
    let options = options(request).map_err(told)?;
    let first = open(&files, &options).map_err(told)?;
    let seed = first.header().and_then(|header| header.seed);
    let remap = remap(request, first.header().and_then(|header| header.device_bytes))?;
    drop(first);
    let params = Replaying {
        pace: request.pace,
        device: request.device.clone(),
        scale_time: (request.scale_time, 1_000_000),
        remap,
        direct: request.direct,
        is_lenient: request.is_lenient,
        capacity: request.capacity,
        takes_hosts: request.takes_hosts,
    };
    let name = request.file.clone();
    let replayed = Arc::new(Replayed::new(name, Box::new(move || open(&files, &options)), params));
    Ok((Arc::clone(&replayed), TraceFound { recording: replayed, fingerprint, seed }))
}

fn options(request: &TraceRequest) -> Result<Options, TraceError> {
    let among = request.format.as_deref().and_then(Format::family).unwrap_or(&[]);
    let named = |name: &String| Format::named(name).ok_or_else(|| TraceError::NoFormat(name.clone()));
    let format = request.format.as_ref().filter(|_| among.is_empty()).map(named).transpose()?;
    Ok(Options {
        format,
        columns: request.columns.as_deref().map(Columns::parse).transpose()?,
        among,
        is_lenient: request.is_lenient,
        is_sorted: request.is_sorted,
        ..Options::default()
    })
}

fn remap(request: &TraceRequest, recorded_bytes: Option<u64>) -> Result<Option<Remap>, String> {
    let to_bytes = request.capacity.bytes().get();
    match request.remap {
        RemapRequest::None => Ok(None),
        RemapRequest::Wrap => Ok(Some(Remap::Wrap { to_bytes })),
        RemapRequest::Scale(of) => {
            let from_bytes = of.map(|of| of.bytes().get()).or(recorded_bytes).ok_or(concat!(
                "it does not say how large its device was; give its size, such as ",
                key!("trace.of", "500GB")
            ))?;
            Ok(Some(Remap::Scale { from_bytes, to_bytes }))
        }
    }
}

fn open(files: &[PathBuf], options: &Options) -> Result<Reader<'static>, TraceError> {
    let mut sources: Vec<Box<dyn Read + Send>> = Vec::new();
    for path in files {
        sources.push(Box::new(File::open(path)?));
    }
    match sources.pop() {
        Some(source) if sources.is_empty() => Reader::open(source, options),
        Some(source) => {
            sources.push(source);
            Reader::open_blktrace(sources, options)
        }
        None => Err(TraceError::Empty),
    }
}
