//! The requests of a client that are in flight, and the memory that they hold.
use crate::transport::DeviceRequest;

/// Requests in flight at which no more of a connection is taken.
const REQUESTS_MAX: usize = 4_096;
/// The same for the bytes that requests in flight hold, or that their replies will: 64 requests of 4 MiB.
const BYTES_MAX: u64 = 256 << 20;

/// See the module.
#[derive(Default)]
pub(super) struct UnderWay {
    /// The cookie of each request, which a client may use twice, and the bytes that it holds.
    requests: Vec<(u64, u64)>,
    bytes: u64,
}

impl UnderWay {
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Whether another request may come, with this many bytes that the connection holds beside them, within a limit.
    pub fn has_room(&self, beside: u64, limit: u64) -> bool {
        self.requests.len() < REQUESTS_MAX && self.bytes + beside < BYTES_MAX.min(limit)
    }

    /// The bytes that they hold, or that their replies will.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn begins(&mut self, cookie: u64, request: &DeviceRequest) {
        let bytes = held(request);
        self.requests.push((cookie, bytes));
        self.bytes += bytes;
    }

    pub fn ends(&mut self, cookie: u64) {
        if let Some(place) = self.requests.iter().position(|&(other, _)| other == cookie) {
            let (_, bytes) = self.requests.swap_remove(place);
            self.bytes -= bytes;
        }
    }
}

/// The bytes that a request has brought, or that its reply will take.
fn held(request: &DeviceRequest) -> u64 {
    match request {
        DeviceRequest::Write { data, .. } => data.len() as u64,
        DeviceRequest::Read { length, .. } => (*length).into(),
        _ => 0,
    }
}
