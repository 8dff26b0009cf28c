//! Which caches of a target hold writes that were answered, in words: what a power cut may take.
use crate::open::as_served;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_units::counted;

/// The write caches of a target as it is served: of its drive or members, and of its controller. Empty without drives.
pub fn write_caches(target: &TargetParams) -> String {
    let (TargetParams::System(system), _) = as_served(target) else { return String::new() };
    let on = system.drives.iter().filter(|drive| drive.caches_writes()).count();
    of_drives(system.array.is_some(), on, system.drives.len()) + &of_controller(&system)
}

/// The caches of the drives, of which `on` hold writes.
fn of_drives(is_array: bool, on: usize, drives: usize) -> String {
    match on {
        0 if is_array => "write caches of the members off".into(),
        _ if is_array && on == drives => "write caches of the members on".into(),
        _ if is_array => format!("write cache on in {on} of {}", counted(drives as u64, "drive")),
        0 => "write cache off".into(),
        _ => "write cache on".into(),
    }
}

fn of_controller(system: &SystemParams) -> String {
    match system.controller.cache {
        None => String::new(),
        Some(cache) if cache.write_through => ", controller cache write-through".into(),
        Some(cache) if cache.battery => ", controller cache write-back with battery".into(),
        Some(_) => ", controller cache write-back without battery".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drives_are_told_together_unless_they_differ() {
        assert_eq!(of_drives(false, 1, 1), "write cache on");
        assert_eq!(of_drives(false, 0, 1), "write cache off");
        assert_eq!(of_drives(true, 4, 4), "write caches of the members on");
        assert_eq!(of_drives(true, 0, 4), "write caches of the members off");
        assert_eq!(of_drives(true, 3, 4), "write cache on in 3 of 4 drives");
    }
}
