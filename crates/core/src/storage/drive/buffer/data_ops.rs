//! What the segments of the buffer hold, reported as data operations, and where the data of each read come
//! from.
use super::super::cache::segments::SegmentIndex;
use super::Buffer;
use crate::data::{DataOp, Source};
use crate::storage::context::Context;
use crate::storage::tree::NONE;
use drivelab_units::Lba;

impl Buffer {
    fn deliver(&self, context: &mut Context, read: u64, first: Lba, end: Lba, from: Source) {
        let member = self.drive;
        if first < end {
            context.data_op(DataOp::Deliver { read, member, first, count: end - first, from });
        }
    }

    /// A read gets these sectors from the media.
    pub fn deliver_read(&self, context: &mut Context, read: u64, first: Lba, end: Lba) {
        self.deliver(context, read, first, end, Source::Media);
    }

    /// A read gets these sectors from the buffer: the first of them from written data that wait, as far as
    /// those reach, and the others from a segment.
    #[inline]
    pub fn deliver_held(
        &self,
        context: &mut Context,
        read: u64,
        first: Lba,
        end: Lba,
        segment: SegmentIndex,
    ) {
        if context.enabled.data {
            self.deliver_parts(context, read, first, end, segment);
        }
    }

    /// A read gets these sectors as the head passes them for a segment. Where the read is larger than the
    /// segment, the sectors that were displaced went to the host straight from the media.
    #[inline]
    pub fn deliver_met(
        &self,
        context: &mut Context,
        read: u64,
        (first, end): (Lba, Lba),
        segment: SegmentIndex,
    ) {
        let window = self.cache.as_ref().map_or(0, |cache| cache.params.segment().get());
        let kept = first.max(Lba::new(end.get().saturating_sub(window)));
        self.deliver_read(context, read, first, kept);
        self.deliver_held(context, read, kept, end, segment);
    }

    #[cold]
    fn deliver_parts(&self, context: &mut Context, read: u64, first: Lba, end: Lba, segment: SegmentIndex) {
        let (now, mut at) = (context.now, first);
        if let Some(cache) = &self.cache
            && let Some(dirty) = &cache.dirty
        {
            let written = cache.written(first, end, now).min(end);
            while at < written
                && let Some((write, until)) = dirty.newest(at, now)
            {
                let until = until.min(end);
                self.deliver(context, read, at, until, Source::Written { write });
                at = until;
            }
        }
        self.deliver(context, read, at, end, Source::Segment(segment));
    }

    /// The head will read, or has read, these sectors for a segment.
    #[inline]
    pub fn loads(&self, context: &mut Context, segment: SegmentIndex, first: Lba, end: Lba) {
        if first < end {
            let (member, count) = (self.drive, end - first);
            context.data_op(DataOp::Load { member, segment, first, count });
        }
    }

    /// A segment is started anew, appended to the contents of the segment `joined`, if any.
    #[inline]
    pub fn begins_segment(&self, context: &mut Context, segment: SegmentIndex, joined: SegmentIndex) {
        let joins = (joined != NONE).then_some(joined);
        context.data_op(DataOp::Begin { member: self.drive, segment, joins });
    }

    /// Reports the segment that a read has left, appended to the contents of `joined`: from `begin` on the
    /// head has read it, but the sectors between `held` and `sought` were in the buffer before: in the segment
    /// `holder`, or among the written data.
    #[inline]
    pub fn report_segment(
        &self,
        context: &mut Context,
        bounds: (Lba, Lba, Lba),
        (segment, joined): (SegmentIndex, SegmentIndex),
        holder: SegmentIndex,
    ) {
        if context.enabled.data && segment != NONE {
            self.report_contents(context, bounds, (segment, joined), holder);
        }
    }

    #[cold]
    fn report_contents(
        &self,
        context: &mut Context,
        (begin, held, sought): (Lba, Lba, Lba),
        (segment, joined): (SegmentIndex, SegmentIndex),
        holder: SegmentIndex,
    ) {
        let Some(cache) = &self.cache else { return };
        if joined != NONE && holder != NONE && held < sought {
            let (member, count) = (self.drive, sought - held);
            // What lies between: a segment has no gaps.
            self.loads(context, joined, begin, held);
            context.data_op(DataOp::Copy { member, segment: joined, from: holder, first: held, count });
        }
        self.begins_segment(context, segment, if joined == NONE { holder } else { joined });
        // Written data that wait take precedence over it.
        let written = cache.written(held, sought, context.now).min(sought);
        self.loads(context, segment, begin, written);
        self.loads(context, segment, sought, cache.segments.limit(segment));
    }
}
