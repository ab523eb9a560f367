//! Copies of real modules and items that are planted into the scratch copy before anything is drawn: real trees
//! seldom have two of a thing, and never say which of them differ in meaning.
//!
//! A copy is made as people make one: under another name, with what it needs, with small changes; some of its users come
//! to use it. Controls are changed so that they mean something else. The tree with it has to work as before.

mod code;
mod draw;
mod edits;
mod item;
mod module;
mod spell;
#[cfg(test)]
pub(super) mod tests;
mod users;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use coalesce_engine::Session;
use coalesce_model::{LanguageKind, Texts as _, TreePath};

pub use self::draw::draw;
pub use self::edits::Change;
use self::{
    code::Code,
    edits::change,
    item::{gather, put_into, renamed},
    module::{declared, file_below, leads, text_elsewhere},
    spell::Spot,
    users::{Leads, Redirected, redirect},
};
use super::{
    arguments::Arguments,
    candidates::{Candidates, Place},
    scratch::read_tree,
};
use crate::random::Random;

/// How many of a hundred copies are controls.
const CONTROLS: u64 = 40;
/// How many of a hundred copies are of whole modules.
const MODULES: u64 = 50;
/// How many of a hundred copied items get another name.
const RENAMES: u64 = 25;
/// What a copy's name ends with.
const ENDINGS: [&str; 5] = ["_old", "_local", "_compat", "2", "_impl"];

/// One copy.
#[derive(Clone, Debug)]
pub struct Plant {
    /// The language.
    pub language: LanguageKind,
    /// Whether it is a module, and not an item.
    pub is_module: bool,
    /// The full name of the original.
    pub original: String,
    /// The full name of the copy.
    pub copy: String,
    /// What was changed in it.
    pub changes: Vec<Change>,
    /// Its definitions that mean something else.
    pub differs: BTreeSet<String>,
    /// Its definitions on which a merge has to decide.
    pub decides: BTreeSet<String>,
    /// Its functions and types, by themselves.
    pub items: Vec<String>,
    /// The files of the original and of the copy, and those that were made to use them.
    pub files: Vec<TreePath>,
    /// The files that it comes to, with their texts.
    pub texts: BTreeMap<TreePath, String>,
}

impl Plant {
    /// Whether neither changes what the other one is a copy of.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        let changes =
            |one: &Self, other: &Self| other.files.iter().any(|file| one.texts.contains_key(file));
        let shares = self.files.iter().any(|file| other.files.contains(file));
        !shares && !changes(other, self) && self.original != other.original
    }

    /// In a line.
    pub fn told(&self) -> String {
        let changes: Vec<&str> = self.changes.iter().map(|change| change.as_str()).collect();
        let differs: Vec<&str> = self.differs.iter().map(String::as_str).collect();
        let differs = match differs.is_empty() {
            true => String::new(),
            false => format!("; differ: {}", differs.join(", ")),
        };
        format!(
            "{} -> {} ({}{differs})",
            self.original,
            self.copy,
            changes.join(", ")
        )
    }
}

/// The tree that is planted into, as it is by now.
pub struct Tree {
    /// Its files and graphs.
    pub session: Session,
    candidates: Candidates,
}

/// A copy's text with what was changed.
struct Edited {
    text: String,
    changes: Vec<Change>,
    differs: BTreeSet<String>,
    decides: BTreeSet<String>,
}

impl Tree {
    /// Reads it.
    pub fn read(root: &Path, arguments: &Arguments) -> anyhow::Result<Self> {
        let session = read_tree(root)?;
        let candidates = Candidates::of(&session, root, arguments)?;
        Ok(Self {
            session,
            candidates,
        })
    }

    /// Its modules.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.candidates.places().iter()
    }

    /// One of its files.
    pub fn code(&self, path: &TreePath) -> Option<Code> {
        let language = path.extension().and_then(LanguageKind::of_extension)?;
        Code::read(language, path, &self.session.tree.text(path)?)
    }

    /// Whether a name is one of something that a module defines.
    pub fn is_item(&self, name: &str) -> bool {
        self.places().all(|place| place.name != name)
    }

    fn place(&self, name: &str) -> Option<&Place> {
        self.places().find(|place| place.name == name)
    }

    /// Another copy, drawn at random; `None` where this draw comes to nothing.
    pub fn plant(&self, random: &mut Random) -> Option<Plant> {
        let sources: Vec<&Place> = self
            .places()
            .filter(|place| self.is_source(place))
            .collect();
        let place = *random.choose(&sources)?;
        let code = self.code(&place.path)?;
        match random.percent(MODULES) {
            true => self.module(place, &code, random),
            false => self.item(place, &code, random),
        }
    }

    fn is_source(&self, place: &Place) -> bool {
        let asked = self.candidates.asked();
        place.language != LanguageKind::Kernel
            && place.path.extension() != Some("pyi")
            && asked.is_none_or(|asked| asked.is_source(&place.name))
    }

    fn module(&self, place: &Place, code: &Code, random: &mut Random) -> Option<Plant> {
        let separator = place.language.separator();
        let below = format!("{}{separator}", place.name);
        let (parent, name) = place.name.rsplit_once(separator)?;
        if place.holds_modules() && place.language == LanguageKind::Python
            || self.places().any(|other| other.name.starts_with(&below))
        {
            return None;
        }
        let asked = self.candidates.asked();
        let fits = |above: &&Place| {
            above.language == place.language
                && above.name != place.name
                && (above.name == parent
                    || asked.is_none_or(|asked| asked.module(&place.name, &above.name)))
        };
        let above: Vec<&Place> = self.places().filter(fits).collect();
        let above = *random.choose(&above)?;
        let name = format!("{name}{}", random.choose(&ENDINGS)?);
        let copy = format!("{}{separator}{name}", above.name);
        let file = file_below(above, &name).filter(|_| self.place(&copy).is_none())?;
        let spot = Spot {
            module: &place.name,
            package: false,
        };
        let text = text_elsewhere(code, spot, above.name == parent)?;
        let moved = Spot {
            module: &copy,
            package: false,
        };
        let edited = edit(
            &Code::read(place.language, &file, &text)?,
            (None, moved),
            random,
        )?;
        let leads = Leads {
            names: leads(code, &place.name, &copy),
            except: BTreeSet::from([place.path.clone()]),
            home: &copy,
        };
        let mut redirected = redirect(self, &leads, random);
        if place.language == LanguageKind::Rust {
            let declaring = self.place(parent)?;
            let old = self.code(&declaring.path)?;
            let around = redirected.texts.get(&above.path).cloned();
            let around = around.or_else(|| Some(self.session.tree.text(&above.path)?.to_string()));
            let around = Code::read(place.language, &above.path, &around?)?;
            let last = place.name.rsplit("::").next()?;
            let declared = declared(&around, &name, Some((&old, last)))?;
            redirected.texts.insert(above.path.clone(), declared);
        }
        let common = leads
            .names
            .keys()
            .filter_map(|name| name.strip_prefix(&below));
        let items = common.filter(|name| code.part(name).is_some_and(code::Part::is_item));
        let items: Vec<String> = items.map(str::to_owned).collect();
        self.finish(
            (place.name.clone(), copy, true),
            ([place.path.clone(), file], items),
            edited,
            redirected,
        )
    }

    fn item(&self, place: &Place, code: &Code, random: &mut Random) -> Option<Plant> {
        let separator = place.language.separator();
        let items: Vec<&str> = code
            .parts
            .iter()
            .filter(|part| part.is_item())
            .map(code::Part::name)
            .collect();
        let item = *random.choose(&items)?;
        let asked = self.candidates.asked();
        let fits = |above: &&Place| {
            above.language == place.language
                && above.name != place.name
                && self.is_source(above)
                && asked.is_none_or(|asked| asked.pair(&place.name, &above.name))
        };
        let targets: Vec<&Place> = self.places().filter(fits).collect();
        let target = *random.choose(&targets)?;
        let spot = Spot {
            module: &place.name,
            package: place.holds_modules(),
        };
        let gathered = gather(code, spot, item, random.percent(40))?;
        let fragment = Code::read(place.language, &place.path, &gathered.text)?;
        let edited = edit(&fragment, (Some(item), spot), random)?;
        let original = format!("{}{separator}{item}", place.name);
        let new = match random.percent(RENAMES) {
            true => format!("{item}{}", random.choose(&ENDINGS)?),
            false => item.to_owned(),
        };
        let text = renamed(
            &Code::read(place.language, &place.path, &edited.text)?,
            item,
            &new,
        )?;
        let above = self.code(&target.path)?;
        let there = Spot {
            module: &target.name,
            package: target.holds_modules(),
        };
        let text = put_into(&above, there, (&gathered, &text), &original)?;
        let copy = format!("{}{separator}{new}", target.name);
        let leads = Leads {
            names: BTreeMap::from([(original.clone(), copy.clone())]),
            except: BTreeSet::from([place.path.clone(), target.path.clone()]),
            home: &target.name,
        };
        let mut redirected = redirect(self, &leads, random);
        // What the target called by an import until now, it has by itself.
        redirected.copy |= above.binds(item) && item == new;
        let edited = Edited { text, ..edited };
        self.finish(
            (original, copy, false),
            ([place.path.clone(), target.path.clone()], Vec::new()),
            edited,
            redirected,
        )
    }

    fn finish(
        &self,
        (original, copy, is_module): (String, String, bool),
        ([from, file], items): ([TreePath; 2], Vec<String>),
        edited: Edited,
        redirected: Redirected,
    ) -> Option<Plant> {
        let language = file.extension().and_then(LanguageKind::of_extension)?;
        let mut texts = redirected.texts;
        let mut files = vec![from, file.clone()];
        texts.insert(file, edited.text);
        let both = [(redirected.copy, &copy), (redirected.original, &original)];
        for (_, unused) in both.iter().filter(|(used, _)| !used) {
            match language {
                LanguageKind::Python => {
                    let (path, text) = self.user(unused, is_module.then_some(items.as_slice()))?;
                    files.push(path.clone());
                    texts.insert(path, text);
                }
                // Another crate may use what is public; only the copy's users are ours.
                _ if unused.as_str() == copy => return None,
                _ => {}
            }
        }
        let name = original.rsplit(language.separator()).next()?;
        let differs = edited.differs.into_iter();
        let differs = differs.filter(|one| is_module || one == name).collect();
        Some(Plant {
            language,
            is_module,
            copy,
            changes: edited.changes,
            differs,
            decides: edited.decides,
            items,
            files,
            texts,
            original,
        })
    }

    /// A module of Python that uses what nothing else uses; `items` are those of a module.
    fn user(&self, name: &str, items: Option<&[String]>) -> Option<(TreePath, String)> {
        let (module, item) = match items {
            Some(_) => (name, None),
            None => name
                .rsplit_once('.')
                .map(|(module, item)| (module, Some(item)))?,
        };
        let mut names: Vec<&str> = item.into_iter().collect();
        names.extend(items.into_iter().flatten().map(String::as_str));
        let package = module.rsplit_once('.').map(|(package, _)| package)?;
        let above = self.place(package).filter(|place| place.holds_modules())?;
        // Both of a pair may need one, in one package.
        let ends: Vec<&str> = name.rsplit('.').take(2).collect();
        let file = file_below(above, &format!("uses_{}", ends.join("_of_")))?;
        let free = !self.session.tree.exists(&file) && !names.is_empty();
        let names = names.join(", ");
        let text = format!("from {module} import {names}\n\nUSED = [{names}]\n");
        free.then_some((file, text))
    }
}

/// Changes a copy's text once or twice, or not at all; a control once more.
fn edit(
    code: &Code,
    (item, spot): (Option<&str>, Spot<'_>),
    random: &mut Random,
) -> Option<Edited> {
    let (harmless, controls) = Change::ALL.split_at(7);
    let mut wanted = vec![*random.choose(harmless)?];
    if random.percent(40) {
        wanted.push(*random.choose(harmless)?);
    }
    if random.percent(CONTROLS) {
        wanted.push(*random.choose(controls)?);
    }
    let mut edited = Edited {
        text: code.text().to_owned(),
        changes: Vec::new(),
        differs: BTreeSet::new(),
        decides: BTreeSet::new(),
    };
    let some = wanted.iter().any(|change| *change != Change::Nothing);
    wanted.retain(|change| !some || *change != Change::Nothing);
    wanted.dedup();
    for what in wanted {
        let now = Code::read(code.language(), &code.file.path, &edited.text)?;
        let changed = change(what, &now, (item, spot), random)?;
        edited.text = changed.text;
        edited.changes.push(what);
        edited.decides.extend(changed.name.clone());
        if let Some(name) = changed.name.filter(|_| what != Change::Parameter) {
            edited.differs.extend(now.reached_by(&name));
        }
    }
    // Of a copied item its own meaning counts.
    let shown = item.is_none_or(|item| edited.differs.is_empty() || edited.differs.contains(item));
    shown.then_some(edited)
}
