//! Soaks: several threads at one pool and one manager for as long as they are told, ten seconds
//! unless `COALESCE_SOAK_SECONDS` says otherwise. What must hold is checked all the while.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use core_gpu_driver::{Driver, Event, EventKind, HostDriver, Stream, StreamKind};
use core_gpu_memory::{
    Buffer, Cache, CacheLimits, Hold, InsertError, MemoryManager, Pool, Source, test_support::Rng,
};
use gpu_sim::{Config, Machine, Schedule, SimDriver};

const MIB: u64 = 1 << 20;

fn duration() -> Duration {
    let told = std::env::var("COALESCE_SOAK_SECONDS").ok();
    let seconds = told.and_then(|text| text.parse().ok()).unwrap_or(10.0);
    Duration::from_secs_f64(seconds)
}

fn stream(driver: &Arc<dyn Driver>) -> Stream {
    Stream::new(driver, StreamKind::NonBlocking).unwrap()
}

/// A share of the time for each of so many parts.
fn until(parts: u32) -> Instant {
    Instant::now() + duration() / parts
}

/// Buffers of one thread, each filled with a number of its own.
struct Held {
    buffer: Buffer<u8>,
    value: u8,
}

fn work(pool: &Pool, seed: u64, ends: Instant, mail: &[std::sync::Mutex<Vec<Held>>]) -> u64 {
    let on = stream(pool.driver());
    let by = Source::named(&format!("soak {}", seed % 4));
    let (mut rng, mut held, mut done) = (Rng::new(seed), Vec::new(), 0);
    while Instant::now() < ends {
        done += 1;
        match rng.below(10) {
            0..=4 => {
                let longest = 1_u64 << (8 + rng.below(12));
                let length = 1 + rng.below(longest) as usize;
                match pool.allocate::<u8>(length, &on, by) {
                    Ok(buffer) => {
                        let value = rng.below(256) as u8;
                        on.set(buffer.span(), value).unwrap();
                        held.push(Held { buffer, value });
                    }
                    Err(error) => assert!(error.is_out_of_room(), "{error}"),
                }
            }
            5..=6 if !held.is_empty() => {
                let held: Held = held.swap_remove(rng.below(held.len() as u64) as usize);
                let bytes = held.buffer.download(&on).unwrap();
                assert!(
                    bytes.iter().all(|byte| *byte == held.value),
                    "somebody else wrote"
                );
            }
            7 if !held.is_empty() => {
                // Another thread frees it: its work is done first.
                let mine: Held = held.swap_remove(rng.below(held.len() as u64) as usize);
                on.synchronize().unwrap();
                let to = &mail[rng.below(mail.len() as u64) as usize];
                to.lock().unwrap().push(mine);
            }
            8 => {
                let from = &mail[seed as usize % mail.len()];
                drop(std::mem::take(&mut *from.lock().unwrap()));
            }
            9 if rng.below(500) == 0 => drop(pool.trim_to(8 * MIB)),
            _ => (),
        }
        if held.len() > 200 {
            held.clear();
        }
    }
    done
}

fn pool_soak(driver: &Arc<dyn Driver>, ends: Instant) -> u64 {
    let pool = Pool::builder(driver)
        .reserve_limit(48 * MIB)
        .limit(32 * MIB)
        .build()
        .unwrap();
    let mail: Vec<_> = (0..4).map(|_| std::sync::Mutex::default()).collect();
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|seed| {
                let (pool, mail, done) = (&pool, &mail, &done);
                scope.spawn(move || done.fetch_add(work(pool, seed, ends, mail), Relaxed))
            })
            .collect();
        while Instant::now() < ends {
            let statistics = pool.statistics();
            assert!(
                statistics.peak_bytes_in_use <= 32 * MIB,
                "the limit does not hold"
            );
            assert!(
                statistics.peak_reserved_bytes <= 48 * MIB,
                "the bound does not hold"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        // The scope waits for the closures only; what threads cache comes back as they end.
        for thread in threads {
            thread.join().unwrap();
        }
    });
    drop(mail);
    pool.trim();
    let statistics = pool.statistics();
    assert_eq!(
        (statistics.bytes_in_use, statistics.quarantined_bytes),
        (0, 0)
    );
    assert_eq!(
        statistics.segments, 0,
        "after all is freed and trimmed nothing is left"
    );
    pool.shutdown().unwrap();
    done.into_inner()
}

#[test]
fn soak_pool_on_the_host() {
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(64 * MIB));
    let free = driver.memory_info().unwrap().free_bytes;
    let done = pool_soak(&driver, until(3));
    assert_eq!(driver.memory_info().unwrap().free_bytes, free);
    println!("{done} operations");
}

#[test]
fn soak_pool_on_simulated_machines() {
    let ends = until(3);
    let (mut seed, mut done) = (0, 0);
    while Instant::now() < ends {
        let mut config = Config::with_devices(&[64 * MIB]);
        config.schedule = Schedule::Seeded(seed);
        let machine = Machine::new(config);
        let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
        done += pool_soak(
            &driver,
            (Instant::now() + Duration::from_millis(700)).min(ends),
        );
        drop(driver);
        let verified = machine.verify();
        assert!(verified.is_ok(), "seed {seed}: {}", verified.unwrap_err());
        seed += 1;
    }
    println!("{done} operations on {seed} machines");
}

/// Operations of each thread at least, however slow the machine is: enough that entries leave and
/// come back.
const LEAST: u64 = 2_000;

/// A thread is there for a while after its closure: what it caches goes back as it ends.
struct Lingers;

impl Drop for Lingers {
    fn drop(&mut self) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

thread_local! {
    static LINGERS: Lingers = const { Lingers };
}

/// Writers, readers and a cache on one manager that has too little room.
fn manage(manager: &MemoryManager, cache: &Cache, seed: u64, ends: Instant) -> u64 {
    let on = stream(manager.driver());
    let event = Event::new(manager.driver(), EventKind::Order).unwrap();
    let (mut rng, mut done) = (Rng::new(seed), 0);
    while done < LEAST || Instant::now() < ends {
        done += 1;
        let (number, length) = (
            rng.below(12) as u8,
            50_000 + 1_000 * rng.below(100) as usize,
        );
        let key = number.to_string();
        match rng.below(6) {
            0 => match manager.insert(&key, &vec![number; length], &on) {
                Ok(_) | Err(InsertError::KeyInUse { .. }) => (),
                Err(InsertError::Alloc(error)) => assert!(error.is_out_of_room(), "{error}"),
                Err(error) => unreachable!("{error}"),
            },
            1 => drop(manager.release(&key)),
            2 => {
                // What was moved comes back, if there is room.
                let entry = manager.get(&key);
                if let Some(Err(error)) = entry.as_ref().map(|entry| entry.pin(&on)) {
                    assert!(error.is_out_of_room(), "{error}");
                }
            }
            3 => {
                let read = manager.get(&key).map(|entry| entry.read(&on));
                match read {
                    Some(Ok(bytes)) => assert!(bytes.iter().all(|byte| *byte == number), "torn"),
                    Some(Err(error)) => assert!(error.is_out_of_room(), "{error}"),
                    None => (),
                }
            }
            4 => {
                let cached = cache.insert(&key, &vec![number; length / 2], 1.0, Hold::Normal, &on);
                if let Ok(cached) = cached {
                    let used = cached.read_on(&on).unwrap();
                    assert!(used.span().bytes() > 0);
                    on.record(&event).unwrap();
                }
            }
            _ => drop(manager.spill(rng.below(2 * MIB))),
        }
    }
    // After the thread has begun to cache, so that this ends first.
    LINGERS.with(|_| ());
    done
}

#[test]
fn soak_manager_with_too_little_room() {
    let ends = until(3);
    let driver: Arc<dyn Driver> = Arc::new(HostDriver::new(6 * MIB));
    let free = driver.memory_info().unwrap().free_bytes;
    let manager = MemoryManager::builder(&driver)
        .max_memory_fraction(0.7)
        .spill_bytes(2 * MIB)
        .build()
        .unwrap();
    let limits = CacheLimits {
        bytes: MIB,
        entries: 20,
    };
    let cache = Cache::new(&manager, limits, Source::named("soak cache"));
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|seed| {
            let (manager, cache, done) = (&manager, &cache, &done);
            scope.spawn(move || done.fetch_add(manage(manager, cache, seed, ends), Relaxed))
        });
        // The scope waits for the closures only; what threads cache comes back as they end.
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let statistics = manager.statistics();
    assert!(
        statistics.spills > 0 && statistics.promotions > 0,
        "{statistics:?}"
    );
    println!(
        "{done:?} operations, {} moves to the host, {} back",
        statistics.spills, statistics.promotions
    );
    drop(cache);
    manager.clear();
    assert_eq!(manager.total_allocated(), 0);
    manager.shutdown().unwrap();
    assert_eq!(driver.memory_info().unwrap().free_bytes, free);
}
