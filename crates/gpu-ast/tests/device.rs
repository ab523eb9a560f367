//! Trees in device memory: each file and content once, the least recently used first to go.
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{fs, path::Path, sync::Arc};

use core_gpu_driver::Driver;
use core_gpu_memory::{CacheLimits, FileManager, MemoryManager};
use gpu_ast::{
    AstError, AstLimits, AstSettings, AstTensors, GpuAstManager, LoadAst, SourceLanguage,
};
use gpu_sim::{Machine, SimDriver};

const MIB: u64 = 1 << 20;

fn memory(bytes: u64) -> (Machine, MemoryManager) {
    let machine = Machine::with_bytes(bytes);
    let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
    let memory = MemoryManager::builder(&driver).build().unwrap();
    (machine, memory)
}

fn limits(trees: usize, bytes: u64) -> AstLimits {
    AstLimits { trees, bytes }
}

/// A program of so many lines.
fn program(lines: usize) -> String {
    (0..lines)
        .map(|line| format!("x{line} = f({line}, a.b)\n"))
        .collect()
}

#[test]
fn a_file_and_content_is_sent_once() {
    let (_machine, memory) = memory(64 * MIB);
    let trees = GpuAstManager::new(&memory, limits(50, u64::MAX));
    let (path, on) = (Path::new("a.py"), memory.stream());
    let text = program(50);
    let first = trees.load(path, &text, on).unwrap();
    let sent = memory.statistics().transfers;
    for _ in 0..3 {
        trees.load(path, &text, on).unwrap();
    }
    assert_eq!(memory.statistics().transfers, sent, "nothing is sent twice");
    let wanted = AstTensors::parse(&text, SourceLanguage::Python).unwrap();
    assert_eq!(first.download(on).unwrap(), wanted);
    assert_eq!(first.bytes(), 16 + 40 * wanted.len() as u64);
    let pinned = first.pin(on).unwrap();
    assert_eq!(pinned.span().bytes(), first.bytes());
    drop(pinned);
    // Another content takes its place; who has the old one keeps it.
    let second = trees.load(path, "x = 1\n", on).unwrap();
    assert_eq!(trees.statistics().trees, 1);
    assert_eq!(trees.get(path).unwrap().nodes(), second.nodes());
    assert_eq!(first.download(on).unwrap(), wanted);
    let statistics = trees.statistics();
    assert_eq!((statistics.hits, statistics.misses), (3, 2));
    assert!(trees.clear(path) && !trees.clear(path));
    assert!(trees.get(path).is_none());
}

#[test]
fn the_least_recently_used_goes_first() {
    let (machine, memory) = memory(64 * MIB);
    let on = memory.stream();
    let names = ["a.py", "b.py", "c.rs", "d.py"].map(Path::new);
    let trees = GpuAstManager::new(&memory, limits(3, u64::MAX));
    for name in &names[..3] {
        trees.load(name, "", on).unwrap();
    }
    trees.get(names[0]).unwrap();
    trees.load(names[3], "x\n", on).unwrap();
    let kept = |trees: &GpuAstManager| names.map(|name| trees.get(name).is_some());
    assert_eq!(kept(&trees), [true, false, true, true]);
    assert_eq!(trees.statistics().evictions, 1);
    assert_eq!(trees.clear_all(), 3);
    assert_eq!((trees.statistics().trees, trees.statistics().bytes), (0, 0));
    // By bytes: two of these fit.
    let text = program(100);
    let each = trees.load(names[0], &text, on).unwrap().bytes();
    trees.clear_all();
    drop(trees);
    let trees = GpuAstManager::new(&memory, limits(50, each * 5 / 2));
    for name in [names[0], names[1], names[3]] {
        trees.load(name, &text, on).unwrap();
    }
    assert_eq!(kept(&trees), [false, true, false, true]);
    // Nothing is kept where the cache is off.
    let off = GpuAstManager::new(
        &memory,
        AstSettings {
            cache_enabled: false,
            ..AstSettings::default()
        }
        .into(),
    );
    off.load(names[0], &text, on).unwrap();
    assert_eq!(off.statistics().trees, 0);
    drop((trees, off));
    memory.shutdown().unwrap();
    drop(memory);
    machine.verify().unwrap();
}

#[test]
fn trees_spill_where_there_is_no_room_and_come_back() {
    let machine = Machine::with_bytes(4 * MIB);
    let driver: Arc<dyn Driver> = SimDriver::open(&machine, 0).unwrap();
    let memory = MemoryManager::builder(&driver).spill_bytes(8 * MIB);
    let memory = memory.build().unwrap();
    drop(driver);
    let on = memory.stream();
    let trees = GpuAstManager::new(&memory, limits(50, u64::MAX));
    let loaded: Vec<_> = (0..12)
        .map(|number| {
            let (name, text) = (format!("{number}.py"), program(1_500 + number));
            let tree = trees.load(Path::new(&name), &text, on);
            let tree =
                tree.unwrap_or_else(|why| panic!("{number}: {why}, {:?}", memory.statistics()));
            (tree, text)
        })
        .collect();
    assert!(memory.statistics().spills > 0, "{:?}", memory.statistics());
    assert!(loaded.iter().any(|(tree, _)| !tree.is_resident()));
    for (tree, text) in &loaded {
        let wanted = AstTensors::parse(text, SourceLanguage::Python).unwrap();
        drop(tree.pin(on).unwrap());
        assert!(tree.is_resident());
        assert_eq!(tree.download(on).unwrap(), wanted);
    }
    drop((loaded, trees));
    memory.shutdown().unwrap();
    drop(memory);
    machine.verify().unwrap();
}

#[test]
fn several_threads_load_one_file() {
    let (_machine, memory) = memory(64 * MIB);
    let trees = GpuAstManager::new(&memory, limits(2, u64::MAX));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (trees, memory) = (&trees, &memory);
            scope.spawn(move || {
                for round in 0..20 {
                    let name = format!("{}.py", (thread + round) % 3);
                    let tree = trees
                        .load(Path::new(&name), &program(5), memory.stream())
                        .unwrap();
                    assert!(tree.nodes() > 5);
                }
            });
        }
    });
    let statistics = trees.statistics();
    assert_eq!(statistics.hits + statistics.misses, 80);
    assert!(statistics.trees <= 2);
}

/// However many load it at once, and also while it is no longer kept but in somebody's hands.
#[test]
fn one_content_is_sent_once_by_many_threads() {
    let (_machine, memory) = memory(64 * MIB);
    let (path, text) = (Path::new("a.py"), program(2_000));
    let sent = |trees: &GpuAstManager, threads: usize| {
        let before = memory.statistics().transfers;
        let begin = std::sync::Barrier::new(threads);
        let held: Vec<_> = std::thread::scope(|scope| {
            let load = || {
                begin.wait();
                trees.load(path, &text, memory.stream()).unwrap()
            };
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(load)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        let bytes = memory.statistics().transfers.to_device_bytes - before.to_device_bytes;
        (held, bytes)
    };
    let trees = GpuAstManager::new(&memory, limits(1, u64::MAX));
    let (held, bytes) = sent(&trees, 8);
    assert_eq!((held.len(), bytes), (8, held[0].bytes()));
    assert_eq!((trees.statistics().hits, trees.statistics().misses), (7, 1));
    // Another file takes its place; who has it still has it, and so has who asks.
    trees
        .load(Path::new("b.py"), "x = 1\n", memory.stream())
        .unwrap();
    assert!(trees.get(path).is_none());
    assert_eq!(sent(&trees, 2).1, 0);
    drop(held);
    assert!(sent(&trees, 2).1 > 0);
    // What does not parse leaves nobody waiting.
    for _ in 0..2 {
        assert!(trees.load(path, "x = = 1", memory.stream()).is_err());
    }
}

#[test]
fn files_have_trees_beside_their_bytes() {
    let (_machine, memory) = memory(64 * MIB);
    let trees = GpuAstManager::new(&memory, AstSettings::default().into());
    let files = FileManager::new(&memory, CacheLimits::default());
    let folder = tempfile::tempdir().unwrap();
    let (path, on) = (folder.path().join("a.rs"), memory.stream());
    fs::write(&path, "fn f() {}\n").unwrap();
    let before = files.load_ast(&path, &trees, on).unwrap().nodes();
    fs::write(&path, "fn f() {}\nfn g() {}\n").unwrap();
    assert!(files.load_ast(&path, &trees, on).unwrap().nodes() > before);
    // By whatever path it is asked for.
    let around = folder
        .path()
        .join("../")
        .join(folder.path().file_name().unwrap());
    assert!(trees.get(&path).is_some() && trees.get(&around.join("a.rs")).is_some());
    assert!(trees.clear(&around.join("a.rs")) && !trees.clear(&path));
    let latin = folder.path().join("latin.py");
    fs::write(&latin, b"# \xe4\n").unwrap();
    for unreadable in [&latin, &folder.path().join("..").join("b.rs")] {
        let told = files.load_ast(unreadable, &trees, on);
        assert!(matches!(told, Err(AstError::Io { .. })), "{told:?}");
    }
    let text = folder.path().join("a.txt");
    fs::write(&text, "").unwrap();
    assert!(matches!(
        files.load_ast(&text, &trees, on),
        Err(AstError::Language(_))
    ));
    let missing = files.load_ast(Path::new("/nowhere/a.rs"), &trees, on);
    assert!(matches!(missing, Err(AstError::Io { .. })));
}

#[test]
fn settings_are_the_crate_s_own() {
    let none: [(String, String); 0] = [];
    let file = "[gpu.ast]\ncache_enabled = false\nmax-cache-size = 7\n[gpu.memory]\npool = 1\n";
    let read = AstSettings::read(file, none.clone()).unwrap();
    assert_eq!((read.cache_enabled, read.max_cache_size), (false, 7));
    let over = ("COALESCE_GPU_AST_MAX_CACHE_SIZE".to_owned(), "9".to_owned());
    assert_eq!(AstSettings::read(file, [over]).unwrap().max_cache_size, 9);
    assert_eq!(
        AstSettings::read("", none.clone()).unwrap(),
        AstSettings::default()
    );
    assert_eq!(AstSettings::default().max_cache_size, 50);
    for wrong in [
        "gpu.ast.max-cache-sise = 1",
        "gpu.ast.max-cache-size = -1",
        "gpu.ast.cache-enabled = \"x\"",
    ] {
        assert!(AstSettings::read(wrong, none.clone()).is_err(), "{wrong}");
    }
}
