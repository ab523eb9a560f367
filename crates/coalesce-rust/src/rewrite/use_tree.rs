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
    let mut trees = trees_of(&editor.taken, 0);
    trees.extend(more.iter().cloned());
    let mut edits = editor.edits;
    let mut trees = trees.into_iter();
    if emptied {
        let Some(first) = trees.next() else {
            return vec![Edit::delete(lines::removal(text, declaration.span))];
        };
        let start = declaration
            .leading_colons
            .map_or(start_of(facts, &declaration.tree), |colons| colons.start);
        let span = ByteSpan::new(start, end_of(facts, &declaration.tree));
        edits = vec![Edit::replace(span, first)];
    }
    if let Some(colons) = declaration.leading_colons {
        let start = start_of(facts, &declaration.tree);
        for edit in edits.iter_mut().filter(|edit| edit.span.start == start) {
            let first = edit.text.split("::").next().unwrap_or_default();
            // Behind `::` stands a crate and nothing else.
            if matches!(first.trim(), "crate" | "self" | "super") {
                edit.span.start = colons.start;
            }
        }
    }
    let added: String = trees
        .map(|tree| new_declaration(text, declaration, &tree))
        .collect();
    if !added.is_empty() {
        let comment = lines::trailing_comment(text, declaration.span).map_or(0, str::len);
        let at = declaration.span.end + u32::try_from(comment).unwrap_or(0);
        edits.push(Edit::insert(at, added));
    }
    edits
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
            Some(LeafChange::Path { path, alias }) => (path, alias),
        };
        let fits = path.starts_with(prefix)
            && match fact.kind {
                LeafKind::Name => path.len() > prefix.len(),
                LeafKind::SelfModule => path.len() == prefix.len(),
                LeafKind::Glob => true,
            };
        if !fits {
            let taken = taken_leaf(fact.kind, path, alias.as_deref());
            self.taken.extend(taken);
            return true;
        }
        let rest = path.get(prefix.len()..).unwrap_or_default();
        let start = segments
            .first()
            .map_or(fact.span.start, |segment| segment.span.start);
        let name_end = fact.alias.map_or(fact.span.end, |_| {
            let last = self.facts.segments(fact.segments).last();
            last.map_or(fact.span.end, |segment| segment.span.end)
        });
        let (end, mut text) = match fact.kind {
            LeafKind::Name => (name_end, spelled(rest)),
            LeafKind::SelfModule => (fact.span.start, String::new()),
            LeafKind::Glob if rest.is_empty() => (fact.span.start, String::new()),
            LeafKind::Glob => (fact.span.start, format!("{}::", spelled(rest))),
        };
        let mut end = end;
        let old = fact.alias.map(|alias| self.facts.name(alias.name));
        if fact.kind != LeafKind::Glob && alias.as_deref() != old {
            if fact.kind == LeafKind::SelfModule {
                text = "self".to_owned();
            }
            end = fact.span.end;
            if let Some(alias) = alias {
                text = format!("{text} as {alias}");
            }
        }
        self.replace(ByteSpan::new(start, end), &text);
        false
    }

    /// Replaces a span, whole names that stay at either end left out.
    fn replace(&mut self, span: ByteSpan, new: &str) {
        let old = span.of(self.text).unwrap_or_default();
        if old == new {
            return;
        }
        let mut head = 0;
        while let (Some(a), Some(b)) = (old.get(head..), new.get(head..))
            && let (Some(one), Some(other)) = (a.find("::"), b.find("::"))
            && one == other
            && a.get(..one) == b.get(..other)
        {
            head += one + 2;
        }
        let (old, new) = (
            old.get(head..).unwrap_or_default(),
            new.get(head..).unwrap_or_default(),
        );
        let mut tail = 0;
        while let (Some(a), Some(b)) = (
            old.get(..old.len() - tail)
                .and_then(|rest| rest.rfind("::")),
            new.get(..new.len() - tail)
                .and_then(|rest| rest.rfind("::")),
        ) && old.get(a..) == new.get(b..)
        {
            tail = old.len() - a;
        }
        let head = u32::try_from(head).unwrap_or(0);
        let cut = u32::try_from(tail).unwrap_or(0);
        let text = new.get(..new.len() - tail).unwrap_or_default();
        self.edits.push(Edit::replace(
            ByteSpan::new(span.start + head, span.end - cut),
            text,
        ));
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
        let old: Vec<String> = below
            .first()
            .map(|leaf| self.old_path(*leaf).into_iter().take(own).collect())
            .unwrap_or_default();
        let together = self.together(&below, own);
        let group_prefix = match together {
            Some(new) if new == old => old,
            Some(new) => {
                let fits =
                    new.starts_with(prefix) && new.len() > prefix.len() && !segments.is_empty();
                if !fits {
                    self.take(span, &below, new);
                    return true;
                }
                let first = segments
                    .first()
                    .map_or(span.start, |segment| segment.span.start);
                let last = segments
                    .last()
                    .map_or(span.start, |segment| segment.span.end);
                let rest = spelled(new.get(prefix.len()..).unwrap_or_default());
                self.replace(ByteSpan::new(first, last), &rest);
                new
            }
            None => old,
        };
        let mut list = List {
            span,
            elements,
            left: Vec::new(),
            grown: false,
        };
        for element in elements {
            let before = self.taken.len();
            let left = !self.visit(element, own, &group_prefix);
            let left = self.adopt(&mut list, element, left, before, &group_prefix);
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
        let same = below.iter().all(|leaf| {
            let old = leaf_of(self.facts, *leaf).and_then(|leaf| leaf.alias);
            let old = old.map(|alias| self.facts.name(alias.name));
            match self.changes.get(leaf) {
                Some(LeafChange::Path { alias, .. }) => alias.as_deref() == old,
                Some(LeafChange::Drop) => false,
                None => true,
            }
        });
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
        let (start, end) = (start_of(self.facts, element), end_of(self.facts, element));
        let separator = match lines::prefix(self.text, start) {
            Some(indent) => format!(",{}{indent}", lines::line_break(self.text)),
            None => ", ".to_owned(),
        };
        let text = trees_of(&here, prefix.len()).join(&separator);
        if left {
            list.grown = true;
            self.edits
                .push(Edit::insert(end, format!("{separator}{text}")));
        } else {
            self.edits
                .push(Edit::replace(ByteSpan::new(start, end), text));
        }
        true
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
        let places: Vec<ByteSpan> = elements
            .iter()
            .map(|element| {
                ByteSpan::new(start_of(self.facts, element), end_of(self.facts, element))
            })
            .collect();
        let mut at = 0;
        while at < left.len() {
            if left.get(at).copied().unwrap_or(true) {
                at += 1;
                continue;
            }
            let run = left.iter().skip(at).take_while(|left| !**left).count();
            self.remove_run(list.span, &places, at, run);
            at += run;
        }
    }

    /// Removes `run` neighbouring elements with one comma each; a comment among them stays.
    fn remove_run(&mut self, list: ByteSpan, places: &[ByteSpan], at: usize, run: usize) {
        let going = places.get(at..at + run).unwrap_or_default();
        let (Some(first), Some(last)) = (going.first(), going.last()) else {
            return;
        };
        let next = places.get(at + run).map(|next| next.start);
        let whole = match (
            next,
            at.checked_sub(1).and_then(|before| places.get(before)),
        ) {
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
            let rest = self
                .text
                .get(element.end as usize..list.end as usize)
                .unwrap_or_default();
            let comma = rest
                .find(',')
                .filter(|comma| rest.get(..*comma).is_some_and(|gap| gap.trim().is_empty()));
            let end = comma.map_or(element.end, |comma| {
                element.end + u32::try_from(comma + 1).unwrap_or(0)
            });
            let span = ByteSpan::new(element.start, end);
            let span = if lines::trailing_comment(self.text, span).is_some() {
                lines::with_spaces(self.text, span)
            } else {
                lines::removal(self.text, span)
            };
            self.edits.push(Edit::delete(span));
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
    let tree = |(parent, texts): (&[String], Vec<&str>)| {
        let prefix = if parent.is_empty() {
            String::new()
        } else {
            format!("{}::", spelled(parent))
        };
        match texts.as_slice() {
            [one] => vec![format!("{prefix}{one}")],
            several if prefix.is_empty() => several.iter().map(|&one| one.to_owned()).collect(),
            several => vec![format!("{prefix}{{{}}}", several.join(", "))],
        }
    };
    by_parent.into_iter().flat_map(tree).collect()
}
