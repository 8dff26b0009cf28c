//! How the connections share memory, and when one has stalled.
//!
//! Together they hold a bounded amount. While it is used up, no new request is taken, and payloads wait; only if no
//! request is under way whose end would free memory, the oldest payload is read on, so that one always comes to its
//! end. A client that stops within a payload has stalled after [`PATIENCE`]; so has one that takes no replies, but only
//! while memory is short: it may be stopped in a debugger.
use std::time::{Duration, Instant as Moment};

/// What all connections hold at which no further request is taken, in bytes.
pub(super) const TOTAL_MAX: u64 = 1 << 30;
/// The time without a byte after which a client has stalled.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What one connection may do at present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share {
    /// The bytes that it may hold.
    pub limit: u64,
    /// Whether it may read on within a payload.
    pub may_fill: bool,
}

/// Divides the memory between the connections, which are asked for in their order.
pub(super) struct Sharing {
    spare: u64,
    /// Whether the next payload is read on even so.
    goes_on: bool,
}

impl Sharing {
    /// All connections hold `total`, and may hold `most`; `is_busy` says whether any has a request under way.
    pub fn of(total: u64, most: u64, is_busy: bool) -> Self {
        Sharing { spare: most.saturating_sub(total), goes_on: !is_busy }
    }

    /// The share of the next connection, given what it holds and whether it is within a payload.
    pub fn next(&mut self, (held, is_in_payload): (u64, bool)) -> Share {
        let may_fill = self.spare > 0 || (is_in_payload && self.goes_on);
        self.goes_on &= !is_in_payload;
        Share { limit: held + self.spare, may_fill }
    }
}

/// When bytes of a connection last moved.
#[derive(Default)]
pub(super) struct Progress {
    bytes: u64,
    seen: Option<(u64, Moment)>,
}

impl Progress {
    /// Bytes were received or sent.
    pub fn moved(&mut self, count: usize) {
        self.bytes += count as u64;
    }

    /// Whether nothing has moved for so long that the client has stalled, if it was its turn.
    pub fn has_stalled(&mut self, now: Moment, is_its_turn: bool) -> bool {
        match self.seen {
            Some((bytes, since)) if bytes == self.bytes && is_its_turn => {
                now.saturating_duration_since(since) >= PATIENCE
            }
            _ => {
                self.seen = Some((self.bytes, now));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn shares_of(connections: &[(u64, bool)], is_busy: bool) -> Vec<Share> {
        let mut sharing = Sharing::of(connections.iter().map(|(held, _)| held).sum(), TOTAL_MAX, is_busy);
        connections.iter().map(|&connection| sharing.next(connection)).collect()
    }

    #[test]
    fn what_is_left_is_there_for_each() {
        let found = shares_of(&[(24 * MIB, false), (1_000 * MIB - 1, true)], true);
        assert_eq!(found[0], Share { limit: 24 * MIB + 1, may_fill: true });
        assert_eq!(found[1], Share { limit: 1_000 * MIB, may_fill: true });
    }

    #[test]
    fn where_nothing_is_left_the_oldest_payload_goes_on() {
        let connections = [(600 * MIB, false), (300 * MIB, true), (500 * MIB, true)];
        let found = shares_of(&connections, true);
        assert!(found.iter().all(|share| !share.may_fill), "requests that end free memory");
        let found = shares_of(&connections, false);
        assert_eq!(found.iter().map(|share| share.may_fill).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(
            found.iter().map(|share| share.limit / MIB).collect::<Vec<_>>(),
            [600, 300, 500],
            "no new request"
        );
    }

    #[test]
    fn a_client_stalls_in_its_own_turn_only() {
        let (begin, mut progress) = (Moment::now(), Progress::default());
        assert!(!progress.has_stalled(begin, true));
        assert!(!progress.has_stalled(begin + PATIENCE / 2, true));
        assert!(progress.has_stalled(begin + PATIENCE, true));
        progress.moved(1);
        assert!(!progress.has_stalled(begin + PATIENCE, true), "a byte has come");
        assert!(!progress.has_stalled(begin + 2 * PATIENCE, false), "the server does not read");
        assert!(!progress.has_stalled(begin + 2 * PATIENCE, true), "its turn has just begun");
        assert!(progress.has_stalled(begin + 3 * PATIENCE, true));
    }
}
