//! How a `use` declaration is edited: in place where its list allows it, else what has to go
//! elsewhere is taken out of the list and imported by a declaration of its own.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit};

use super::{
    lines,
    spell::{spelled, written},
};
use crate::facts::{LeafKind, Segment, SourceFacts, UseDeclaration, UseLeaf, UseTree};

/// What becomes of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeafChange {
    /// It imports this path, bound by this alias if any.
    Path {
        path: Vec<String>,
        alias: Option<String>,
    },
    /// It goes away.
    Drop,
}

/// The edits of one declaration. `changes` are by index into the leaves of the file; `more` are
/// paths that are imported besides.
pub(crate) fn edit(
    facts: &SourceFacts,
    text: &str,
    declaration: &UseDeclaration,
    changes: &BTreeMap<u32, LeafChange>,
    more: &[String],
) -> Vec<Edit> {
    let mut editor = Editor {
        facts,
        text,
        changes,
        edits: Vec::new(),
        taken: Vec::new(),
    };
    let emptied = editor.visit(&declaration.tree, 0, &[]);
    let taken = trees_of(&editor.taken, 0).into_iter();
    let mut trees = taken.chain(more.iter().cloned());
    let mut edits = editor.edits;
    if emptied {
        let Some(first) = trees.next() else {
            return vec![Edit::delete(lines::removal(text, declaration.span))];
        };
        edits = vec![Edit::replace(span_of_tree(facts, declaration), first)];
    }
    take_colons(facts, declaration, &mut edits);
    let added = trees.map(|tree| new_declaration(text, declaration, &tree));
    let added: String = added.collect();
    if !added.is_empty() {
        let comment = lines::trailing_comment(text, declaration.span).map_or(0, str::len);
        let at = declaration.span.end + u32::try_from(comment).unwrap_or(0);
        edits.push(Edit::insert(at, added));
    }
    edits
}

/// All that a declaration imports, `::` before it included.
fn span_of_tree(facts: &SourceFacts, declaration: &UseDeclaration) -> ByteSpan {
    let start = declaration
        .leading_colons
        .map_or(start_of(facts, &declaration.tree), |colons| colons.start);
    ByteSpan::new(start, end_of(facts, &declaration.tree))
}

/// Takes `::` out where a path begins in its own crate from then on: behind it stands a crate and nothing else.
fn take_colons(facts: &SourceFacts, declaration: &UseDeclaration, edits: &mut [Edit]) {
    let Some(colons) = declaration.leading_colons else {
        return;
    };
    let start = start_of(facts, &declaration.tree);
    for edit in edits.iter_mut().filter(|edit| edit.span.start == start) {
        let first = edit.text.split("::").next().unwrap_or_default();
        if matches!(first.trim(), "crate" | "self" | "super") {
            edit.span.start = colons.start;
        }
    }
}

/// Another declaration like this one, behind it.
fn new_declaration(text: &str, declaration: &UseDeclaration, tree: &str) -> String {
    let line = match lines::prefix(text, declaration.span.start) {
        Some(prefix) => format!("{}{prefix}", lines::line_break(text)),
        None => " ".to_owned(),
    };
    let attributes = declaration
        .attributes
        .and_then(|span| span.of(text))
        .map_or_else(String::new, |attributes| format!("{line}{attributes}"));
    let visibility = declaration.visibility.span.of(text).unwrap_or_default();
    let space = if visibility.is_empty() { "" } else { " " };
    format!("{attributes}{line}{visibility}{space}use {tree};")
}

struct Editor<'a> {
    facts: &'a SourceFacts,
    text: &'a str,
    changes: &'a BTreeMap<u32, LeafChange>,
    edits: Vec<Edit>,
    /// What left its list and has no place yet.
    taken: Vec<Taken>,
}

/// A leaf or a list that left its place.
struct Taken {
    parent: Vec<String>,
    /// A name with its alias, `*`, or a whole list in braces.
    text: String,
}

impl Taken {
    fn is_list(&self) -> bool {
        self.text.starts_with('{')
    }
}

/// The names before a group or leaf that stand in the text together.
struct Chain<'t> {
    segments: Vec<Segment>,
    end: &'t UseTree,
}

fn chain(tree: &UseTree) -> Chain<'_> {
    let (mut segments, mut end) = (Vec::new(), tree);
    while let UseTree::Path(segment, rest) = end {
        segments.push(*segment);
        end = rest;
    }
    Chain { segments, end }
}

fn start_of(facts: &SourceFacts, tree: &UseTree) -> u32 {
    match tree {
        UseTree::Path(segment, _) => segment.span.start,
        UseTree::Leaf(leaf) => leaf_of(facts, *leaf).map_or(0, |leaf| leaf.span.start),
        UseTree::Group(span, _) => span.start,
    }
}

fn end_of(facts: &SourceFacts, tree: &UseTree) -> u32 {
    match tree {
        UseTree::Path(_, rest) => end_of(facts, rest),
        UseTree::Leaf(leaf) => leaf_of(facts, *leaf).map_or(0, |leaf| leaf.span.end),
        UseTree::Group(span, _) => span.end,
    }
}

fn leaf_of(facts: &SourceFacts, leaf: u32) -> Option<&UseLeaf> {
    Some(facts.leaf(leaf))
}

fn leaves(tree: &UseTree, found: &mut Vec<u32>) {
    match tree {
        UseTree::Path(_, rest) => leaves(rest, found),
        UseTree::Leaf(leaf) => found.push(*leaf),
        UseTree::Group(_, elements) => {
            for element in elements {
                leaves(element, found);
            }
        }
    }
}

impl Editor<'_> {
    fn old_path(&self, leaf: u32) -> Vec<String> {
        let segments = leaf_of(self.facts, leaf).map(|leaf| self.facts.segments(leaf.segments));
        segments
            .unwrap_or_default()
            .iter()
            .map(|segment| self.facts.name(segment.name).to_owned())
            .collect()
    }

    /// The path of a leaf after; `None` for one that goes away.
    fn path(&self, leaf: u32) -> Option<Vec<String>> {
        match self.changes.get(&leaf) {
            None => Some(self.old_path(leaf)),
            Some(LeafChange::Path { path, .. }) => Some(path.clone()),
            Some(LeafChange::Drop) => None,
        }
    }

    /// Edits what stands below `prefix`, the first `consumed` names of the old paths; whether nothing
    /// of it is left.
    fn visit(&mut self, tree: &UseTree, consumed: usize, prefix: &[String]) -> bool {
        let chain = chain(tree);
        match chain.end {
            UseTree::Leaf(leaf) => self.leaf(*leaf, &chain.segments, prefix),
            UseTree::Group(span, elements) => {
                self.group(*span, elements, &chain.segments, consumed, prefix)
            }
            UseTree::Path(..) => false,
        }
    }

    fn leaf(&mut self, at: u32, segments: &[Segment], prefix: &[String]) -> bool {
        let Some(fact) = leaf_of(self.facts, at).copied() else {
            return false;
        };
        let (path, alias) = match self.changes.get(&at) {
            None => return false,
            Some(LeafChange::Drop) => return true,
            Some(LeafChange::Path { path, alias }) => (path, alias.as_deref()),
        };
        let fits = path.starts_with(prefix)
            && match fact.kind {
                LeafKind::Name => path.len() > prefix.len(),
                LeafKind::SelfModule => path.len() == prefix.len(),
                LeafKind::Glob => true,
            };
        if !fits {
            let taken = taken_leaf(fact.kind, path, alias);
            self.taken.extend(taken);
            return true;
        }
        let first = segments.first().map(|segment| segment.span.start);
        let rest = path.get(prefix.len()..).unwrap_or_default();
        let (end, text) = self.said(&fact, rest, alias);
        let span = ByteSpan::new(first.unwrap_or(fact.span.start), end);
        self.replace(span, &text);
        false
    }

    /// What a leaf says from then on behind what stands before it, and up to where it says that.
    fn said(&self, fact: &UseLeaf, rest: &[String], alias: Option<&str>) -> (u32, String) {
        let (end, text) = match fact.kind {
            LeafKind::Name => (self.end_of_name(fact), spelled(rest)),
            LeafKind::SelfModule => (fact.span.start, String::new()),
            LeafKind::Glob if rest.is_empty() => (fact.span.start, String::new()),
            LeafKind::Glob => (fact.span.start, format!("{}::", spelled(rest))),
        };
        let old = fact.alias.map(|alias| self.facts.name(alias.name));
        if fact.kind == LeafKind::Glob || alias == old {
            return (end, text);
        }
        let name = match fact.kind {
            LeafKind::SelfModule => "self".to_owned(),
            _ => text,
        };
        let alias = alias.map_or_else(String::new, |alias| format!(" as {alias}"));
        (fact.span.end, format!("{name}{alias}"))
    }

    /// Where the name of a leaf ends, its alias left out.
    fn end_of_name(&self, fact: &UseLeaf) -> u32 {
        let last = self.facts.segments(fact.segments).last();
        let last = last.filter(|_| fact.alias.is_some());
        last.map_or(fact.span.end, |segment| segment.span.end)
    }

    /// Replaces a span, whole names that stay at either end left out.
    fn replace(&mut self, span: ByteSpan, new: &str) {
        let old = span.of(self.text).unwrap_or_default();
        if old == new {
            return;
        }
        let head = same_head(old, new);
        let old = old.get(head..).unwrap_or_default();
        let new = new.get(head..).unwrap_or_default();
        let tail = same_tail(old, new);
        let head = u32::try_from(head).unwrap_or(0);
        let cut = u32::try_from(tail).unwrap_or(0);
        let text = new.get(..new.len() - tail).unwrap_or_default();
        let span = ByteSpan::new(span.start + head, span.end - cut);
        self.edits.push(Edit::replace(span, text));
    }

    fn group(
        &mut self,
        span: ByteSpan,
        elements: &[UseTree],
        segments: &[Segment],
        consumed: usize,
        prefix: &[String],
    ) -> bool {
        let mut below = Vec::new();
        elements
            .iter()
            .for_each(|element| leaves(element, &mut below));
        if !below.iter().any(|leaf| self.changes.contains_key(leaf)) {
            return false;
        }
        let own = consumed + segments.len();
        let first = below.first().map(|leaf| self.old_path(*leaf));
        let old: Vec<String> = first.into_iter().flatten().take(own).collect();
        let new = self.together(&below, own).unwrap_or_else(|| old.clone());
        if new != old {
            let fits = new.starts_with(prefix) && new.len() > prefix.len();
            if !fits || segments.is_empty() {
                self.take(span, &below, new);
                return true;
            }
            self.replace_segments(segments, new.get(prefix.len()..).unwrap_or_default());
        }
        self.elements(span, elements, own, &new)
    }

    /// Spells the names before a list anew.
    fn replace_segments(&mut self, segments: &[Segment], path: &[String]) {
        if let (Some(first), Some(last)) = (segments.first(), segments.last()) {
            let span = ByteSpan::new(first.span.start, last.span.end);
            self.replace(span, &spelled(path));
        }
    }

    /// Edits the elements of a list, which has `own` names before it and the path `prefix` after; whether none is left.
    fn elements(
        &mut self,
        span: ByteSpan,
        elements: &[UseTree],
        own: usize,
        prefix: &[String],
    ) -> bool {
        let mut list = List {
            span,
            elements,
            left: Vec::new(),
            grown: false,
        };
        for element in elements {
            let before = self.taken.len();
            let left = !self.visit(element, own, prefix);
            let left = self.adopt(&mut list, element, left, before, prefix);
            list.left.push(left);
        }
        if list.left.iter().all(|left| !left) {
            return true;
        }
        self.remove(&list);
        false
    }

    /// Takes a whole list along, as it is written where its names stay.
    fn take(&mut self, span: ByteSpan, below: &[u32], parent: Vec<String>) {
        let same = below.iter().all(|leaf| self.keeps_name(*leaf));
        if let (true, Some(text)) = (same, span.of(self.text)) {
            self.taken.push(Taken {
                parent,
                text: text.to_owned(),
            });
            return;
        }
        for leaf in below {
            let Some(fact) = leaf_of(self.facts, *leaf).copied() else {
                continue;
            };
            if let Some(LeafChange::Path { path, alias }) = self.changed(*leaf, &fact) {
                self.taken
                    .extend(taken_leaf(fact.kind, &path, alias.as_deref()));
            }
        }
    }

    /// Whether a leaf stays, and has the alias that it had.
    fn keeps_name(&self, leaf: u32) -> bool {
        let old = leaf_of(self.facts, leaf).and_then(|leaf| leaf.alias);
        let old = old.map(|alias| self.facts.name(alias.name));
        match self.changes.get(&leaf) {
            Some(LeafChange::Path { alias, .. }) => alias.as_deref() == old,
            Some(LeafChange::Drop) => false,
            None => true,
        }
    }

    /// Puts what left an element into the list around it, where its new path begins like the list.
    fn adopt(
        &mut self,
        list: &mut List<'_>,
        element: &UseTree,
        left: bool,
        before: usize,
        prefix: &[String],
    ) -> bool {
        let grown = self.taken.split_off(before);
        let (here, elsewhere): (Vec<Taken>, Vec<Taken>) = grown.into_iter().partition(|taken| {
            taken.parent.starts_with(prefix)
                && !(taken.is_list() && taken.parent.len() == prefix.len())
        });
        self.taken.extend(elsewhere);
        if here.is_empty() {
            return left;
        }
        let trees = trees_of(&here, prefix.len());
        list.grown |= left;
        self.put_in(element, left, &trees);
        true
    }

    /// Puts trees into a list behind an element, or in the place of one that goes.
    fn put_in(&mut self, element: &UseTree, stays: bool, trees: &[String]) {
        let (start, end) = (start_of(self.facts, element), end_of(self.facts, element));
        let separator = match lines::prefix(self.text, start) {
            Some(indent) => format!(",{}{indent}", lines::line_break(self.text)),
            None => ", ".to_owned(),
        };
        let text = trees.join(&separator);
        self.edits.push(match stays {
            true => Edit::insert(end, format!("{separator}{text}")),
            false => Edit::replace(ByteSpan::new(start, end), text),
        });
    }

    /// The prefix that all leaves of a group have after, where it is one.
    fn together(&self, below: &[u32], own: usize) -> Option<Vec<String>> {
        let mut common: Option<Vec<String>> = None;
        for leaf in below {
            let Some(path) = self.path(*leaf) else {
                continue;
            };
            let old = self.old_path(*leaf);
            let rest = old.get(own..).unwrap_or_default();
            let prefix = path.strip_suffix(rest)?;
            match &common {
                Some(common) if common != prefix => return None,
                Some(_) => {}
                None => common = Some(prefix.to_vec()),
            }
        }
        common
    }

    /// Takes the elements that are not left out of a list; the braces go when one stays.
    fn remove(&mut self, list: &List<'_>) {
        let List { elements, left, .. } = list;
        if left.iter().all(|left| *left) {
            return;
        }
        let mut kept = elements.iter().zip(left).filter(|(_, left)| **left);
        if let (Some((only, _)), None, false) = (kept.next(), kept.next(), list.grown)
            && self.unwrap(list.span, only)
        {
            return;
        }
        let places = elements
            .iter()
            .map(|one| ByteSpan::new(start_of(self.facts, one), end_of(self.facts, one)));
        let places: Vec<ByteSpan> = places.collect();
        let mut at = 0;
        for run in left.chunk_by(|one, next| one == next) {
            if run.first() == Some(&false) {
                self.remove_run(list.span, &places, at, run.len());
            }
            at += run.len();
        }
    }

    /// Removes `run` neighbouring elements with one comma each; a comment among them stays.
    fn remove_run(&mut self, list: ByteSpan, places: &[ByteSpan], at: usize, run: usize) {
        let going = places.get(at..at + run).unwrap_or_default();
        let (Some(first), Some(last)) = (going.first(), going.last()) else {
            return;
        };
        let next = places.get(at + run).map(|next| next.start);
        let before = at.checked_sub(1).and_then(|before| places.get(before));
        let whole = match (next, before) {
            (Some(next), _) => ByteSpan::new(first.start, next),
            (None, Some(before)) => ByteSpan::new(before.end, last.end),
            (None, None) => ByteSpan::new(first.start, last.end),
        };
        let until = next.unwrap_or(list.end);
        let around = ByteSpan::new(whole.start.min(first.start), until);
        let text = around.of(self.text).unwrap_or_default();
        if !text.contains("//") && !text.contains("/*") {
            self.edits.push(Edit::delete(whole));
            return;
        }
        for element in going {
            let removal = self.removal_of(*element, list);
            self.edits.push(Edit::delete(removal));
        }
    }

    /// An element of a list with its comma, and its line where no comment is on that.
    fn removal_of(&self, element: ByteSpan, list: ByteSpan) -> ByteSpan {
        let rest = self.text.get(element.end as usize..list.end as usize);
        let rest = rest.unwrap_or_default();
        let comma = rest
            .find(',')
            .filter(|comma| rest.get(..*comma).is_some_and(|gap| gap.trim().is_empty()));
        let end = comma.map_or(element.end, |comma| {
            element.end + u32::try_from(comma + 1).unwrap_or(0)
        });
        let span = ByteSpan::new(element.start, end);
        match lines::trailing_comment(self.text, span) {
            Some(_) => lines::with_spaces(self.text, span),
            None => lines::removal(self.text, span),
        }
    }

    /// `{only}` becomes `only`; not where comments would go with the braces, nor for `self`.
    fn unwrap(&mut self, span: ByteSpan, only: &UseTree) -> bool {
        let own_self = matches!(only, UseTree::Leaf(leaf)
            if leaf_of(self.facts, *leaf).is_some_and(|leaf| leaf.kind == LeafKind::SelfModule));
        let (start, end) = (start_of(self.facts, only), end_of(self.facts, only));
        let around = [
            ByteSpan::new(span.start, start),
            ByteSpan::new(end, span.end),
        ];
        let comment = around.iter().any(|span| {
            let text = span.of(self.text).unwrap_or_default();
            text.contains("//") || text.contains("/*")
        });
        if own_self || comment {
            return false;
        }
        self.edits.extend(around.map(Edit::delete));
        true
    }

    /// The change of a leaf; one that is taken along with its group has its old alias.
    fn changed(&self, leaf: u32, fact: &UseLeaf) -> Option<LeafChange> {
        let alias = fact
            .alias
            .map(|alias| self.facts.name(alias.name).to_owned());
        let unchanged = || LeafChange::Path {
            path: self.old_path(leaf),
            alias,
        };
        Some(self.changes.get(&leaf).cloned().unwrap_or_else(unchanged))
    }
}

/// A list while it is edited.
struct List<'t> {
    span: ByteSpan,
    elements: &'t [UseTree],
    /// Which elements stay.
    left: Vec<bool>,
    /// Whether something was put in.
    grown: bool,
}

fn taken_leaf(kind: LeafKind, path: &[String], alias: Option<&str>) -> Option<Taken> {
    if kind == LeafKind::Glob {
        return Some(Taken {
            parent: path.to_vec(),
            text: "*".to_owned(),
        });
    }
    let (last, parent) = path.split_last()?;
    let name = written(last);
    Some(Taken {
        parent: parent.to_vec(),
        text: alias.map_or_else(|| name.clone(), |alias| format!("{name} as {alias}")),
    })
}

/// What was taken out as use trees, those with the same parent together, without the first `skip`
/// names.
fn trees_of(taken: &[Taken], skip: usize) -> Vec<String> {
    let mut by_parent: Vec<(&[String], Vec<&str>)> = Vec::new();
    for one in taken {
        let parent = one.parent.get(skip..).unwrap_or_default();
        let same = by_parent.iter_mut().find(|(known, texts)| {
            *known == parent && !one.is_list() && !texts.iter().any(|text| text.starts_with('{'))
        });
        match same {
            Some((_, texts)) => texts.push(&one.text),
            None => by_parent.push((parent, vec![&one.text])),
        }
    }
    let trees = by_parent.into_iter();
    trees
        .flat_map(|(parent, texts)| trees_below(parent, &texts))
        .collect()
}

/// Names and lists of one parent as use trees.
fn trees_below(parent: &[String], texts: &[&str]) -> Vec<String> {
    let prefix = match parent {
        [] => String::new(),
        _ => format!("{}::", spelled(parent)),
    };
    match texts {
        [one] => vec![format!("{prefix}{one}")],
        several if prefix.is_empty() => several.iter().map(|&one| one.to_owned()).collect(),
        several => vec![format!("{prefix}{{{}}}", several.join(", "))],
    }
}

/// How many bytes two paths have alike at their heads, in whole names.
fn same_head(old: &str, new: &str) -> usize {
    let mut head = 0;
    while let (Some(a), Some(b)) = (old.get(head..), new.get(head..))
        && let (Some(one), Some(other)) = (a.find("::"), b.find("::"))
        && one == other
        && a.get(..one) == b.get(..other)
    {
        head += one + 2;
    }
    head
}

/// The same of their tails.
fn same_tail(old: &str, new: &str) -> usize {
    let mut tail = 0;
    let last = |path: &str, tail: usize| {
        let rest = path.get(..path.len() - tail)?;
        rest.rfind("::")
    };
    while let (Some(a), Some(b)) = (last(old, tail), last(new, tail))
        && old.get(a..) == new.get(b..)
    {
        tail = old.len() - a;
    }
    tail
}
