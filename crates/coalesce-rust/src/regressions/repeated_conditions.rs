//! Conditions that no manifest and no build script declares, said more often than before: the compiler warns of each.
//!
//! Values of conditions that the compiler knows (`target_os = "cuda"`) are not asked about.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_cargo::{features, lints::declared_conditions};
use coalesce_model::{ByteSpan, Unproven, UnprovenKind};

use super::{Tree, is_changed, package_of};
use crate::{
    discover::TargetKind,
    lexer::{self, Token, TokenKind},
    lints,
    resolve::{FileId, World},
    words::KNOWN_CONDITIONS,
};

/// What a condition asks for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Feature(String),
    Name(String),
}

/// The places of a package that ask for something.
type Asked = BTreeMap<(usize, Condition), Vec<(FileId, ByteSpan)>>;

/// What a package declares.
struct Declared {
    /// Its features; `None` where its manifest cannot be read.
    features: Option<BTreeSet<String>>,
    /// Words of what its manifest and its build script say to `check-cfg`, which may declare more.
    words: BTreeSet<String>,
    /// Those of them that stand beside `feature`.
    beside_feature: BTreeSet<String>,
}

/// Where a shim, or what moves, says such a condition once more.
pub(crate) fn conditions_said_again(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = asked(after, before.world);
    if now.is_empty() {
        return Vec::new();
    }
    let then = asked(before, after.world);
    let mut declared: BTreeMap<usize, Declared> = BTreeMap::new();
    let mut found = Vec::new();
    for (key, places) in now {
        let were = then.get(&key).map_or(0, Vec::len);
        if places.len() <= were {
            continue;
        }
        let (package, condition) = key;
        let known = declared
            .entry(package)
            .or_insert_with(|| Declared::of(after, package));
        if known.has(&condition) {
            continue;
        }
        let place = places.into_iter().next();
        found.extend(place.map(|place| condition.unproven(after.world, place)));
    }
    found
}

impl Condition {
    fn unproven(self, world: &World, (file, span): (FileId, ByteSpan)) -> Unproven {
        let (what, name) = match self {
            Self::Feature(name) => (format!("the package has no feature `{name}`"), name),
            Self::Name(name) => (format!("nothing declares the condition `{name}`"), name),
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
            let lines = script.lines().filter(|line| line.contains("check-cfg"));
            said.extend(lines.map(str::to_owned));
        }
        let of_features = said.iter().filter(|text| text.contains("feature"));
        Self {
            features: manifest.and_then(|text| features::declared(&text).ok()),
            beside_feature: of_features.flat_map(|text| words(text)).collect(),
            words: said.iter().flat_map(|text| words(text)).collect(),
        }
    }

    fn has(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Feature(name) => {
                let features = self.features.as_ref();
                features.is_none_or(|features| features.contains(name))
                    || self.beside_feature.contains(name)
            }
            Condition::Name(name) => self.words.contains(name),
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let split = |c: char| !(c.is_alphanumeric() || c == '_' || c == '-');
    text.split(split).map(str::to_owned)
}

/// What files ask for aloud that the other tree has not, or not like this.
fn asked(tree: Tree<'_>, other: &World) -> Asked {
    let world = tree.world;
    let mut found = Asked::new();
    for (file, source) in world.sources() {
        let package = source.bodies.first().map(|body| world[*body].module);
        let package = package.and_then(|module| package_of(world, module));
        let Some(package) = package.filter(|_| is_changed(world, other, file)) else {
            continue;
        };
        let Some(text) = tree.texts.text(&source.path) else {
            continue;
        };
        if !text.contains("cfg") {
            continue;
        }
        let lint = ["unexpected_cfgs", "warnings"];
        let is_loud = |span: ByteSpan| !lints::is_off(world, (file, span.start), &lint, tree.texts);
        let loud = conditions_in(&text)
            .into_iter()
            .filter(|(_, span)| is_loud(*span));
        for (condition, span) in loud {
            let places = found.entry((package, condition)).or_default();
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
            inner = first_argument(inner);
        }
        gather(text, inner, &mut found);
    }
    found
}

/// The tokens before the first comma outside of all parentheses.
fn first_argument(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    let end = tokens.iter().position(|token| {
        match token.kind {
            TokenKind::Open(_) => depth += 1,
            TokenKind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(b',')
    });
    tokens
        .get(..end.unwrap_or(tokens.len()))
        .unwrap_or_default()
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
        match (word, value) {
            ("feature", Some(name)) => {
                found.push((Condition::Feature(name.to_owned()), token.span));
            }
            _ if KNOWN_CONDITIONS.contains(word) => {}
            _ => found.push((Condition::Name(word.to_owned()), token.span)),
        }
    }
}
