//! When a command's data flow: a read's as they come under the head or when enough of them are in the buffer, a write's
//! before the arm starts or beside its way. Media that find the data missing wait whole turns.
use super::cache::segment::{Cover, Motion};
use super::cache::segments::Place;
use super::mechanism::{Landing, Passage};
use super::params::WriteData;
use super::queue::SlotIndex;
use super::{Drive, InFlight};
use crate::command::{Access, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::link::{Carried, Transfer};
use crate::storage::tree::NONE;
use drivelab_units::{Instant, Lba, Sectors, Span};

impl Drive {
    /// When the first sector that the host can take has been read: the one in which the head landed if data may come out
    /// of order, the first of the command otherwise.
    #[inline]
    pub(super) fn first_datum(&self, landing: &Landing, started: Instant, passage: &Passage) -> Instant {
        let sector = self.model.mechanism.sector_time(landing);
        let begun = started + passage.seek + passage.rotation;
        let lands_inside = u64::from(landing.longest_wait) < self.spindle.period();
        if !lands_inside || self.model.protocol.delivers_out_of_order() {
            return begun + sector;
        }
        let there = started + passage.seek;
        begun.max(there + Span::from_ns(self.spindle.until(there, landing.start.into()))) + sector
    }

    /// When a read's data begin to go to the host: with the first of them, or when enough of them are in the buffer.
    #[inline]
    pub(super) fn sends_from(&self, slot: SlotIndex, data_from: Instant, done: Instant) -> Instant {
        let Some(cache) = &self.cache else { return data_from };
        let share = cache.params.send_from.bits();
        if share == 0 {
            return data_from;
        }
        let flight = &self.in_flight[slot as usize];
        let count = flight.command.count.get();
        let enough = (u128::from(count.min(cache.params.segment().get())) * u128::from(share)) >> 32;
        // The sectors pass the head at an even pace, switches of track apart.
        let passing = u128::from(done.since(flight.begun).as_ns());
        data_from.max(flight.begun + Span::from_ns((passing * enough / u128::from(count)) as u64)).min(done)
    }

    /// A write's data cross the link: at once when the drive has the command, or when the arm turns to it.
    #[inline]
    pub(super) fn write_data(&self, context: &mut Context, slot: SlotIndex, started: Instant) -> Carried {
        let &InFlight { ref command, data_from, is_released, .. } = &self.in_flight[slot as usize];
        let (access, count) = (command.access, command.count);
        if access == Access::Read {
            return Carried { begun: started, ended: started };
        }
        // A drive that has let go of the bus must call for the data.
        let call = if is_released { self.model.exchange.serviced() } else { Span::ZERO };
        let from = match self.model.link.write_data {
            WriteData::BeforePositioning => started,
            WriteData::WhilePositioning => data_from,
        };
        context.wires.carry(self.index, &Transfer { access, count, from, last: from, call })
    }

    /// Whole turns that a write waits on its first sector because the link would bring its data too late.
    #[inline]
    pub(super) fn turns_lost_to_late_data(
        &self,
        slot: SlotIndex,
        started: Instant,
        passage: &Passage,
    ) -> Span {
        let &InFlight { ref command, data_from, is_released, .. } = &self.in_flight[slot as usize];
        if command.access == Access::Read || self.model.link.write_data == WriteData::BeforePositioning {
            return Span::ZERO;
        }
        // A drive that has let go of the bus calls for the data as soon as it has taken the command up.
        let begun = if is_released { data_from + self.model.exchange.serviced() } else { data_from };
        let ended = begun + self.model.link.time_for(command.count);
        self.turns_lost(&Carried { begun, ended }, command.count, started, passage)
    }

    /// Whole turns that writing waits because its data would not be there as they are needed.
    #[inline]
    pub(super) fn turns_lost(
        &self,
        data: &Carried,
        count: Sectors,
        started: Instant,
        passage: &Passage,
    ) -> Span {
        let flow = (data.ended - data.begun).as_ns();
        let ahead = flow.saturating_sub(passage.transfer.as_ns());
        let sectors = self.sectors_before_media(count);
        let ahead = ahead.max(self.link_sector.as_ns() * sectors);
        let begun = started + passage.seek + passage.rotation;
        let short = (data.begun + Span::from_ns(ahead)).since(begun).as_ns();
        if short == 0 {
            return Span::ZERO;
        }
        let period = self.spindle.period();
        Span::from_ns(short.div_ceil(period) * period)
    }

    /// How many of a write's sectors must be there before the first can be written.
    #[inline]
    pub(super) fn sectors_before_media(&self, count: Sectors) -> u64 {
        let least = self.model.disconnect.sectors_before_media(count.get());
        let Some(cache) = &self.cache else { return least };
        let share = cache.params.write_from.bits();
        if share == 0 {
            return least;
        }
        let at_once = count.get().min(cache.params.segment().get());
        least.max(((u128::from(at_once) * u128::from(share)) >> 32) as u64)
    }

    #[inline]
    pub(super) fn cover(&mut self, first: Lba, end: Lba, now: Instant) -> (Cover, Place) {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return (Cover::Miss, NONE) };
        cache.cover(first, end, now, motion)
    }

    /// A segment has served a read that ends at `end`.
    pub(super) fn consume(&mut self, context: &mut Context, place: Place, end: Lba) {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        if place != NONE
            && let Some(cache) = &mut self.cache
        {
            let before = cache.segments.limit(place);
            cache.segments.consume(place, end, context.now, motion);
            let behind = cache.segments.limit(place);
            self.loads(context, place, before, behind);
        }
    }

    /// A write's data are on the media: when the drive can say so.
    pub(super) fn end_write(&mut self, context: &mut Context, slot: SlotIndex, done: Instant) -> Instant {
        let &mut InFlight { ref command, data_until, outcome, last_steps, .. } = self.flight(slot);
        let (id, first, count) = (command.id, command.first, command.count);
        if outcome != Outcome::Done {
            return done;
        }
        self.overwrite(context, first, first + count);
        let member = self.index;
        self.faults.iter_mut().for_each(|faults| faults.heal(first, first + count));
        context.data_op(DataOp::Accept { write: id, member, first, count });
        context.data_op(DataOp::Persist { write: id, member, first, count });
        let (release, end) = last_steps;
        if release.is_zero() && end.is_zero() {
            return done;
        }
        done.max(data_until + release) + end
    }
}
