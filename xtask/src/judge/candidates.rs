//! What of a tree can be consolidated, and random choices among it.

use std::{path::Path, process::Command};

use anyhow::Context as _;
use coalesce_engine::Session;
use coalesce_model::{LanguageKind, Module, ModuleKind, TreePath};
use serde_json::Value;

use super::{
    arguments::Arguments,
    asked::Asked,
    consolidation::{Consolidation, Kind},
    scratch::read_tree,
};
use crate::random::Random;

/// How many of a hundred items go to a module that is made for them.
const NEW_MODULES: u64 = 30;
/// How many of a hundred moved modules get another name, too.
const RENAMES: u64 = 30;
/// How often a draw that fits nowhere is made again.
const TRIES: u32 = 50;

/// A module that has a file of its own.
pub struct Place {
    /// Its full name.
    pub name: String,
    /// Its file.
    pub path: TreePath,
    /// Its language.
    pub language: LanguageKind,
    package: bool,
    defines: Vec<String>,
}

impl Place {
    /// Whether nobody would put what `other` holds here: this is for tests, and that is not.
    fn is_apart_from(&self, other: &Self) -> bool {
        let apart = |place: &Self| {
            let mut parts = place.name.split(place.language.separator());
            parts.any(|part| {
                matches!(
                    part,
                    "test" | "tests" | "testing" | "conftest" | "benches" | "examples"
                ) || part.starts_with("test_")
                    || part.ends_with("_test")
            })
        };
        apart(self) && !apart(other)
    }
}

/// Two names of the same thing, as the finder sees it.
struct Pair {
    language: LanguageKind,
    modules: bool,
    first: String,
    second: String,
    /// Whether the finder would tell it to a maintainer, as product code.
    told: bool,
    /// Whether nothing differs.
    equal: bool,
}

impl Place {
    /// Whether it can hold modules as files: a package of Python, a `mod.rs` or root file of Rust.
    pub const fn holds_modules(&self) -> bool {
        self.package
    }

    fn of(module: &Module) -> Self {
        Self {
            name: module.name.clone(),
            path: module.path.clone(),
            language: module.language,
            package: module.package,
            defines: module.defines.clone(),
        }
    }
}

/// What of a tree can be consolidated.
pub struct Candidates {
    places: Vec<Place>,
    pairs: Vec<Pair>,
    /// What somebody could ask for; `None` where anything is drawn.
    asked: Option<Asked>,
}

impl Candidates {
    /// Reads them from the tree, duplicates included.
    pub fn read(arguments: &Arguments) -> anyhow::Result<Self> {
        let session = read_tree(&arguments.tree)?;
        let mut candidates = Self::of(&session, &arguments.tree, arguments)?;
        let wanted = |kind| arguments.kinds.contains(&kind);
        if wanted(Kind::Replace) || wanted(Kind::Merge) {
            candidates.pairs = pairs(arguments, &candidates.places)?;
        }
        Ok(candidates)
    }

    /// Those of a tree that was read, without its duplicates.
    pub fn of(session: &Session, root: &Path, arguments: &Arguments) -> anyhow::Result<Self> {
        let graphs = session.graphs();
        let modules = graphs.iter().flat_map(|graph| graph.modules());
        let files =
            modules.filter(|module| module.inline.is_none() && module.kind == ModuleKind::Module);
        let places: Vec<Place> = files.map(Place::of).collect();
        let roots = graphs.iter().flat_map(|graph| graph.roots());
        let targets = roots.filter(|root| root.language == LanguageKind::Rust);
        let targets: Vec<(String, TreePath)> = targets
            .map(|root| (root.name.clone(), root.path.clone()))
            .collect();
        let asked = match arguments.any_target {
            true => None,
            false => {
                let texts = &session.tree;
                Some(Asked::read(root, &places, &targets, texts)?)
            }
        };
        Ok(Self {
            places,
            pairs: Vec::new(),
            asked,
        })
    }

    /// The modules.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// What somebody could ask for; `None` where anything is drawn.
    pub const fn asked(&self) -> Option<&Asked> {
        self.asked.as_ref()
    }

    /// How many modules there are.
    pub fn modules(&self) -> usize {
        self.places.len()
    }

    /// How many pairs of duplicates there are.
    pub fn duplicates(&self) -> usize {
        self.pairs.len()
    }

    /// One consolidation; `None` where the tree has nothing of the kinds that are asked for.
    pub fn draw(&self, random: &mut Random, arguments: &Arguments) -> Option<Consolidation> {
        let first = *random.choose(&arguments.kinds)?;
        for at in 0..2 * TRIES {
            // A kind that seldom fits would else give way to those that always do.
            let kind = match at < TRIES {
                true => first,
                false => *random.choose(&arguments.kinds)?,
            };
            let shim = random.percent(arguments.shims);
            let drawn = match kind {
                Kind::Module => self.module(random),
                Kind::Item => self.item(random),
                Kind::Replace => {
                    self.pair(random, |pair| !pair.modules || pair.first != pair.second)
                }
                Kind::Merge => self.pair(random, |pair| pair.modules),
            };
            if let Some((language, from, to)) = drawn {
                return Some(Consolidation {
                    kind,
                    language,
                    from,
                    to,
                    shim,
                    decide: Vec::new(),
                    planted: None,
                });
            }
        }
        None
    }

    fn module(&self, random: &mut Random) -> Option<(LanguageKind, String, String)> {
        let place = random.choose(&self.places)?;
        let separator = place.language.separator();
        let (parent, name) = place.name.rsplit_once(separator)?;
        let above = self.target(random, place, |asked, above| {
            let inside =
                above == place.name || above.starts_with(&format!("{}{separator}", place.name));
            !inside && above != parent && asked.module(&place.name, above)
        })?;
        let holds = above.language == LanguageKind::Rust || above.package;
        let below = above.name.starts_with(&place.name);
        if above.language != place.language || !holds || below || above.name == parent {
            return None;
        }
        let name = if random.percent(RENAMES) {
            format!("{name}_moved")
        } else {
            name.to_owned()
        };
        let to = format!("{}{separator}{name}", above.name);
        let taken = self.places.iter().any(|other| other.name == to);
        (!taken && !above.is_apart_from(place)).then(|| (place.language, place.name.clone(), to))
    }

    fn item(&self, random: &mut Random) -> Option<(LanguageKind, String, String)> {
        let place = random.choose(&self.places)?;
        // What a module says of itself is said where it stands: `__all__`, `__version__`. `_` is what nobody wants.
        let item = random.choose(&place.defines)?;
        if item == "_" || item.starts_with("__") && item.ends_with("__") {
            return None;
        }
        let above = self.target(random, place, |asked, above| {
            above != place.name && asked.item(&place.name, item, above)
        })?;
        let unfit = above.language != place.language || above.name == place.name;
        if unfit || above.defines.contains(item) || above.is_apart_from(place) {
            return None;
        }
        let separator = place.language.separator();
        let from = format!("{}{separator}{item}", place.name);
        let holds = above.language == LanguageKind::Rust || above.package;
        let to = if random.percent(NEW_MODULES) && holds {
            format!("{}{separator}made{separator}{item}", above.name)
        } else {
            format!("{}{separator}{item}", above.name)
        };
        Some((place.language, from, to))
    }

    /// One of the modules that something of `place` could go to.
    fn target(
        &self,
        random: &mut Random,
        place: &Place,
        fits: impl Fn(&Asked, &str) -> bool,
    ) -> Option<&Place> {
        let Some(asked) = &self.asked else {
            return random.choose(&self.places);
        };
        if !asked.is_source(&place.name) {
            return None;
        }
        let places = self.places.iter();
        let fitting: Vec<_> = places.filter(|above| fits(asked, &above.name)).collect();
        random.choose(&fitting).copied()
    }

    fn pair(
        &self,
        random: &mut Random,
        fits: impl Fn(&Pair) -> bool,
    ) -> Option<(LanguageKind, String, String)> {
        let pair = random.choose(&self.pairs).filter(|pair| fits(pair))?;
        let (from, to) = if random.percent(50) {
            (&pair.first, &pair.second)
        } else {
            (&pair.second, &pair.first)
        };
        if let Some(asked) = &self.asked {
            // What a merge of two that differ comes to has to be decided, which a draw cannot do.
            let module = |name: &str| match pair.modules {
                true => name.to_owned(),
                false => name
                    .rsplit_once(pair.language.separator())
                    .map_or("", |(module, _)| module)
                    .to_owned(),
            };
            let decided = !pair.modules || pair.equal;
            if !pair.told || !decided || !asked.pair(&module(from), &module(to)) {
                return None;
            }
        }
        Some((pair.language, from.clone(), to.clone()))
    }
}

/// The duplicates of the tree, as `audit` tells them, two members at a time.
fn pairs(arguments: &Arguments, places: &[Place]) -> anyhow::Result<Vec<Pair>> {
    let output = Command::new(&arguments.program)
        .args(["audit", "--no-cache", "--format", "json", "--root"])
        .arg(&arguments.tree)
        .output()
        .context("failed to start audit")?;
    let audit: Value = serde_json::from_slice(&output.stdout).context("audit printed no JSON")?;
    let classes = audit.get("duplicates").and_then(Value::as_array);
    let classes = classes.into_iter().flatten();
    Ok(classes.flat_map(|class| pairs_of(class, places)).collect())
}

/// Members of a class, each with the next one; none of what is no module, class or function.
fn pairs_of(class: &Value, places: &[Place]) -> Vec<Pair> {
    let modules = match class.get("kind").and_then(Value::as_str) {
        Some("module") => true,
        Some("class" | "function") => false,
        _ => return Vec::new(),
    };
    let told = class.get("chapter").and_then(Value::as_str) == Some("product")
        && class.get("likelihood").is_some_and(Value::is_number);
    let differences = class.get("differences").and_then(Value::as_array);
    let equal = class.get("similarity").and_then(Value::as_f64) == Some(1.0)
        && differences.is_none_or(Vec::is_empty);
    let members = class.get("members").and_then(Value::as_array);
    let members = members.into_iter().flatten();
    let names: Vec<_> = members.filter_map(|member| named(member, places)).collect();
    let pairs = names.windows(2).filter_map(|two| match two {
        [(language, first), (_, second)] if first != second => Some(Pair {
            language: *language,
            modules,
            first: first.clone(),
            second: second.clone(),
            told,
            equal,
        }),
        _ => None,
    });
    pairs.collect()
}

/// The full name of a member: of a module, or of an item that stands in no other one.
fn named(member: &Value, places: &[Place]) -> Option<(LanguageKind, String)> {
    let path = member.get("path")?.as_str()?;
    let item = member.get("item")?.as_str()?;
    let mut places = places.iter();
    let place = places.find(|place| place.path.as_str() == path)?;
    if item.is_empty() {
        return Some((place.language, place.name.clone()));
    }
    let plain = item.chars().all(|c| c.is_alphanumeric() || c == '_');
    let name = format!("{}{}{item}", place.name, place.language.separator());
    plain.then_some((place.language, name))
}
