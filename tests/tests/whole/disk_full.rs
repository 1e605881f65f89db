//! A full disk is told, loses nothing, and the next ingest finishes the work.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tests::{World, corpus};

/// A small file system of its own under a world's index directory, gone when dropped.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    fn mount(at: PathBuf) -> Self {
        fs::create_dir_all(&at).unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs"])
            .arg(&at)
            .status();
        assert!(status.unwrap().success(), "mounting a tmpfs needs root");
        Self { at }
    }

    /// Leaves `free` bytes to others.
    fn fill_up_to(&self, free: u64) {
        let filler = self.at.join(".filler");
        drop(fs::remove_file(&filler));
        let disk = rustix::fs::statvfs(&self.at).unwrap();
        let bytes = (disk.f_bavail * disk.f_frsize).saturating_sub(free);
        fs::write(&filler, vec![0; usize::try_from(bytes).unwrap()]).unwrap();
    }

    fn make_room(&self) {
        fs::remove_file(self.at.join(".filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.at).status());
    }
}

#[test]
fn a_disk_that_fills_at_any_point_loses_nothing() {
    let mut world = World::with_hashing_model();
    let disk = SmallDisk::mount(world.index());
    corpus::write(&world, 0);
    world.ingest();
    world.start_daemon(&[]);
    let mut refused = 0;
    for round in 1..=24 {
        corpus::write(&world, round);
        disk.fill_up_to(round as u64 * 8 * 1024);
        let run = world.try_ingest(&[]);
        let seen = corpus::round_of(&corpus::everything(&world));
        if run.code == 0 {
            assert!(seen == round || seen == round - 1, "round {seen} of {round}");
        } else {
            refused += 1;
            assert!(run.stderr.contains(" is full") && run.stderr.contains("as it was before"), "{run}");
        }
        disk.make_room();
        world.ingest();
        tests::wait::until(20, "the new generation", || {
            (corpus::round_of(&corpus::everything(&world)) == round).then_some(())
        });
    }
    assert!(refused > 3, "the disk was full only {refused} times");
    let answers = corpus::everything(&world);
    let fresh = World::with_hashing_model();
    corpus::write(&fresh, 24);
    fresh.ingest();
    assert_eq!(answers, corpus::everything(&fresh));
    drop(disk);
}
