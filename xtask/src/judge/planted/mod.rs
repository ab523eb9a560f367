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
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    rc::Rc,
};

use coalesce_engine::Session;
use coalesce_model::{LanguageKind, Texts as _, TreePath};

pub use self::draw::draw;
pub use self::edits::Change;
use self::{
    code::Code,
    edits::change,
    item::{gather, put_into, renamed},
    module::{can_be_two, declared, file_below, is_declared_public, leads, text_elsewhere},
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
/// How many of a hundred copied modules of Rust stand beside the original.
const BESIDE: u64 = 60;
/// How many of a hundred copied items of Rust go to a module that uses them.
const TO_USERS: u64 = 75;
/// How many of a hundred copied items of Rust are no types.
const NO_TYPES: u64 = 75;
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
    pub texts: Texts,
    /// Whether the original goes on being used.
    pub is_original_used: bool,
    /// Other texts, and whether the original is used with these, where the tree does not work with the first.
    pub others: Vec<(Texts, bool)>,
}

/// Files with what they come to.
pub type Texts = BTreeMap<TreePath, String>;

impl Plant {
    /// Whether neither changes what the other one is a copy of.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        let changes = |one: &Self, other: &Self| {
            let own: BTreeSet<&TreePath> = one.all_files().collect();
            other.files.iter().any(|file| own.contains(file))
        };
        let shares = self.files.iter().any(|file| other.files.contains(file));
        !shares && !changes(other, self) && self.original != other.original
    }

    /// Whether an error names one of the files that it comes to.
    pub fn is_about(&self, error: &str) -> bool {
        self.texts.keys().any(|file| error.contains(file.as_str()))
    }

    /// The files that it comes to, with whatever users.
    fn all_files(&self) -> impl Iterator<Item = &TreePath> {
        let all = self.others.iter().map(|(texts, _)| texts);
        all.chain([&self.texts]).flat_map(BTreeMap::keys)
    }

    /// Whether both come to the same file.
    pub fn touches(&self, other: &Self) -> bool {
        let own: BTreeSet<&TreePath> = self.all_files().collect();
        other.all_files().any(|file| own.contains(file))
    }

    /// Whether it has other users to be tried with, which it comes to have then.
    pub fn change_users(&mut self) -> bool {
        match self.others.is_empty() {
            true => false,
            false => {
                (self.texts, self.is_original_used) = self.others.remove(0);
                true
            }
        }
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
    /// The files that were read, for few are read once.
    read: RefCell<BTreeMap<TreePath, Option<Rc<Code>>>>,
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
            read: RefCell::default(),
        })
    }

    /// Its modules.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.candidates.places().iter()
    }

    /// One of its files.
    pub fn code(&self, path: &TreePath) -> Option<Rc<Code>> {
        let read = || {
            let language = path.extension().and_then(LanguageKind::of_extension)?;
            Code::read(language, path, &self.session.tree.text(path)?).map(Rc::new)
        };
        let mut files = self.read.borrow_mut();
        files.entry(path.clone()).or_insert_with(read).clone()
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
            || !can_be_two(code)
        {
            return None;
        }
        let above = self.above_of(place, parent, random)?;
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
            self.declare_in(&mut redirected, place, (above, &name))?;
        }
        for one in &mut redirected {
            one.texts.insert(file.clone(), edited.text.clone());
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

    /// The package or module that a copy of a module comes to stand in; in Rust most often the one around it.
    fn above_of(&self, place: &Place, parent: &str, random: &mut Random) -> Option<&Place> {
        let asked = self.candidates.asked();
        let fits = |above: &&Place| {
            above.language == place.language
                && above.name != place.name
                && (above.name == parent
                    || asked.is_none_or(|asked| asked.module(&place.name, &above.name)))
        };
        let mut above: Vec<&Place> = self.places().filter(fits).collect();
        if place.language == LanguageKind::Rust && random.percent(BESIDE) {
            above.retain(|above| above.name == parent);
        }
        random.choose(&above).copied()
    }

    /// Declares the copy `name` of a Rust module in all texts of `above`, as the original is declared.
    fn declare_in(
        &self,
        redirected: &mut [Redirected],
        place: &Place,
        (above, name): (&Place, &str),
    ) -> Option<()> {
        let (parent, last) = place.name.rsplit_once("::")?;
        let old = self.code(&self.place(parent)?.path)?;
        for one in redirected {
            let around = self.text_with(&one.texts, &above.path)?;
            let around = Code::read(place.language, &above.path, &around)?;
            let declared = declared(&around, name, Some((&old, last)))?;
            one.texts.insert(above.path.clone(), declared);
        }
        Some(())
    }

    /// The text of a file as it is, or as it comes to be.
    fn text_with(&self, texts: &Texts, path: &TreePath) -> Option<String> {
        let text = texts.get(path).cloned();
        text.or_else(|| Some(self.session.tree.text(path)?.to_string()))
    }

    /// A definition of a module that is copied by itself.
    fn item_of<'c>(&self, code: &'c Code, random: &mut Random) -> Option<&'c str> {
        let mut items: Vec<&code::Part> = code
            .parts
            .iter()
            .filter(|part| code.is_copyable(part))
            .collect();
        if code.language() == LanguageKind::Rust {
            // Only what can be seen has users elsewhere, nearly always.
            items.retain(|part| code.is_seen(part));
            if random.percent(NO_TYPES) {
                items.retain(|part| !code.is_type(part));
            }
        }
        random.choose(&items).map(|part| part.name())
    }

    /// A module that an item is copied to; in Rust most often one that uses it.
    fn target_of(&self, place: &Place, original: &str, random: &mut Random) -> Option<&Place> {
        let asked = self.candidates.asked();
        let fits = |above: &&Place| {
            above.language == place.language
                && above.name != place.name
                && self.is_source(above)
                && asked.is_none_or(|asked| asked.pair(&place.name, &above.name))
        };
        let targets: Vec<&Place> = self.places().filter(fits).collect();
        if place.language == LanguageKind::Rust && random.percent(TO_USERS) {
            let users = self.files_that_use(original);
            let using = targets.iter().filter(|above| users.contains(&above.path));
            let using: Vec<&Place> = using.copied().collect();
            return random.choose(&using).copied();
        }
        random.choose(&targets).copied()
    }

    /// Whether the Rust module `from` can name the module `named`.
    fn sees(&self, from: &str, named: &str) -> bool {
        let Some((around, last)) = named.rsplit_once("::") else {
            return true;
        };
        let inside = from == around || from.starts_with(&format!("{around}::"));
        let public = || {
            let code = self.code(&self.place(around)?.path)?;
            Some(is_declared_public(&code, last))
        };
        inside || public() == Some(true) && self.sees(from, around)
    }

    fn files_that_use(&self, name: &str) -> BTreeSet<TreePath> {
        let mut files = BTreeSet::new();
        for graph in self.session.graphs() {
            let references = graph.references_of(&[name], &self.session.tree);
            let paths = references.iter().flatten().map(|one| one.path.clone());
            files.extend(paths);
        }
        files
    }

    fn item(&self, place: &Place, code: &Code, random: &mut Random) -> Option<Plant> {
        let separator = place.language.separator();
        let item = self.item_of(code, random)?;
        let original = format!("{}{separator}{item}", place.name);
        let target = self.target_of(place, &original, random)?;
        let spot = Spot {
            module: &place.name,
            package: place.holds_modules(),
        };
        let seen = place.language == LanguageKind::Python || self.sees(&target.name, &place.name);
        let gathered = gather(code, spot, item, (random.percent(40), seen))?;
        let fragment = Code::read(place.language, &place.path, &gathered.text)?;
        let edited = edit(&fragment, (Some(item), spot), random)?;
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
        let copy = format!("{}{separator}{new}", target.name);
        let mut except = BTreeSet::from([place.path.clone()]);
        if place.language == LanguageKind::Python {
            except.insert(target.path.clone());
        }
        let leads = Leads {
            names: BTreeMap::from([(original.clone(), copy.clone())]),
            except,
            home: &target.name,
        };
        let mut redirected = redirect(self, &leads, random);
        if redirected.is_empty() {
            redirected.push(Redirected::nothing());
        }
        for one in &mut redirected {
            let around = self.text_with(&one.texts, &target.path)?;
            let around = Code::read(place.language, &target.path, &around)?;
            let text = put_into(&around, there, (&gathered, &text), &original)?;
            one.texts.insert(target.path.clone(), text);
            // What the target called by an import until now, it has by itself.
            one.copy |= above.binds(item) && item == new;
        }
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
        redirected: Vec<Redirected>,
    ) -> Option<Plant> {
        let language = file.extension().and_then(LanguageKind::of_extension)?;
        let mut files = vec![from, file];
        let mut others = Vec::new();
        for mut one in redirected {
            let both = [(one.copy, &copy), (one.original, &original)];
            let unused = both.iter().filter(|(used, _)| !used);
            match language {
                LanguageKind::Python => {
                    for (_, unused) in unused {
                        let names = is_module.then_some(items.as_slice());
                        let (path, text) = self.user(unused, names)?;
                        files.push(path.clone());
                        one.texts.insert(path, text);
                    }
                }
                // Another crate may use what is public; only the copy's users are ours.
                _ if !one.copy => continue,
                _ => {}
            }
            let used = one.original || language == LanguageKind::Python;
            others.push((one.texts, used));
        }
        if others.is_empty() {
            return None;
        }
        let (texts, is_original_used) = others.remove(0);
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
            is_original_used,
            others,
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
    let mut wanted = vec![harmless];
    if random.percent(40) {
        wanted.push(harmless);
    }
    if random.percent(CONTROLS) {
        wanted.push(controls);
    }
    let mut edited = Edited {
        text: code.text().to_owned(),
        changes: Vec::new(),
        differs: BTreeSet::new(),
        decides: BTreeSet::new(),
    };
    for changes in wanted {
        let now = Code::read(code.language(), &code.file.path, &edited.text)?;
        let done = &edited.changes;
        let open = changes.iter().copied().filter(|one| !done.contains(one));
        let (what, changed) = any_change(open.collect(), &now, (item, spot), random)?;
        edited.text = changed.text;
        edited.changes.push(what);
        edited.decides.extend(changed.name.clone());
        if let Some(name) = changed.name.filter(|_| what != Change::Parameter) {
            edited.differs.extend(now.reached_by(&name));
        }
    }
    let some = edited.changes.iter().any(|one| *one != Change::Nothing);
    edited
        .changes
        .retain(|one| !some || *one != Change::Nothing);
    // Of a copied item its own meaning counts.
    let shown = item.is_none_or(|item| edited.differs.is_empty() || edited.differs.contains(item));
    shown.then_some(edited)
}

/// The first of some changes, in a random order, that the text has something for.
fn any_change(
    mut open: Vec<Change>,
    code: &Code,
    copied: (Option<&str>, Spot<'_>),
    random: &mut Random,
) -> Option<(Change, edits::Changed)> {
    while let Some(what) = random.choose(&open).copied() {
        if let Some(changed) = change(what, code, copied, random) {
            return Some((what, changed));
        }
        open.retain(|one| *one != what);
    }
    None
}
