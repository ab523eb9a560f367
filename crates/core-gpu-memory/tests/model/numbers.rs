//! Numbers: peaks that begin anew, refusals, stacks, and text for collectors.

use std::sync::Arc;

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{
    Buffer, PinnedBuffer, Pool, Resource, Source, adaptor::Tracking, pool::BlockState,
};
use gpu_sim::Schedule;

use crate::{MIB, machine, stream};

#[test]
fn peaks_begin_anew_and_refusals_are_counted() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(16 << 20));
    let (on, by) = (stream(&driver), Source::named("peaks"));
    let pool = Pool::builder(&driver).limit(8 << 20).build().unwrap();
    drop(pool.allocate::<u8>(6 << 20, &on, by).unwrap());
    let _held = pool.allocate::<u8>(1 << 20, &on, by).unwrap();
    assert!(pool.statistics().peak_bytes_in_use >= 6 << 20);
    pool.reset_peaks();
    assert!(pool.statistics().peak_bytes_in_use < 2 << 20);
    for _ in 0..3 {
        pool.allocate::<u8>(8 << 20, &on, by).unwrap_err();
    }
    let numbers = pool.statistics();
    assert_eq!(numbers.refusals, 3);
    assert_eq!(numbers.allocated_bytes, 7 << 20);
    for _ in 0..100 {
        drop(pool.allocate::<u8>(1_000, &on, by).unwrap());
    }
    let more = pool.statistics().allocated_bytes - numbers.allocated_bytes;
    assert_eq!(more, 100 * 1_024);
    let text = numbers.to_open_metrics("a \"b\"\\\n");
    assert!(
        text.contains("core_gpu_pool_refusals_total{pool=\"a \\\"b\\\"\\\\\\n\"} 3\n"),
        "{text}"
    );
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(
            name.starts_with("core_gpu_pool_") && name.ends_with('}'),
            "{line}"
        );
        value.parse::<u64>().unwrap();
    }
}

#[test]
fn a_snapshot_says_where_blocks_were_asked_for() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(16 << 20));
    let on = stream(&driver);
    let pool = Pool::new(&driver);
    let tracking = Arc::new(Tracking::new(Arc::new(pool.clone()), true));
    let resource: Arc<dyn Resource> = tracking.clone();
    let _held = Buffer::<u8>::allocate_from(&resource, 1_000, &on, Source::named("here")).unwrap();
    let snapshot = pool.snapshot().with_stacks(&tracking.live());
    let blocks = snapshot.segments.iter().flat_map(|segment| &segment.blocks);
    let in_use = blocks.filter(|block| matches!(block.state, BlockState::InUse { .. }));
    let stacks: Vec<_> = in_use.map(|block| block.stack.as_ref()).collect();
    assert_eq!(stacks.len(), 1);
    assert!(
        stacks[0].unwrap().contains("a_snapshot_says_where"),
        "{stacks:?}"
    );
}

#[test]
fn parts_of_buffers_are_copied_without_waiting() {
    let (machine, drivers) = machine(&[64 * MIB], Schedule::Latest);
    let (on, by) = (stream(&drivers[0]), Source::named("parts"));
    let pool = Pool::new(&drivers[0]);
    let mut buffer = pool.allocate::<f32>(8, &on, by).unwrap();
    let pinned = PinnedBuffer::<f32>::allocate(&drivers[0], 8).unwrap();
    pinned
        .all()
        .write(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        .unwrap();
    buffer.upload_async(pinned.all(), &on).unwrap();
    let (mut left, mut right) = buffer.split_at_mut(3).unwrap();
    assert_eq!((left.len(), right.len()), (3, 5));
    right.upload(&[9.0; 5], &on).unwrap();
    left.fill_bytes(0, &on).unwrap();
    let mut three = [7.0; 3];
    buffer
        .slice(2..5)
        .unwrap()
        .download_into(&mut three, &on)
        .unwrap();
    assert_eq!(three, [0.0, 9.0, 9.0]);
    buffer
        .slice(..2)
        .unwrap()
        .download_async(pinned.slice(4..6).unwrap(), &on)
        .unwrap();
    let mut two = [7.0; 2];
    pinned.slice(4..6).unwrap().read(&mut two).unwrap();
    assert_eq!(two, [0.0; 2]);
    let mut copy = pool.allocate::<f32>(8, &on, by).unwrap();
    copy.copy_from(&buffer, &on).unwrap();
    let mut to = copy.slice_mut(5..).unwrap();
    to.copy_from(buffer.slice(..3).unwrap(), &on).unwrap();
    to.copy_from(buffer.slice(..2).unwrap(), &on).unwrap_err();
    assert_eq!(
        copy.download(&on).unwrap(),
        [0.0, 0.0, 0.0, 9.0, 9.0, 0.0, 0.0, 0.0]
    );
    drop(copy);
    let backwards = std::ops::Range { start: 5, end: 4 };
    assert!(buffer.slice(4..9).is_none() && buffer.slice(backwards).is_none());
    assert!(buffer.slice_mut(..=8).is_none());
    buffer.download_into(&mut [0.0; 7], &on).unwrap_err();
    buffer
        .upload_async(pinned.slice(..7).unwrap(), &on)
        .unwrap_err();
    drop((buffer, pinned, pool, on, drivers));
    machine.verify().unwrap();
}
