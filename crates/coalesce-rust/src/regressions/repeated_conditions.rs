//! Conditions that no manifest and no build script declares, said more often than before: the compiler warns of each.
//!
//! Of conditions that the compiler knows, the values are asked about where there are few of them.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{dependencies, features, lints::declared_conditions};
use coalesce_model::{ByteSpan, Texts, TreePath, Unproven, UnprovenKind};

use super::{Tree, is_changed};
use crate::{
    discover::TargetKind,
    facts::tokens::arguments,
    lexer::{self, Token, TokenKind},
    lints,
    resolve::{FileId, World},
    words::{KNOWN_CONDITIONS, VALUES_OF_CONDITIONS, words_of},
};

/// What a condition asks for: a name, or a name with a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Condition {
    name: String,
    value: Option<String>,
}

/// The values of a condition that is declared.
#[derive(Default)]
struct Values {
    /// `None` is the condition without a value.
    known: BTreeSet<Option<String>>,
    /// Whether any value is one.
    is_any: bool,
}

/// The places of a package, by its directory, that ask for something.
type Asked = BTreeMap<(TreePath, Condition), Vec<(FileId, ByteSpan)>>;

/// What a package declares.
struct Declared {
    /// Its features; `None` where its manifest cannot be read.
    features: Option<BTreeSet<String>>,
    /// What its manifest and its build script say to `check-cfg`, by the names of conditions.
    checked: BTreeMap<String, Values>,
}

/// Where a shim, or what moves, says such a condition once more.
pub(crate) fn conditions_said_again(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let mut declared: BTreeMap<usize, Declared> = BTreeMap::new();
    // Nearly all are declared, which is asked sooner than whether a lint is off.
    let now = asked(after, before.world, &mut |package, condition| {
        let known = declared
            .entry(package)
            .or_insert_with(|| Declared::of(after, package));
        !known.has(condition)
    });
    if now.is_empty() {
        return Vec::new();
    }
    let sought: BTreeSet<&Condition> = now.keys().map(|(_, condition)| condition).collect();
    let then = asked(before, after.world, &mut |_, condition| {
        sought.contains(condition)
    });
    let more = now.iter().filter(|(key, places)| {
        let were = then.get(*key).map_or(0, Vec::len);
        places.len() > were
    });
    let told = more.filter_map(|((_, condition), places)| {
        let place = places.first()?;
        Some(condition.clone().unproven(after.world, *place))
    });
    told.collect()
}

impl Condition {
    fn unproven(self, world: &World, (file, span): (FileId, ByteSpan)) -> Unproven {
        let (what, name) = match (self.name.as_str(), self.value) {
            ("feature", Some(value)) => (format!("the package has no feature `{value}`"), value),
            (name, Some(value)) => (
                format!("nothing declares the condition `{name}` with the value `{value}`"),
                self.name,
            ),
            (name, None) => (
                format!("nothing declares the condition `{name}`"),
                self.name,
            ),
        };
        Unproven {
            path: world[file].path.clone(),
            span: Some(span),
            kind: UnprovenKind::Lint,
            why: format!(
                "{what}, and the compiler warns of each condition that asks for it: there come to be more"
            ),
            name,
        }
    }

    /// Whether the compiler knows it without being told.
    fn is_known(&self) -> bool {
        let name = self.name.as_str();
        if !KNOWN_CONDITIONS.contains(name) || name == "feature" {
            return false;
        }
        let Some(value) = &self.value else {
            let alone = ["target", "target_thread_local"];
            return !takes_values(name)
                || alone.contains(&name)
                || name.starts_with("target_has_atomic");
        };
        match words_of(VALUES_OF_CONDITIONS, name) {
            // An empty one is written as it stands in code.
            Some(mut known) => {
                known.any(|known| known == value || (known == "\"\"" && value.is_empty()))
            }
            None => takes_values(name),
        }
    }
}

/// Whether a condition that the compiler knows asks for a value.
fn takes_values(name: &str) -> bool {
    name.starts_with("target_")
        || [
            "fmt_debug",
            "panic",
            "relocation_model",
            "sanitize",
            "version",
        ]
        .contains(&name)
}

impl Declared {
    fn of(tree: Tree<'_>, package: usize) -> Self {
        let (world, texts) = (tree.world, tree.texts);
        let manifest = texts.text(&world.manifest_of(package));
        let directory = &world.package(package).directory;
        let mut said = declared_conditions(texts, directory);
        let scripts = world
            .crates
            .iter()
            .filter(|krate| krate.package == package && krate.kind == TargetKind::BuildScript);
        for script in scripts.filter_map(|krate| texts.text(&krate.root_file)) {
            // It stands in a string.
            let said_by = |line: &str| Some(line.split_once("check-cfg")?.1.replace("\\\"", "\""));
            said.extend(script.lines().filter_map(said_by));
            if declares_aliases(manifest.as_deref(), texts) {
                said.extend(
                    aliases_in(&script)
                        .iter()
                        .map(|name| format!("cfg({name})")),
                );
            }
        }
        let mut checked = BTreeMap::new();
        for text in &said {
            read_declarations(text, &mut checked);
        }
        Self {
            features: manifest.and_then(|text| features::declared(&text).ok()),
            checked,
        }
    }

    fn has(&self, condition: &Condition) -> bool {
        let values = self.checked.get(&condition.name);
        let is_checked =
            values.is_some_and(|values| values.is_any || values.known.contains(&condition.value));
        let is_feature = condition.name == "feature"
            && condition.value.as_ref().is_some_and(|value| {
                let features = self.features.as_ref();
                features.is_none_or(|features| features.contains(value))
            });
        is_checked || is_feature
    }
}

/// Whether the package has a `cfg_aliases` that declares what it names: from 0.2 on.
fn declares_aliases(manifest: Option<&str>, texts: &dyn Texts) -> bool {
    let own = manifest.and_then(|text| dependencies::dependencies(text).ok());
    let shared = TreePath::root().join("Cargo.toml").ok();
    let shared = shared.and_then(|path| texts.text(&path)).and_then(|text| {
        let path = ["workspace", "dependencies"];
        dependencies::table(&text, &path).ok()
    });
    let entries = own
        .into_iter()
        .flatten()
        .chain(shared.into_iter().flatten());
    let mut asked = entries
        .filter(|entry| entry.package() == "cfg_aliases")
        .filter_map(|entry| entry.string("version"));
    asked.any(|version| {
        let version = version.trim_start_matches(['^', '=', '~', '>', ' ']);
        !version.starts_with("0.1") && !version.starts_with("0.0")
    })
}

/// The conditions that a build script names by `cfg_aliases!`, which sets and declares them.
pub(super) fn aliases_in(script: &str) -> Vec<&str> {
    let tokens = lexer::tokens(script, ByteSpan::from_range(0..script.len()));
    let word = |at: usize| tokens.get(at).and_then(|one| one.span.of(script));
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if word(at) != Some("cfg_aliases") || word(at + 1) != Some("!") {
            continue;
        }
        let Some(close) = lexer::closing(&tokens, at + 2) else {
            continue;
        };
        let mut next = at + 3;
        while next < close {
            let named = word(next + 1) == Some(":");
            let opens = tokens.get(next + 2).map(|one| one.kind) == Some(TokenKind::Open(b'{'));
            let behind = lexer::closing(&tokens, next + 2).filter(|_| named && opens);
            let Some(behind) = behind else {
                next += 1;
                continue;
            };
            found.extend(word(next));
            next = behind + 1;
        }
    }
    found
}

/// Reads each `cfg(name, …, values("…", …))` of a text.
fn read_declarations(text: &str, found: &mut BTreeMap<String, Values>) {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let word = |token: &Token| token.span.of(text).unwrap_or_default();
    for (at, token) in tokens.iter().enumerate() {
        let opens = tokens.get(at + 1).map(|token| token.kind) == Some(TokenKind::Open(b'('));
        let close = lexer::closing(&tokens, at + 1).filter(|_| opens && word(token) == "cfg");
        let Some(inner) = close.and_then(|close| tokens.get(at + 2..close)) else {
            continue;
        };
        let list = inner.iter().position(|token| word(token) == "values");
        let (names, values) = inner.split_at(list.unwrap_or(inner.len()));
        let names: Vec<&Token> = names.iter().filter(|token| token.is_ident()).collect();
        for name in names {
            let known = found.entry(word(name).to_owned()).or_default();
            known.known.extend(values.is_empty().then_some(None));
            known.note(values, text);
        }
    }
}

impl Values {
    /// Notes what stands behind `values`.
    fn note(&mut self, values: &[Token], text: &str) {
        for value in values {
            match (value.kind, value.span.of(text).unwrap_or_default()) {
                (TokenKind::Text { content }, _) => {
                    self.known.insert(content.of(text).map(str::to_owned));
                }
                (_, "any") => self.is_any = true,
                (_, "none") => _ = self.known.insert(None),
                _ => {}
            }
        }
    }
}

/// What files ask for aloud that the other tree has not, or not like this, of what counts in a package.
fn asked(
    tree: Tree<'_>,
    other: &World,
    counts: &mut dyn FnMut(usize, &Condition) -> bool,
) -> Asked {
    let world = tree.world;
    let mut found = Asked::new();
    for (file, source) in world.sources() {
        let package = source.bodies.first().map(|body| world[*body].module);
        let package = package.map(|module| world[world[module].krate].package);
        let Some(package) = package.filter(|_| is_changed(world, other, file)) else {
            continue;
        };
        let text = tree.texts.text(&source.path);
        let Some(text) = text.filter(|text| text.contains("cfg")) else {
            continue;
        };
        let lint = ["unexpected_cfgs", "warnings"];
        // What stands on the item itself comes too late for the conditions on it.
        let is_loud =
            |span: ByteSpan| !lints::is_off_around(world, (file, span.start), &lint, tree.texts);
        let asked = conditions_in(&text).into_iter();
        let asked = asked.filter(|(condition, span)| counts(package, condition) && is_loud(*span));
        for (condition, span) in asked {
            let directory = world.package(package).directory.clone();
            let places = found.entry((directory, condition)).or_default();
            places.push((file, span));
        }
    }
    found
}

/// The conditions that a text asks for in `cfg`, `cfg!` and `cfg_attr`.
fn conditions_in(text: &str) -> Vec<(Condition, ByteSpan)> {
    let tokens = lexer::tokens(text, ByteSpan::from_range(0..text.len()));
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text).unwrap_or_default();
        if !matches!(word, "cfg" | "cfg_attr") {
            continue;
        }
        let is_called = tokens.get(at + 1).is_some_and(|next| next.is(b'!'));
        let open = at + 1 + usize::from(is_called);
        let opens = tokens.get(open).map(|token| token.kind) == Some(TokenKind::Open(b'('));
        let Some(close) = lexer::closing(&tokens, open).filter(|_| opens) else {
            continue;
        };
        let mut inner = tokens.get(open + 1..close).unwrap_or_default();
        if word == "cfg_attr" {
            inner = arguments(inner).first().copied().unwrap_or_default();
        }
        gather(text, inner, &mut found);
    }
    found
}

fn gather(text: &str, tokens: &[Token], found: &mut Vec<(Condition, ByteSpan)>) {
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text).unwrap_or_default();
        if !token.is_ident() {
            continue;
        }
        let value = tokens.get(at + 1).filter(|next| next.is(b'='));
        let value = value.and_then(|_| match tokens.get(at + 2)?.kind {
            TokenKind::Text { content } => content.of(text),
            _ => None,
        });
        let condition = Condition {
            name: word.to_owned(),
            value: value.map(str::to_owned),
        };
        if !condition.is_known() {
            found.push((condition, token.span));
        }
    }
}
