//! The firmware against what its parameters say: one command after the other, each at its price.
use super::{model, params};
use crate::command::{Access, Command};
use crate::storage::drive::cache::segment::Cover;
use crate::storage::drive::firmware::{BufferAnswer, Firmware};
use crate::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_units::{Instant, Lba, Sectors, Span};
use proptest::prelude::*;

/// Every price differs from every other.
fn prices() -> FirmwareParams {
    let overhead = |us| Overhead { after_read: Span::from_us(us), after_write: Span::from_us(us + 1) };
    FirmwareParams {
        read_hit: overhead(10),
        read_miss: overhead(20),
        write: overhead(40),
        write_hit: overhead(80),
        ..FirmwareParams::default()
    }
}

proptest! {
    #[test]
    fn commands_are_taken_up_one_after_the_other(
        list in prop::collection::vec((0u64..200, 0usize..6), 1..40),
    ) {
        let model = model(&DriveParams { firmware: prices(), ..params(32) });
        let (mut firmware, mut free, mut now) = (Firmware::new(), 0, 0);
        let mut wrote = false;
        for (later, kind) in list {
            now += later;
            let continues = kind == 5;
            let (access, cover, takes, price) = [
                (Access::Read, Cover::Hit, false, 10),
                (Access::Read, Cover::Miss, false, 20),
                (Access::Write, Cover::Miss, false, 40),
                (Access::Write, Cover::Miss, true, 80),
                (Access::Flush, Cover::Miss, false, 80),
                // It continues one that is not answered yet.
                (Access::Read, Cover::Miss, false, 10),
            ][kind];
            let command = Command::new(0, access, Lba::ZERO, Sectors::new(8));
            let at = Instant::ZERO + Span::from_us(now);
            let taken_up = firmware.pick_up(&model, &command, BufferAnswer { cover, takes, continues }, at);
            free = now.max(free) + price + u64::from(wrote);
            prop_assert_eq!(taken_up.ready, Instant::ZERO + Span::from_us(free));
            prop_assert_eq!(firmware.picked_up_at(), at);
            wrote = access != Access::Read;
        }
        firmware.drop_rest(Instant::ZERO);
        let read = Command::new(0, Access::Read, Lba::ZERO, Sectors::new(8));
        let buffer_answer = BufferAnswer { cover: Cover::Miss, takes: false, continues: false };
        let taken_up = firmware.pick_up(&model, &read, buffer_answer, Instant::ZERO);
        prop_assert_eq!(taken_up.ready, Instant::ZERO + Span::from_us(20 + u64::from(wrote)));
    }
}
