//! The process's own manager: one, made once, from the configuration or by the program.

use std::sync::Arc;

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{
    DType, MemoryManager, allocate_array, manager::ProcessManagerError, memory_manager,
    memory_pool, set_memory_manager,
};

/// One test, since there is one process.
#[test]
fn the_process_has_one_manager() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 << 20));
    let make = || MemoryManager::builder(&driver).build().unwrap();
    set_memory_manager(make()).unwrap();
    assert!(matches!(
        set_memory_manager(make()),
        Err(ProcessManagerError::AlreadySet)
    ));

    let manager = memory_manager().unwrap();
    assert_eq!(manager.driver().info().id, driver.info().id);
    let seen: Vec<_> = std::thread::scope(|scope| {
        let ask = || std::ptr::from_ref(memory_manager().unwrap()).addr();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));

    let array = allocate_array(&[4, 5], DType::Float64, true).unwrap();
    assert_eq!(array.buffer().download(manager.stream()).unwrap(), [0; 160]);
    assert_eq!(manager.allocation_stats()["arrays"].bytes_in_use, 256);
    let pool = memory_pool(4096).unwrap();
    let by = core_gpu_memory::Source::named("process test");
    let whole = pool.allocate::<u8>(4096, manager.stream(), by).unwrap();
    assert!(
        pool.allocate::<u8>(1, manager.stream(), by).is_err(),
        "the limit"
    );
    drop(whole);
    pool.shutdown().unwrap();
}
