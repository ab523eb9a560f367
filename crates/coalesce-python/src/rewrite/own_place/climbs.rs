//! What a module looks for above the package that it moves with: `Path(__file__).parents[1] / "conf.txt"`.

use coalesce_model::{ByteSpan, Form, TreePath, UnprovenKind};
use rustc_hash::FxHashMap;

use crate::{
    names::{is_or_below, is_word, occurrences_of_word},
    rewrite::file::{File, FileEdits},
};

const OWN_FILE: &str = "__file__";

/// What gives the folder of the module, or of its package.
const OWN_FOLDERS: [&str; 8] = [
    "__package__",
    "__path__",
    "__spec__",
    "files(__name__",
    "get_data(__name__",
    "open_text(__name__",
    "path(__name__",
    "read_text(__name__",
];

/// What takes a name that begins with points for one of a module.
const IMPORTING: [&str; 2] = ["__import__(", "import_module("];

/// What a text begins with: its own file, or the folder of that.
fn anchor(text: &str) -> Option<(&'static str, Steps)> {
    if occurrences_of_word(text, OWN_FILE) {
        return Some((OWN_FILE, Steps::Known(0)));
    }
    let imports = IMPORTING.iter().any(|call| text.contains(call));
    let mut folders = OWN_FOLDERS.into_iter().filter(|_| !imports);
    let found = folders.find(|form| text.contains(form))?;
    let at = found.find("__").unwrap_or(0);
    Some((found.get(at..)?, Steps::Known(1)))
}
const WHY: &str =
    "the package moves; what is looked for above it by this is another directory afterwards";

/// Statements over more lines are read in pieces.
const LINES_OF_A_STATEMENT: usize = 12;

/// How a module moves with the package around it.
struct Way<'f> {
    old: &'f TreePath,
    new: TreePath,
    /// How many directories above the file move along.
    inside: usize,
}

impl<'f> Way<'f> {
    fn of(file: &File<'f>) -> Option<Self> {
        let own = file.graph().modules.get(file.module?)?;
        let changes = file.mapping.changes.iter();
        let around = changes.filter(|change| is_or_below(&own.name, &change.from));
        let nearest = around.max_by_key(|change| change.from.len())?;
        let below = own.name.get(nearest.from.len()..)?.matches('.').count();
        Some(Self {
            old: &own.path,
            new: file.mapping.path_after(&own.path)?.clone(),
            inside: below + usize::from(own.package),
        })
    }

    /// Whether a directory above the file is another one afterwards and does not move along.
    fn loses(&self, steps: Steps) -> bool {
        let steps = match steps {
            Steps::Known(steps) if steps <= self.inside => return false,
            Steps::Known(steps) => steps,
            Steps::Unknown => self.inside + 1,
        };
        above(self.old, steps) != above(&self.new, steps)
    }
}

fn above(path: &TreePath, steps: usize) -> Option<TreePath> {
    std::iter::successors(Some(path.clone()), TreePath::parent).nth(steps)
}

/// How many directories something goes up.
#[derive(Clone, Copy)]
enum Steps {
    Known(usize),
    Unknown,
}

impl Steps {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Self::Known(one + other),
            _ => Self::Unknown,
        }
    }

    fn farther(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Self::Known(one.max(other)),
            _ => Self::Unknown,
        }
    }
}

/// Tells where a module that moves with its package goes up from its own file to what does not move along.
pub fn doubt(file: &File<'_>, found: &mut FileEdits) {
    let has = |word: &&str| file.text.contains(*word);
    if !has(&OWN_FILE) && !OWN_FOLDERS.iter().any(has) {
        return;
    }
    let Some(way) = Way::of(file) else { return };
    // What is known by a name, and how far above the file that is.
    let mut names: FxHashMap<&str, Steps> = FxHashMap::default();
    let mut function = "";
    for (start, statement) in statements(file.text) {
        function = name_behind(statement, "def ").unwrap_or(function);
        let Some(steps) = steps_of(statement, &names) else {
            continue;
        };
        let name = match statement.trim_start().starts_with("return") {
            true => Some(function),
            false => assigned(statement),
        };
        names.extend(name.map(|name| (name, steps)));
        // What comes of a name that was told is not told again.
        let climbs = !matches!(climbs(statement), Steps::Known(0));
        if climbs && way.loses(steps) {
            let place = start + statement.len() - statement.trim_start().len();
            let span = ByteSpan::from_range(place..start + statement.trim_end().len());
            tell(
                span,
                anchor(statement).map_or(OWN_FILE, |(name, _)| name),
                found,
            );
        }
    }
}

fn tell(span: ByteSpan, name: &str, found: &mut FileEdits) {
    found.told.leave(span, Form::FilePath, name, WHY);
    found.told.doubt(span, UnprovenKind::OwnPlace, name, WHY);
}

/// Lines, those taken together that stand between brackets: where each begins, and its text.
fn statements(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut begin, mut end, mut lines, mut depth) = (0, 0, 0, 0_usize);
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        for character in code.chars() {
            match character {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        (end, lines) = (end + line.len(), lines + 1);
        if depth == 0 || lines == LINES_OF_A_STATEMENT {
            found.extend(text.get(begin..end).map(|text| (begin, text)));
            (begin, lines, depth) = (end, 0, 0);
        }
    }
    found.extend(text.get(begin..end).map(|text| (begin, text)));
    found
}

/// How far above the file a statement goes; none where it does not begin there.
fn steps_of(statement: &str, names: &FxHashMap<&str, Steps>) -> Option<Steps> {
    let known = names.iter();
    let known = known.filter(|(name, _)| occurrences_of_word(statement, name));
    let start = known
        .map(|(_, steps)| *steps)
        .chain(anchor(statement).map(|(_, steps)| steps))
        .reduce(Steps::farther)?;
    Some(start.and(climbs(statement)))
}

/// How many times a statement goes one directory up, counted for one of the paths in it.
fn climbs(statement: &str) -> Steps {
    let paths = statement.matches(OWN_FILE).count().max(1);
    let attributes = statement.match_indices(".parent");
    let attributes = attributes.filter(|(at, word)| {
        let next = statement.get(at + word.len()..).unwrap_or_default();
        !next.starts_with(is_word)
    });
    let calls = statement.matches("dirname(").count();
    let texts = statement.matches("..").count() - statement.matches("...").count();
    let texts = texts + statement.matches("pardir").count();
    let mut all = Steps::Known((attributes.count() + calls + texts).div_ceil(paths));
    for (at, word) in statement.match_indices(".parents[") {
        let number = statement.get(at + word.len()..).unwrap_or_default();
        let number = number.split(']').next().and_then(|text| text.parse().ok());
        all = all.and(number.map_or(Steps::Unknown, |number: usize| Steps::Known(number + 1)));
    }
    all
}

/// The name that a statement assigns to.
fn assigned(statement: &str) -> Option<&str> {
    let (name, value) = statement.split_once('=')?;
    let name = name.split(':').next()?.trim();
    let plain = !value.starts_with('=') && !name.is_empty() && name.chars().all(is_word);
    plain.then_some(name)
}

/// The name behind a keyword that a statement begins with.
fn name_behind<'t>(statement: &'t str, keyword: &str) -> Option<&'t str> {
    let rest = statement.trim_start().strip_prefix(keyword)?;
    rest.split(|character| !is_word(character)).next()
}
