//! What a file has to have before it is worth parsing for what it does: looked for in all texts at once, and once a plan.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Something that a file may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The `__path__` of a package.
    Path,
    /// A call that lists one folder.
    List,
    /// A call that goes into the folders below one.
    Descend,
    /// A call or setting in which the name of a logger stands.
    Logger,
    /// Anything that has to do with loggers.
    Log,
    /// What pytest says of where a test stands.
    TestPlace,
    /// A function that looks at frames.
    Frame,
    /// The name of a definition's module.
    Module,
    /// The name of a definition itself.
    Name,
    /// The types that a function is annotated with, as values.
    Annotations,
    /// What makes a module that is loaded be executed again.
    Reload,
    /// A call that reads a file as a text, a loop over an export list, or a finder of modules.
    Read,
    /// A call that leads to something by its name, or by code in a text.
    Named,
}

const PATTERNS: [(&str, Word); 59] = [
    ("__path__", Word::Path),
    ("iterdir(", Word::List),
    ("listdir(", Word::List),
    ("scandir(", Word::List),
    (".glob(", Word::List),
    ("rglob(", Word::Descend),
    ("os.walk(", Word::Descend),
    ("getLogger(", Word::Logger),
    ("loggers", Word::Logger),
    ("assertLogs(", Word::Logger),
    ("logger=", Word::Logger),
    ("logging", Word::Log),
    ("LOGGING", Word::Log),
    ("caplog", Word::Log),
    ("logger", Word::Log),
    ("request.path", Word::TestPlace),
    ("request.fspath", Word::TestPlace),
    ("request.node.path", Word::TestPlace),
    ("request.node.fspath", Word::TestPlace),
    ("_getframe", Word::Frame),
    ("currentframe", Word::Frame),
    ("getmodule(", Word::Frame),
    ("inspect.stack", Word::Frame),
    (".__module__", Word::Module),
    ("\"__module__\"", Word::Module),
    ("'__module__'", Word::Module),
    ("getfile(", Word::Module),
    ("co_filename", Word::Module),
    ("__globals__", Word::Module),
    ("whichmodule(", Word::Module),
    ("getsourcefile(", Word::Module),
    (".__name__", Word::Name),
    ("__qualname__", Word::Name),
    ("__annotations__", Word::Annotations),
    (".annotation", Word::Annotations),
    ("__dataclass_fields__", Word::Annotations),
    ("fields", Word::Annotations),
    ("return_annotation", Word::Annotations),
    ("signature", Word::Annotations),
    ("getfullargspec", Word::Annotations),
    ("pydoc", Word::Annotations),
    ("reload(", Word::Reload),
    ("eval(", Word::Named),
    ("exec(", Word::Named),
    ("import_string(", Word::Named),
    ("load_object(", Word::Named),
    ("locate(", Word::Named),
    ("resolve_name(", Word::Named),
    ("run_module(", Word::Named),
    ("open(", Word::Read),
    ("read_text(", Word::Read),
    ("runpy", Word::Read),
    ("getsource", Word::Read),
    ("loadtxt(", Word::Read),
    (".__all__", Word::Read),
    ("import __all__", Word::Read),
    ("\"__all__\"", Word::Read),
    ("'__all__'", Word::Read),
    ("meta_path", Word::Read),
];

/// What takes a module out of those that are loaded, so that the next import executes it again.
pub const FORGETTING: [&str; 8] = [
    "del sys.modules[",
    "modules.pop(",
    "delitem(sys.modules,",
    "del modules[",
    "reload_module(",
    "reload(sys.modules[",
    "reload(modules[",
    "reload_module(sys.modules[",
];

/// All that is looked for.
fn patterns() -> impl Iterator<Item = (&'static str, Word)> {
    let forgetting = FORGETTING.into_iter().map(|text| (text, Word::Reload));
    PATTERNS.into_iter().chain(forgetting)
}

static MEANT: LazyLock<Vec<Word>> = LazyLock::new(|| patterns().map(|(_, word)| word).collect());

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let patterns = patterns().map(|(text, _)| text);
    let mut builder = AhoCorasick::builder();
    builder
        .match_kind(MatchKind::LeftmostFirst)
        .build(patterns)
        .ok()
});

/// What one file has of all that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words(u16);

impl Words {
    /// Looks through a text.
    pub fn of(text: &str) -> Self {
        let Some(finder) = &*FINDER else {
            // Without the finder every file is worth it.
            return Self(u16::MAX);
        };
        let found = finder.find_iter(text);
        let words = found.filter_map(|found| MEANT.get(found.pattern().as_usize()));
        Self(words.fold(0, |all, word| all | 1 << (*word as u8)))
    }

    /// Whether it has a word.
    pub fn has(self, word: Word) -> bool {
        self.0 >> (word as u8) & 1 == 1
    }
}
