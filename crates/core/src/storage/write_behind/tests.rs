//! The limit on extents, which from outside only a very long run would reach.
use super::params::FlushOrder;
use super::*;
use drivelab_units::Span;

fn command(id: u64, access: Access) -> Command {
    Command { synchronous: false, ..Command::new(id, access, Lba::new(2 * id), Sectors::new(1)) }
}

/// Does everything that is due at an instant, below in no time; returns how many commands were answered.
fn settle(cache: &mut WriteBehind, now: Instant) -> u64 {
    let mut answers = 0;
    loop {
        cache.tick(now);
        while cache.poll_answer().is_some() {
            answers += 1;
        }
        let Some(Command { id, initiator, tag, .. }) = cache.poll_below() else { return answers };
        let (outcome, breakdown) = (Outcome::Done, Breakdown::default());
        let (submitted, completed) = (now, now);
        let done = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
        cache.completed(now, &done);
    }
}

#[test]
fn scattered_data_are_flushed_before_there_are_too_many_extents() {
    for (access, keeps_reads) in [(Access::Write, false), (Access::Write, true), (Access::Read, true)] {
        let plenty = Sectors::new(1 << 30);
        let params = WriteBehindParams {
            size: plenty,
            limit: plenty,
            background: plenty,
            age: None,
            order: FlushOrder::Address,
            request: plenty,
            outstanding: 1,
            rate: None,
            overhead: Span::ZERO,
            battery: false,
            force_unit_access: false,
            keeps_reads,
            stripe: None,
            stripe_wait: Span::ZERO,
            write_through: false,
            read_ahead: None,
        };
        let mut cache = WriteBehind::new(&params, Place::Controller);
        for id in 0..1_000 {
            let now = Instant::from_ns(id);
            cache.submit(now, &command(id, access));
            assert_eq!(settle(&mut cache, now), 1, "{access:?} {id}");
            assert!(cache.extents.held() <= EXTENTS_MAX);
        }
        assert!(cache.extents.held() > EXTENTS_MAX / 2);
    }
}
