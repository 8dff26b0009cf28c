//! Several transports of one device: the client numbers tell their clients apart.
use crate::door::{Asked, Desk, Door, DoorCounts, Reply, Ticket};
use rustix::event::{PollFd, PollFlags};

/// Several transports. The device's address is that of the first one.
pub struct Doors(pub Vec<Box<dyn Door>>);

/// Passes requests on with a client number that is unique among all transports.
struct Numbered<'a> {
    desk: &'a mut dyn Desk,
    door: u64,
    doors: u64,
}

impl Desk for Numbered<'_> {
    fn submit(&mut self, ticket: Ticket, asked: Asked) {
        let client = ticket.client * self.doors + self.door;
        self.desk.submit(Ticket { client, ..ticket }, asked);
    }
}

impl Door for Doors {
    fn uri(&self) -> String {
        self.0.first().map_or_else(String::new, |door| door.uri())
    }

    fn wait_for<'a>(&'a self, fds: &mut Vec<PollFd<'a>>) {
        self.0.iter().for_each(|door| door.wait_for(fds));
    }

    fn receive(&mut self, ready: &[PollFlags], desk: &mut dyn Desk) {
        let doors = self.0.len() as u64;
        let mut rest = ready;
        for (place, door) in (0..).zip(&mut self.0) {
            let mut fds = Vec::new();
            door.wait_for(&mut fds);
            let count = fds.len();
            let Some((own, others)) = rest.split_at_checked(count) else { return };
            drop(fds);
            door.receive(own, &mut Numbered { desk, door: place, doors });
            rest = others;
        }
    }

    fn answer(&mut self, reply: Reply) {
        let doors = self.0.len() as u64;
        let Ticket { client, cookie } = reply.ticket;
        if let Some(door) = self.0.get_mut((client % doors) as usize) {
            let ticket = Ticket { client: client / doors, cookie };
            door.answer(Reply { ticket, ..reply });
        }
    }

    fn flush(&mut self) {
        self.0.iter_mut().for_each(|door| door.flush());
    }

    fn drop_clients(&mut self) {
        self.0.iter_mut().for_each(|door| door.drop_clients());
    }

    fn shut(&mut self, is_shut: bool) {
        self.0.iter_mut().for_each(|door| door.shut(is_shut));
    }

    fn counts(&self) -> DoorCounts {
        self.0.iter().map(|door| door.counts()).fold(DoorCounts::default(), |mut all, one| {
            all.connections += one.connections;
            all.malformed += one.malformed;
            all.left_without_tls += one.left_without_tls;
            one.ended.into_iter().for_each(|(why, count)| *all.ended.entry(why).or_default() += count);
            all
        })
    }
}
