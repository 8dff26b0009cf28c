//! Sessions whose images fail, and what they leave behind.
use super::*;
use crate::engine::Device;
use crate::folder::Drives;
use crate::image::{Image, MemoryImage, Named};
use crate::open::as_served;
use crate::store::Store;
use crate::transports::Transports;
use drivelab_scenario::{NoFiles, Source, plan_served};
use std::io;
use std::path::Path;

const RAID1: &str = "[target]\ndrive = \"wd-wd740gd-00fla0\"\nwrite_cache = false\narray = { level = \"raid1\", members = 2 }\n\
                     [workload]\nrw = \"randread\"\nbs = \"4KiB\"\n[run]\nduration = \"1s\"\n";

/// An image on a disk that fails.
#[derive(Default)]
struct Failing {
    image: MemoryImage,
    writes: bool,
    syncs: bool,
}

fn failed(fails: bool) -> io::Result<()> {
    if fails { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
}

impl Image for Failing {
    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.image.read(at, into)
    }

    fn write(&mut self, at: u64, from: &[u8]) -> io::Result<()> {
        failed(self.writes)?;
        self.image.write(at, from)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.image.clear()
    }

    fn extents(&self) -> io::Result<Vec<(u64, u64)>> {
        self.image.extents()
    }

    fn sync(&mut self) -> io::Result<()> {
        failed(self.syncs)
    }
}

/// A session of a mirror with one write, whose second member has this image: its failure, and whether the folder says
/// that it ended in order.
fn session(second: Failing, folder: &Path) -> (Option<String>, bool) {
    let source = Source { origin: "scenario".into(), text: RAID1.into() };
    let plan = plan_served(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}"));
    let (target, _) = as_served(&plan.points[0].setup.target);
    let images: Vec<Named> = vec![
        ("member-0.img".into(), Box::new(MemoryImage::default())),
        ("member-1.img".into(), Box::new(second)),
    ];
    let store = Store::new(&target, images);
    let mut engine = Engine::new(Device { target, seed: 1, name: "test".into() }, store, None);
    let id = RequestId { client: 0, cookie: 1 };
    let write = DeviceRequest::Write { offset: 0, data: vec![1; 4_096], fua: false };
    engine.submit(drivelab_units::Instant::ZERO, id, write);
    let drives = Drives { sizes: vec![1, 1], layout: None, members: 2, is_redundant: true };
    let opened = Folder::open(folder, drives).expect("there is room");
    let server = Server {
        engine,
        transport: Box::new(Transports(Vec::new())),
        control: None,
        pace: Pace::Skip,
        budget: Span::ZERO,
        folder: Some(opened),
        transcript: None,
    };
    let failure = server.run(&AtomicBool::new(true)).failure;
    let state = std::fs::read_to_string(folder.join("state.json")).expect("it is there");
    std::fs::remove_dir_all(folder).expect("it is there");
    (failure, state.contains("\"clean\": true"))
}

#[test]
fn a_session_whose_images_failed_has_not_ended_in_order() {
    let folder = std::env::temp_dir().join(format!("drivelab-test-{}-failing", std::process::id()));
    assert_eq!(session(Failing::default(), &folder), (None, true));
    let why = "cannot write member-1.img: input/output error";
    for failing in
        [Failing { writes: true, ..Failing::default() }, Failing { syncs: true, ..Failing::default() }]
    {
        assert_eq!(session(failing, &folder), (Some(why.into()), false));
    }
}
