//! A drive's parameters, and the immutable model built from them that several drives of one kind share.
use super::cache::params::{CacheError, CacheParams};
use super::disconnect::DisconnectParams;
use super::faults::FaultParams;
use super::flash::Flash;
use super::flash::params::FlashError;
use super::geometry::{Geometry, GeometryError, GeometryParams};
use super::mechanism::{Mechanism, SettleParams};
pub use super::medium::Medium;
use super::protocol::{DurationLimits, ExchangeParams, Protocol};
use super::queue::{DEPTH_MAX, Order, QueueParams};
use super::scatter::{Scatter, ScatterError, ScatterParams};
use super::seek::{SeekCurve, SeekError, SeekParams};
use super::shingled::Shingled;
use super::shingled::params::ShingledError;
use super::zones::{Zones, ZonesError};
use crate::command::Access;
use crate::storage::link::params::BusParams;
use alloc::sync::Arc;
use core::fmt;
use drivelab_units::{Bytes, Rate, Rpm, Sectors, Span};

/// A firmware overhead that depends on the kind of the command before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overhead {
    /// When the command before was a read.
    pub after_read: Span,
    /// When it was a write or a FLUSH.
    pub after_write: Span,
}

impl Overhead {
    /// The same time whatever came before.
    pub const fn always(span: Span) -> Self {
        Overhead { after_read: span, after_write: span }
    }

    /// The time after a command of this kind.
    #[inline]
    pub fn after(self, before: Access) -> Span {
        match before {
            Access::Read => self.after_read,
            Access::Write | Access::Flush => self.after_write,
        }
    }
}

/// Overheads of the firmware.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirmwareParams {
    /// From the arrival of a read whose data are in the buffer, or on their way to it, until they can be sent.
    pub read_hit: Overhead,
    /// From the arrival of any other read until the arm can start.
    pub read_miss: Overhead,
    /// From the arrival of a write that goes to the media until the arm can start.
    pub write: Overhead,
    /// From the arrival of a write that goes into the cache until its data can be sent.
    pub write_hit: Overhead,
    /// From the last datum until the host sees the completion.
    pub read_completion: Span,
    /// The same for a write, from its last sector on the media or in the cache.
    pub write_completion: Span,
}

/// When a write's data cross the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteData {
    /// Before the arm starts.
    BeforePositioning,
    /// While the arm moves; media whose data come late wait whole revolutions.
    WhilePositioning,
}

/// The drive's end of the link to the host.
#[derive(Clone, Copy, Debug)]
pub struct LinkParams {
    /// Infinitely fast when `None`.
    pub rate: Option<Rate>,
    /// The rate for writes, where it differs.
    pub write_rate: Option<Rate>,
    /// When a write's data are sent.
    pub write_data: WriteData,
    /// Whether reads and writes cross it at the same time, each at the full rate.
    pub full_duplex: bool,
}

impl LinkParams {
    /// The time of a read's data.
    #[inline]
    pub fn time_for(&self, count: Sectors) -> Span {
        self.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(count.bytes().get())))
    }

    /// The link as a stage that the drive does not share.
    pub fn bus(&self) -> BusParams {
        BusParams { write_rate: self.write_rate, full_duplex: self.full_duplex, ..BusParams::link(self.rate) }
    }

    /// The time of the data of such a command.
    #[inline]
    pub fn time_of(&self, access: Access, count: Sectors) -> Span {
        match self.write_rate {
            Some(rate) if access == Access::Write => rate.time_for(Bytes::new(count.bytes().get())),
            _ => self.time_for(count),
        }
    }
}

/// A drive in physical parameters.
#[derive(Clone, Debug)]
pub struct DriveParams {
    /// Spindle speed, 30 to 300 000 rpm.
    pub rpm: Rpm,
    /// Zones, tracks and the order of blocks.
    pub geometry: GeometryParams,
    /// Seek time by distance in cylinders.
    pub seek: SeekParams,
    /// Settling times and access in the middle of a track.
    pub settle: SettleParams,
    /// How far the arm's movements deviate from the curve; not at all when `None`.
    pub scatter: Option<ScatterParams>,
    /// Firmware overheads.
    pub firmware: FirmwareParams,
    /// Rates of the link.
    pub link: LinkParams,
    /// The drive's own queue: depth and order.
    pub queue: QueueParams,
    /// The protocol in force: the one that the drive and its controller share.
    pub protocol: Protocol,
    /// The duration limits that its hosts have set; no command has limits when `None`.
    pub duration_limits: Option<Arc<DurationLimits>>,
    /// What the exchanges of a protocol cost on the link.
    pub exchange: ExchangeParams,
    /// How the drive disconnects from its bus and reselects, whatever the protocol.
    pub disconnect: DisconnectParams,
    /// The drive's cache; no buffer at all when `None`.
    pub cache: Option<CacheParams>,
    /// What the data are stored on.
    pub medium: Medium,
    /// Sectors and reads that fail; none when `None`.
    pub faults: Option<FaultParams>,
}

/// Upper bound of any firmware time: the sum over a full queue then stays far below the range of an instant.
pub const TIME_MAX: Span = Span::from_s(10);

impl DriveParams {
    /// A drive with arm and platter and nothing else: no queue, no cache, a firmware and a link that take no time.
    pub fn plain(rpm: Rpm, geometry: GeometryParams, seek: SeekParams) -> Self {
        DriveParams {
            rpm,
            geometry,
            seek,
            settle: SettleParams::default(),
            scatter: None,
            firmware: FirmwareParams::default(),
            link: LinkParams {
                rate: None,
                write_rate: None,
                write_data: WriteData::WhilePositioning,
                full_duplex: false,
            },
            queue: QueueParams::NONE,
            protocol: Protocol::None,
            duration_limits: None,
            exchange: ExchangeParams::default(),
            disconnect: DisconnectParams::default(),
            cache: None,
            medium: Medium::Conventional,
            faults: None,
        }
    }

    /// Every time that is summed up for each command.
    fn times(&self) -> [Span; 24] {
        let FirmwareParams { read_hit, read_miss, write, write_hit, read_completion, write_completion } =
            self.firmware;
        let QueueParams { answer_time, write_handicap, write_margin, read_margin, .. } = self.queue;
        let SettleParams { head_switch, write_settle_ns, write_least, .. } = self.settle;
        let settle = Span::from_ns(write_settle_ns.unsigned_abs()).max(write_least);
        let [hit, miss, write, j] =
            [read_hit, read_miss, write, write_hit].map(|time| [time.after_read, time.after_write]);
        let [completions, waits] = [[read_completion, write_completion], [answer_time, write_handicap]];
        let [a, b, c, d, e] = [hit, miss, write, completions, waits];
        let examination = self.queue.examination_time(self.queue.depth as usize);
        let ExchangeParams { release, service, bridge } = self.exchange;
        let retries = self.faults.as_ref().map_or(Span::ZERO, |faults| faults.retries);
        let [f, g] = [[head_switch, settle], [write_margin.max(read_margin), examination]];
        let [h, i] = [[release, service], [bridge, retries]];
        let [k, l] = self.medium.times();
        let pairs = [a, b, c, d, e, f, g, h, i, j, k, l];
        core::array::from_fn(|at| pairs[at / 2][at % 2])
    }
}

/// Why a drive cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveError {
    /// Slower than 30 or faster than 300 000 rpm.
    Spindle,
    /// The geometry cannot be built.
    Geometry(GeometryError),
    /// The seek curve cannot be built.
    Seek(SeekError),
    /// The scatter of seeks cannot be built.
    Scatter(ScatterError),
    /// A depth of zero or above [`DEPTH_MAX`].
    Depth,
    /// More commands than the protocol can distinguish.
    DepthOfProtocol {
        /// Commands that the protocol can distinguish.
        most: u32,
    },
    /// A negative write settle that would make some movement take negative time.
    Settle {
        /// The least settle time that is possible.
        least: Span,
    },
    /// A time of the firmware, the queue or the mechanism above [`TIME_MAX`].
    Overlong,
    /// The translation of a shingled drive cannot be built.
    Shingled(ShingledError),
    /// A host-managed drive cannot be cut into zones.
    Zones(ZonesError),
    /// A flash drive cannot be built.
    Flash(FlashError),
    /// A read preference in time under a policy whose cost is not a time.
    HandicapWithoutTime,
    /// A cache whose parts do not fit into it.
    Cache(CacheError),
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spindle => write!(f, "the spindle must turn with 30 to 300000 rpm"),
            Self::Geometry(error) => write!(f, "{error}"),
            Self::Seek(error) => write!(f, "{error}"),
            Self::Scatter(error) => write!(f, "{error}"),
            Self::Depth => write!(f, "the queue must hold 1 to {DEPTH_MAX} commands"),
            Self::DepthOfProtocol { most } => write!(f, "the protocol can tell {most} commands apart"),
            Self::Settle { least } => {
                write!(
                    f,
                    "a write settle below -{least} would make the shortest movement take less than no time"
                )
            }
            Self::Overlong => {
                write!(f, "a time of the firmware, the queue, the link or the faults is above {TIME_MAX}")
            }
            Self::Cache(error) => write!(f, "{error}"),
            Self::Shingled(error) => write!(f, "{error}"),
            Self::Flash(error) => write!(f, "{error}"),
            Self::Zones(error) => write!(f, "{error}"),
            Self::HandicapWithoutTime => {
                write!(f, "a write handicap is a time and needs an order whose cost is one: ")?;
                let timed = Order::ALL.into_iter().map(Order::rule).filter(|rule| rule.costs_time());
                timed.enumerate().try_for_each(|(number, rule)| {
                    write!(f, "{}{}", if number == 0 { "" } else { ", " }, rule.name)
                })
            }
        }
    }
}

impl core::error::Error for DriveError {}

/// A drive ready to run: tables instead of formulas. Immutable, so that runs and array members can share it.
#[derive(Clone, Debug)]
pub struct DriveModel {
    /// Time of one revolution.
    pub period: Span,
    /// Geometry, seek curve and settling.
    pub mechanism: Mechanism,
    /// Firmware overheads.
    pub firmware: FirmwareParams,
    /// Rates of the link.
    pub link: LinkParams,
    /// The drive's own queue: depth and order.
    pub queue: QueueParams,
    /// The protocol in force: the one that the drive and its controller share.
    pub protocol: Protocol,
    /// The duration limits that its hosts have set; no command has limits when `None`.
    pub duration_limits: Option<Arc<DurationLimits>>,
    /// What the exchanges of a protocol cost on the link.
    pub exchange: ExchangeParams,
    /// The costs of disconnections and reselections.
    pub disconnect: DisconnectParams,
    /// The drive's cache; no buffer at all when `None`.
    pub cache: Option<CacheParams>,
    /// What the data are stored on.
    pub medium: Medium,
    /// Sectors and reads that fail; none when `None`.
    pub faults: Option<FaultParams>,
}

impl DriveModel {
    /// Checks the parameters and computes the tables. The first fault found is the error.
    /// # Errors
    /// What is wrong with the parameters. The message says what must hold; the names of keys belong to the
    /// scenario.
    ///
    /// ```
    /// use drivelab_core::storage::drive::geometry::{GeometryError, GeometryParams};
    /// use drivelab_core::storage::drive::params::{DriveError, DriveModel, DriveParams};
    /// use drivelab_core::storage::drive::seek::{SeekError, SeekParams};
    /// use drivelab_units::{Rpm, Span};
    ///
    /// let rpm = Rpm::from_milli(7_200_000).unwrap();
    /// let geometry = GeometryParams::one_zone(4, 1_000, 600);
    /// let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
    /// assert!(DriveModel::new(&DriveParams::plain(rpm, geometry.clone(), seek.clone())).is_ok());
    ///
    /// let short = SeekParams::Table(vec![(1, Span::from_us(800))]);
    /// let error = DriveModel::new(&DriveParams::plain(rpm, geometry.clone(), short)).unwrap_err();
    /// assert_eq!(error, DriveError::Seek(SeekError::TooFewPoints));
    /// assert_eq!(error.to_string(), "a seek table needs at least two points");
    ///
    /// let twice = GeometryParams { zones: vec![geometry.zones[0].clone(); 2], ..geometry };
    /// let error = DriveModel::new(&DriveParams::plain(rpm, twice, seek)).unwrap_err();
    /// assert_eq!(error, DriveError::Geometry(GeometryError::ZonesOverlap { zone: 1 }));
    /// ```
    pub fn new(params: &DriveParams) -> Result<Self, DriveError> {
        let period = params.rpm.period();
        if period < Span::from_us(200) || period > Span::from_s(2) {
            return Err(DriveError::Spindle);
        }
        if params.queue.depth == 0 || params.queue.depth > DEPTH_MAX {
            return Err(DriveError::Depth);
        }
        let most = params.protocol.depth_max();
        if params.queue.depth > most {
            return Err(DriveError::DepthOfProtocol { most });
        }
        if !params.queue.write_handicap.is_zero() && !params.queue.order.rule().costs_time() {
            return Err(DriveError::HandicapWithoutTime);
        }
        if params.times().into_iter().chain(params.disconnect.times()).any(|time| time > TIME_MAX) {
            return Err(DriveError::Overlong);
        }
        if let Some(cache) = &params.cache {
            cache.check().map_err(DriveError::Cache)?;
        }
        let geometry = Geometry::new(&params.geometry, period).map_err(DriveError::Geometry)?;
        params.check_medium(&geometry)?;
        let seek = SeekCurve::new(&params.seek, geometry.cylinders()).map_err(DriveError::Seek)?;
        let scatter = params.scatter.as_ref().map(Scatter::new).transpose().map_err(DriveError::Scatter)?;
        let least = Span::from_ns(seek.least().into());
        let moves = geometry.cylinders() > 1;
        if moves && params.settle.write_settle_ns.saturating_add_unsigned(least.as_ns()) < 0 {
            return Err(DriveError::Settle { least });
        }
        Ok(DriveModel {
            period,
            mechanism: Mechanism { geometry, seek, settle: params.settle, scatter },
            firmware: params.firmware,
            link: params.link,
            queue: params.queue.clone(),
            protocol: params.protocol,
            duration_limits: params.duration_limits.clone(),
            exchange: params.exchange,
            disconnect: params.disconnect,
            faults: params.faults.clone(),
            cache: params.cache,
            medium: params.medium,
        })
    }

    /// The same drive with another period of its spindle.
    pub fn spun(&self, period: Span) -> Self {
        let geometry = self.mechanism.geometry.spun(period);
        let mechanism = Mechanism { geometry, ..self.mechanism.clone() };
        DriveModel { period, mechanism, ..self.clone() }
    }

    /// Sectors that the drive offers.
    pub fn capacity(&self) -> Sectors {
        self.mechanism.geometry.capacity()
    }

    /// The translation of a new drive, where it is shingled.
    pub(super) fn shingled(&self) -> Option<Shingled> {
        let params = *self.medium.shingled()?;
        Some(Shingled::new(params, self.capacity(), self.mechanism.geometry.held()))
    }

    /// The zones of a new drive, where its host manages them.
    pub(super) fn zones(&self) -> Option<Zones> {
        let params = *self.medium.zones()?;
        Some(Zones::new(params, self.capacity()))
    }

    /// The dies of a new drive, where it is one of flash.
    pub(super) fn flash(&self, index: u16, seed: u64) -> Option<Flash> {
        let params = *self.medium.flash()?;
        Some(Flash::new(params, self.capacity(), index, seed))
    }

    /// Whether the drive answers writes before they are on its media.
    pub fn caches_writes(&self) -> bool {
        let in_buffer = self.medium.flash().is_some_and(|flash| flash.answers_early && !flash.is_protected);
        in_buffer || self.cache.is_some_and(|cache| cache.write_back.is_some())
    }
}
