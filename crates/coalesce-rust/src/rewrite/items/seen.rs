//! Who has to see what leaves, and what it has to see: visibilities of items, fields and methods.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Edit, Finding, Severity, Texts, TreePath, finding::codes};

use super::{
    super::{
        mapping::refusal,
        members::{Member, MemberKind, Said, hidden_in_macro, members_of, types, uses, words},
        place::Place,
        public::is_reachable_after,
        sight::Need,
    },
    moving::{Chunk, Moving, Set, is_bound_public},
    scan::Scan,
};
use crate::{
    facts::{ItemKind, SourceFacts, Visibility, VisibilityKind},
    resolve::{Body, FileId, ModuleId, Reach, Res, is_within},
};

/// What widening takes.
#[derive(Default)]
pub(super) struct Sight {
    pub edits: BTreeMap<TreePath, Vec<Edit>>,
    pub notes: Vec<Finding>,
    pub refusals: Vec<Finding>,
    pub needs: Vec<Need>,
    /// Starts of the texts in which something becomes `pub`.
    pub shown: BTreeSet<(FileId, ByteSpan)>,
}

/// The visibilities of what moves, of its members, and of members that it uses.
pub(super) fn widen(set: &Set<'_>, scan: &Scan, texts: &dyn Texts) -> Sight {
    let mut sight = Sight::default();
    for chunk in &set.chunks {
        sight.definition(set, scan, chunk);
    }
    let homes: BTreeSet<ModuleId> = set.moving.iter().map(|moving| moving.home).collect();
    for home in homes {
        sight.members_that_leave(set, home, texts);
        sight.members_that_stay(set, home, texts);
    }
    for edits in sight.edits.values_mut() {
        edits.sort();
        edits.dedup();
    }
    sight.notes.sort();
    sight.notes.dedup();
    sight
}

/// What a moved item says before its keyword, a space behind it; `None` to leave what it says.
fn visibility(
    set: &Set<'_>,
    moving: &Moving<'_>,
    users: &BTreeSet<Place>,
    written: Visibility,
) -> Option<String> {
    let mut reach = Some(moving.to.clone());
    for user in users {
        reach = reach.and_then(|reach| reach.common(user));
    }
    let Some(reach) = reach else {
        return (written.kind != VisibilityKind::Public).then(|| "pub ".to_owned());
    };
    let crosses = set.mapping.krate(moving.home) != moving.to.krate;
    match written.kind {
        VisibilityKind::Public if is_narrowed(set, moving) => Some("pub(crate) ".to_owned()),
        VisibilityKind::Public => None,
        VisibilityKind::Crate if !crosses => None,
        _ => Some(reach.visibility(&moving.to)),
    }
}

impl Sight {
    fn definition(&mut self, set: &Set<'_>, scan: &Scan, chunk: &Chunk) {
        let (Some(moving), Some(at)) = (set.moving(chunk.moving), chunk.definition) else {
            return;
        };
        let fact = set.world().facts(chunk.file);
        let Some(fact) = fact.and_then(|facts| facts.items.get(at as usize)) else {
            return;
        };
        if moving.gives_way() || moving.rules.is_some() {
            return;
        }
        let nobody = BTreeSet::new();
        let users = scan.users.get(&chunk.moving).unwrap_or(&nobody);
        let path = set.path(chunk.file);
        let span = fact.visibility.span;
        if fact.visibility.kind == VisibilityKind::Public && shows(set, moving) {
            self.shown.insert((chunk.file, chunk.span));
        }
        if let Some(text) = visibility(set, moving, users, fact.visibility) {
            let edit = if span.is_empty() {
                (!text.is_empty()).then(|| Edit::insert(span.start, text.clone()))
            } else if text.is_empty() {
                Some(Edit::delete(ByteSpan::new(span.start, span.end + 1)))
            } else {
                Some(Edit::replace(span, text.trim_end()))
            };
            self.edits.entry(path.clone()).or_default().extend(edit);
            if text == "pub " {
                self.shown.insert((chunk.file, chunk.span));
            }
            if !text.is_empty() {
                let message = format!(
                    "`{}` becomes {}, because its users are elsewhere",
                    set.name_after(moving),
                    text.trim_end()
                );
                self.note(path.clone(), span, message);
            }
        }
        self.lost(set, moving, fact.visibility, &path);
    }

    /// Says so where other crates can no longer name an item.
    fn lost(&mut self, set: &Set<'_>, moving: &Moving<'_>, written: Visibility, path: &TreePath) {
        let home = set.mapping.after(moving.home);
        let known = set.mapping.at(&moving.to).is_some();
        let public =
            written.kind == VisibilityKind::Public && is_reachable_after(set.mapping, &home);
        if public && known && !is_reachable_after(set.mapping, &moving.to) {
            self.notes.push(Finding {
                code: codes::UNSAFE_CHANGE,
                severity: Severity::Warning,
                path: path.clone(),
                span: None,
                message: format!(
                    "other crates could name `{}`, and cannot name `{}`: `{}` is not public",
                    moving.change.from,
                    set.name_after(moving),
                    set.mapping.name_of(&moving.to)
                ),
                help: Some("re-export it, or make its new module `pub`".to_owned()),
            });
        }
    }

    fn note(&mut self, path: TreePath, span: ByteSpan, message: String) {
        self.notes.push(Finding {
            code: codes::UNSAFE_CHANGE,
            severity: Severity::Note,
            path,
            span: Some(span),
            message,
            help: None,
        });
    }

    /// Private members of what leaves `home` that code which stays below it may use.
    fn members_that_leave(&mut self, set: &Set<'_>, home: ModuleId, texts: &dyn Texts) {
        let world = set.world();
        let mut said: BTreeMap<Place, Said> = BTreeMap::new();
        let own = set.mapping.krate(home);
        let crosses = set
            .moving
            .iter()
            .any(|moving| moving.home == home && moving.to.krate != own);
        for body in &world.bodies {
            let around = crosses && set.mapping.krate(body.module) == own;
            if around || is_within(world, body.module, home) {
                let place = set.mapping.after(body.module);
                let said = said.entry(place).or_default();
                said_by(set, body, texts, said);
            }
        }
        for (index, chunk) in set.chunks.iter().enumerate() {
            if let Some(moving) = set.moving(chunk.moving)
                && moving.home == home
                && !set.is_dropped(chunk)
            {
                let said = said.entry(moving.to.clone()).or_default();
                said_of_chunk(set, index, texts, said);
            }
        }
        let bodies = world.bodies.iter().filter(|body| body.module == home);
        for body in bodies {
            let members = members(set, body, texts);
            for said in said.values_mut() {
                said.reach(set.mapping, members.iter().map(|(_, member, _)| member));
            }
            for (chunk, member, path) in members {
                let Some(moving) = chunk.and_then(|chunk| set.moving(chunk.moving)) else {
                    continue;
                };
                if moving.gives_way() || member.kind == MemberKind::Function {
                    continue;
                }
                let shown = self.widen_member(set, moving, &member, &said, path);
                self.shown
                    .extend(chunk.filter(|_| shown).map(|one| (one.file, one.span)));
            }
        }
    }

    /// Widens a member as far as code that stays uses it; whether to everybody.
    fn widen_member(
        &mut self,
        set: &Set<'_>,
        moving: &Moving<'_>,
        member: &Member,
        said: &BTreeMap<Place, Said>,
        path: TreePath,
    ) -> bool {
        // What is written with its reach is anchored where it stands, in the same crate.
        let crosses = set.mapping.krate(moving.home) != moving.to.krate;
        if member.reach.is_none() || !(member.at.is_empty() || crosses) {
            return false;
        }
        let mut reach = Some(moving.to.clone());
        let mut used = false;
        for (place, said) in said {
            if !place.is_within(&moving.to) && uses(set.mapping, said, member) {
                used = true;
                reach = reach.and_then(|reach| reach.common(place));
            }
        }
        if !used {
            return false;
        }
        let name = format!("{}::{}", member.of, member.name);
        if !member.plain {
            self.refusals.push(refusal(path, hidden_in_macro(&name)));
            return false;
        }
        let text = reach
            .as_ref()
            .map_or_else(|| "pub ".to_owned(), |reach| reach.visibility(&moving.to));
        let message = format!(
            "`{name}` becomes {}: code that it leaves behind may use it",
            text.trim_end()
        );
        self.note(path.clone(), member.at, message);
        let edit = if member.at.is_empty() {
            Edit::insert(member.at.start, text)
        } else {
            Edit::replace(member.at, text.trim_end())
        };
        self.edits.entry(path).or_default().push(edit);
        reach.is_none()
    }

    /// Private members around `home` that text which leaves it may use.
    fn members_that_stay(&mut self, set: &Set<'_>, home: ModuleId, texts: &dyn Texts) {
        let world = set.world();
        let mut users: BTreeMap<Place, Said> = BTreeMap::new();
        for (index, chunk) in set.chunks.iter().enumerate() {
            if let Some(moving) = set.moving(chunk.moving)
                && moving.home == home
                && !set.is_dropped(chunk)
            {
                let said = users.entry(moving.to.clone()).or_default();
                said_of_chunk(set, index, texts, said);
            }
        }
        let mut root = home;
        while let Some(outer) = world.module(root).and_then(|node| node.parent) {
            root = outer;
        }
        let mut wanted: BTreeMap<(TreePath, ByteSpan), (Option<Place>, Place, Member)> =
            BTreeMap::new();
        for body in &world.bodies {
            if !is_within(world, body.module, root) {
                continue;
            }
            let members = members(set, body, texts);
            for said in users.values_mut() {
                said.reach(set.mapping, members.iter().map(|(_, member, _)| member));
            }
            for (chunk, member, path) in members {
                let Some(reach) = member.reach.filter(|_| chunk.is_none()) else {
                    continue;
                };
                if !is_within(world, home, reach) {
                    continue;
                }
                for (place, said) in &users {
                    if !uses(set.mapping, said, &member) {
                        continue;
                    }
                    self.needs.extend(types(set.mapping, &member, place));
                    let around = set.mapping.after(reach);
                    // Functions are named, and followed by name.
                    if member.kind == MemberKind::Function || place.is_within(&around) {
                        continue;
                    }
                    let at = (path.clone(), member.at);
                    let own = set.mapping.after(member.home);
                    let entry = wanted
                        .entry(at)
                        .or_insert_with(|| (Some(around), own, member.clone()));
                    entry.0 = entry.0.take().and_then(|reach| reach.common(place));
                }
            }
        }
        for ((path, at), (reach, own, member)) in wanted {
            self.widen_stayer(path, at, (reach, own), &member);
        }
    }

    fn widen_stayer(
        &mut self,
        path: TreePath,
        at: ByteSpan,
        (reach, own): (Option<Place>, Place),
        member: &Member,
    ) {
        let name = format!("{}::{}", member.of, member.name);
        if !member.plain {
            self.refusals.push(refusal(path, hidden_in_macro(&name)));
            return;
        }
        let text = reach.map_or_else(|| "pub ".to_owned(), |reach| reach.visibility(&own));
        let message = format!(
            "`{name}` becomes {}: code that moves out of its module may use it",
            text.trim_end()
        );
        self.note(path.clone(), at, message);
        let edit = if at.is_empty() {
            Edit::insert(at.start, text)
        } else {
            Edit::replace(at, text.trim_end())
        };
        self.edits.entry(path).or_default().push(edit);
    }
}

/// The members that a body defines, each with the piece of text that leaves with it.
fn members<'s>(
    set: &'s Set<'_>,
    body: &Body,
    texts: &dyn Texts,
) -> Vec<(Option<&'s Chunk>, Member, TreePath)> {
    let world = set.world();
    let path = set.path(body.file);
    let (Some(text), Some(facts)) = (texts.text(&path), world.facts(body.file)) else {
        return Vec::new();
    };
    let own = facts.scope(body.scope);
    let restricted = ["pub(super)", "pub(in", "pub(self)"];
    let home = set.moving.iter().any(|moving| moving.home == body.module);
    let around = set
        .moving
        .iter()
        .any(|moving| is_within(world, moving.home, body.module));
    if own.is_none() || !(home || around || restricted.iter().any(|said| text.contains(said))) {
        return Vec::new();
    }
    let found = members_of(&text, facts, body, world).into_iter();
    found
        .map(|member| {
            (
                set.chunk_at(body.file, member.at.start),
                member,
                path.clone(),
            )
        })
        .collect()
}

/// What the code of a body says that does not leave.
fn said_by(set: &Set<'_>, body: &Body, texts: &dyn Texts, said: &mut Said) {
    let world = set.world();
    let (Some(facts), Some(text)) = (world.facts(body.file), texts.text(&set.path(body.file)))
    else {
        return;
    };
    let Some(scope) = facts.scope(body.scope) else {
        return;
    };
    for span in outside(set, body.file, scope.span) {
        words(&text, span, said);
    }
    sites(set, body.file, said, &|facts, module, at| {
        module == body.module
            && facts.scope(body.scope).is_some()
            && set.chunk_at(body.file, at).is_none()
    });
}

fn said_of_chunk(set: &Set<'_>, index: usize, texts: &dyn Texts, said: &mut Said) {
    let Some(chunk) = set.chunks.get(index) else {
        return;
    };
    if let Some(text) = texts.text(&set.path(chunk.file)) {
        words(&text, chunk.span, said);
    }
    sites(set, chunk.file, said, &|_, _, at| {
        chunk.span.start <= at && at < chunk.span.end
    });
}

fn sites(
    set: &Set<'_>,
    file: FileId,
    said: &mut Said,
    wanted: &dyn Fn(&SourceFacts, ModuleId, u32) -> bool,
) {
    let world = set.world();
    let loads = world.files.get(file.index());
    for load in loads.map_or(&[][..], |file| &file.loads) {
        world.visit(*load as usize, &mut |facts, site| {
            let Some(first) = site.segments.first() else {
                return;
            };
            if !wanted(facts, world.module_of(site.space), first.span.start) {
                return;
            }
            for (step, segment) in site.trace.steps.iter().zip(site.segments) {
                for (res, _) in step.all() {
                    match res {
                        Res::Item(item) | Res::Variant(item, _) => {
                            said.items.insert(item);
                        }
                        Res::Member(item, _) => {
                            let name = facts.name(segment.name).to_owned();
                            said.members.insert((item, name));
                        }
                        _ => {}
                    }
                }
            }
        });
    }
}

/// The parts of a span that do not leave.
fn outside(set: &Set<'_>, file: FileId, span: ByteSpan) -> Vec<ByteSpan> {
    let mut found = Vec::new();
    let mut start = span.start;
    let chunks = set.chunks.iter().filter(|chunk| chunk.file == file);
    for leaving in chunks
        .map(|chunk| chunk.span)
        .chain([ByteSpan::empty(span.end)])
    {
        if leaving.start > start && leaving.start <= span.end {
            found.push(ByteSpan::new(start, leaving.start));
        }
        start = start.max(leaving.end);
    }
    found
}

/// Whether `pub` would show to other crates what they could not name before. Types keep their
/// `pub`: interfaces may be made of them.
fn is_narrowed(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let value = matches!(
        moving.kind,
        ItemKind::Function | ItemKind::Const | ItemKind::Static
    );
    value
        && set.mapping.krate(moving.home) == moving.to.krate
        && is_reachable_after(set.mapping, &moving.to)
        && !is_reachable(set, moving)
}

/// Whether other crates can name what moves, and could not before.
fn shows(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    is_reachable_after(set.mapping, &moving.to) && !is_reachable(set, moving)
}

/// Whether other crates could name what moves, or it is re-exported as if they could.
pub(super) fn is_reachable(set: &Set<'_>, moving: &Moving<'_>) -> bool {
    let home = set.mapping.after(moving.home);
    let reexported = || {
        let mut all = set
            .world()
            .spaces
            .iter()
            .flat_map(|space| space.names.values().flatten());
        all.any(|binding| {
            binding.import.is_some()
                && binding.reach == Reach::Public
                && binding.res == Res::Item(moving.item)
        })
    };
    is_bound_public(set.world(), moving.home, moving.item)
        && (is_reachable_after(set.mapping, &home) || reexported())
}
