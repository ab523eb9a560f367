//! Import statements: each leaf goes to where its target is, the rest of the statement stays.

mod stars;

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Form, Guard, UnprovenKind, Uses, finding::codes};

use stars::check_star;

use crate::{
    facts::{FromPart, ImportStatement, Leaf},
    rewrite::{
        chains,
        file::{File, FileEdits, Reference},
        items, list,
        mapping::parent_as_spelled,
        offers, uses,
    },
};

/// Statements longer than this are written with a line for each name.
const LINE_LENGTH: usize = 88;

/// Rewrites the import statements of a file.
pub fn rewrite(file: &File<'_>, found: &mut FileEdits) {
    for (import, _) in &file.analysis().imports {
        match &import.from {
            None => import
                .leaves
                .iter()
                .for_each(|leaf| plain(file, import, leaf, found)),
            Some(from) => from_statement(file, import, from, found),
        }
    }
}

/// A leaf of `import a.b.c [as d]`.
fn plain(file: &File<'_>, import: &ImportStatement, leaf: &Leaf, found: &mut FileEdits) {
    let name = &leaf.name.text;
    let Some(new) = file.absolute(name) else {
        return;
    };
    let keeps_name = leaf.alias.is_none() && !name.contains('.');
    let text = if keeps_name {
        format!("{new} as {name}")
    } else {
        new.clone()
    };
    found.change(
        Edit::replace(leaf.name.span, text),
        Reference::resolved(Form::Import, name, &new, "the module has another name"),
    );
    if leaf.alias.is_none()
        && name.contains('.')
        && let Some(package) = file.index().still_needed(file, leaf)
    {
        found.add_statement(file.place_after(import), format!("import {package}"));
    }
}

/// Where a leaf comes from after the changes.
pub struct Destination {
    pub parent: String,
    pub name: String,
    /// It is not the same name of the same module any more.
    pub changed: bool,
    /// It is one of the names that this very file defines.
    pub own: bool,
    /// Uses in this file take the new name, so that no alias is needed.
    pub uses_follow: bool,
    /// A statement below the import gives it the name that the file offers.
    pub named_below: bool,
}

fn from_statement(
    file: &File<'_>,
    import: &ImportStatement,
    from: &FromPart,
    found: &mut FileEdits,
) {
    let Some(base) = import.base(file.package) else {
        if import_moves(file) {
            let name = from.span.of(file.text).unwrap_or_default();
            let why = "it leads above the top-level package";
            found.told.leave(from.span, Form::ImportFrom, name, why);
        }
        return;
    };
    if from.level > 0 && file.module.is_none() {
        return;
    }
    let base_module = file.base_module(import, &base);
    let mut destinations: Vec<Destination> = import
        .leaves
        .iter()
        .map(|leaf| destination(file, &base, base_module, leaf))
        .collect();
    let reanchored = from.level > 0 && import_moves(file);
    if !reanchored && destinations.iter().all(|destination| !destination.changed) {
        return;
    }
    check_items(file, base_module, import, found);
    for (leaf, to) in import.leaves.iter().zip(&destinations) {
        check_reachable(file, &base, base_module, leaf, to, found);
    }
    let uses = follow_uses(file, import, (&base, base_module), &mut destinations);
    let statement = Statement {
        file,
        import,
        from,
        base: &base,
    };
    let offers = statement.keep_offers(&mut destinations, found);
    statement.rewrite(&destinations, found);
    for offer in offers {
        found.add_statement(file.place_after(import), offer);
    }
    uses.into_iter().for_each(|edit| found.push(edit));
}

/// Refuses the import of a module as an attribute of a package that has something else by its new name.
fn check_reachable(
    file: &File<'_>,
    base: &str,
    base_module: Option<usize>,
    leaf: &Leaf,
    to: &Destination,
    found: &mut FileEdits,
) {
    if !to.changed || to.own || file.submodule(base, base_module, leaf).is_none() {
        return;
    }
    let new = format!("{}.{}", to.parent, to.name);
    if let Some(package) = chains::hiding_package(file.mapping, &new) {
        let message = chains::hidden_message(package, &new);
        let help = "import what it has by name".to_owned();
        found.refuse_as(codes::NAME_TAKEN, leaf.span, message, Some(help));
    }
}

/// Lets uses take the new names of what they import, where nothing stands against it.
fn follow_uses(
    file: &File<'_>,
    import: &ImportStatement,
    (base, module): (&str, Option<usize>),
    destinations: &mut [Destination],
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (leaf, destination) in import.leaves.iter().zip(destinations) {
        let renamed = destination.changed && destination.name != leaf.name.text;
        if destination.own || !renamed || is_imported_from_elsewhere(file, destination) {
            continue;
        }
        let known = module.and_then(|module| file.graph().modules.get(module));
        let base = known.map_or(base, |module| module.name.as_str());
        let full = format!("{base}.{}", leaf.name.text);
        if file.mapping.uses_of(&full) == Uses::Alias {
            continue;
        }
        if let Some(uses) = uses::follow(file, import, leaf, &destination.name) {
            destination.uses_follow = true;
            edits.extend(uses);
        }
    }
    edits
}

/// Whether another import of the file gets the same name from another module.
fn is_imported_from_elsewhere(file: &File<'_>, to: &Destination) -> bool {
    let arrivals = file.arrivals.get_or_init(|| arrivals(file));
    let parents = arrivals.get(&to.name).into_iter().flatten();
    parents.into_iter().any(|parent| *parent != to.parent)
}

/// The names that `from` statements take from elsewhere than before, and where from.
fn arrivals(file: &File<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut arrivals: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let imports = file.analysis().imports.iter().map(|(import, _)| import);
    for import in imports.filter(|import| import.from.is_some()) {
        let Some(base) = import.base(file.package) else {
            continue;
        };
        let module = file.base_module(import, &base);
        let leaves = import.leaves.iter();
        let others = leaves.map(|leaf| destination(file, &base, module, leaf));
        for other in others.filter(|other| other.changed) {
            arrivals.entry(other.name).or_default().insert(other.parent);
        }
    }
    arrivals
}

/// Whether relative imports of the file count from another package than before.
fn import_moves(file: &File<'_>) -> bool {
    file.package != file.package_after
}

/// Where a leaf of a `from` statement comes from after the changes.
pub fn destination(
    file: &File<'_>,
    base: &str,
    base_module: Option<usize>,
    leaf: &Leaf,
) -> Destination {
    let name = &leaf.name.text;
    if name != "*" && file.submodule(base, base_module, leaf).is_some() {
        return Destination::of_submodule(file, format!("{base}.{name}"));
    }
    base_module
        .and_then(|module| Destination::of_moved_item(file, base, module, name))
        .or_else(|| Destination::behind_shim(file, base_module?, name))
        .unwrap_or_else(|| Destination::in_module(file, base, base_module, name))
}

impl Destination {
    fn of_submodule(file: &File<'_>, full: String) -> Self {
        let new = file.absolute(&full);
        let changed = new.is_some();
        let new = new.unwrap_or(full);
        let (parent, name) = new.rsplit_once('.').unwrap_or(("", &new));
        Self {
            parent: parent.to_owned(),
            name: name.to_owned(),
            changed,
            own: false,
            uses_follow: false,
            named_below: false,
        }
    }

    fn of_moved_item(file: &File<'_>, base: &str, module: usize, name: &str) -> Option<Self> {
        let moved = file.mapping.items.get(module, name)?;
        let own = file.module.map(|module| file.mapping.name_after(module));
        Some(Self {
            parent: parent_as_spelled(file.graph(), module, base, &moved.parent),
            name: moved.name.clone(),
            changed: true,
            own: own.as_ref() == Some(&moved.parent),
            uses_follow: false,
            named_below: false,
        })
    }

    /// Where a table of the module goes on naming a shim: that is no way for our own imports, which would warn.
    fn behind_shim(file: &File<'_>, module: usize, name: &str) -> Option<Self> {
        let behind = offers::behind(file.mapping, module, name)?;
        (file.has_shim(&behind.old) && !file.imports_lazily()).then_some(Self {
            parent: behind.parent,
            name: behind.name,
            changed: true,
            own: false,
            uses_follow: false,
            named_below: false,
        })
    }

    /// What goes wherever its module goes.
    fn in_module(file: &File<'_>, base: &str, module: Option<usize>, name: &str) -> Self {
        let item = match module {
            Some(module) => file.mapping.item_after(module, name),
            None => name.to_owned(),
        };
        let parent = file.absolute(base);
        let changed = parent.is_some();
        // What took the place of the module may be this very file.
        let replaced = module.filter(|module| file.mapping.goes_away(*module));
        let own = replaced
            .and_then(|module| file.mapping.new_name(module))
            .is_some_and(|new| {
                let own = file.module.map(|module| file.mapping.name_after(module));
                name != "*" && own.as_deref() == Some(new)
            });
        Self {
            parent: parent.unwrap_or_else(|| base.to_owned()),
            changed: changed || item != name,
            name: item,
            own,
            uses_follow: false,
            named_below: false,
        }
    }
}

/// Names that a replaced module has and the one in its place has not.
fn check_items(
    file: &File<'_>,
    base: Option<usize>,
    import: &ImportStatement,
    found: &mut FileEdits,
) {
    let Some(base) = base else { return };
    for leaf in &import.leaves {
        if leaf.name.text == "*" {
            check_star(file, base, leaf, found);
        } else if file.graph().submodule(base, &leaf.name.text).is_none() {
            check_item(file, base, &leaf.name.text, leaf.name.span, found);
        }
    }
}

/// Refuses a name that is used and that the module in place of `module` does not have.
pub fn check_item(
    file: &File<'_>,
    module: usize,
    name: &str,
    span: ByteSpan,
    found: &mut FileEdits,
) {
    if let Some(target) = file.mapping.lacks(module, name) {
        let message = format!("`{name}` is used here and `{target}` has no such name");
        found.refuse_as(
            codes::MISMATCHED_REPLACEMENT,
            span,
            message,
            Some("add it there, or name its equal under `rename`".to_owned()),
        );
    } else if let Some(target) = file.mapping.leads_back(module, name) {
        let message = format!("`{target}` has `{name}` from here, and would have it from nowhere");
        let help = "replace the other way round, or merge the two";
        let help = Some(help.to_owned());
        found.refuse_as(codes::MISMATCHED_REPLACEMENT, span, message, help);
    }
}

/// Whether an item is on offer by a table that goes on naming the module which it leaves.
pub fn through_old_module(file: &File<'_>, module: Option<usize>, item: &str) -> bool {
    let moved = module.and_then(|module| file.mapping.items.get(module, item));
    moved.is_some_and(|moved| offers::stays_on_offer(file.mapping, moved))
}

/// Whether the next line of a block is a statement of it as well, so that one of it may go.
fn has_statement_below(text: &str, statement: ByteSpan) -> bool {
    let before = text.get(..statement.start as usize).unwrap_or_default();
    let indentation = before.rsplit('\n').next().unwrap_or_default();
    let rest = text.get(statement.end as usize..).unwrap_or_default();
    let mut below = rest
        .split('\n')
        .skip(1)
        .filter(|line| !line.trim().is_empty());
    let next = below.next().and_then(|line| line.strip_prefix(indentation));
    let alone = !indentation.is_empty() && indentation.trim().is_empty();
    alone && next.is_some_and(|next| !next.starts_with(|c: char| c.is_whitespace() || c == '#'))
}

struct Statement<'a> {
    file: &'a File<'a>,
    import: &'a ImportStatement,
    from: &'a FromPart,
    base: &'a str,
}

impl Statement<'_> {
    fn rewrite(&self, destinations: &[Destination], found: &mut FileEdits) {
        if destinations.iter().any(|destination| destination.own) {
            self.own(destinations, found);
            return;
        }
        if self.lazy_stub(destinations, found) {
            return;
        }
        let kept = self.kept_parent(destinations);
        if kept.is_empty() {
            self.whole_modules(destinations, found);
            return;
        }
        self.module_part(&kept, found);
        let stay = self.leaves(destinations, |to| to.parent == kept);
        for (leaf, to) in stay.filter(|(leaf, to)| to.name != leaf.name.text) {
            self.note(leaf, to, "it has another name there", found);
            found.push(rename_leaf(leaf, to));
        }
        self.split(destinations, &kept, found);
    }

    /// The leaves that go to some of their destinations.
    fn leaves<'d>(
        &self,
        destinations: &'d [Destination],
        wanted: impl Fn(&Destination) -> bool,
    ) -> impl Iterator<Item = (&Leaf, &'d Destination)> {
        let leaves = self.import.leaves.iter().zip(destinations);
        leaves.filter(move |(_, to)| wanted(to))
    }

    /// Goes on offering what `import a as a` offers, where that gets another name: `b as a` is no offer to who reads types.
    /// Gives the statements that do so, and doubts what has none.
    fn keep_offers(&self, destinations: &mut [Destination], found: &mut FileEdits) -> Vec<String> {
        let mut statements = Vec::new();
        for (leaf, to) in self.import.leaves.iter().zip(destinations) {
            let (old, new) = (leaf.bound(), to.name.as_str());
            let as_it_is = leaf
                .alias
                .as_ref()
                .is_some_and(|alias| alias.text == leaf.name.text);
            if !as_it_is || !to.changed || to.own || old == new || self.is_listed(old) {
                continue;
            }
            let is_free = self.file.analysis().bindings(0, new).is_empty();
            if self.file.is_stub() && self.import.top_level && is_free {
                statements.push(format!("{old} = {new}"));
                to.named_below = true;
            } else if self.file.mapping.types_are_read() {
                let why = "`import a as a` offers a name to who reads types, and `b as a` does not";
                found
                    .told
                    .doubt(leaf.span, UnprovenKind::Condition, old, why);
            }
        }
        statements
    }

    /// Whether the `__all__` of the file has a name.
    fn is_listed(&self, name: &str) -> bool {
        let mut all = self.file.analysis().all.iter().flatten();
        all.any(|entry| entry.text == name)
    }

    /// Notes that a leaf leads somewhere else from now on.
    fn note(&self, leaf: &Leaf, to: &Destination, reason: &str, found: &mut FileEdits) {
        let from = format!("{}.{}", self.base, leaf.name.text);
        let to = format!("{}.{}", to.parent, to.name);
        let to = to.trim_start_matches('.');
        let reference = Reference::resolved(Form::ImportFrom, &from, to, reason);
        found.note(leaf.name.span, reference);
    }

    /// Takes leaves out of the list, and gives the comments that were theirs.
    fn remove_leaves(&self, gone: &[bool], found: &mut FileEdits) -> Vec<String> {
        let spans: Vec<ByteSpan> = self.import.leaves.iter().map(|leaf| leaf.span).collect();
        let removal = list::remove(self.file.text, &spans, gone);
        for span in removal.spans {
            found.push(Edit::delete(span));
        }
        removal.comments
    }

    /// Names that this file defines itself from now on are imported no more.
    fn own(&self, destinations: &[Destination], found: &mut FileEdits) {
        let own: Vec<bool> = destinations.iter().map(|each| each.own).collect();
        for (leaf, to) in self.leaves(destinations, |to| to.own) {
            self.note(leaf, to, "the file has the definition itself", found);
            if leaf.bound() != to.name {
                self.use_own(leaf, &to.name, found);
            }
        }
        if own.contains(&false) {
            let mut stays = destinations.iter().filter(|each| !each.own);
            if stays.any(|each| each.parent != self.base || each.changed) {
                return self.part(destinations, found);
            }
            self.remove_leaves(&own, found);
            return;
        }
        let line = items::source_line(self.file.text, self.import.span);
        let unguarded = self.import.guard == Guard::None;
        let alone = self.import.top_level && !self.import.conditional;
        let goes = unguarded && (alone || has_statement_below(self.file.text, self.import.span));
        let line = line.filter(|_| goes);
        found.push(line.unwrap_or_else(|| Edit::replace(self.import.span, "pass")));
    }

    /// Names of which this file has some itself go to several places: each place gets a statement.
    fn part(&self, destinations: &[Destination], found: &mut FileEdits) {
        let written = self.import.span.of(self.file.text).unwrap_or_default();
        if written.contains('#') {
            let message = "names of this import go to several places; part it first".to_owned();
            return found.refuse(self.import.span, message, None);
        }
        let mut parents: Vec<&str> = Vec::new();
        for (leaf, to) in self.leaves(destinations, |to| !to.own) {
            if to.changed {
                self.note(leaf, to, "this name of the list is elsewhere now", found);
            }
            if !parents.contains(&to.parent.as_str()) {
                parents.push(&to.parent);
            }
        }
        let (_, line_start) = self.file.place_after(self.import);
        let parents = parents.into_iter();
        let statements = parents.map(|parent| self.statement(parent, destinations, &line_start));
        let statements: Vec<String> = statements.collect();
        found.push(Edit::replace(
            self.import.span,
            statements.join(&line_start),
        ));
    }

    /// Uses of an import by its other name take the definition's.
    fn use_own(&self, leaf: &Leaf, name: &str, found: &mut FileEdits) {
        let (analysis, bound) = (self.file.analysis(), leaf.bound());
        for used in &analysis.uses {
            let Some(root) = used.chain.first().filter(|root| root.text == bound) else {
                continue;
            };
            let mut bindings = analysis.bindings(used.scope, bound).iter();
            let ours = bindings.any(|binding| {
                self.file
                    .names
                    .import(binding)
                    .is_some_and(|(_, other)| other.span == leaf.span)
            });
            if ours {
                found.push(Edit::replace(root.span, name));
            }
        }
    }

    /// The module that the statement goes on naming: the old one while any leaf stays there, else
    /// where most leaves go.
    fn kept_parent(&self, destinations: &[Destination]) -> String {
        if destinations
            .iter()
            .any(|destination| destination.parent == self.base)
        {
            return self.base.to_owned();
        }
        let count = |parent: &str| {
            destinations
                .iter()
                .filter(|destination| destination.parent == parent)
                .count()
        };
        let mut best = "";
        for destination in destinations
            .iter()
            .filter(|destination| !destination.parent.is_empty())
        {
            if best.is_empty() || count(&destination.parent) > count(best) {
                best = &destination.parent;
            }
        }
        best.to_owned()
    }

    fn module_part(&self, kept: &str, found: &mut FileEdits) {
        let old = self.from.span.of(self.file.text).unwrap_or_default();
        let spelled = if kept == self.base && self.from.level == 0 {
            old.to_owned()
        } else {
            self.spell(kept)
        };
        if old == spelled {
            return;
        }
        let reason = match kept == self.base {
            true => "the importing file moves",
            false => "the module has another name",
        };
        found.note(
            self.from.span,
            Reference::resolved(Form::ImportFrom, self.base, kept, reason),
        );
        let (front, back) = self.spaces_around(&spelled);
        found.push(Edit::replace(
            self.from.span,
            format!("{front}{spelled}{back}"),
        ));
    }

    /// The spaces that keep the name of a module apart from the words beside it.
    fn spaces_around(&self, spelled: &str) -> (&'static str, &'static str) {
        let (text, span) = (self.file.text, self.from.span);
        let before = text.get(..span.start as usize).unwrap_or_default();
        let after = text.get(span.end as usize..).unwrap_or_default();
        let touches = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let space = |needed| if needed { " " } else { "" };
        (
            space(touches(before.chars().next_back()) && !spelled.starts_with('.')),
            space(touches(after.chars().next()) && !spelled.ends_with('.')),
        )
    }

    /// `lazy_loader` reads the stub of a package and follows imports below the package only, by the
    /// names that they have there. Where a shim stays, the stub goes on naming it.
    fn lazy_stub(&self, destinations: &[Destination], found: &mut FileEdits) -> bool {
        if !self.file.is_lazy_stub() || self.lazy_modules(destinations, found) {
            return self.file.is_lazy_stub();
        }
        for (leaf, to) in self.import.leaves.iter().zip(destinations) {
            let Some(why) = self.not_in_stub(leaf, to) else {
                continue;
            };
            let full = format!("{}.{}", self.base, leaf.name.text);
            let Some(stays) = self.why_stub_stays(leaf, &full) else {
                let help = "leave a shim with `shim = true`, or import the name in the package itself first";
                found.refuse(leaf.name.span, why, Some(help.to_owned()));
                return true;
            };
            let why = format!("{why}; {stays}");
            let span = leaf.name.span;
            found.told.leave(span, Form::ImportFrom, &full, &why);
            return true;
        }
        false
    }

    /// What goes on leading from the old name in the stub of a package.
    fn why_stub_stays(&self, leaf: &Leaf, full: &str) -> Option<&'static str> {
        let module = self.file.base_module(self.import, self.base);
        if through_old_module(self.file, module, &leaf.name.text) {
            return Some("the module that it leaves imports it");
        }
        let shim = self.file.has_shim(full) || self.file.has_shim(self.base);
        shim.then_some("it goes on naming the shim")
    }

    /// Why the stub of a package cannot say where a name is.
    fn not_in_stub(&self, leaf: &Leaf, to: &Destination) -> Option<String> {
        let package = &self.file.package;
        let spelled = self.spell(&to.parent);
        if !spelled.starts_with('.') || spelled.starts_with("..") {
            return Some(format!(
                "the lazy imports of `{package}` cannot lead to `{spelled}`, which is not below it"
            ));
        }
        (to.name != leaf.name.text).then(|| {
            let name = &to.name;
            format!("the lazy imports of `{package}` cannot give `{name}` another name")
        })
    }

    /// `from . import old` in such a stub: a module that gets another name in the package is named by
    /// it, one that leaves the package goes from the stub with it. `true` when that is all there is to do.
    fn lazy_modules(&self, destinations: &[Destination], found: &mut FileEdits) -> bool {
        let module = self.file.base_module(self.import, self.base);
        let leaves = || self.import.leaves.iter().zip(destinations);
        let follows = |leaf: &Leaf, to: &Destination| {
            let full = format!("{}.{}", self.base, leaf.name.text);
            let is_module = self.file.submodule(self.base, module, leaf);
            !to.changed || is_module.is_some() && !self.file.has_shim(&full)
        };
        if self.base != self.file.package || !leaves().all(|(leaf, to)| follows(leaf, to)) {
            return false;
        }
        let mut gone = vec![false; destinations.len()];
        for ((leaf, to), gone) in leaves().zip(&mut gone).filter(|((_, to), _)| to.changed) {
            let (from, new) = (
                format!("{}.{}", self.base, leaf.name.text),
                format!("{}.{}", to.parent, to.name),
            );
            let reason = "a module that the package loads when it is asked for";
            let reference = Reference::resolved(Form::ImportFrom, &from, &new, reason);
            *gone = to.parent != self.file.package_after;
            if *gone {
                found.note(leaf.name.span, reference.needs_review());
            } else if to.name != leaf.name.text {
                found.change(Edit::replace(leaf.span, to.name.as_str()), reference);
            }
        }
        if gone.iter().all(|gone| *gone) {
            let line = items::source_line(self.file.text, self.import.span);
            found.push(line.unwrap_or_else(|| Edit::delete(self.import.span)));
        } else if gone.contains(&true) {
            self.remove_leaves(&gone, found);
        }
        true
    }

    /// How a module is spelled in the `from` part: relative where it was and can be.
    fn spell(&self, parent: &str) -> String {
        if self.from.level > 0
            && let Some(relative) = relative(&self.file.package_after, parent)
        {
            return relative;
        }
        parent.to_owned()
    }

    /// Takes the leaves that are elsewhere now out of the list, and imports them from there.
    fn split(&self, destinations: &[Destination], kept: &str, found: &mut FileEdits) {
        let gone = destinations.iter().map(|each| each.parent != kept);
        let gone: Vec<bool> = gone.collect();
        if !gone.contains(&true) {
            return;
        }
        let mut parents: Vec<&str> = Vec::new();
        for (leaf, to) in self.leaves(destinations, |to| to.parent != kept) {
            self.note(leaf, to, "this name of the list is elsewhere now", found);
            if !parents.contains(&to.parent.as_str()) {
                parents.push(&to.parent);
            }
        }
        let mut comment = self.remove_leaves(&gone, found).join(" ");
        if !comment.is_empty() {
            comment.insert_str(0, "  ");
        }
        let place = self.file.place_after(self.import);
        for parent in parents {
            let statement = self.statement(parent, destinations, &place.1);
            let statement = format!("{statement}{}", std::mem::take(&mut comment));
            found.add_statement(place.clone(), statement);
        }
    }

    /// A statement of its own for the leaves that go to `parent`.
    fn statement(&self, parent: &str, destinations: &[Destination], line_start: &str) -> String {
        let leaves = self.leaves(destinations, |to| to.parent == parent);
        let leaves: Vec<String> = leaves.map(|(leaf, to)| leaf_text(leaf, to)).collect();
        if parent.is_empty() {
            return leaves
                .iter()
                .map(|leaf| format!("import {leaf}"))
                .collect::<Vec<_>>()
                .join(line_start);
        }
        let line = format!("from {} import {}", self.spell(parent), leaves.join(", "));
        if leaves.len() == 1
            || line.len() + line_start.trim_start_matches(['\r', '\n']).len() <= LINE_LENGTH
            || line_start == "; "
        {
            return line;
        }
        let lines: String = leaves
            .iter()
            .map(|leaf| format!("{line_start}    {leaf},"))
            .collect();
        format!("from {} import ({lines}{line_start})", self.spell(parent))
    }

    /// Every leaf is a top-level module now: `from pkg import old` becomes `import new as old`.
    fn whole_modules(&self, destinations: &[Destination], found: &mut FileEdits) {
        let leaves: Vec<String> = self
            .import
            .leaves
            .iter()
            .zip(destinations)
            .map(|(leaf, destination)| leaf_text(leaf, destination))
            .collect();
        found.note(
            self.from.span,
            Reference::resolved(
                Form::ImportFrom,
                self.base,
                &leaves.join(", "),
                "the module is a top-level one now",
            ),
        );
        found.push(Edit::replace(
            self.import.span,
            format!("import {}", leaves.join(", ")),
        ));
    }
}

/// An edit that imports a leaf by its new name and keeps the name that the file uses.
fn rename_leaf(leaf: &Leaf, destination: &Destination) -> Edit {
    let name = &destination.name;
    match &leaf.alias {
        Some(alias) if alias.text == *name || destination.named_below => {
            Edit::replace(leaf.span, name)
        }
        Some(_) => Edit::replace(leaf.name.span, name),
        None => Edit::replace(leaf.name.span, leaf_text(leaf, destination)),
    }
}

fn leaf_text(leaf: &Leaf, destination: &Destination) -> String {
    let name = &destination.name;
    match &leaf.alias {
        // `import a as a` is a re-export: it stays one.
        Some(alias) if alias.text == *name && alias.text != leaf.name.text => name.clone(),
        Some(_) if destination.named_below => name.clone(),
        Some(alias) => format!("{name} as {}", alias.text),
        None if *name != leaf.name.text && !destination.uses_follow => {
            format!("{name} as {}", leaf.name.text)
        }
        None => name.clone(),
    }
}

/// `parent` as seen from `package`, with dots; `None` when they share no top-level package.
pub fn relative(package: &str, parent: &str) -> Option<String> {
    let here: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
    let there: Vec<&str> = parent.split('.').filter(|part| !part.is_empty()).collect();
    let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return None;
    }
    let dots = ".".repeat(here.len() - shared + 1);
    Some(format!(
        "{dots}{}",
        there.get(shared..).unwrap_or_default().join(".")
    ))
}
