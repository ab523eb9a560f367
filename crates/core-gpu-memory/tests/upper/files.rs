//! Files: cached while they are what they were, written back whole.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{Arc, Condvar, Mutex},
};

use core_gpu_driver::Segment;
use core_gpu_memory::{
    CacheLimits, DType, FileError, FileManager, MemoryEvent, Observer, Pool, Source,
};

use crate::support::{self, MIB, builder, each_device, host, pattern, stream};

/// Time stamps may be coarse: two writes differ for sure in their length.
#[test]
fn a_file_is_read_when_it_has_changed() {
    each_device(16 * MIB, |driver| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let manager = builder(driver).build().unwrap();
        let files = FileManager::new(&manager, CacheLimits::default());
        let on = stream(driver);
        fs::write(&path, pattern(1, 3000)).unwrap();
        for _ in 0..3 {
            let cached = files.load(&path, &on).unwrap();
            assert_eq!(
                support::bytes_of(&manager, &cached, manager.stream()),
                pattern(1, 3000)
            );
        }
        assert_eq!(files.statistics().insertions, 1);
        fs::write(&path, pattern(2, 4000)).unwrap();
        let cached = files.load(&path, &on).unwrap();
        assert_eq!(
            support::bytes_of(&manager, &cached, manager.stream()),
            pattern(2, 4000)
        );
        assert!(files.forget(&path) && !files.forget(&path));
        drop((cached, files));
        manager.shutdown().unwrap();
    });
}

#[test]
fn written_back_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let files = FileManager::new(&manager, CacheLimits::default());
    let on = stream(&driver);
    let segment = Segment::allocate(&driver, 5000).unwrap();
    for seed in 0..3 {
        manager
            .staging()
            .upload(segment.whole(), &pattern(seed, 5000), &on)
            .unwrap();
        files.write_back(&path, segment.whole(), &on).unwrap();
        let cached = files.load(&path, &on).unwrap();
        assert_eq!(
            support::bytes_of(&manager, &cached, manager.stream()),
            pattern(seed, 5000)
        );
    }
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["data"]);
}

#[test]
fn what_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let files = FileManager::new(&manager, CacheLimits::default());
    let on = stream(&driver);
    let missing = files.load(&folder.path().join("none"), &on).unwrap_err();
    assert!(matches!(missing, FileError::Io { .. }), "{missing}");
    let directory = files.load(folder.path(), &on).unwrap_err();
    assert!(matches!(directory, FileError::NotAFile(_)), "{directory}");
    let nowhere = files.load(Path::new("/nowhere/at/all"), &on).unwrap_err();
    assert!(matches!(nowhere, FileError::Io { .. }), "{nowhere}");
}

#[test]
fn arrays_have_shape_and_type() {
    let driver = host(16 * MIB);
    let pool = Pool::new(&driver);
    let on = stream(&driver);
    let mut array = pool
        .allocate_array(&[3, 5], DType::Float32, true, &on, Source::UNNAMED)
        .unwrap();
    assert_eq!(
        (array.shape(), array.dtype(), array.buffer().len()),
        (&[3, 5][..], DType::Float32, 60)
    );
    assert_eq!(array.buffer().download(&on).unwrap(), [0; 60]);
    array.buffer_mut().upload(&[1; 60], &on).unwrap();
    drop(array.into_buffer());
    let huge = pool.allocate_array(&[u64::MAX, 2], DType::Int8, false, &on, Source::UNNAMED);
    assert!(matches!(
        huge,
        Err(core_gpu_memory::AllocError::SizeOverflow)
    ));
}

/// Two threads by name, each of which is stopped where its memory was given out until it is let on.
#[derive(Default)]
struct Gates {
    open: Mutex<BTreeSet<String>>,
    opened: Condvar,
    arrived: Mutex<BTreeSet<String>>,
}

impl Gates {
    fn open(&self, thread: &str) {
        self.open.lock().unwrap().insert(thread.to_owned());
        self.opened.notify_all();
    }

    fn wait_until_it_arrives(&self, thread: &str) {
        while !self.arrived.lock().unwrap().contains(thread) {
            std::thread::yield_now();
        }
    }
}

impl Observer for Gates {
    fn event(&self, event: &MemoryEvent) {
        let thread = std::thread::current();
        let name = thread.name().filter(|name| name.starts_with("reader"));
        let (MemoryEvent::Allocated { .. }, Some(name)) = (event, name) else {
            return;
        };
        self.arrived.lock().unwrap().insert(name.to_owned());
        let mut open = self.open.lock().unwrap();
        while !open.contains(name) {
            open = self.opened.wait(open).unwrap();
        }
    }
}

/// One reader has the old bytes and is slow to cache them; another has the new ones.
#[test]
fn a_file_that_changes_between_two_readers_is_read_anew() {
    for order in [["reader one", "reader two"], ["reader two", "reader one"]] {
        let (gates, driver) = (Arc::new(Gates::default()), host(64 << 20));
        let manager = builder(&driver).observer(Arc::clone(&gates) as _);
        let manager = manager.build().unwrap();
        let files = FileManager::new(&manager, CacheLimits::default());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::thread::scope(|scope| {
            for (name, bytes) in [("reader one", 1_000), ("reader two", 2_000)] {
                fs::write(&path, vec![1; bytes]).unwrap();
                let (files, path, driver) = (&files, &path, &driver);
                let read = move || files.load(path, &stream(driver)).unwrap().bytes();
                let reader = std::thread::Builder::new().name(name.to_owned());
                reader.spawn_scoped(scope, read).unwrap();
                gates.wait_until_it_arrives(name);
            }
            gates.open(order[0]);
            while files.statistics().entries == 0 {
                std::thread::yield_now();
            }
            gates.open(order[1]);
        });
        for _ in 0..2 {
            assert_eq!(files.load(&path, manager.stream()).unwrap().bytes(), 2_000);
        }
    }
}
