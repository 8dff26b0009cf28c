//! A device served in real time: a thread of ours serves, and Python's main thread stays free for signals.
#![expect(
    clippy::disallowed_types,
    reason = "how often to look for signals is real time, and no result depends on it"
)]

use crate::convert::to_python;
use crate::devices::emulate_error;
use crate::plan::Plan;
use crate::trace::check_signals;
use drivelab_core::Setup;
use drivelab_emulate::action::Action;
use drivelab_emulate::looped::{self, LoopPoint};
use drivelab_emulate::nbd::Listening;
use drivelab_emulate::transcript::Transcript as Pipe;
use drivelab_emulate::{
    Address, Bytes, Device, EmulateError, Pace, ServeOptions, SessionRecord, as_served, open,
};
use drivelab_units::Span;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A hundred checks per second: a command that has ended is noticed at once.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How a device is to be served, as Python passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    socket: Option<PathBuf>,
    listener: Option<Py<Listener>>,
    address: Option<String>,
    certificates: Option<PathBuf>,
    control: Option<PathBuf>,
    clock: String,
    folder: Option<PathBuf>,
    image: Option<PathBuf>,
    write_image: bool,
    block_size: u32,
    capture: Option<PathBuf>,
    keep: Option<PathBuf>,
    mount: Option<PathBuf>,
    budget_ns: u64,
}

/// A pipe for the stdout of a workload: each line gets a model timestamp.
#[pyclass(frozen)]
pub struct Transcript {
    pipe: Arc<Pipe>,
}

#[pymethods]
impl Transcript {
    /// Raises OSError if no pipe can be made.
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Transcript { pipe: Arc::new(Pipe::new()?) })
    }

    /// The descriptor to write to.
    fn fileno(&self) -> i32 {
        self.pipe.stdout()
    }

    /// The lines received since the last call, without newlines, each after the nanoseconds since the session
    /// began.
    ///
    /// A line written before a request has a time no later than the request, and a line written after an
    /// answer a time no earlier than the answer.
    fn take<'py>(&self, py: Python<'py>) -> Vec<(u64, Bound<'py, PyBytes>)> {
        let lines = self.pipe.take().into_iter();
        lines.map(|(at, line)| (at.as_ns(), PyBytes::new(py, &line))).collect()
    }
}

/// A Unix socket that clients can connect to before a device is served there.
#[pyclass(frozen)]
pub struct Listener {
    inner: Arc<Listening>,
}

#[pymethods]
impl Listener {
    /// Raises OSError if the socket cannot be made.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "a path made of what Python gives is ours")]
    fn new(path: PathBuf) -> PyResult<Self> {
        Ok(Listener { inner: Arc::new(Listening::new(&path)?) })
    }

    /// A descriptor that becomes readable when a client connects.
    fn fileno(&self) -> i32 {
        self.inner.as_fd().as_raw_fd()
    }

    /// The URI by which clients find it.
    #[getter]
    fn uri(&self) -> String {
        self.inner.uri()
    }
}

impl Options {
    fn into_serve_options(self, setup: &Setup, transcript: Option<Arc<Pipe>>) -> PyResult<ServeOptions> {
        let at = match (self.socket, self.listener, self.address) {
            (Some(path), None, None) => Address::Socket(path),
            (None, Some(listener), None) => Address::Listening(Arc::clone(&listener.get().inner)),
            (None, None, Some(address)) => {
                let address =
                    address.parse().map_err(|_| PyValueError::new_err(format!("{address}: no address")))?;
                Address::Port { address, certificates: self.certificates }
            }
            _ => return Err(PyValueError::new_err("either a socket, a listener or an address")),
        };
        let is_written = self.write_image;
        let bytes = match (self.folder, self.image) {
            (Some(path), None) => Bytes::Folder(path),
            (None, Some(path)) => Bytes::File { path, is_written },
            (None, None) => Bytes::Memory,
            (Some(_), Some(_)) => return Err(PyValueError::new_err("either a folder or an image")),
        };
        Ok(ServeOptions {
            at,
            control: self.control,
            pace: self.clock.parse::<Pace>().map_err(PyValueError::new_err)?,
            bytes,
            block_size: self.block_size,
            capture: self.capture,
            keep: self.keep,
            mount: self.mount,
            budget: Span::from_ns(self.budget_ns),
            power_cut: setup.power_cut,
            injections: Arc::clone(&setup.injections),
            transcript,
        })
    }
}

/// Serves the target of a plan's first point until a signal comes or `on_look` returns true, which is called
/// a hundred times a second. `on_ready` is called with the address as soon as clients may connect, and with
/// the size of the device in bytes. `transcript` records the output of a workload meanwhile.
///
/// Returns the record of the session, and whether a signal ended it. Raises `RunError` if nothing can be
/// served.
#[pyfunction]
#[pyo3(signature = (plan, options, on_ready, on_look, transcript=None))]
pub fn emulate<'py>(
    py: Python<'py>,
    plan: PyRef<'py, Plan>,
    options: Options,
    on_ready: &Bound<'py, PyAny>,
    on_look: Bound<'py, PyAny>,
    transcript: Option<PyRef<'py, Transcript>>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let setup = plan.inner.points[0].setup.clone();
    let device = Device { target: setup.target.clone(), seed: setup.seed, name: plan.inner.name.clone() };
    drop(plan);
    let options =
        options.into_serve_options(&setup, transcript.map(|transcript| Arc::clone(&transcript.pipe)))?;
    let server = py.detach(|| open(device, &options)).map_err(|error| emulate_error(&error))?;
    // From here on Ctrl-C ends a session, which still has its record.
    let early = match on_ready.call1((server.uri(), server.size_bytes())) {
        Ok(_) => None,
        Err(error) if is_interrupt(py, &error) => Some(error),
        Err(error) => return Err(error),
    };
    let on_look = on_look.unbind();
    let stop = AtomicBool::new(early.is_some());
    let (record, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel::<SessionRecord>();
            let stop = &stop;
            scope.spawn(move || drop(sender.send(server.run(stop))));
            let mut raised = early;
            loop {
                match receiver.recv_timeout(POLL_INTERVAL) {
                    Ok(record) => return (Some(record), raised),
                    Err(RecvTimeoutError::Disconnected) => return (None, raised),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                match Python::attach(|py| poll_python(py, &on_look)) {
                    Ok(false) => {}
                    Ok(true) => stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        // The first exception counts.
                        raised = raised.or(Some(error));
                    }
                }
            }
        })
    });
    let Some(record) = record else { return Err(crate::errors::defect()) };
    let interrupted = match raised {
        None => false,
        Some(error) if is_interrupt(py, &error) => true,
        Some(error) => return Err(error),
    };
    Ok((to_python(py, &record)?, interrupted))
}

fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
}

fn poll_python(py: Python<'_>, on_look: &Py<PyAny>) -> PyResult<bool> {
    py.check_signals()?;
    on_look.call0(py)?.extract(py)
}

/// The result of a loop: what the host observed, and what the device recorded.
#[derive(Serialize)]
struct Loop {
    host: LoopPoint,
    device: SessionRecord,
}

/// Raises `RunError` where the workload of a point cannot run against its own device.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python holds is lent")]
pub fn check_loop(plan: PyRef<'_, Plan>) -> PyResult<()> {
    let mut points = plan.inner.points.iter();
    points.try_for_each(|point| looped::check(&point.setup)).map_err(|error| emulate_error(&error))
}

/// Serves the target of a plan's point at a socket and runs the point's workload against it through that, both in real
/// time. Returns what both have seen. Raises `RunError`, and whatever a signal raises.
#[pyfunction]
pub fn loop_back<'py>(
    py: Python<'py>,
    plan: PyRef<'py, Plan>,
    place: usize,
    socket: PathBuf,
    budget_ns: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let point = plan.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
    let setup = point.setup.clone();
    let device = Device { target: setup.target.clone(), seed: setup.seed, name: plan.inner.name.clone() };
    drop(plan);
    let options = ServeOptions {
        at: Address::Socket(socket.clone()),
        control: None,
        pace: Pace::Times(1),
        bytes: Bytes::Memory,
        block_size: 512,
        capture: None,
        keep: None,
        mount: None,
        budget: Span::from_ns(budget_ns),
        power_cut: None,
        injections: Arc::clone(&setup.injections),
        transcript: None,
    };
    let (ended, raised) = py.detach(|| {
        let server = match open(device, &options) {
            Ok(server) => server,
            Err(error) => return (Err(error), None),
        };
        let (stop_host, stop_device) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let (stop_host, stop_device) = (&stop_host, &stop_device);
            let device = scope.spawn(move || server.run(stop_device));
            let host = scope.spawn(move || looped::run(&setup, &socket, stop_host));
            let mut raised = None;
            while !host.is_finished() {
                thread::sleep(POLL_INTERVAL);
                if let Err(error) = Python::attach(check_signals) {
                    stop_host.store(true, Ordering::Relaxed);
                    // The first exception counts.
                    raised = raised.or(Some(error));
                }
            }
            stop_device.store(true, Ordering::Relaxed);
            let defect = |_| EmulateError::Defect("a thread has panicked".to_owned());
            let host = host.join().map_err(defect).and_then(|host| host);
            let device = device.join().map_err(defect);
            (host.and_then(|host| device.map(|device| Loop { host, device })), raised)
        })
    });
    if let Some(raised) = raised {
        return Err(raised);
    }
    to_python(py, &ended.map_err(|error| emulate_error(&error))?)
}

/// The keys of a scenario that are ignored when its target is served, because a client brings its own.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python holds is lent")]
pub fn left_out_of_emulation(plan: PyRef<'_, Plan>) -> Vec<&'static str> {
    as_served(&plan.inner.points[0].setup.target).1
}

/// The caches of a scenario's device that hold answered writes, in words; empty for a target without drives.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python holds is lent")]
pub fn write_caches(plan: PyRef<'_, Plan>) -> String {
    drivelab_emulate::write_caches(&plan.inner.points[0].setup.target)
}

/// What is wrong with the request of an action, a JSON object, before any device sees it; None where nothing is.
#[pyfunction]
pub fn action_problem(request: &str) -> Option<String> {
    Action::parse(request.as_bytes()).and_then(|action| action.check()).err()
}

/// Raises ValueError if there is no clock of this name.
#[pyfunction]
pub fn check_clock(text: &str) -> PyResult<()> {
    text.parse::<Pace>().map(|_| ()).map_err(PyValueError::new_err)
}
