//! Which part of one side stands for which of the other: by what they mean and are called, whatever
//! their order. Copies under other names are found in [`super::renamed`].

use coalesce_model::{TokenClass, envelope::DifferenceAspect, outline::marks};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

use super::{
    Entry, Note, PartKind, Read, Relation,
    aspects::Within,
    compare::{self, Compared, Piece, Told},
    heads,
    meaning::Meaning,
    parts::{Part, Range},
    tell,
};

/// Words below which a body says too little to be another thing.
const TELLING: usize = 12;
/// Members that two classes need to be two things when they share none.
const SEVERAL: usize = 3;
/// The share of words that two statements without a name need to stand for each other.
const ALIKE: f32 = 0.6;

/// The entries of two sides.
pub(super) fn entries(a: &Read<'_>, b: &Read<'_>) -> Vec<Entry> {
    if let ([left], [right]) = (a.parts.as_slice(), b.parts.as_slice())
        && a.is_item
        && b.is_item
    {
        return vec![entry((a, left, &a.around), (b, right, &b.around))];
    }
    of_lists((a, &a.parts, &a.around), (b, &b.parts, &b.around))
}

/// A side, some of its parts, and the names around them.
type List<'s> = (&'s Read<'s>, &'s [Part], &'s str);
/// A side, one of its parts, and the names around it.
type One<'s> = (&'s Read<'s>, &'s Part, &'s str);

fn of_lists(a: List<'_>, b: List<'_>) -> Vec<Entry> {
    let mut matcher = Matcher::new(a, b);
    matcher.run();
    let mut found = Vec::new();
    for (left, right) in &matcher.pairs {
        if let (Some(left), Some(right)) = (a.1.get(*left), b.1.get(*right)) {
            found.push(entry((a.0, left, a.2), (b.0, right, b.2)));
        }
    }
    for left in matcher.left.iter().filter_map(|at| a.1.get(*at)) {
        let clash = clash(left, b.1);
        found.push(alone((a.0, left, a.2), clash.map(|part| (b.0, part, b.2))));
    }
    for right in matcher.right.iter().filter_map(|at| b.1.get(*at)) {
        let clash = clash(right, a.1);
        let other = alone((b.0, right, b.2), clash.map(|part| (a.0, part, a.2)));
        found.push(other.turned());
    }
    found
}

/// What of the other side binds a name of this part, as another kind of thing.
fn clash<'p>(part: &Part, others: &'p [Part]) -> Option<&'p Part> {
    let binds = |other: &&Part| {
        let same = other.binds.iter().any(|name| part.binds.contains(name));
        same && space(other.kind).is_none_or(|own| space(part.kind).is_none_or(|o| o == own))
    };
    others.iter().find(binds)
}

/// Rust's namespaces; imports and statements can bind in each.
const fn space(kind: PartKind) -> Option<u8> {
    match kind {
        PartKind::Module
        | PartKind::Struct
        | PartKind::Enum
        | PartKind::Union
        | PartKind::Trait
        | PartKind::Alias => Some(0),
        PartKind::Macro => Some(1),
        PartKind::Field => Some(2),
        PartKind::Impl => Some(3),
        PartKind::Function | PartKind::Method | PartKind::Constant => Some(4),
        PartKind::Class | PartKind::Import | PartKind::Statement => None,
    }
}

/// An entry of a part that stands for nothing of the other side.
fn alone(one: One<'_>, clash: Option<One<'_>>) -> Entry {
    let place = |(side, part, around): One<'_>| tell::place(&side.meaning, part, around);
    Entry {
        relation: if clash.is_some() {
            Relation::Conflicting
        } else {
            Relation::OnlyLeft
        },
        note: None,
        left: Some(place(one)),
        right: clash.map(place),
        differences: Vec::new(),
        renamed: Vec::new(),
        members: members(one),
    }
}

/// The members of a class that stands for nothing.
fn members((side, part, around): One<'_>) -> Vec<Entry> {
    let around = below(side, part, around);
    let members = part.parts.iter();
    members
        .map(|part| alone((side, part, &around), None))
        .collect()
}

/// The names around the members of a part.
pub(super) fn below(side: &Read<'_>, part: &Part, around: &str) -> String {
    let name = match part.kind {
        PartKind::Impl => &part.of_type,
        _ => &part.name,
    };
    format!("{around}{name}{}", side.file.language.separator())
}

/// The entry of two parts that stand for each other.
pub(super) fn entry(a: One<'_>, b: One<'_>) -> Entry {
    let mut entry = Entry {
        relation: Relation::Same,
        note: None,
        left: Some(tell::place(&a.0.meaning, a.1, a.2)),
        right: Some(tell::place(&b.0.meaning, b.1, b.2)),
        differences: Vec::new(),
        renamed: Vec::new(),
        members: Vec::new(),
    };
    if let Some(note) = import_note(a, b) {
        entry.note = Some(note);
        return entry;
    }
    if !fits(a.1.kind, b.1.kind) {
        entry.relation = Relation::Conflicting;
        return entry;
    }
    let head = heads::compare(&a.0.meaning, a.1, &b.0.meaning, b.1);
    match (&a.1.leaf, &b.1.leaf) {
        (Some(left), Some(right)) => {
            if a.0.meaning.target(left) != b.0.meaning.target(right) {
                entry.relation = Relation::Conflicting;
            } else if !head.differences.is_empty() {
                entry.relation = Relation::ChangedSignature;
            }
        }
        _ if a.1.is_container() && b.1.is_container() && bodied(a.1, b.1) => {
            container(a, b, &head, &mut entry);
        }
        _ => plain(a, b, &head, &mut entry),
    }
    entry.differences.extend(head.differences);
    compare::sort(&mut entry.differences);
    entry
}

/// Whether both have parts to compare, or none that a text would have.
const fn bodied(a: &Part, b: &Part) -> bool {
    a.unit.is_some() && b.unit.is_some()
}

/// Whether one side only imports it from the other.
fn import_note(a: One<'_>, b: One<'_>) -> Option<Note> {
    let imports = |one: One<'_>, other: One<'_>| {
        let leaf = one.1.leaf.as_ref()?;
        let brings =
            leaf.path.last() == Some(&other.1.name) || other.1.binds.contains(leaf.path.last()?);
        Some(other.1.leaf.is_none() && brings && one.0.meaning.is_from_other(leaf))
    };
    if imports(a, b) == Some(true) {
        Some(Note::LeftImports)
    } else {
        (imports(b, a) == Some(true)).then_some(Note::RightImports)
    }
}

fn fits(a: PartKind, b: PartKind) -> bool {
    let callable = |kind| matches!(kind, PartKind::Function | PartKind::Method);
    a == b || (callable(a) && callable(b))
}

fn plain(a: One<'_>, b: One<'_>, head: &Compared, entry: &mut Entry) {
    let left = compare::pieces(&a.0.meaning, a.1.body);
    let right = compare::pieces(&b.0.meaning, b.1.body);
    let parameters = heads::parameters(&a.0.meaning, a.1, &b.0.meaning, b.1);
    let told = Told {
        aspect: None,
        parameters: &parameters,
    };
    let body = compare::compare((&a.0.meaning, &left), (&b.0.meaning, &right), told);
    let callable = matches!(
        a.1.kind,
        PartKind::Function | PartKind::Method | PartKind::Macro
    );
    let named = callable && a.1.name == b.1.name;
    let other = body.sizes.0 >= TELLING && body.is_other();
    let strangers = parameters.is_empty()
        && heads::both_take(&a.0.meaning, a.1, &b.0.meaning, b.1)
        && !body.is_alike();
    entry.relation = if named && (other || strangers) {
        Relation::Conflicting
    } else {
        relation(head, &body)
    };
    entry.renamed = body.renamed;
    entry.renamed.extend(head.renamed.iter().cloned());
    entry.renamed.sort();
    entry.renamed.dedup();
    entry.differences = body.differences;
    if !callable {
        for found in &mut entry.differences {
            found.aspect = settled(a.1.kind, found.aspect);
        }
    }
}

/// What a difference is about that stands in no function: nothing is returned there.
const fn settled(kind: PartKind, aspect: DifferenceAspect) -> DifferenceAspect {
    match (kind, aspect) {
        (
            PartKind::Field | PartKind::Struct | PartKind::Alias,
            DifferenceAspect::Return | DifferenceAspect::Statement,
        ) => DifferenceAspect::Signature,
        (_, DifferenceAspect::Return) => DifferenceAspect::Statement,
        (_, aspect) => aspect,
    }
}

/// What differences of head and body amount to.
fn relation(head: &Compared, body: &Compared) -> Relation {
    let counts = |compared: &Compared| {
        let mut aspects = compared.differences.iter().map(|found| found.aspect);
        aspects.any(|aspect| aspect != DifferenceAspect::Wording)
    };
    let worded =
        |compared: &Compared| !compared.differences.is_empty() || !compared.renamed.is_empty();
    match (counts(head), counts(body)) {
        (true, true) => Relation::ChangedSignatureAndBody,
        (true, false) => Relation::ChangedSignature,
        (false, true) => Relation::ChangedBody,
        (false, false) if worded(head) || worded(body) => Relation::Reworded,
        (false, false) => Relation::Same,
    }
}

fn container(a: One<'_>, b: One<'_>, head: &Compared, entry: &mut Entry) {
    let (around_a, around_b) = (below(a.0, a.1, a.2), below(b.0, b.1, b.2));
    entry.members = of_lists((a.0, &a.1.parts, &around_a), (b.0, &b.1.parts, &around_b));
    let all = |relations: &[Relation]| {
        let mut members = entry.members.iter();
        members.all(|member| relations.contains(&member.relation))
    };
    let head_changed = !head.differences.is_empty();
    let shares = entry
        .members
        .iter()
        .any(|member| member.relation.is_covered());
    let several = a.1.parts.len().min(b.1.parts.len()) >= SEVERAL;
    entry.relation = if !shares && several {
        Relation::Conflicting
    } else if all(&[Relation::Same]) && !head_changed {
        Relation::Same
    } else if all(&[Relation::Same, Relation::Reworded]) {
        if head_changed {
            Relation::ChangedSignature
        } else {
            Relation::Reworded
        }
    } else if head_changed {
        Relation::ChangedSignatureAndBody
    } else {
        Relation::ChangedBody
    };
}

/// Brings parts together, the surest first.
struct Matcher<'s> {
    a: List<'s>,
    b: List<'s>,
    pairs: Vec<(usize, usize)>,
    /// What is left of each side.
    left: Vec<usize>,
    right: Vec<usize>,
}

impl<'s> Matcher<'s> {
    fn new(a: List<'s>, b: List<'s>) -> Self {
        Self {
            a,
            b,
            pairs: Vec::new(),
            left: (0..a.1.len()).collect(),
            right: (0..b.1.len()).collect(),
        }
    }

    fn run(&mut self) {
        self.by_key(import_key);
        self.by_key(import_target);
        self.by_import();
        self.by_key(|side, part| name_key(side, part).map(|key| hashed(&(key, text(side, part)))));
        self.by_key(|side, part| Some(hashed(&(name_key(side, part)?, part.kind))));
        self.by_key(name_key);
        self.by_key(|side, part| {
            let statement = part.kind == PartKind::Statement;
            statement.then(|| text(side, part))
        });
        self.by_binds();
        self.by_likeness();
    }

    /// Pairs what has one key: with several of one key the first with the first.
    fn by_key(&mut self, key: impl Fn(&Read<'_>, &Part) -> Option<u64>) {
        let mut rights: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for at in self.right.iter().rev() {
            let of = self.b.1.get(*at).and_then(|part| key(self.b.0, part));
            if let Some(of) = of {
                rights.entry(of).or_default().push(*at);
            }
        }
        let mut pairs = Vec::new();
        for at in &self.left {
            let of = self.a.1.get(*at).and_then(|part| key(self.a.0, part));
            let right = of.and_then(|of| rights.get_mut(&of)?.pop());
            pairs.extend(right.map(|right| (*at, right)));
        }
        self.take(&pairs);
    }

    /// Pairs what one side only imports from the other with what it imports.
    fn by_import(&mut self) {
        let brings = |side: &Read<'_>, import: &Part, other: &Part| {
            let leaf = import
                .leaf
                .as_ref()
                .filter(|leaf| side.meaning.is_from_other(leaf));
            let target = leaf.map(|leaf| side.meaning.target(leaf));
            other.leaf.is_none() && target.is_some_and(|target| target == [other.name.as_str()])
        };
        self.by_score(|a, left, b, right| {
            (brings(a, left, right) || brings(b, right, left)).then_some(1.0)
        });
    }

    fn take(&mut self, pairs: &[(usize, usize)]) {
        self.left
            .retain(|at| pairs.iter().all(|pair| pair.0 != *at));
        self.right
            .retain(|at| pairs.iter().all(|pair| pair.1 != *at));
        self.pairs.extend(pairs);
    }

    /// Pairs what binds names in common, most of them first.
    fn by_binds(&mut self) {
        self.by_score(|_, left, _, right| {
            let common = left.binds.iter().filter(|name| right.binds.contains(name));
            let common = common.count();
            let all = left.binds.len() + right.binds.len() - common;
            let fits = space(left.kind).is_none()
                || space(right.kind).is_none()
                || space(left.kind) == space(right.kind);
            (common > 0 && fits).then(|| common as f32 / all as f32)
        });
    }

    /// Pairs statements without a name that are much alike.
    fn by_likeness(&mut self) {
        let pieces = |list: &[usize], (side, parts, _): List<'_>| -> FxHashMap<Range, Piece> {
            let parts = list.iter().filter_map(|at| parts.get(*at));
            let unnamed =
                parts.filter(|part| part.kind == PartKind::Statement && part.binds.is_empty());
            let piece = |part: &Part| {
                let words = side.meaning.read(part.body);
                (part.body, Piece::new(words, Within::default()))
            };
            unnamed.map(piece).collect()
        };
        let (lefts, rights) = (pieces(&self.left, self.a), pieces(&self.right, self.b));
        self.by_score(|_, left, _, right| {
            let share = compare::share(lefts.get(&left.body)?, rights.get(&right.body)?);
            (share >= ALIKE).then_some(share)
        });
    }

    fn by_score(&mut self, score: impl Fn(&Read<'_>, &Part, &Read<'_>, &Part) -> Option<f32>) {
        let mut scored = Vec::new();
        for left in &self.left {
            for right in &self.right {
                let (Some(a), Some(b)) = (self.a.1.get(*left), self.b.1.get(*right)) else {
                    continue;
                };
                if let Some(score) = score(self.a.0, a, self.b.0, b) {
                    let texts = (text(self.a.0, a), text(self.b.0, b));
                    scored.push((score, texts, (*left, *right)));
                }
            }
        }
        // Of two that fit equally well the text decides, so that their order does not.
        scored.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (_, _, (left, right)) in scored {
            if pairs.iter().all(|pair| pair.0 != left && pair.1 != right) {
                pairs.push((left, right));
            }
        }
        self.take(&pairs);
    }
}

fn hashed(of: &impl std::hash::Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

fn import_key(side: &Read<'_>, part: &Part) -> Option<u64> {
    let leaf = part.leaf.as_ref()?;
    Some(hashed(&(side.meaning.target(leaf), &leaf.bound)))
}

fn import_target(side: &Read<'_>, part: &Part) -> Option<u64> {
    let leaf = part.leaf.as_ref()?;
    Some(hashed(&side.meaning.target(leaf)))
}

/// What a part is called: its name in its namespace, or the header of an `impl`.
fn name_key(side: &Read<'_>, part: &Part) -> Option<u64> {
    if part.kind == PartKind::Impl {
        let header = side.meaning.reader.impl_header(part.head.0, part.head.1);
        let words = side.meaning.read(header);
        let ids: Vec<u32> = words.iter().map(|word| word.id).collect();
        return Some(hashed(&("impl", ids)));
    }
    if part.name.is_empty() || part.kind == PartKind::Import {
        return None;
    }
    let name = side.meaning.name(&part.name);
    let parts = side.file.lexicon().parts_namespaces;
    let space = space(part.kind).filter(|_| parts);
    Some(hashed(&(space, name)))
}

/// The text of a part as it is meant, its own name left out.
fn text(side: &Read<'_>, part: &Part) -> u64 {
    of_ranges(side, &[part.head, part.body])
}

/// The same of its body.
pub(super) fn body(side: &Read<'_>, part: &Part) -> u64 {
    of_ranges(side, &[part.body])
}

fn of_ranges(side: &Read<'_>, ranges: &[Range]) -> u64 {
    let mut hasher = FxHasher::default();
    for range in ranges.iter().copied() {
        for word in side.meaning.read(range) {
            let token = side.meaning.reader.token(word.token);
            if !token.is_some_and(|token| token.has(marks::DEFINED)) {
                hasher.write_u32(word.id);
            }
        }
    }
    hasher.finish()
}

/// Words of a part's body.
pub(super) fn size(meaning: &Meaning<'_>, part: &Part) -> usize {
    let words = meaning.read(part.body);
    words
        .iter()
        .filter(|word| word.class != TokenClass::Punct)
        .count()
}
