//! What stays at the old path of a module: a shim file, and a declaration that warns.
//!
//! A module that nobody outside its crate can name gets no shim, for every user of it is rewritten.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{
    ByteSpan, Change, Edit, Finding, LanguagePlan, NewFile, ShimRequest, Texts, TreePath,
};

use super::{
    conditions, disallowed, layout,
    mapping::{Mapping, refusal},
    needs::{Because, Need, NeededThing, Purpose},
    packages,
    place::Place,
    public::is_named_in_place,
    shim_names::{Import, Respelled, ShimNames},
    spell::{spelled, written},
    stand_in::StandIn,
};
use crate::{
    facts::ModuleDeclaration,
    lexer, lints,
    regressions::OF_PUBLIC,
    resolve::{Binding, BodyId, FileId, ModuleId, ModuleNode, Reach, Res, World},
    shim::{self, Dates, Shim},
    words::EVERYWHERE,
};

/// The shims of a set of changes.
#[derive(Default)]
pub(super) struct Shims {
    /// The attribute that the old declaration of each module gets.
    pub declarations: BTreeMap<ModuleId, String>,
    files: Vec<ShimFile>,
    notes: Vec<Finding>,
    refusals: Vec<Finding>,
}

/// A public name of a module that gives way, whose item left it before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Forward {
    /// The module.
    pub home: String,
    /// The name in it.
    pub old: String,
    /// The module that has the item after.
    pub to: String,
    /// The name there.
    pub new: String,
}

struct ShimFile {
    module: ModuleId,
    path: TreePath,
    text: String,
    from: String,
}

/// What shims have to see: the way to what they forward to.
pub(super) fn needs(mapping: &Mapping<'_>) -> Vec<Need> {
    let mut needs = Vec::new();
    for (change, root) in mapping.changes.iter().zip(&mapping.roots) {
        if let (Some(_), Some((module, place))) = (&change.shim, root) {
            needs_of(mapping, change, (*module, place), &mut needs);
        }
    }
    needs
}

/// The same of one module.
fn needs_of(
    mapping: &Mapping<'_>,
    change: &Change,
    (module, place): (ModuleId, &Place),
    needs: &mut Vec<Need>,
) {
    let node = &mapping.world[module];
    let speller = mapping.speller();
    let Some(parent) = node.parent else {
        let here = Place::root(mapping.krate(module));
        return speller.chain(place, &here, needs);
    };
    if !is_named_in_place(mapping, module) {
        return;
    }
    let here = mapping.after(parent).child(&node.name);
    speller.chain(place, &here, needs);
    if place.krate != here.krate {
        let need = Need::new(NeededThing::Crate(place.krate, Purpose::Code), here);
        needs.push(need.because(Because::Shim(change.from.clone())));
    }
}

impl Shims {
    pub fn new(mapping: &Mapping<'_>, forwards: &[Forward]) -> Self {
        let mut shims = Self::default();
        for (change, root) in mapping.changes.iter().zip(&mapping.roots) {
            let (Some(request), Some((module, _))) = (&change.shim, root) else {
                continue;
            };
            shims.one(mapping, (change, request, *module), forwards);
        }
        shims
    }

    fn one(
        &mut self,
        mapping: &Mapping<'_>,
        (change, request, module): (&Change, &ShimRequest, ModuleId),
        forwards: &[Forward],
    ) {
        let old = mapping.file_of(module);
        if !is_named_in_place(mapping, module) {
            self.notes.push(no_shim(old, change));
            return;
        }
        let Some(path) = shim_path(mapping, module) else {
            return;
        };
        let builder = Builder {
            mapping,
            request,
            dates: Dates::of(request),
            forwards,
        };
        let Some(made) = builder.module(module, 0) else {
            let from = &change.from;
            let message = format!("no shim can be made for `{from}`: its file does not parse");
            self.refusals.push(refusal(old, message));
            return;
        };
        let head = self.head(mapping, &builder, module);
        self.notes.extend(lost_note(&old, change, &made.lost));
        self.files.push(ShimFile {
            module,
            path,
            text: builder.file(module, head, &made),
            from: change.from.clone(),
        });
    }

    /// What the head of a shim says: that of a root what its library did; the declaration of another
    /// module gets its attribute.
    fn head(
        &mut self,
        mapping: &Mapping<'_>,
        builder: &Builder<'_>,
        module: ModuleId,
    ) -> (String, String) {
        let node = &mapping.world[module];
        if node.parent.is_none() {
            return packages::of_shim(mapping, module);
        }
        let shares = shares_name(mapping.world, module);
        let attribute = match shares {
            true => String::new(),
            false => builder.attribute(module),
        };
        let silent = shares.then(|| silent_note(mapping.file_of(module), node));
        self.notes.extend(silent);
        self.declarations.insert(module, attribute);
        (String::new(), String::new())
    }

    /// The text of the shim of a module, where one stays.
    pub fn text_of(&self, module: ModuleId) -> Option<&str> {
        let file = self.files.iter().find(|file| file.module == module)?;
        Some(&file.text)
    }

    /// The file of the shim of a module, where one stays.
    pub fn path_of(&self, module: ModuleId) -> Option<&TreePath> {
        let file = self.files.iter().find(|file| file.module == module)?;
        Some(&file.path)
    }

    /// Adds the shim files to the plan.
    pub fn leave(self, texts: &dyn Texts, plan: &mut LanguagePlan) {
        plan.notes.extend(self.notes);
        plan.refusals.extend(self.refusals);
        for file in self.files {
            let gone = plan.deletes.iter().position(|path| *path == file.path);
            if let Some(gone) = gone {
                // The file stays, with another text.
                plan.deletes.remove(gone);
                let length = texts.text(&file.path).map_or(0, |text| text.len());
                let whole = ByteSpan::from_range(0..length);
                plan.edits
                    .insert(file.path, vec![Edit::replace(whole, file.text)]);
            } else {
                plan.creates.push(NewFile {
                    path: file.path,
                    text: file.text,
                    reason: format!("keeps `{}` working until it is removed", file.from),
                });
            }
        }
    }
}

/// Whether the module around has something else by the name of a module, as a function that is re-exported from it:
/// an import of that brings the module as well, and must not warn of it. The items of the shim warn by themselves.
fn shares_name(world: &World, module: ModuleId) -> bool {
    let node = &world[module];
    let name = world.names.get(&node.name);
    let Some((parent, name)) = node.parent.zip(name) else {
        return false;
    };
    let named = world.space(parent).names.get(&name);
    let mut named = named.into_iter().flatten();
    named.any(|binding| binding.res != Res::Module(module))
}

/// Says that a shim warns by its items alone.
fn silent_note(path: TreePath, module: &ModuleNode) -> Finding {
    let message = format!(
        "the shim of the module `{}` does not warn by itself: something else is imported by its name, too",
        module.name
    );
    let help = "functions, constants and types that it forwards warn one by one; what it re-exports does not";
    Finding::note(path, message).with_help(help.to_owned())
}

/// Says which names a shim goes without.
fn lost_note(path: &TreePath, change: &Change, lost: &[String]) -> Option<Finding> {
    (!lost.is_empty()).then(|| {
        Finding::warning(
            path.clone(),
            format!(
                "the shim goes without what `{}` does not have: {}",
                change.to,
                lost.join(", ")
            ),
        )
        .with_help("nobody in the tree names it; somebody outside may".to_owned())
    })
}

fn no_shim(path: TreePath, change: &Change) -> Finding {
    Finding::note(
        path,
        format!(
            "no shim for `{}`: nobody outside the crate can name it",
            change.from
        ),
    )
}

/// How wide a line of documentation is at most.
const WIDTH: usize = 100;

/// What rustc is silent about: these names, and of a library what names none of its items. More names
/// than a line holds are counted.
fn silent_lines(silent: &[String], module: &ModuleNode) -> String {
    let mut lines = Vec::new();
    if let Some(first) = silent.first() {
        let line = format!(
            "//! rustc does not warn about these: {}.",
            silent.join(", ")
        );
        let count = silent.len();
        lines.push(if line.chars().count() <= WIDTH {
            format!("{line}\n")
        } else {
            format!("//! rustc does not warn about {count} of these names, `{first}` among them.\n")
        });
    }
    if module.parent.is_none() {
        let line =
            "//! rustc does not warn about globs of this library, nor about its bare name.\n";
        lines.push(line.to_owned());
    }
    let head = if lines.is_empty() { "" } else { "//!\n" };
    format!("{head}{}\n", lines.concat())
}

/// The file of the shim: the old one, or for an inline module the one that it would have.
fn shim_path(mapping: &Mapping<'_>, module: ModuleId) -> Option<TreePath> {
    let world = mapping.world;
    let node = &world[module];
    let body = &world[node.bodies.first()?];
    let outer = body.declared.map(|(outer, _)| outer);
    let usual = outer.and_then(|outer| {
        let directory = layout::directory(world, outer, &BTreeMap::new())?;
        directory.join(&format!("{}.rs", node.name)).ok()
    });
    if layout::is_inline(world, body) {
        return usual;
    }
    // What moves keeps the file that a path names.
    let by_path = layout::declaration_of(world, body).is_some_and(|(outer, declaration)| {
        let text = mapping.texts.text(&world[outer.file].path);
        text.is_some_and(|text| !path_attributes(&text, declaration).is_empty())
    });
    let is_free = |path: &TreePath| mapping.texts.text(path).is_none();
    usual
        .filter(|path| by_path && is_free(path))
        .or_else(|| Some(mapping.file_of(module)))
}

/// The whole `#[path = "…"]` of a declaration, none where some stand in other attributes.
pub(super) fn path_attributes(text: &str, declaration: &ModuleDeclaration) -> Vec<ByteSpan> {
    let whole = declaration.path_attributes.iter().map(|attribute| {
        let start = attribute.span.start as usize;
        let before = text.get(..start)?;
        let open = before.rfind("#[")?;
        let close = start + text.get(start..)?.find(']')? + 1;
        let plain = before.get(open..)?.trim_start_matches("#[").trim_start();
        let space = text.get(close..)?;
        let space = space.len() - space.trim_start().len();
        plain
            .starts_with("path")
            .then(|| ByteSpan::from_range(open..close + space))
    });
    whole.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Whether a name that a signature starts with leads somewhere: it is bound in the module, or
/// nothing there could bind it and it is everywhere.
pub(super) fn is_known_in(world: &World, module: ModuleId, name: &str) -> bool {
    let space = world.space(module);
    let bound = world
        .names
        .get(name)
        .is_some_and(|sym| space.names.contains_key(&sym));
    bound || !space.opaque || EVERYWHERE.contains(name)
}

/// The lines of a text one level deeper.
fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect()
}

struct Builder<'a> {
    mapping: &'a Mapping<'a>,
    request: &'a ShimRequest,
    dates: Dates,
    forwards: &'a [Forward],
}

struct Made {
    text: String,
    silent: Vec<String>,
    /// Names that the primary does not have.
    lost: Vec<String>,
}

/// Modules in modules are followed no further.
const DEEPEST: usize = 32;

impl Builder<'_> {
    /// The new place of a module as the crate of the shim says it.
    fn inside(&self, module: ModuleId) -> String {
        self.inside_of(module, &self.mapping.after(module))
    }

    /// A place as the crate of a shim says it.
    fn inside_of(&self, module: ModuleId, place: &Place) -> String {
        let speller = self.mapping.speller();
        let path = speller.rooted_in(self.mapping.krate(module), place);
        spelled(&path)
    }

    /// What documentation says to lead to the place of a module, also beside a function or a macro of its name.
    fn link(&self, module: ModuleId) -> String {
        let (world, inside) = (self.mapping.world, self.inside(module));
        let place = self.mapping.after(module);
        let parent = place.parent().and_then(|parent| self.mapping.at(&parent));
        let name = place.path.last().map_or("", String::as_str);
        let bindings =
            parent.map_or_else(<&[Binding]>::default, |parent| world.bindings(parent, name));
        let is_alone = bindings.iter().all(|one| matches!(one.res, Res::Module(_)));
        match is_alone {
            true => inside,
            false => format!("mod@{inside}"),
        }
    }

    fn outside(&self, module: ModuleId) -> String {
        self.outside_of(&self.mapping.after(module))
    }

    fn outside_of(&self, place: &Place) -> String {
        let krate = &self.mapping.world[place.krate];
        let name = krate.name.as_str();
        let names = place.path.iter().map(|name| written(name));
        let path = std::iter::once(name.to_owned()).chain(names);
        path.collect::<Vec<_>>().join("::")
    }

    fn attribute(&self, module: ModuleId) -> String {
        let (inside, outside) = (self.inside(module), self.outside(module));
        shim::deprecated(
            &Shim {
                text: "",
                defined_as: "",
                inside: &inside,
                short: "",
                outside: &outside,
                names: &[],
                unsayable: &BTreeSet::new(),
                whole: true,
                dates: &self.dates,
                trait_bounds: self.request.trait_bounds,
                known: &|_| true,
            },
            "",
        )
    }

    /// The items of a shim module, and of the modules in it.
    fn module(&self, module: ModuleId, depth: usize) -> Option<Made> {
        let (mapping, world) = (self.mapping, self.mapping.world);
        let place = mapping.after(module);
        let source = mapping.at(&place).unwrap_or(module);
        let (mut names, mut lost) = self.offered(module);
        let forwarded = self.forwarded(module, &place);
        if !mapping.is_replaced(module) {
            // The name that an item gets on the way is none that its old module ever had.
            names.retain(|(old, _)| !forwarded.iter().any(|(_, new)| new == old));
        }
        names.retain(|(old, _)| !forwarded.iter().any(|(known, _)| known == old));
        names.extend(forwarded);
        let mut result = self.definitions(module, source, &names)?;
        self.elsewhere(module, &mut result)?;
        let children = world[module].children.iter().copied();
        for child in children.filter(|child| depth < DEEPEST && self.is_public_child(*child)) {
            let gone = mapping.is_replaced(child);
            if gone && mapping.at(&mapping.after(child)).is_none() {
                lost.push(world[child].name.clone());
            } else {
                self.child(child, depth, &mut result)?;
            }
        }
        result.lost.append(&mut lost);
        Some(result)
    }

    /// Whether a module, or one in it, defines something of a name.
    fn defines(&self, module: ModuleId, name: &str) -> bool {
        let world = self.mapping.world;
        let own = world.bindings(module, name).iter();
        own.clone().any(|one| matches!(one.res, Res::Item(_)))
            || world[module]
                .children
                .iter()
                .any(|child| self.defines(*child, name))
    }

    /// The text of the file of a shim, below what its head says.
    fn file(&self, module: ModuleId, (inner, crates): (String, String), made: &Made) -> String {
        let world = self.mapping.world;
        let removal = &self.dates.removal;
        let allowed = conditions::allowed(world, module, self.mapping.texts);
        let allowed = allowed
            .iter()
            .map(|attribute| format!("{}\n", attribute.replacen("#[", "#![", 1)));
        let allowed: String = allowed.collect();
        // A glob of which each name is defined beside it shows nothing.
        let mut bodies = world.bodies_of(module);
        let asks = bodies.any(|body| lints::is_on(world, body, OF_PUBLIC, self.mapping.texts));
        let mut lints = vec!["deprecated", "unused_imports"];
        lints.extend(asks.then_some(OF_PUBLIC));
        lints.extend(disallowed::lints_of(self.mapping.texts, |name| {
            self.defines(module, name)
        }));
        let lints = lints.join(", ");
        format!(
            "// coalesce: shim {}\n//! Moved to [`{}`]{removal}.\n{}{inner}#![allow({lints})]\n{allowed}\n{crates}{}",
            self.request.manifest,
            self.link(module),
            silent_lines(&made.silent, &world[module]),
            made.text
        )
    }

    /// What a shim module defines for these names, old and new, and the imports that this takes.
    fn definitions(
        &self,
        module: ModuleId,
        source: ModuleId,
        names: &[(String, String)],
    ) -> Option<Made> {
        let whole = !self.mapping.is_replaced(module);
        let said = ShimNames {
            mapping: self.mapping,
            source,
            module,
            here: self.place_before(module),
        };
        let imports = |name: &str| {
            said.imports(name, &|reach| match whole {
                true => reach == Reach::Public,
                false => names.iter().any(|(old, _)| old == name),
            })
        };
        let known =
            |name: &str| imports(name).is_some() && is_known_in(self.mapping.world, source, name);
        let made = self.items(&said, names, &known)?;
        let needed = made.needed.iter().flat_map(|name| {
            let found = imports(name).unwrap_or_default().into_iter();
            found.map(move |import| (name.as_str(), import))
        });
        Some(Made {
            text: format!("{}{}", self.imports(needed), made.text),
            silent: made.silent,
            lost: Vec::new(),
        })
    }

    /// The items of a shim: those that stand in where the new ones are of another crate, or else what the module
    /// that has them now says.
    fn items(
        &self,
        said: &ShimNames<'_>,
        names: &[(String, String)],
        known: &dyn Fn(&str) -> bool,
    ) -> Option<shim::ShimItems> {
        let (mapping, module) = (self.mapping, said.module);
        let text = self.text_of(said.source)?;
        let stands_in = mapping.is_replaced(module) && mapping.crosses(module);
        let stand_in = || StandIn::new(mapping, (self.request, &self.dates), module);
        match stands_in.then(stand_in).flatten() {
            Some(other) => Some(other.items(names)),
            None => self.items_of(said, text, names, known),
        }
    }

    /// The items of a shim in the words of the module that has them now.
    fn items_of(
        &self,
        said: &ShimNames<'_>,
        (text, file, base): (String, FileId, u32),
        names: &[(String, String)],
        known: &dyn Fn(&str) -> bool,
    ) -> Option<shim::ShimItems> {
        let Respelled {
            text,
            mut unsayable,
        } = said.respelled(file, &text, base);
        let left = names.iter().map(|(_, new)| new).filter(|name| {
            self.is_entered(said.source, name) || self.differs_by_text(said.source, name)
        });
        unsayable.extend(left.cloned());
        shim::items(&Shim {
            text: &text,
            defined_as: "",
            inside: &self.inside(said.module),
            short: "",
            outside: &self.outside(said.module),
            names,
            unsayable: &unsayable,
            whole: !self.mapping.is_replaced(said.module),
            dates: &self.dates,
            trait_bounds: self.request.trait_bounds,
            known,
        })
    }

    /// Whether another crate imports variants of an enum of a module.
    fn is_entered(&self, module: ModuleId, name: &str) -> bool {
        let items = self.mapping.world.items_of(module, name).into_iter();
        items.into_iter().any(|item| self.mapping.is_entered(item))
    }

    /// Whether a module has several texts, as under conditions, which do not all define a name, and with one signature:
    /// a shim that defines it once would be wrong beside one of them.
    fn differs_by_text(&self, module: ModuleId, name: &str) -> bool {
        let world = self.mapping.world;
        let bodies = &world[module].bodies;
        if bodies.len() < 2 {
            return false;
        }
        let mut defining: BTreeSet<BodyId> = BTreeSet::new();
        let mut signatures: BTreeSet<String> = BTreeSet::new();
        for item in world.items_of(module, name) {
            for (file, at) in &world[item].definitions {
                let fact = world.facts(*file).item(*at);
                let text = self.mapping.texts.text(&world[*file].path);
                let text = text.as_deref().unwrap_or_default();
                let tokens = lexer::tokens(text, fact.signature);
                let words = tokens.iter().filter_map(|token| token.span.of(text));
                signatures.insert(words.collect::<Vec<_>>().join(" "));
                let place = fact.name.span.start;
                defining.extend(conditions::body_at(world, module, *file, place));
            }
        }
        signatures.len() > 1 || bodies.iter().any(|body| !defining.contains(body))
    }

    /// The names of items that left a module for the one at a place before it gave way.
    fn forwarded(&self, module: ModuleId, place: &Place) -> Vec<(String, String)> {
        let own = self.forwards_of(module);
        own.filter(|(_, to)| to == place)
            .map(|(forward, _)| (forward.old.clone(), forward.new.clone()))
            .collect()
    }

    fn forwards_of(&self, module: ModuleId) -> impl Iterator<Item = (&Forward, Place)> {
        let own = self.forwards.iter().filter(move |forward| {
            let named = self.mapping.world.modules_named(&forward.home);
            named.first() == Some(&module)
        });
        own.filter_map(move |forward| {
            let krate = Some(self.mapping.krate(module));
            let (krate, below) = self.mapping.target(krate, &forward.to)?;
            let names = below.split("::").filter(|name| !name.is_empty());
            let path = names.map(str::to_owned).collect();
            Some((forward, Place { krate, path }))
        })
    }

    /// The names of items that left a module for others than the one in its place.
    fn elsewhere(&self, module: ModuleId, result: &mut Made) -> Option<()> {
        let main = self.mapping.after(module);
        let places: BTreeSet<Place> = self.forwards_of(module).map(|(_, place)| place).collect();
        for place in places.iter().filter(|place| **place != main) {
            let names = self.forwarded(module, place);
            let Some(source) = self.mapping.at(place) else {
                result.lost.extend(names.into_iter().map(|(old, _)| old));
                continue;
            };
            let made = self.items_at(module, place, source, &names)?;
            let end = result.text.trim_end().len();
            result.text.truncate(end);
            result.text.push_str(&format!("\n\n{}", made.text));
            result.silent.extend(made.silent);
        }
        Some(())
    }

    /// The items of a shim that are at a place now.
    fn items_at(
        &self,
        module: ModuleId,
        place: &Place,
        source: ModuleId,
        names: &[(String, String)],
    ) -> Option<shim::ShimItems> {
        let (text, ..) = self.text_of(source)?;
        shim::items(&Shim {
            text: &text,
            defined_as: "",
            inside: &self.inside_of(module, place),
            short: "",
            outside: &self.outside_of(place),
            names,
            unsayable: &BTreeSet::new(),
            whole: false,
            dates: &self.dates,
            trait_bounds: self.request.trait_bounds,
            known: &|name| EVERYWHERE.contains(name),
        })
    }

    fn is_public_child(&self, child: ModuleId) -> bool {
        let world = self.mapping.world;
        let Some(parent) = world[child].parent else {
            return false;
        };
        let name = &world[child].name;
        let sym = world.names.get(name);
        let bindings = sym.and_then(|sym| world.space(parent).names.get(&sym));
        bindings.into_iter().flatten().any(|binding| {
            binding.import.is_none()
                && binding.res == Res::Module(child)
                && binding.reach == Reach::Public
        })
    }

    fn child(&self, child: ModuleId, depth: usize, result: &mut Made) -> Option<()> {
        let world = self.mapping.world;
        let name = &world[child].name;
        let made = self.module(child, depth + 1)?;
        let declared = conditions::declared(world, child, self.mapping.texts);
        let declared: String = declared.iter().map(|line| format!("{line}\n")).collect();
        let attribute = self.attribute(child);
        let end = result.text.trim_end().len();
        result.text.truncate(end);
        if end > 0 {
            result.text.push('\n');
        }
        result.text.push_str(&format!(
            "\n/// Moved to [`{}`].\n{declared}{attribute}\npub mod {} {{\n{}}}\n",
            self.link(child),
            written(name),
            indented(&made.text)
        ));
        let below = |list: Vec<String>| list.into_iter().map(|item| format!("{name}::{item}"));
        result.silent.extend(below(made.silent));
        result.lost.extend(below(made.lost));
        Some(())
    }

    /// The place at which a shim stays: that of its module before.
    fn place_before(&self, module: ModuleId) -> Place {
        let node = &self.mapping.world[module];
        match node.parent {
            Some(parent) => self.place_before(parent).child(&node.name),
            None => Place::root(self.mapping.krate(module)),
        }
    }

    /// The text of a module's first body, its file, and where in that it starts.
    fn text_of(&self, module: ModuleId) -> Option<(String, FileId, u32)> {
        let world = self.mapping.world;
        let node = &world[module];
        let body = &world[node.bodies.first()?];
        let file = &world[body.file];
        let text = self.mapping.texts.text(&file.path)?;
        if !layout::is_inline(world, body) {
            return Some((text.to_string(), body.file, 0));
        }
        let scope = world.facts(body.file).scope(body.scope);
        let inner = ByteSpan::new(scope.items_start, scope.span.end.saturating_sub(1));
        Some((inner.of(&text)?.to_owned(), body.file, inner.start))
    }

    /// The public names that are there in the new place, and those that are not.
    fn offered(&self, module: ModuleId) -> (Vec<(String, String)>, Vec<String>) {
        let names = self.names(module);
        if !self.mapping.is_replaced(module) {
            return (names, Vec::new());
        }
        let speller = self.mapping.speller();
        let place = self.mapping.after(module);
        let (kept, lost): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|(_, new)| speller.offers(&place, new));
        (kept, lost.into_iter().map(|(old, _)| old).collect())
    }

    /// The public names of a module that are items, each with its name at the new path.
    fn names(&self, module: ModuleId) -> Vec<(String, String)> {
        let world = self.mapping.world;
        let public: BTreeSet<String> = world
            .bound_names(module)
            .filter(|(_, reach)| *reach == Reach::Public)
            .map(|(name, _)| name.to_string())
            .filter(|name| {
                let sym = world.names.get(name);
                let bindings = sym.and_then(|sym| world.space(module).names.get(&sym));
                bindings
                    .into_iter()
                    .flatten()
                    .any(|binding| !matches!(binding.res, Res::Module(_)) && !binding.glob)
            })
            .collect();
        public
            .into_iter()
            .map(|name| {
                let new = self.mapping.item_after(module, &name).to_owned();
                (name, new)
            })
            .collect()
    }

    /// The conditions on an import, a line each.
    fn conditions(&self, import: (FileId, u32)) -> String {
        let found = conditions::of_import(self.mapping, import).into_iter();
        found.map(|line| format!("{line}\n")).collect()
    }

    /// The lines of the imports that the signatures in a shim need.
    fn imports<'n>(&self, imports: impl Iterator<Item = (&'n str, Import)>) -> String {
        let mut lines = BTreeSet::new();
        for (name, import) in imports {
            let conditions = import.by.map(|by| self.conditions(by)).unwrap_or_default();
            let spelled: Vec<String> = import.path.iter().map(|part| written(part)).collect();
            let alias = if import.path.last().is_some_and(|last| last == name) {
                String::new()
            } else {
                format!(" as {}", written(name))
            };
            lines.insert(format!("{conditions}use {}{alias};\n", spelled.join("::")));
        }
        let block: String = lines.into_iter().collect();
        if block.is_empty() {
            block
        } else {
            format!("{block}\n")
        }
    }
}
