//! How long trees take to become arrays: `cargo bench -p gpu-ast --bench trees -- FOLDER…`, all files of both
//! languages below the folders, on two threads. Beside it what the parsers take alone, whatever is done with their
//! trees: less than that no arrays can take.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use gpu_ast::{AstTensors, SourceLanguage, subtree_hashes};
use ruff_python_parser::Mode;

/// As `coalesce` allocates: syn's trees are many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn collect(folder: &Path, to: &mut Vec<(PathBuf, String, SourceLanguage)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, to);
        } else if let Some(language) = SourceLanguage::of(&path)
            && let Ok(text) = fs::read_to_string(&path)
        {
            to.push((path, text, language));
        }
    }
}

/// The parser's work alone: a tree is made and let go of.
fn parser_alone(text: &str, language: SourceLanguage) -> bool {
    match language {
        SourceLanguage::Python => {
            ruff_python_parser::parse_unchecked(text, Mode::Module.into()).has_valid_syntax()
        }
        SourceLanguage::Rust => {
            let tree = syn::parse_file(text);
            proc_macro2::extra::invalidate_current_thread_spans();
            tree.is_ok()
        }
    }
}

/// The lexer's part of it, which for Rust is a step of its own.
fn lexer_alone(text: &str) -> bool {
    let tokens = text.parse::<proc_macro2::TokenStream>();
    proc_macro2::extra::invalidate_current_thread_spans();
    tokens.is_ok()
}

const ROUNDS: usize = 5;

/// The best of some rounds over all files, in seconds, and the last round's answers. The same two threads take all
/// rounds, so that their memory is there as a parser's own threads have it.
fn best_round<T: Send>(count: usize, job: impl Fn(usize) -> T + Sync) -> (f64, Vec<T>) {
    let (next, begin) = ([const { AtomicUsize::new(0) }; ROUNDS], Barrier::new(2));
    let work = || {
        let (mut best, mut answers) = (f64::INFINITY, Vec::new());
        for next in &next {
            answers.clear();
            begin.wait();
            let begun = Instant::now();
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Relaxed));
            answers.extend(numbers.take_while(|number| *number < count).map(&job));
            begin.wait();
            best = best.min(begun.elapsed().as_secs_f64());
        }
        (best, answers)
    };
    std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        let mut told = (f64::INFINITY, Vec::new());
        for (best, answers) in threads.into_iter().filter_map(|thread| thread.join().ok()) {
            told.0 = told.0.min(best);
            told.1.extend(answers);
        }
        told
    })
}

fn main() {
    let mut files = Vec::new();
    let folders = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"));
    folders.for_each(|folder| collect(Path::new(&folder), &mut files));
    for language in [SourceLanguage::Python, SourceLanguage::Rust] {
        let files: Vec<_> = files.iter().filter(|file| file.2 == language).collect();
        let lines: usize = files.iter().map(|file| file.1.lines().count()).sum();
        let (alone, _) = best_round(files.len(), |at| parser_alone(&files[at].1, language));
        let lexed = match language {
            SourceLanguage::Python => 0.0,
            SourceLanguage::Rust => best_round(files.len(), |at| lexer_alone(&files[at].1)).0,
        };
        let parse = |at: usize| AstTensors::parse(&files[at].1, language);
        let (best, trees) = best_round(files.len(), parse);
        let failed = trees.iter().filter(|tree| tree.is_err()).count();
        let trees: Vec<_> = trees.into_iter().flatten().collect();
        let nodes: usize = trees.iter().map(AstTensors::len).sum();
        let begun = Instant::now();
        let hashes: usize = trees.iter().map(|tree| subtree_hashes(tree).len()).sum();
        let hashed = begun.elapsed().as_secs_f64();
        let of = |seconds: f64| seconds * 150_000.0 / lines.max(1) as f64;
        println!(
            "{language:?}: {} files ({failed} not parsed), {lines} lines, {nodes} nodes: {best:.3} s, {:.3} s for \
             150,000 lines; the parser alone {alone:.3} s, {:.3} s (its lexer {lexed:.3} s); {hashes} hashes \
             {hashed:.3} s on one thread",
            files.len(),
            of(best),
            of(alone),
        );
    }
}
