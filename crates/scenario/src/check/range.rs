//! The range of addresses that a job accesses: of the whole target, or of one member.
use crate::check::workload::Served;
use crate::keys::At;
use crate::keys::numbers::Count;
use crate::raw::amounts::Part;
use crate::raw::workload::JobRaw;
use crate::text::problem::{Log, Place};
use drivelab_units::{Lba, Sectors, Share, counted};

/// What `offset` and `size` apply to: its first address in the target, and its sectors.
fn base(member: Option<&At<Count<0, 1023>>>, served: Served<'_>, log: &mut Log) -> Option<(Lba, Sectors)> {
    let Some(at) = member else { return Some((Lba::ZERO, served.capacity)) };
    let Some(drives) = served.members else {
        let message = "`member` names a member of a jbod, and this target is none";
        log.contradiction(at.place, message, "set target.array.level = \"jbod\", or leave it out");
        return None;
    };
    let number = at.value.0 as usize;
    let Some(drive) = drives.get(number) else {
        let message = format!("there is no member {number}: they are numbered 0 to {}", drives.len() - 1);
        log.contradiction(at.place, message, "lower member, or raise target.array.members");
        return None;
    };
    let before: u64 = drives[..number].iter().map(|drive| drive.capacity().get()).sum();
    Some((Lba::new(before), drive.capacity()))
}

/// The range that a job accesses.
pub fn range(
    raw: &JobRaw,
    served: Served<'_>,
    largest: Sectors,
    place: Place,
    log: &mut Log,
) -> Option<(Lba, Sectors)> {
    if !raw.readable("offset") || !raw.readable("size") {
        return None;
    }
    let (base, capacity) = base(raw.member.as_ref(), served, log)?;
    let all = capacity.get();
    let part = |part: Part| match part {
        Part::Extent(extent) => extent.0.get(),
        // Rounded down to a multiple of 4 KiB.
        Part::Share(share) => ((u128::from(all) * u128::from(share.bits())) >> 32) as u64 / 8 * 8,
    };
    let first = raw.offset.as_ref().map_or(0, |at| part(at.value));
    if first >= all {
        let place = raw.offset.as_ref().map_or(place, |at| at.place);
        log.contradiction(
            place,
            format!("`offset` is behind the end of the target: sector {first} of {all}"),
            "lower offset",
        );
        return None;
    }
    let share_of_all = raw.size.as_ref().is_some_and(|at| at.value.0 == Part::Share(Share::ALL));
    let count = match &raw.size {
        Some(at) if !share_of_all => part(at.value.0),
        _ => all - first,
    };
    let size_place = raw.size.as_ref().map_or(place, |at| at.place);
    if count == 0 {
        log.fault(size_place, "`size` must be more than zero", "write a size such as \"10%\" or \"1GB\"");
        return None;
    }
    if count > all - first {
        let message = format!("the range ends at sector {}, behind the target's {all}", first + count);
        log.contradiction(size_place, message, "lower size or offset");
        return None;
    }
    if largest.get() > count {
        if let (None, Some(offset)) = (&raw.size, &raw.offset) {
            let message = format!(
                "`offset` leaves {}, too few for an I/O of {}",
                counted(count, "sector"),
                largest.bytes()
            );
            log.contradiction(offset.place, message, "lower offset, or the size of the I/O");
            return None;
        }
        let place = raw
            .bs
            .as_ref()
            .map(|at| at.place)
            .or(raw.bssplit.as_ref().map(|at| at.place))
            .unwrap_or(size_place);
        let message =
            format!("an I/O of {} does not fit the range of {}", largest.bytes(), counted(count, "sector"));
        log.contradiction(place, message, "raise size, or lower the size of the I/O");
        return None;
    }
    Some((base + Sectors::new(first), Sectors::new(count)))
}
