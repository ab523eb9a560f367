//! The cache: bounds, who goes first, pinned and weak entries, giving up room.

use std::{cell::Cell, convert::Infallible, sync::Arc};

use core_gpu_driver::{Driver, Stream};
use core_gpu_memory::{
    Cache, CacheError, CacheLimits, Hold, MemoryManager, Source, Watermarks, test_support::Rng,
};

use crate::support::{MIB, builder, bytes_of, each_device, host, pattern, stream};

fn cache(manager: &MemoryManager, bytes: u64, entries: usize) -> Cache {
    Cache::new(
        manager,
        CacheLimits { bytes, entries },
        Source::named("cache test"),
    )
}

#[test]
fn what_is_there_is_not_made_again() {
    each_device(16 * MIB, |driver| {
        let manager = builder(driver).build().unwrap();
        let cache = cache(&manager, MIB, 10);
        let (one, two) = (stream(driver), stream(driver));
        let made = Cell::new(0);
        let load = || {
            made.set(made.get() + 1);
            Ok::<_, Infallible>(pattern(7, 5000))
        };
        let first = cache.get_or_upload("a", 1.0, &one, load).unwrap();
        let second = cache.get_or_upload("a", 1.0, &two, load).unwrap();
        assert_eq!(made.get(), 1);
        for (cached, on) in [(&first, &one), (&second, &two)] {
            assert_eq!(bytes_of(&manager, cached, on), pattern(7, 5000));
        }
        let failed = cache.get_or_upload("b", 1.0, &one, || Err::<Vec<u8>, _>("no"));
        assert!(matches!(failed, Err(CacheError::Load("no"))));
        let statistics = cache.statistics();
        assert_eq!(
            (statistics.hits, statistics.misses, statistics.insertions),
            (1, 2, 1)
        );
        assert_eq!((statistics.bytes, statistics.entries), (5000, 1));
        assert!((statistics.hit_rate() - 1.0 / 3.0).abs() < 1e-9);
        assert!(cache.remove("a") && !cache.remove("a"));
        assert_eq!(
            bytes_of(&manager, &first, &two),
            pattern(7, 5000),
            "a handle keeps it"
        );
        drop((first, second, cache));
        manager.shutdown().unwrap();
    });
}

fn insert(cache: &Cache, key: &str, len: usize, cost: f64, on: &Stream) {
    drop(
        cache
            .insert(key, &pattern(1, len), cost, Hold::Normal, on)
            .unwrap(),
    );
}

#[test]
fn bounds_in_bytes_and_in_entries_hold() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let on = stream(&driver);
    let cache = cache(&manager, 10_000, 3);
    for index in 0..10 {
        insert(&cache, &index.to_string(), 2_000 + index * 700, 1.0, &on);
        let statistics = cache.statistics();
        assert!(
            statistics.bytes <= 10_000 && statistics.entries <= 3,
            "{statistics:?}"
        );
    }
    let before = cache.statistics();
    insert(&cache, "too large", 10_001, 1.0, &on);
    let after = cache.statistics();
    assert_eq!(
        (after.refused, after.entries),
        (before.refused + 1, before.entries)
    );
    assert!(cache.get("too large").is_none());
    cache.clear();
    assert_eq!(
        (cache.statistics().bytes, cache.statistics().entries),
        (0, 0)
    );
}

#[test]
fn what_is_cheap_for_its_size_and_seldom_wanted_goes_first() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let on = stream(&driver);
    let cases = [
        ("dear", [("cheap", 100, 1.0, 0), ("dear", 100, 50.0, 0)]),
        ("small", [("large", 9000, 1.0, 0), ("small", 100, 1.0, 0)]),
        ("often", [("seldom", 100, 1.0, 0), ("often", 100, 1.0, 5)]),
    ];
    for (stays, entries) in cases {
        let cache = cache(&manager, u64::MAX, 2);
        for (key, len, cost, wanted) in entries {
            insert(&cache, key, len, cost, &on);
            for _ in 0..wanted {
                assert!(cache.get(key).is_some());
            }
        }
        insert(&cache, "new", 100, 1.0, &on);
        assert!(cache.get(stays).is_some(), "{stays}");
        assert_eq!(cache.statistics().evictions, 1);
    }
}

#[test]
fn pinned_entries_stay_and_weak_ones_go_with_their_last_handle() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let on = stream(&driver);
    let cache = cache(&manager, u64::MAX, 2);
    drop(
        cache
            .insert("pinned", &[1], 0.0, Hold::Pinned, &on)
            .unwrap(),
    );
    for index in 0..5 {
        insert(&cache, &index.to_string(), 10, 100.0, &on);
    }
    assert!(cache.get("pinned").is_some());
    assert!(cache.set_hold("pinned", Hold::Normal) && !cache.set_hold("none", Hold::Normal));
    let weak = cache.insert("weak", &[2], 1.0, Hold::Weak, &on).unwrap();
    assert!(cache.get("weak").is_some());
    assert_eq!(cache.statistics().entries, 2, "a weak one is not counted");
    drop(weak);
    assert!(cache.get("weak").is_none());
    let kept = cache.insert("weak", &[2], 1.0, Hold::Weak, &on).unwrap();
    assert!(cache.set_hold("weak", Hold::Pinned));
    drop(kept);
    assert_eq!(bytes_of(&manager, &cache.get("weak").unwrap(), &on), [2]);
    assert!(cache.statistics().entries <= 2);
}

/// The pool asks the cache before it fails, and before entries are moved to the host.
#[test]
fn the_cache_gives_up_room_first() {
    each_device(8 * MIB, |driver: &Arc<dyn Driver>| {
        let manager = builder(driver)
            .max_memory_fraction(0.5)
            .watermarks(Watermarks {
                high: 1.0,
                low: 1.0,
            })
            .spill_bytes(4 * MIB)
            .build()
            .unwrap();
        let on = stream(driver);
        let cache = cache(&manager, u64::MAX, 100);
        let kept = cache
            .insert("kept", &pattern(1, 600_000), 1.0, Hold::Normal, &on)
            .unwrap();
        drop(
            cache
                .insert("pinned", &pattern(2, 600_000), 1.0, Hold::Pinned, &on)
                .unwrap(),
        );
        drop(
            cache
                .insert("goes", &pattern(3, 600_000), 9.0, Hold::Normal, &on)
                .unwrap(),
        );
        let entry = manager.insert("entry", &pattern(4, 600_000), &on).unwrap();
        // Two segments of 2 MiB: what is left of each is too short for the last one.
        let filler = manager
            .allocate_on(1_400_000, &on, Source::UNNAMED)
            .unwrap();
        let large = manager.allocate_on(800_000, &on, Source::UNNAMED).unwrap();
        assert!(cache.get("goes").is_none());
        assert!(cache.get("pinned").is_some());
        assert!(entry.is_resident(), "nothing had to be moved");
        assert_eq!(bytes_of(&manager, &kept, &on), pattern(1, 600_000));
        drop((filler, large, kept, entry, cache));
        manager.clear();
        manager.shutdown().unwrap();
    });
}

/// Whatever is done, the books are right and the bounds hold.
#[test]
fn any_order_of_operations_keeps_books_and_bounds() {
    let driver = host(16 * MIB);
    let manager = builder(&driver).build().unwrap();
    let on = stream(&driver);
    for seed in 0..32 {
        let cache = cache(&manager, 40_000, 6);
        let mut rng = Rng::new(seed);
        let mut held = Vec::new();
        for _ in 0..200 {
            let key = rng.below(12).to_string();
            let hold =
                [Hold::Normal, Hold::Normal, Hold::Pinned, Hold::Weak][rng.below(4) as usize];
            match rng.below(6) {
                0 | 1 => {
                    let bytes = pattern(key.len() as u8, rng.below(15_000) as usize);
                    let cost = rng.below(100) as f64;
                    held.push(cache.insert(&key, &bytes, cost, hold, &on).unwrap());
                }
                2 => held.extend(cache.get(&key)),
                3 => drop(cache.remove(&key)),
                4 => drop(cache.set_hold(&key, hold)),
                _ => held.clear(),
            }
            let statistics = cache.statistics();
            assert!(
                statistics.entries <= 6 && statistics.bytes <= 40_000,
                "seed {seed}: {statistics:?}"
            );
        }
        held.clear();
        cache.clear();
        let statistics = cache.statistics();
        assert_eq!(
            (statistics.entries, statistics.bytes),
            (0, 0),
            "seed {seed}"
        );
        assert_eq!(manager.total_allocated(), 0, "seed {seed}");
    }
}
