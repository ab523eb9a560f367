//! The kernels give what the processor gives: on the Vulkan devices that there are, Mesa's processor among
//! them; and CUDA's source, compiled for the host.
#![expect(clippy::unwrap_used, reason = "a test may end")]

use std::{fs, path::Path, process::Command, sync::Arc};

use core_gpu_driver::{Driver, VulkanDriver, vulkan};
use core_gpu_memory::MemoryManager;
use gpu_ast::{
    AstLimits, AstTensors, GpuAstManager, KINDS, SourceLanguage,
    kernels::{CUDA_SOURCE, VulkanTreeKernels},
    kind_histogram, subtree_hashes,
};

/// This crate's sources and a program of Python.
fn texts() -> Vec<(String, String)> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut texts: Vec<_> = fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            (
                path.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            )
        })
        .collect();
    texts.sort();
    let python: String = (0..2_000)
        .map(|line| format!("def f{line}(a, b):\n    return [a, b, {line}]\n"))
        .collect();
    texts.push(("a.py".to_owned(), python));
    texts.push(("empty.py".to_owned(), String::new()));
    texts
}

fn tensors(name: &str, text: &str) -> AstTensors {
    let language = SourceLanguage::of(Path::new(name)).unwrap();
    AstTensors::parse(text, language).unwrap()
}

fn check(driver: &Arc<VulkanDriver>) {
    let shared: Arc<dyn Driver> = Arc::clone(driver) as _;
    let memory = MemoryManager::builder(&shared).build().unwrap();
    let everything = AstLimits {
        trees: usize::MAX,
        bytes: u64::MAX,
    };
    let trees = GpuAstManager::new(&memory, everything);
    let kernels = VulkanTreeKernels::new(driver, memory.pool()).unwrap();
    let (on, mut all, mut wanted) = (memory.stream(), Vec::new(), vec![0; KINDS as usize]);
    for (name, text) in texts() {
        let tree = trees.load(Path::new(&name), &text, on).unwrap();
        let expected = tensors(&name, &text);
        let hashes = kernels.subtree_hashes(&tree, on).unwrap();
        assert_eq!(hashes, subtree_hashes(&expected), "{name}");
        for (sum, count) in wanted.iter_mut().zip(kind_histogram(&expected)) {
            *sum += count;
        }
        all.push(tree);
    }
    let sent = memory.statistics().transfers;
    assert_eq!(kernels.kind_histogram(&all, on).unwrap(), wanted);
    assert_eq!(memory.statistics().transfers, sent, "no tree is sent twice");
    let nodes: usize = all.iter().map(gpu_ast::GpuAst::nodes).sum();
    println!(
        "{nodes} nodes of {} files on {}",
        all.len(),
        shared.info().name
    );
}

#[test]
fn vulkan_counts_and_hashes_as_the_processor_does() {
    let found = vulkan::devices();
    let found = found.inspect_err(|why| println!("skipped: no Vulkan: {why}"));
    let found = found.unwrap_or_default();
    if found.is_empty() {
        println!("skipped: no Vulkan device; Debian has one in `mesa-vulkan-drivers`");
    }
    for device in found {
        check(&VulkanDriver::open(&device.id).unwrap());
    }
}

/// What a device has and a host has not, one thread after another.
const HOST: &str = r#"
#include <cstdio>
#include <vector>
#define __device__
#define __global__
struct Place { unsigned x; };
static Place blockIdx, blockDim = {1}, threadIdx = {0};
static unsigned atomicAdd(unsigned *at, unsigned added) { unsigned was = *at; *at += added; return was; }
"#;
const HOST_MAIN: &str = r#"
int main(int, char **arguments) {
    std::vector<unsigned> words;
    FILE *file = fopen(arguments[1], "rb");
    for (unsigned word; fread(&word, 4, 1, file) == 1;) words.push_back(word);
    unsigned nodes = words[1], levels = words[2];
    std::vector<unsigned> counts(512), hashes(2 * nodes);
    std::vector<unsigned> ends(levels);
    for (unsigned node = 0; node < nodes; node++) ends[words[4 + 4 * nodes + node]]++;
    for (unsigned level = 1; level < levels; level++) ends[level] += ends[level - 1];
    // One thread more than there are places.
    for (blockIdx.x = 0; blockIdx.x <= nodes; blockIdx.x++)
        count_kinds(words.data(), counts.data(), 0, nodes, 512);
    for (unsigned level = levels; level-- > 0;) {
        unsigned first = level ? ends[level - 1] : 0;
        for (blockIdx.x = 0; blockIdx.x <= ends[level] - first; blockIdx.x++)
            hash_level(words.data(), hashes.data(), nodes, first, ends[level]);
    }
    for (unsigned count : counts) printf("%u\n", count);
    for (unsigned hash : hashes) printf("%u\n", hash);
}
"#;

#[test]
fn the_source_for_cuda_says_the_same_on_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("trees.cpp"), folder.path().join("trees"));
    fs::write(&source, format!("{HOST}{CUDA_SOURCE}{HOST_MAIN}")).unwrap();
    let mut compiler = Command::new("c++");
    compiler
        .args(["-O1", "-Wall", "-o"])
        .arg(&program)
        .arg(&source);
    let Ok(compiled) = compiler.output() else {
        println!("skipped: no compiler for C++");
        return;
    };
    assert!(compiled.status.success(), "{compiled:?}");
    let (name, text) = texts().swap_remove(0);
    let tensors = tensors(&name, &text);
    let words: Vec<u8> = tensors
        .to_words()
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    let file = folder.path().join("words");
    fs::write(&file, words).unwrap();
    let said = Command::new(&program).arg(&file).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let said: Vec<u32> = said.lines().map(|line| line.parse().unwrap()).collect();
    let (counts, hashes) = said.split_at(KINDS as usize);
    assert_eq!(counts, kind_histogram(&tensors));
    assert_eq!(hashes, subtree_hashes(&tensors).concat());
}

/// What lies in the repository is what its source makes, where the compiler of that version is there.
#[test]
fn the_module_is_made_of_its_source() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let found = Command::new("naga").arg("--version").output();
    let version = found.map(|found| String::from_utf8_lossy(&found.stdout).trim().to_owned());
    if version.as_deref().ok() != Some("30.0.1") {
        println!("skipped: no naga 30.0.1");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("trees.spv");
    let mut naga = Command::new("naga");
    let status = naga
        .arg(kernels.join("trees.wgsl"))
        .arg(&made)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(
        fs::read(made).unwrap(),
        fs::read(kernels.join("trees.spv")).unwrap()
    );
}
