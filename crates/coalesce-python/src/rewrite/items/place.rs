//! The files that definitions arrive in, and what their old files import of them.

use std::collections::BTreeSet;

use coalesce_model::{
    ByteSpan, Edit, LanguagePlan, NewFile, Texts, TreePath, Unproven, UnprovenKind,
};

use super::{
    Edits, Moved,
    back::{in_place, named_twice},
    cut, exports,
    header::Header,
    imported::{Line, Resolved},
    logger_names,
    name_index::NameIndex,
    needs::{Need, Origin},
    order::{Loads, Node},
    outline::{Kind, Outline},
    patches, refusal, shims,
    source::{self, Source},
    way::Way,
};
use crate::{
    analysis::Analysis,
    graph::Entity,
    rewrite::{
        imports::relative,
        mapping::Mapping,
        offers,
        search_path::run_by_path,
        structure::{self, packages_above},
    },
    shim,
};

/// A definition on its way.
pub struct Block {
    /// Index into the list of items.
    pub index: usize,
    /// The file it comes from.
    pub path: TreePath,
    pub extents: Vec<ByteSpan>,
    pub kind: Kind,
    pub needs: Vec<Need>,
    /// Edits in offsets of the file it comes from.
    pub edits: Vec<Edit>,
}

/// A file that definitions have left.
pub struct Left {
    pub source: Source,
    pub items: Vec<usize>,
    pub extents: Vec<ByteSpan>,
}

/// Everything that is on its way.
#[derive(Default)]
pub struct Arriving {
    pub blocks: Vec<Block>,
    pub left: Vec<Left>,
}

impl Arriving {
    pub fn leave(&mut self, source: Source, items: Vec<usize>, extents: Vec<ByteSpan>) {
        self.left.push(Left {
            source,
            items,
            extents,
        });
    }
}

/// A file that definitions go to.
pub struct Target {
    pub parent: String,
    /// The module as who loads whom knows it.
    pub node: Node,
    pub module: Option<usize>,
    pub path: TreePath,
    pub package: String,
    pub text: String,
    pub analysis: Analysis,
    pub outline: Outline,
    pub(super) blocks: Vec<usize>,
    /// Statements below the imports.
    pub(super) made: Vec<String>,
    pub(super) top: Vec<Line>,
    pub(super) typing: Vec<Line>,
}

impl Target {
    /// Nothing is in it yet.
    pub fn is_blank(&self) -> bool {
        self.text.trim_matches(['\u{feff}', '\r', '\n']).is_empty()
    }

    /// The statement that brings a name, as this file spells modules.
    pub fn spelled(&self, line: &Line) -> String {
        line.statement(&self.package)
    }
}

/// Puts every definition into its place.
pub fn all(
    mapping: &Mapping<'_>,
    way: Way,
    names: &NameIndex<'_>,
    arriving: Arriving,
    plan: &mut LanguagePlan,
) {
    let loads = Loads::new(mapping);
    let mut placing = Placing {
        mapping,
        way,
        texts: names.texts,
        names,
        loads,
        arriving,
        targets: Vec::new(),
        edits: Edits::new(),
        backed: BTreeSet::new(),
        copies: BTreeSet::new(),
        plan,
    };
    placing.find_targets();
    placing.imports();
    placing.write();
    placing.exports();
    placing.sources();
    patches::follow(
        mapping,
        names,
        &placing.arriving,
        placing.plan,
        &mut placing.edits,
    );
    patches::keep(mapping, names, &placing.copies, placing.plan);
    let mut edits = std::mem::take(&mut placing.edits);
    // What goes away as a whole is not edited.
    edits.retain(|path, _| !mapping.gone.contains(path));
    let left = std::mem::take(&mut placing.arriving.left);
    for (path, made) in edits {
        plan.edits.entry(path).or_default().extend(made);
    }
    for left in left {
        if let Some(edits) = plan.edits.get_mut(&left.source.path) {
            let top = cut::at_top(&left.source.text, edits);
            edits.extend(top);
        }
    }
}

/// The work in progress.
pub(super) struct Placing<'m, 'p> {
    pub(super) mapping: &'m Mapping<'m>,
    pub(super) way: Way,
    pub(super) texts: &'m dyn Texts,
    pub(super) names: &'m NameIndex<'m>,
    loads: Loads<'m>,
    pub(super) arriving: Arriving,
    pub(super) targets: Vec<Target>,
    edits: Edits,
    /// Items that their old modules import at the top.
    backed: BTreeSet<usize>,
    /// Items that their old modules read as names of their own, and that others set there.
    copies: BTreeSet<usize>,
    pub(super) plan: &'p mut LanguagePlan,
}

impl Placing<'_, '_> {
    pub(super) fn moved(&self, index: usize) -> Option<&Moved> {
        self.mapping.items.list.get(index)
    }

    fn find_targets(&mut self) {
        // What one file gives keeps its order.
        self.arriving.blocks.sort_by_key(|block| {
            let left = &self.arriving.left;
            let file = left.iter().position(|left| left.source.path == block.path);
            (file, block.extents.first().copied())
        });
        for at in 0..self.arriving.blocks.len() {
            let Some(block) = self.arriving.blocks.get(at) else {
                continue;
            };
            let Some(moved) = self.moved(block.index).cloned() else {
                continue;
            };
            let Some(path) = self.path_of(&moved, &block.path) else {
                let lost = self.lost_types(&moved, block);
                self.plan.unproven.extend(lost);
                continue;
            };
            match self.targets.iter_mut().find(|target| target.path == path) {
                Some(target) => target.blocks.push(at),
                None => self.open(&moved, path, at),
            }
        }
    }

    /// The file that an item goes to; none for types whose new module has no file for them.
    pub(super) fn path_of(&self, moved: &Moved, from: &TreePath) -> Option<TreePath> {
        let graph = self.mapping.graph;
        let stub = from.extension() == Some("pyi");
        if let Some(target) = moved.target {
            let found = graph.modules.get(target)?;
            let is_stub = found.path.extension() == Some("pyi");
            if is_stub == stub {
                return Some(found.path.clone());
            }
            let twin = graph
                .twin(target)
                .and_then(|twin| graph.modules.get(twin))?;
            return Some(twin.path.clone());
        }
        let own = graph.modules.get(moved.source)?;
        // Types in a tree of their own stay in that.
        let package = from.file_stem() == "__init__";
        let base = self
            .mapping
            .target_base(&moved.parent, &own.name, from, package);
        let extension = if stub { "pyi" } else { "py" };
        self.mapping.file_of_new(&moved.parent, &base, extension)
    }

    fn open(&mut self, moved: &Moved, path: TreePath, block: usize) {
        let text = moved
            .target
            .and_then(|_| self.texts.text(&path))
            .map(|text| text.to_string())
            .unwrap_or_default();
        if moved.target.is_none() {
            self.make_packages(moved, &path, block);
        }
        self.targets.push(Target {
            parent: moved.parent.clone(),
            node: Node::of_target(moved),
            module: moved.target,
            package: source::package_of(self.mapping, moved),
            analysis: Analysis::new(&text),
            outline: Outline::new(&text),
            path,
            text,
            blocks: vec![block],
            made: Vec::new(),
            top: Vec::new(),
            typing: Vec::new(),
        });
    }

    fn make_packages(&mut self, moved: &Moved, path: &TreePath, block: usize) {
        let graph = self.mapping.graph;
        let from = self.arriving.blocks.get(block).map(|block| &block.path);
        let from = from.and_then(|path| graph.module_of(path));
        let Some(module) = graph.modules.get(from.unwrap_or(moved.source)) else {
            return;
        };
        let way = structure::Way {
            from: &moved.change.from,
            to: &moved.parent,
            module,
        };
        let arriving: BTreeSet<TreePath> = self.mapping.files.values().cloned().collect();
        let folder = path.parent();
        let directory = match path.file_stem() == "__init__" {
            true => folder.and_then(|folder| folder.parent()),
            false => folder,
        };
        packages_above(
            self.mapping,
            &way,
            directory,
            self.texts,
            &arriving,
            self.plan,
        );
    }

    /// Decides which names are imported where: at the top unless that could close a cycle.
    fn imports(&mut self) {
        let mut lazy = Vec::new();
        for at in 0..self.targets.len() {
            for (block, need, line) in self.lines(at) {
                let eager = self.need(block, need).is_some_and(Need::eager);
                if eager && !line.typing {
                    self.top(at, line);
                } else {
                    lazy.push((at, block, need, line));
                }
            }
        }
        self.back(true);
        self.back(false);
        for (at, block, need, line) in lazy {
            self.place_lazy(at, block, need, line);
        }
    }

    fn need(&self, block: usize, need: usize) -> Option<&Need> {
        self.arriving.blocks.get(block)?.needs.get(need)
    }

    /// The blocks that arrive in a target: the number of each, itself, and the file that it leaves.
    fn blocks_of(&self, target: &Target) -> impl Iterator<Item = (usize, &Block, &Source)> {
        target.blocks.iter().filter_map(|at| {
            let block = self.arriving.blocks.get(*at)?;
            let mut left = self.arriving.left.iter();
            let left = left.find(|left| left.source.path == block.path)?;
            Some((*at, block, &left.source))
        })
    }

    /// Whether something sets a name of a module by a string.
    pub(super) fn is_patched(&self, source: &Source, name: &str) -> bool {
        let own = self.mapping.graph.modules.get(source.module);
        let full = own.map(|own| format!("{}.{name}", own.name));
        full.is_some_and(|full| patches::is_set(self.names, &full))
    }

    /// Whether what an import binds may be something else at each call: the name is set from outside, or its own module
    /// binds it several times.
    fn may_be_set(&self, line: &Line) -> bool {
        let Some(parent) = &line.parent else {
            return false;
        };
        let full = format!("{parent}.{}", line.name);
        patches::is_set(self.names, &full)
            || match self.mapping.graph.lookup(&full) {
                Entity::Module(_) | Entity::External => false,
                Entity::Item(home, item) => {
                    let module = self.mapping.graph.modules.get(home);
                    let text = module.and_then(|module| self.texts.text(&module.path));
                    module.zip(text).is_none_or(|(module, text)| {
                        let full = format!("{}.{item}", module.name);
                        !patches::stays_as_bound(self.names, &full, &text)
                    })
                }
                Entity::Missing | Entity::Opaque => true,
            }
    }

    /// Who goes by the logger that a definition writes to, and does not where it arrives.
    fn other_logger(
        &self,
        source: &Source,
        block: &Block,
        need: &Need,
        target: &Target,
    ) -> Option<Unproven> {
        let item = &self.moved(block.index)?.change.from;
        let logger = (source, need.name.as_str());
        logger_names::named(self.mapping, self.texts, logger, (item, &target.parent))
    }

    /// What the blocks of a target need to import there. Renames and refusals are made on the way.
    fn lines(&mut self, at: usize) -> Vec<(usize, usize, Line)> {
        let mut result: Vec<(usize, usize, Line)> = Vec::new();
        let Some(target) = self.targets.get(at) else {
            return result;
        };
        let mut problems = Vec::new();
        let mut made: Vec<String> = Vec::new();
        let (mut loggers, mut doubts) = (BTreeSet::new(), Vec::new());
        let mut taken: Vec<Line> = Vec::new();
        let mut renames: Vec<(usize, Vec<Edit>)> = Vec::new();
        for (block_at, block, source) in self.blocks_of(target) {
            for problem in exports::captured(self.mapping, target, block, source) {
                problems.push((block.path.clone(), problem));
            }
            for (need_at, need) in block.needs.iter().enumerate() {
                let known = (taken.as_slice(), made.as_slice());
                match self.met(source, (block, need), target, known) {
                    Ok(Resolved {
                        line,
                        rename,
                        made: own,
                        other_logger,
                        set_there,
                    }) => {
                        doubts.extend(set_there.then(|| read_there(block, need, target)));
                        if other_logger && loggers.insert((source.module, need.name.as_str())) {
                            doubts.extend(self.other_logger(source, block, need, target));
                        }
                        made.extend(own.filter(|own| !made.contains(own)));
                        let anew = || need.anew.then(|| need.name.clone());
                        if let Some(name) = rename.or_else(anew) {
                            let edits = need.uses.iter();
                            let edits = edits.map(|used| Edit::replace(used.span, name.as_str()));
                            renames.push((block_at, edits.collect()));
                        }
                        taken.extend(line.clone());
                        result.extend(line.map(|line| (block_at, need_at, line)));
                    }
                    Err(problem) => problems.push((block.path.clone(), problem)),
                }
            }
        }
        self.plan.unproven.extend(doubts);
        if let Some(target) = self.targets.get_mut(at) {
            target.made.extend(made);
        }
        for (block, edits) in renames {
            if let Some(block) = self.arriving.blocks.get_mut(block) {
                block.edits.extend(edits);
            }
        }
        for (path, (span, why)) in problems {
            self.plan
                .refusals
                .push(refusal(&path, Some(span), why, None));
        }
        result
    }

    pub(super) fn top(&mut self, at: usize, line: Line) {
        let Some(target) = self.targets.get_mut(at) else {
            return;
        };
        if let Some(module) = line.module {
            self.loads.add(target.node.clone(), Node::There(module));
        }
        let list = if line.typing {
            &mut target.typing
        } else {
            &mut target.top
        };
        if !list.contains(&line) {
            list.push(line);
        }
    }

    /// The old modules go on using what left: they import it.
    fn back(&mut self, eager: bool) {
        for at in 0..self.arriving.left.len() {
            let mut lines: Vec<String> = Vec::new();
            let mut imports_inside = false;
            let items = self.arriving.left.get(at).map(|left| left.items.clone());
            for index in items.unwrap_or_default() {
                if let Some(back) = self.back_of(at, index, eager) {
                    let line = back.line.filter(|line| !lines.contains(line));
                    lines.extend(line);
                    if back.copy {
                        self.copies.insert(index);
                    }
                    self.plan.unproven.extend(back.later);
                    imports_inside |= !back.edits.is_empty();
                    self.follow_back(at, index, back.top, back.edits);
                }
            }
            let Some(left) = self.arriving.left.get(at) else {
                continue;
            };
            let first = left
                .items
                .iter()
                .filter_map(|index| self.mapping.items.list.get(*index))
                .flat_map(|moved| remaining(left, moved))
                .filter_map(|(span, eager)| eager.then_some(span.start))
                .min();
            let header = Header::before(&left.source.text, &left.source.outline, first);
            let text = header.text(&cut::joined_imports(lines));
            if !text.is_empty() || imports_inside {
                let doubt = run_by_path(self.mapping, self.texts, left.source.module);
                let doubt = doubt.filter(|doubt| !self.plan.unproven.contains(doubt));
                self.plan.unproven.extend(doubt);
            }
            if !text.is_empty() {
                let edits = self.edits.entry(left.source.path.clone()).or_default();
                edits.push(Edit::insert(header.at, text));
            }
        }
    }

    fn follow_back(&mut self, at: usize, index: usize, top: bool, edits: Vec<Edit>) {
        let (Some(left), Some(moved)) = (
            self.arriving.left.get(at),
            self.mapping.items.list.get(index),
        ) else {
            return;
        };
        if top {
            self.backed.insert(index);
            let importer = Node::There(left.source.module);
            self.loads.add(importer, Node::of_target(moved));
        }
        let path = left.source.path.clone();
        self.edits.entry(path).or_default().extend(edits);
    }

    /// What an old module needs to go on using one item.
    pub(super) fn back_one(&self, at: usize, index: usize, eager: bool) -> Option<Back> {
        let left = self.arriving.left.get(at)?;
        let (source, moved) = (&left.source, self.mapping.items.list.get(index)?);
        let uses = remaining(left, moved);
        if uses.is_empty() && !eager && !source.is_stub() {
            return self.offered(source, moved);
        }
        let is_eager = uses.iter().any(|(_, eager)| *eager);
        if self.mapping.goes_away(source.module) || uses.is_empty() || is_eager != eager {
            return None;
        }
        let own = self.mapping.name_after(source.module);
        let set = patches::is_set(self.names, &moved.change.from);
        if let Some(back) = self.renamed_back(source, moved, &uses, set) {
            return Some(back);
        }
        let line = back_line(self.mapping, source, moved);
        let spans: Vec<ByteSpan> = uses.iter().map(|(span, _)| *span).collect();
        let program = |span: &ByteSpan| {
            let mut programs = source.outline.programs.iter();
            programs.any(|program| program.span.contains(*span))
        };
        let node = Node::of_target(moved);
        let source_node = Node::There(source.module);
        let risky = spans.iter().all(program) || self.loads.reaches(&node, &source_node, &own);
        let inner = local(&source.outline, &spans, &line)
            .filter(|_| risky && !eager && (!self.way.in_place || spans.iter().all(program)));
        let there = self
            .way
            .in_place
            .then(|| in_place(left, moved, &line))
            .flatten();
        let back = match (inner, there) {
            (Some(edits), _) => {
                let executed = spans.iter().find(|span| !program(span)).copied();
                return Some(Back {
                    edits,
                    later: executed
                        .filter(|_| set)
                        .and_then(|span| reads_anew((&source.path, &line), Some(span))),
                    ..Back::default()
                });
            }
            (None, Some(edit)) => Back {
                edits: vec![edit],
                ..Back::default()
            },
            (None, None) => Back {
                line: Some(line),
                ..Back::default()
            },
        };
        Some(Back {
            top: true,
            copy: set,
            ..back
        })
    }

    /// What uses in an old module become, where no import of the item itself has to serve them: where it is at home there,
    /// and where others set its name, which is read through its module then.
    fn renamed_back(
        &self,
        source: &Source,
        moved: &Moved,
        uses: &[(ByteSpan, bool)],
        is_set: bool,
    ) -> Option<Back> {
        if self.mapping.name_after(source.module) == moved.parent {
            let edits = uses.iter();
            let edits = edits.map(|(span, _)| Edit::replace(*span, &moved.name));
            return Some(Back {
                edits: edits.collect(),
                ..Back::default()
            });
        }
        let through = || patches::through_module(self.mapping, source, moved, uses);
        let (line, edits) = is_set.then(through)??;
        Some(Back {
            edits,
            line,
            ..Back::default()
        })
    }

    /// The import of what a module goes on offering, and uses nowhere itself.
    fn offered(&self, source: &Source, moved: &Moved) -> Option<Back> {
        if !offers::stays_on_offer(self.mapping, moved) {
            return None;
        }
        let line = back_line(self.mapping, source, moved);
        Some(Back {
            line: Some(named_twice(line, moved)),
            top: true,
            ..Back::default()
        })
    }

    fn place_lazy(&mut self, at: usize, block: usize, need: usize, mut line: Line) {
        let Some(target) = self.targets.get(at) else {
            return;
        };
        let direct = |module| {
            target
                .module
                .is_some_and(|own| self.loads.direct(own, module))
        };
        let risky = line.module.is_some_and(|module| {
            let start = Node::There(module);
            !direct(module) && self.loads.reaches(&start, &target.node, &target.parent)
        });
        // A module that is bound for later is executed at once all the same.
        if line.typing || !(risky || self.way.inside && line.module.is_some()) {
            self.top_for(at, (block, need), line);
            return;
        }
        let statement = target.spelled(&line);
        let set = self.may_be_set(&line);
        let Some(found) = self.arriving.blocks.get_mut(block) else {
            return;
        };
        let Some(left) = self
            .arriving
            .left
            .iter()
            .find(|left| left.source.path == found.path)
        else {
            return;
        };
        let need_at = need;
        let Some(need) = found.needs.get(need) else {
            return;
        };
        let executed: Vec<ByteSpan> = need
            .uses
            .iter()
            .filter(|used| !used.annotation)
            .map(|used| used.span)
            .collect();
        match local(&left.source.outline, &executed, &statement) {
            Some(edits) => {
                let types = need.uses.iter().any(|used| used.annotation);
                // Of the module that it leaves a definition read its names at each call before, too.
                if need.origin != Origin::Back && set {
                    self.plan.unproven.extend(reads_anew(
                        (&left.source.path, &statement),
                        executed.first().copied(),
                    ));
                }
                found.edits.extend(edits);
                if types {
                    line.typing = true;
                    self.top(at, line);
                }
            }
            None => self.top_for(at, (block, need_at), line),
        }
    }

    fn exports(&mut self) {
        exports::lists(self.mapping, &self.arriving, &self.targets, &mut self.edits);
        exports::composed_lists(self.mapping, &self.arriving, self.plan);
        exports::stars(self.mapping, self.texts, &mut self.edits, self.plan);
    }

    /// Shims of the old names.
    fn sources(&mut self) {
        for left in &self.arriving.left {
            let kept: Vec<&Moved> = left
                .items
                .iter()
                .filter_map(|index| self.mapping.items.list.get(*index))
                .filter(|moved| moved.change.shim.is_some())
                .collect();
            if !kept.is_empty() && !self.mapping.goes_away(left.source.module) {
                let edits = self.edits.entry(left.source.path.clone()).or_default();
                let own = left
                    .items
                    .iter()
                    .filter(|index| self.backed.contains(index));
                let own: Vec<&str> = own
                    .filter_map(|index| Some(self.mapping.items.list.get(*index)?.item.as_str()))
                    .collect();
                let helper = kept.first().and_then(|moved| {
                    let module = self.mapping.graph.modules.get(left.source.module)?;
                    let request = moved.change.shim.as_ref()?;
                    shim::helper::of(self.mapping.graph, module, request, self.texts)
                });
                let made = helper
                    .as_ref()
                    .and_then(|helper| structure::written(helper, self.texts));
                let known = |file: &NewFile| {
                    self.plan
                        .creates
                        .iter()
                        .any(|other| other.path == file.path)
                };
                self.plan.creates.extend(made.filter(|file| !known(file)));
                let name = helper.as_ref().map(|helper| helper.name.as_str());
                shims::append(self.mapping, &left.source, (&kept, &own), name, edits);
            }
        }
    }
}

/// What an old module gets for an item that it goes on using.
#[derive(Default)]
pub(super) struct Back {
    pub(super) edits: Vec<Edit>,
    /// A statement at the top.
    pub(super) line: Option<String>,
    /// The module binds the item by its old name.
    pub(super) top: bool,
    /// Others set that name by a string.
    pub(super) copy: bool,
    /// What comes later than before.
    pub(super) later: Option<Unproven>,
}

/// Uses of a moved item that stay behind: the place, and whether it is read at once.
fn remaining(left: &Left, moved: &Moved) -> Vec<(ByteSpan, bool)> {
    let (source, item) = (&left.source, moved.item.as_str());
    let inside = |span: ByteSpan| left.extents.iter().any(|extent| extent.contains(span));
    let uses = source.analysis.uses_of(item).filter_map(|used| {
        let root = used.chain.first()?;
        let ours = !inside(root.span) && source.analysis.binding_scope(used.scope, item) == Some(0);
        ours.then_some((root.span, used.eager && !used.unevaluated(source.future)))
    });
    uses.collect()
}

pub(super) fn back_line(mapping: &Mapping<'_>, source: &Source, moved: &Moved) -> String {
    let dots = source
        .analysis
        .imports
        .iter()
        .any(|(import, _)| import.from.as_ref().is_some_and(|from| from.level > 0));
    let package = mapping.package_after(source.module);
    let parent = dots
        .then(|| relative(&package, &moved.parent))
        .flatten()
        .unwrap_or_else(|| moved.parent.clone());
    let alias = if moved.name == moved.item {
        String::new()
    } else {
        format!(" as {}", moved.item)
    };
    format!("from {parent} import {}{alias}", moved.name)
}

/// That what arrives reads a name which somebody sets in the module that it arrives in.
fn read_there(block: &Block, need: &Need, target: &Target) -> Unproven {
    let name = format!("{}.{}", target.parent, need.name);
    Unproven {
        path: block.path.clone(),
        span: need.uses.first().map(|used| used.span),
        kind: UnprovenKind::Patch,
        why: format!("`{name}` is set from outside, and what arrives there reads it from now on"),
        name,
    }
}

/// That an import goes into the functions that use what it brings, which is not the same at each call.
fn reads_anew((path, statement): (&TreePath, &str), span: Option<ByteSpan>) -> Option<Unproven> {
    Some(Unproven {
        path: path.clone(),
        span: Some(span?),
        kind: UnprovenKind::NotLoaded,
        name: statement.to_owned(),
        why: "this import goes into the functions that use it, which read the name anew at each call, and something sets it"
            .to_owned(),
    })
}

/// An import inside of each function that uses a name; none when a use is outside of them.
fn local(outline: &Outline, uses: &[ByteSpan], statement: &str) -> Option<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    for span in uses {
        let mut bodies = outline.functions.iter().chain(&outline.programs);
        let function = bodies.find(|function| function.span.contains(*span))?;
        let entry = function.entry.as_ref()?;
        // Decorators and defaults stand before the body.
        if span.start < entry.at {
            return None;
        }
        let edit = Edit::insert(entry.at, entry.text(statement));
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    Some(edits)
}
