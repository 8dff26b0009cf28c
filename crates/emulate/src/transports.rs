//! Several transports of one device: the client numbers tell their clients apart.
use crate::transport::{DeviceRequest, Reply, RequestId, RequestSink, Transport, TransportCounts};
use rustix::event::{PollFd, PollFlags};

/// Several transports. The device's address is that of the first one.
pub struct Transports(pub Vec<Box<dyn Transport>>);

/// Passes requests on with a client number that is unique among all transports.
struct Numbered<'a> {
    sink: &'a mut dyn RequestSink,
    transport: u64,
    transports: u64,
}

impl RequestSink for Numbered<'_> {
    fn submit(&mut self, request_id: RequestId, request: DeviceRequest) {
        let client = request_id.client * self.transports + self.transport;
        self.sink.submit(RequestId { client, ..request_id }, request);
    }
}

impl Transport for Transports {
    fn uri(&self) -> String {
        self.0.first().map_or_else(String::new, |transport| transport.uri())
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        self.0.iter().for_each(|transport| transport.wait_for(fds));
    }

    fn receive(&mut self, ready: &[PollFlags], sink: &mut dyn RequestSink) {
        let transports = self.0.len() as u64;
        let mut rest = ready;
        for (place, transport) in (0..).zip(&mut self.0) {
            let mut fds = Vec::new();
            transport.wait_for(&mut fds);
            let count = fds.len();
            let Some((own, others)) = rest.split_at_checked(count) else { return };
            drop(fds);
            transport.receive(own, &mut Numbered { sink, transport: place, transports });
            rest = others;
        }
    }

    fn answer(&mut self, reply: Reply) {
        let transports = self.0.len() as u64;
        let RequestId { client, cookie } = reply.request_id;
        if let Some(transport) = self.0.get_mut((client % transports) as usize) {
            let request_id = RequestId { client: client / transports, cookie };
            transport.answer(Reply { request_id, ..reply });
        }
    }

    fn flush(&mut self) {
        self.0.iter_mut().for_each(|transport| transport.flush());
    }

    fn drop_clients(&mut self) {
        self.0.iter_mut().for_each(|transport| transport.drop_clients());
    }

    fn shut(&mut self, is_shut: bool) {
        self.0.iter_mut().for_each(|transport| transport.shut(is_shut));
    }

    fn counts(&self) -> TransportCounts {
        self.0.iter().map(|transport| transport.counts()).fold(TransportCounts::default(), |mut all, one| {
            all.connections += one.connections;
            all.malformed += one.malformed;
            all.left_without_tls += one.left_without_tls;
            one.ended.into_iter().for_each(|(why, count)| *all.ended.entry(why).or_default() += count);
            all
        })
    }
}
