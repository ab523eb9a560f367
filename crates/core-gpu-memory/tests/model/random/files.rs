//! Files that change between their readers: whoever is slow to cache what it has read, what is cached
//! in the end is what the file has.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread,
};

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{
    CacheLimits, FileManager, MemoryEvent, MemoryManager, Observer, StagingSettings,
    test_support::Rng,
};

use crate::{MIB, stream};

/// Readers of one file at once.
const READERS: usize = 3;

/// Stops each reader where its memory was given out, until it is let on.
struct Stops {
    arrived: mpsc::Sender<usize>,
    let_on: [Mutex<mpsc::Receiver<()>>; READERS],
}

impl Observer for Stops {
    fn event(&self, event: &MemoryEvent) {
        let name = thread::current().name().and_then(|name| name.parse().ok());
        let (MemoryEvent::Allocated { .. }, Some(reader)) = (event, name) else {
            return;
        };
        let _ = self.arrived.send(reader);
        let _ = self.let_on[reader].lock().unwrap().recv();
    }
}

/// Each reader reads another content and stops; they are let on in any order.
pub fn change_between_readers(rng: &mut Rng) {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(16 * MIB));
    let (arrived, arrives) = mpsc::channel();
    // A reader goes on when its sender is gone.
    let (mut holds, let_on): (Vec<_>, Vec<_>) = (0..READERS).map(|_| mpsc::channel()).unzip();
    let let_on: Vec<_> = let_on.into_iter().map(Mutex::new).collect();
    let Ok(let_on) = let_on.try_into() else {
        unreachable!("one for each reader");
    };
    let stops = Arc::new(Stops { arrived, let_on });
    let manager = MemoryManager::builder(&driver)
        .staging(StagingSettings {
            slot_bytes: 4096,
            slots: 2,
            ..StagingSettings::default()
        })
        .observer(stops)
        .build()
        .unwrap();
    let files = FileManager::new(&manager, CacheLimits::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for (reader, hold) in holds.drain(..).enumerate() {
            // Readers of one content are among them.
            if reader == 0 || rng.below(3) > 0 {
                fs::write(&path, vec![1; 1_000 * (reader + 1)]).unwrap();
            }
            let (files, path, driver) = (&files, &path, &driver);
            let read = move || drop(files.load(path, &stream(driver)).unwrap());
            let named = thread::Builder::new().name(reader.to_string());
            readers.push((hold, named.spawn_scoped(scope, read).unwrap()));
            assert_eq!(arrives.recv(), Ok(reader));
        }
        while !readers.is_empty() {
            let (hold, thread) = readers.swap_remove(rng.below(readers.len() as u64) as usize);
            drop(hold);
            thread.join().unwrap();
        }
    });
    check(&files, &path, &manager);
}

fn check(files: &FileManager, path: &Path, manager: &MemoryManager) {
    let length = fs::metadata(path).unwrap().len();
    for _ in 0..2 {
        let cached = files.load(path, manager.stream()).unwrap();
        assert_eq!(cached.bytes(), length, "what is cached is not the file");
    }
}
