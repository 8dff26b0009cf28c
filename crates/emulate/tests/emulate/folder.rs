//! Folders of images: what they lack, and what a person has written into them.
use crate::images::{Place, options, refused};
use crate::rig::device;
use drivelab_emulate::{Bytes, ServeOptions, open};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

const SMALL: &str =
    "[target]\ndrive = { base = \"wd-wd740gd-00fla0\", geometry.capacity = \"16MiB\" }\nwrite_cache = true\n";

fn small(array: &str) -> String {
    format!("{SMALL}{array}")
}

fn raid5() -> String {
    small("array = { level = \"raid5\", members = 3, spares = 1 }\n")
}

/// The folder of a session that has ended in order, and the options to serve it again.
fn served(place: &Place, text: &str) -> (PathBuf, ServeOptions) {
    let folder = place.0.join("folder");
    let options = options(place, Bytes::Folder(folder.clone()));
    let record = open(device(text, 1), &options).expect("it can be had").run(&AtomicBool::new(true));
    assert_eq!(record.failure, None);
    (folder, options)
}

#[test]
fn a_member_without_its_image_is_not_served_as_a_whole_one() {
    let place = Place::new("gone");
    let (folder, options) = served(&place, &raid5());
    let (image, state) = (folder.join("member-1.img"), folder.join("state.json"));
    let remedy = ", and it has data of the device: put the file back, or add 1 to \"missing\" in state.json: the array \
                  begins without this member then, until drivelab fault has it replaced, which rebuilds it";
    std::fs::remove_file(&image).expect("it is there");
    let expected = format!("cannot open {}: no such file or directory{remedy}", image.display());
    assert_eq!(refused(&raid5(), &options), expected);
    assert!(!image.exists(), "nothing is made in its place");
    std::fs::write(&image, "").expect("there is room");
    let expected = format!("cannot open {}: it is empty{remedy}", image.display());
    assert_eq!(refused(&raid5(), &options), expected);
    // What the remedy says helps, and a spare has nothing to lose.
    std::fs::remove_file(&image).expect("it is there");
    std::fs::remove_file(folder.join("member-3.img")).expect("it is there");
    let told = std::fs::read_to_string(&state).expect("it is there");
    std::fs::write(&state, told.replace("\"missing\": []", "\"missing\": [1]")).expect("there is room");
    open(device(&raid5(), 1), &options).expect("it can be had");
    for (text, name) in [(small(""), "one"), (small("array = { level = \"raid0\", members = 2 }\n"), "two")] {
        let place = Place::new(name);
        let (folder, options) = served(&place, &text);
        std::fs::remove_file(folder.join("member-0.img")).expect("it is there");
        let told = refused(&text, &options);
        assert!(told.ends_with("put the file back, or take another folder"), "{told}");
    }
}

#[test]
fn images_without_their_state_are_refused() {
    let place = Place::new("stateless");
    let (folder, options) = served(&place, &raid5());
    let state = folder.join("state.json");
    std::fs::remove_file(&state).expect("it is there");
    std::fs::remove_file(folder.join("member-0.img")).expect("it is there");
    let why = "it is not there, and member-1.img is: put state.json back, or name an empty folder";
    assert_eq!(refused(&raid5(), &options), format!("cannot open {}: {why}", state.display()));
    assert!(!state.exists() && !folder.join("member-0.img").exists(), "nothing is made");
}

#[test]
fn a_state_that_a_person_has_written_is_checked() {
    let place = Place::new("written");
    let (folder, options) = served(&place, &raid5());
    let state = folder.join("state.json");
    let told = std::fs::read_to_string(&state).expect("it is there");
    let cases = [
        ("\"missing\": []", "\"missing\": [7]", "\"missing\" has 7, and the members are 0 to 2: take it out"),
        ("\"missing\": []", "\"missing\": [3]", "\"missing\" has 3, and the members are 0 to 2: take it out"),
        ("\"missing\": []", "\"missing\": [1, 1]", "\"missing\" has 1 twice: give it once"),
        (
            "\"missing\": []",
            "\"missing\": [], \"unreadable\": [[8, 16], [65535, 65537]]",
            "\"unreadable\" has [65535, 65537], and the array has sectors 0 to 65535: give the first sector and the one \
             after the last, or take it out",
        ),
        (
            "\"member-1.img\"",
            "\"../member-1.img\"",
            "\"drives\" has \"../member-1.img\", which is no image in this folder: give the name of the file alone, as in \
             \"member-1.img\"",
        ),
        (
            "\"member-1.img\"",
            "\"state.json\"",
            "\"drives\" has \"state.json\", which is no image in this folder: give the name of the file alone, as in \
             \"member-1.img\"",
        ),
        (
            "\"member-1.img\"",
            "\"member-0.img\"",
            "\"drives\" has \"member-0.img\" twice: each drive has an image of its own, so give each name once",
        ),
    ];
    for (old, new, why) in cases {
        assert!(told.contains(old), "{told}");
        std::fs::write(&state, told.replace(old, new)).expect("there is room");
        assert_eq!(refused(&raid5(), &options), format!("cannot open {}: {why}", state.display()));
    }
    std::fs::write(&state, told).expect("there is room");
    open(device(&raid5(), 1), &options).expect("it can be had");
}

#[test]
fn unreadable_addresses_are_kept_from_session_to_session() {
    let place = Place::new("unreadable");
    let (folder, options) = served(&place, &raid5());
    let state = folder.join("state.json");
    let told = std::fs::read_to_string(&state).expect("it is there");
    assert!(!told.contains("unreadable"), "{told}");
    let new = told.replace("\"missing\": []", "\"missing\": [], \"unreadable\": [[8, 16], [200, 300]]");
    std::fs::write(&state, &new).expect("there is room");
    for _ in 0..2 {
        let server = open(device(&raid5(), 1), &options).expect("it can be had");
        assert_eq!(server.run(&AtomicBool::new(true)).unsaved_sectors, 0);
        let told: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&state).expect("it is there")).expect("JSON");
        assert_eq!(told["unreadable"], serde_json::json!([[8, 16], [200, 300]]));
        assert_eq!(told["clean"], true);
    }
}
