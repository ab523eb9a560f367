//! Files: cached while they are what they were, written back whole.

use std::{fs, path::Path};

use core_gpu_driver::Segment;
use core_gpu_memory::{
    CacheLimits, Cached, DType, FileError, FileManager, MemoryManager, Pool, Source,
};

use crate::support::{MIB, builder, each_device, host, pattern, stream};

fn bytes_of(manager: &MemoryManager, cached: &Cached) -> Vec<u8> {
    let used = cached.read_on(manager.stream()).unwrap();
    let mut bytes = vec![0; used.span().bytes() as usize];
    manager
        .staging()
        .download(&mut bytes, used.span(), manager.stream())
        .unwrap();
    bytes
}

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
            assert_eq!(bytes_of(&manager, &cached), pattern(1, 3000));
        }
        assert_eq!(files.statistics().insertions, 1);
        fs::write(&path, pattern(2, 4000)).unwrap();
        let cached = files.load(&path, &on).unwrap();
        assert_eq!(bytes_of(&manager, &cached), pattern(2, 4000));
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
        assert_eq!(bytes_of(&manager, &cached), pattern(seed, 5000));
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
