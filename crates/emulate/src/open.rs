//! Builds a server from a user's options: the target as clients see it, its images and its sockets.
use crate::action::Action;
use crate::capture::Capture;
use crate::clock::Pace;
use crate::control::Control;
use crate::crash;
use crate::engine::{Device, Engine};
use crate::error::EmulateError;
use crate::folder::{Drives, Folder};
use crate::fuse;
use crate::image::{CopyOnWrite, FileImage, Image};
use crate::layout;
use crate::nbd::{Certificates, Export, Listening, NbdTransport};
use crate::restart::may_start_dirty;
use crate::serve::Server;
use crate::store::Store;
use crate::transcript::Transcript;
use crate::transport::Transport;
use crate::transports::Transports;
use drivelab_core::setup::Injection;
use drivelab_core::storage::array::params::Level;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Fault, Target, TargetParams};
use drivelab_units::{Instant, SECTOR_BYTES, Sectors, Share, Span};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why faults are refused with the clock `untimed`.
pub(crate) const UNTIMED: &str =
    "the clock untimed is without the model, and without the drives that faults act on: take another clock";

/// Where the data are stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Bytes {
    Memory,
    /// In a folder with one image per drive.
    Folder(PathBuf),
    /// In an existing file. Writes go into the file, or are kept in memory.
    File {
        path: PathBuf,
        is_written: bool,
    },
}

/// The address at which clients connect to the device.
#[derive(Clone, Debug)]
pub enum Address {
    Socket(PathBuf),
    /// A socket that listens already.
    Listening(Arc<Listening>),
    /// A port of one of this machine's addresses; 0 selects any free port. With a folder of certificates
    /// ([`Certificates`]) the device is served over TLS only; without one, only at addresses that other machines
    /// cannot reach.
    Port {
        address: SocketAddr,
        certificates: Option<PathBuf>,
    },
}

/// The options with which a device is served.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    pub at: Address,
    pub control: Option<PathBuf>,
    /// A folder at which the device is also mounted as a file ([`crate::fuse`]).
    pub mount: Option<PathBuf>,
    pub pace: Pace,
    pub bytes: Bytes,
    /// 512 or 4096.
    pub block_size: u32,
    pub capture: Option<PathBuf>,
    /// The folder in which the session is recorded with its data, for the power cuts of [`crate::crash`].
    pub keep: Option<PathBuf>,
    /// The lateness that 99 of 100 replies may have.
    pub budget: Span,
    pub power_cut: Option<Instant>,
    /// The drive faults that the scenario injects.
    pub injections: Arc<[Injection]>,
    /// Records the lines that the workload writes to stdout.
    pub transcript: Option<Arc<Transcript>>,
}

/// The target without the parts that a client has itself, and the names of the parts that were left out.
pub fn as_served(target: &TargetParams) -> (TargetParams, Vec<&'static str>) {
    let mut left_out = Vec::new();
    let target = match target {
        TargetParams::Server(params) => TargetParams::Server(params.clone()),
        TargetParams::Drive(model) | TargetParams::Wire(model) => {
            TargetParams::System(SystemParams::of_drive(Arc::clone(model), ControllerParams::PLAIN))
        }
        TargetParams::System(system) => {
            let mut system = system.clone();
            if system.host_cache.take().is_some() {
                left_out.push("target.host_cache");
            }
            if system.array.is_none() && system.elevator.take().is_some() {
                left_out.push("target.elevator");
            }
            TargetParams::System(system)
        }
    };
    (target, left_out)
}

/// Opens everything that a session needs, and starts listening.
///
/// # Errors
/// When a resource cannot be opened: names it and a remedy.
pub fn open(device: Device, options: &ServeOptions) -> Result<Server, EmulateError> {
    let (target, _) = as_served(&device.target);
    let mut device = Device { target, ..device };
    let capacity = Target::new(&device.target, device.seed).capacity();
    if options.pace == Pace::Untimed {
        if !options.injections.is_empty() {
            return Err(EmulateError::Option { what: "target.faults".into(), why: UNTIMED.into() });
        }
        device.target = TargetParams::Server(ServerParams { capacity, service: None, stations: 1 });
    }
    let (store, mut folder) = store(&mut device, capacity, &options.bytes)?;
    let size = capacity.get() * SECTOR_BYTES;
    let size = size - size % u64::from(options.block_size);
    let capture = capture(&device, options, size)?;
    let description = format!("{} by drivelab, clock {}", device.name, options.pace);
    let is_rotational = matches!(device.target, TargetParams::System(_));
    let export = Export { size, block_size: options.block_size, description, is_rotational };
    let bound = |at: String| move |error| EmulateError::Bind { at, error };
    let mut transports: Vec<Box<dyn Transport>> = Vec::new();
    transports.push(match &options.at {
        Address::Socket(path) => {
            Box::new(NbdTransport::unix(path, export).map_err(bound(path.display().to_string()))?)
        }
        Address::Listening(at) => Box::new(NbdTransport::listening(at, export).map_err(bound(at.uri()))?),
        Address::Port { address, certificates } => {
            let certificates = certificates.as_deref().map(Certificates::read).transpose()?;
            Box::new(NbdTransport::tcp(*address, certificates, export).map_err(bound(address.to_string()))?)
        }
    });
    if let Some(folder) = &options.mount {
        transports.push(fuse::mount(folder, size, options.block_size)?);
    }
    let control = match &options.control {
        Some(path) => Some(Control::new(path).map_err(bound(path.display().to_string()))?),
        None => None,
    };
    let is_unclean = folder.as_ref().is_some_and(|folder| !folder.state.clean);
    let mut engine = Engine::new(device, store, capture);
    engine.is_untimed = options.pace == Pace::Untimed;
    engine.planned = options.injections.iter().map(|injection| (injection.at, injection.into())).collect();
    engine
        .planned
        .extend(options.power_cut.map(|at| (at, Action { scenario: true, ..Fault::CutPower.into() })));
    engine.planned.make_contiguous().sort_by_key(|(at, _)| *at);
    if is_unclean {
        engine.recover();
    }
    if let Some(folder) = &mut folder {
        folder.begin()?;
    }
    let (pace, budget) = (options.pace, options.budget);
    let transcript = options.transcript.clone();
    let transport: Box<dyn Transport> = Box::new(Transports(transports));
    Ok(Server { engine, transport, control, pace, budget, folder, transcript })
}

fn capture(device: &Device, options: &ServeOptions, size: u64) -> Result<Option<Capture>, EmulateError> {
    let open = |path: &PathBuf, error| EmulateError::Open { path: path.clone(), error };
    let begin = |path: &PathBuf| {
        let file = File::create(path).map_err(|error| open(path, error))?;
        Ok(Capture::new(BufWriter::new(file), &device.name, size, device.seed))
    };
    match (&options.capture, &options.keep) {
        (None, None) => Ok(None),
        (Some(path), None) => begin(path).map(Some),
        (None, Some(folder)) => {
            let path = folder.join(crash::DATA);
            let data = crash::DataWriter::create(&path).map_err(|error| open(&path, error))?;
            Ok(Some(begin(&folder.join(crash::TRACE))?.with_data(data)))
        }
        (Some(path), Some(_)) => {
            let why = "a session that is kept with its data has its trace beside them: leave the capture out";
            Err(EmulateError::Option { what: path.display().to_string(), why: why.into() })
        }
    }
}

fn sizes(target: &TargetParams, capacity: Sectors) -> Vec<u64> {
    let bytes = |sectors: Sectors| sectors.get() * SECTOR_BYTES;
    match target {
        TargetParams::System(system) => system.drives.iter().map(|drive| bytes(drive.capacity())).collect(),
        _ => vec![bytes(capacity)],
    }
}

/// What places the data of a target in a folder.
fn drives(target: &TargetParams, sizes: Vec<u64>) -> Drives {
    let array = if let TargetParams::System(system) = target { system.array.as_ref() } else { None };
    let is_plain = |level| matches!(level, Level::Linear | Level::Striped);
    Drives {
        sizes,
        layout: layout::of_target(target),
        members: array.map_or(0, |array| array.members),
        is_redundant: array.is_some_and(|array| !is_plain(array.level)),
    }
}

fn store(
    device: &mut Device,
    capacity: Sectors,
    bytes: &Bytes,
) -> Result<(Store, Option<Folder>), EmulateError> {
    let sizes = sizes(&device.target, capacity);
    match bytes {
        Bytes::Memory => Ok((Store::in_memory(&device.target), None)),
        Bytes::File { path, is_written } => {
            if sizes.len() > 1 {
                let why = "an image is of one drive, and this is an array: give a folder, which has an image for each member";
                return Err(EmulateError::Option { what: path.display().to_string(), why: why.into() });
            }
            let failed = |error| EmulateError::Open { path: path.clone(), error };
            let image: Box<dyn Image> = if *is_written {
                Box::new(FileImage::open(path, sizes[0]).map_err(failed)?)
            } else {
                Box::new(CopyOnWrite::new(FileImage::open_read_only(path, sizes[0]).map_err(failed)?))
            };
            Ok((Store::new(&device.target, vec![(path.display().to_string(), image)]), None))
        }
        Bytes::Folder(path) => {
            let mut folder = Folder::open(path, drives(&device.target, sizes))?;
            if let TargetParams::System(SystemParams { array: Some(array), .. }) = &mut device.target {
                if matches!(array.level, Level::RaidZ { .. }) {
                    let why =
                        "where the records of RAID-Z lie is not kept in images: keep its bytes in memory";
                    return Err(EmulateError::Option { what: path.display().to_string(), why: why.into() });
                }
                let refused = |why| {
                    let path = path.join("state.json");
                    EmulateError::Open { path, error: std::io::Error::other(why) }
                };
                folder.state.check_unreadable(capacity.get()).map_err(refused)?;
                array.bad_blocks.clone_from(&folder.state.unreadable);
                if !folder.state.missing.is_empty() {
                    array.missing.clone_from(&folder.state.missing);
                    // Whatever an image of theirs has does not count: they are rebuilt from the start.
                    array.rebuilt = Share::NONE;
                }
            }
            check_start(device, &folder, path)?;
            let images = folder.images()?;
            folder.reserve(reserve(&device.target))?;
            Ok((Store::new(&device.target, images), Some(folder)))
        }
    }
}

/// Checks that the array of a folder may be started after a session that did not end in order.
fn check_start(device: &Device, folder: &Folder, path: &Path) -> Result<(), EmulateError> {
    let target = Target::new(&device.target, device.seed);
    if folder.state.clean || may_start_dirty(&device.target, target.array(), false) {
        return Ok(());
    }
    let why = "its last session did not end in order, and a member with data is missing: what is computed from the others \
               may be wrong, so the array is not started (md: dirty and degraded); set target.array.start_dirty_degraded \
               = true to start it as it is";
    Err(EmulateError::Option { what: path.display().to_string(), why: why.into() })
}

/// Disk space for acknowledged data that caches may hold, and as much again for writes in flight.
fn reserve(target: &TargetParams) -> u64 {
    let TargetParams::System(system) = target else { return 0 };
    let drives = system.drives.iter().filter_map(|drive| drive.cache.as_ref());
    let drives: u64 = drives.map(|cache| cache.size.get()).sum();
    let controller = system.controller.cache.map_or(0, |cache| cache.size.get());
    2 * (drives + controller) * SECTOR_BYTES
}
