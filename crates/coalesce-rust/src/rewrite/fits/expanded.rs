//! Macros that read alike, held against each other by what their bodies name.
//!
//! All that a body names but `$crate` is looked up at the call, which stays where it is: there one text says
//! one thing, whichever macro says it. So what is looked up is what the two spell differently, what
//! `$crate` is in two crates, and all of it where the two are called from two places. Nothing is expanded:
//! each path counts, whichever arm a call takes.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use coalesce_model::ByteSpan;

use super::meaning::{Assumed, Comparison, DefinitionPair, Meaning, words};
use crate::{
    facts::{ItemKind, Segment, SourceFacts},
    resolve::{CrateId, Found, ItemId, Res, Said, SpaceId, UseSite, paths_of_body},
    rewrite::{
        items::is_redefined,
        macro_arms::{ArmWord, arms},
    },
};

/// What a macro says.
pub(super) struct MacroText {
    parts: Vec<TextPart>,
    /// Imports of several names at once: their words are parts by themselves.
    grouped: Vec<TextPart>,
    /// `#[macro_export(local_inner_macros)]`: macros that it calls are those of its crate.
    is_local_inner: bool,
    /// Of several definitions, whether conditions that pick one name features, which each crate has for itself.
    is_by_feature: bool,
}

/// A word of a body, or a path in it.
#[derive(Clone)]
struct TextPart {
    text: String,
    /// Which of the things that the arm takes it stands for.
    taken: Option<usize>,
    said: Option<Said>,
}

impl TextPart {
    fn reads_like(&self, other: &Self) -> bool {
        self.taken == other.taken && (self.taken.is_some() || self.text == other.text)
    }

    fn is_by_crate(&self) -> bool {
        self.text.starts_with("$crate")
    }
}

/// What a path of a body leads to from a call.
#[derive(Debug, PartialEq, Eq)]
struct PathTarget {
    /// The last of it that is known.
    known: BTreeSet<Res>,
    /// The names behind that.
    rest: Vec<String>,
}

impl PathTarget {
    /// Whether it says what is meant, and not only in which module that is.
    fn is_telling(&self) -> bool {
        !self.known.is_empty() && !self.known.iter().all(|res| matches!(res, Res::Module(_)))
    }
}

impl Comparison<'_, '_> {
    /// How a macro that gives way stands to the one in its place, for each place that it is called from.
    pub(super) fn of_macros(&self, items: (ItemId, ItemId), places: &BTreeSet<SpaceId>) -> Meaning {
        self.unread.take();
        let places = places.iter();
        let mut spaces: Vec<Option<(SpaceId, SpaceId)>> =
            places.map(|space| Some((*space, *space))).collect();
        if spaces.is_empty() {
            spaces.push(None);
        }
        let mut told = Meaning::Same;
        // What is the same from one place need not be compared again.
        let mut compared = Assumed::new();
        for spaces in spaces {
            match self.macros(DefinitionPair { items, spaces }, &mut compared) {
                Meaning::Same => {}
                Meaning::State { item } => told = Meaning::State { item },
                other => return other,
            }
        }
        let other = self.other_type(&compared);
        let other = other.or_else(|| self.newly_deprecated(&compared));
        let concluded = self.conclude(told, &compared);
        match (&concluded, other) {
            (Meaning::Same | Meaning::State { .. }, Some(other)) => other,
            _ => concluded,
        }
    }

    /// What is named in the place of another thing and is deprecated, as that is not: callers come to be warned.
    fn newly_deprecated(&self, compared: &Assumed) -> Option<Meaning> {
        let mut items = compared.iter().map(|sides| sides.items);
        let warns = |(old, new): &(ItemId, ItemId)| {
            self.names.is_deprecated(*new) && !self.names.is_deprecated(*old)
        };
        let (_, new) = items.find(warns)?;
        let new = self.names.name_of(Res::Item(new));
        Some(Meaning::Deprecated { new })
    }

    /// Types or traits that were found to read alike. What a macro makes of one is none of the other one, and no
    /// signature says where it goes.
    fn other_type(&self, compared: &Assumed) -> Option<Meaning> {
        let world = self.names.world;
        let is_type = |item: ItemId| {
            let kind = world[item].kind;
            matches!(
                kind,
                ItemKind::Struct | ItemKind::Enum | ItemKind::Union | ItemKind::Trait
            )
        };
        let mut items = compared.iter().map(|sides| sides.items);
        let (old, new) = items.find(|(old, _)| is_type(*old))?;
        let name = |item: ItemId| self.names.name_of(Res::Item(item));
        Some(Meaning::OtherType {
            old: name(old),
            new: name(new),
        })
    }

    /// How a macro stands to another one, each called from its place.
    pub(super) fn macros(&self, sides: DefinitionPair, assumed: &mut Assumed) -> Meaning {
        let (old, new) = sides.items;
        let (Some(left), Some(right)) = (self.body(old), self.body(new)) else {
            let why = "what its arms are cannot be read".to_owned();
            return Meaning::Unread { why };
        };
        if left.parts.len() != right.parts.len() || left.grouped.len() != right.grouped.len() {
            return Meaning::OtherText;
        }
        let mut told = Meaning::Same;
        let pairs = left.parts.iter().zip(&right.parts);
        for (x, y) in pairs.chain(left.grouped.iter().zip(&right.grouped)) {
            let meaning = match (x.said, y.said) {
                (Some(a), Some(b)) => self.paths((x, &a), (y, &b), sides, assumed),
                _ if x.reads_like(y) => Meaning::Same,
                _ => Meaning::OtherText,
            };
            match meaning {
                Meaning::Same => {}
                Meaning::OtherText => return Meaning::OtherText,
                other if told == Meaning::Same => told = other,
                _ => {}
            }
        }
        if told == Meaning::Same
            && let Some(why) = self.read_otherwise(sides.items, (&left, &right))
        {
            told = Meaning::Unread { why };
        }
        told
    }

    /// Why two macros of one text may be read in two ways.
    fn read_otherwise(
        &self,
        (old, new): (ItemId, ItemId),
        (left, right): (&MacroText, &MacroText),
    ) -> Option<String> {
        let world = self.names.world;
        if is_redefined(world, old) || is_redefined(world, new) {
            return Some("of several definitions, the place of a call picks one".to_owned());
        }
        let (from, to) = (self.crate_of(old), self.crate_of(new));
        let local = left.is_local_inner || right.is_local_inner;
        if left.is_local_inner != right.is_local_inner || (local && from != to) {
            let why = "`local_inner_macros` makes the macros that it calls those of its crate, which is not followed";
            return Some(why.to_owned());
        }
        if from != to && (left.is_by_feature || right.is_by_feature) {
            let why = "of several definitions features pick one, and each crate has its own";
            return Some(why.to_owned());
        }
        let (here, there) = (world[from].edition, world[to].edition);
        (here != there).then(|| {
            let (here, there) = (here.year(), there.year());
            format!("one is written in edition {here}, the other one in edition {there}")
        })
    }

    fn crate_of(&self, item: ItemId) -> CrateId {
        let world = self.names.world;
        world[world[item].module].krate
    }

    /// Whether two paths at one place of both mean the same.
    fn paths(
        &self,
        (x, a): (&TextPart, &Said),
        (y, b): (&TextPart, &Said),
        sides: DefinitionPair,
        assumed: &mut Assumed,
    ) -> Meaning {
        let (old, new) = sides.items;
        let is_text = x.text == y.text;
        let by_crate = x.is_by_crate() && y.is_by_crate();
        let is_one_place = sides.spaces.is_none_or(|(here, there)| here == there);
        let is_one_crate = self.crate_of(old) == self.crate_of(new);
        if is_text && is_one_place && (!by_crate || is_one_crate) {
            return Meaning::Same;
        }
        if sides.spaces.is_none() && !by_crate {
            // Nobody calls it, so that there is no place to look at.
            return Meaning::OtherText;
        }
        let world = self.names.world;
        let home = |item: ItemId| world.space_of(world[item].module);
        let (here, there) = sides.spaces.unwrap_or_else(|| (home(old), home(new)));
        let (one, other) = (self.lead(a, here), self.lead(b, there));
        if one.known == other.known {
            let of_crates = (self.crate_of(old), self.crate_of(new));
            let of_places = (self.crate_at(here), self.crate_at(there));
            self.ask_outside(&one.known, if by_crate { of_crates } else { of_places });
        }
        let same = if self.is_itself((x, &one), (y, &other), sides) {
            Some(true)
        } else {
            self.leads((&one, &other), is_text && !by_crate, sides, assumed)
        };
        if !is_text {
            let is_same = same == Some(true) && one.is_telling();
            return if is_same {
                Meaning::Same
            } else {
                Meaning::OtherText
            };
        }
        self.one_text(&x.text, (&one, &other), same)
    }

    /// What is said of two paths of one text.
    fn one_text(
        &self,
        text: &str,
        (one, other): (&PathTarget, &PathTarget),
        same: Option<bool>,
    ) -> Meaning {
        if let Some(item) = self.state(&one.known, &other.known) {
            return Meaning::State { item };
        }
        match same {
            Some(true) => Meaning::Same,
            None if !one.is_telling() && !other.is_telling() => {
                // Of a path that goes on with what the macro is given, the module is known.
                let goes_on = !one.known.is_empty() && one.rest.is_empty();
                let behind = if goes_on { "::…" } else { "" };
                Meaning::Unknown {
                    name: format!("{text}{behind}"),
                    is_of_one: false,
                }
            }
            _ => self.other(text, (&one.known, &other.known), same),
        }
    }

    /// Whether each calls itself by its own name: the other one gets to be known where the first one was.
    fn is_itself(
        &self,
        (x, one): (&TextPart, &PathTarget),
        (y, other): (&TextPart, &PathTarget),
        sides: DefinitionPair,
    ) -> bool {
        let (old, new) = sides.items;
        let world = self.names.world;
        let own = |item: ItemId| BTreeSet::from([Res::Item(item)]);
        x.text == world[old].name
            && y.text == world[new].name
            && one.known == own(old)
            && (other.known.is_empty() || other.known == own(new))
    }

    /// Whether two paths lead to the same; `None` where that is not known. What leads nowhere from either
    /// place is the same by one text, as far as it is not one of the macro's own crate.
    fn leads(
        &self,
        (one, other): (&PathTarget, &PathTarget),
        is_outside: bool,
        sides: DefinitionPair,
        assumed: &mut Assumed,
    ) -> Option<bool> {
        if one.rest != other.rest {
            return None;
        }
        let is_one = one == other && self.are_one((&one.known, &other.known), sides);
        if is_one {
            return (!one.known.is_empty() || is_outside).then_some(true);
        }
        if !one.is_telling() || !other.is_telling() {
            return None;
        }
        self.results(&one.known, &other.known, sides, assumed)
    }

    fn lead(&self, said: &Said, space: SpaceId) -> PathTarget {
        let mut lead = PathTarget {
            known: BTreeSet::new(),
            rest: Vec::new(),
        };
        let Some((facts, site)) = self.names.world.said_at(said, space) else {
            return lead;
        };
        let led = |step: &&Found| !step.is_empty() && !step.opaque;
        let steps: Vec<&Found> = site.trace.steps.iter().take_while(led).collect();
        let mut rest = steps.len();
        if let Some(last) = steps.last() {
            lead.known = last.all().map(|(res, _)| res).collect();
            // Of something outside the first name alone is known.
            let is_outside = lead.known.iter().any(|res| matches!(res, Res::External(_)));
            let tail = usize::from(last.tail);
            rest = rest.saturating_sub(if is_outside { tail } else { 0 });
        }
        let is_item = |res: &Res| !matches!(res, Res::Module(_));
        if lead.known.iter().any(is_item) {
            lead.known.retain(is_item);
        }
        let behind = site.segments.iter().skip(rest);
        lead.rest = behind.map(|one| facts.name(one.name).to_owned()).collect();
        lead
    }

    /// What a macro says, read once; `None` where it is not read as arms.
    fn body(&self, item: ItemId) -> Option<Rc<MacroText>> {
        self.bodies.get(item, || self.read_body(item))
    }

    fn read_body(&self, item: ItemId) -> Option<MacroText> {
        let world = self.names.world;
        let said = paths_of_body(world, item);
        let definitions = &world[item].definitions;
        let mut body = MacroText {
            parts: Vec::new(),
            grouped: Vec::new(),
            is_local_inner: false,
            is_by_feature: false,
        };
        for (file, at) in definitions {
            let names = self.names.file(*file)?;
            let facts = world.facts(*file);
            let fact = facts.item(*at);
            let attributes = ByteSpan::new(fact.span.start, fact.signature.start);
            let own = attributes.of(&names.text).unwrap_or_default();
            body.is_local_inner |= own.contains("local_inner_macros");
            if definitions.len() > 1 {
                // Which text is there, the conditions say.
                let conditions = words(&names, attributes);
                body.is_by_feature |= conditions.iter().any(|word| word.text == "feature");
                body.parts
                    .extend(conditions.iter().map(|word| part(word.text)));
            }
            let rules = ByteSpan::new(fact.signature.end, fact.span.end);
            let said = said.iter().filter(|said| said.file == *file);
            let said = said.copied().collect::<Vec<Said>>();
            body.read_arms(&names.text, rules, facts, &said)?;
        }
        Some(body)
    }
}

fn part(text: &str) -> TextPart {
    TextPart {
        text: text.to_owned(),
        taken: None,
        said: None,
    }
}

impl MacroText {
    /// Takes the arms of a definition in.
    fn read_arms(
        &mut self,
        text: &str,
        rules: ByteSpan,
        facts: &SourceFacts,
        said: &[Said],
    ) -> Option<()> {
        for arm in arms(text, rules)? {
            self.parts.push(part("("));
            for side in [&arm.takes, &arm.makes] {
                self.read(facts, side, said);
                self.parts.push(part(")"));
            }
        }
        Some(())
    }

    /// Takes the words of one side of an arm in, each path as one.
    fn read(&mut self, facts: &SourceFacts, side: &[ArmWord<'_>], said: &[Said]) {
        let (Some(first), Some(last)) = (side.first(), side.last()) else {
            return;
        };
        let whole = first.span.cover(last.span);
        let paths = said
            .iter()
            .filter_map(|said| Some((cover(facts, said)?, *said)));
        let paths: Vec<(ByteSpan, Said)> =
            paths.filter(|(span, _)| whole.contains(*span)).collect();
        let inside = |span: ByteSpan| side.iter().filter(move |word| span.contains(word.span));
        let is_plain = |(span, _): &&(ByteSpan, Said)| {
            let joins = |text: &str| matches!(text, ":" | "$") || text.starts_with(is_of_name);
            inside(*span).all(|word| joins(word.text))
        };
        let grouped = paths.iter().filter(|one| !is_plain(one));
        self.grouped.extend(grouped.map(|(_, said)| TextPart {
            said: Some(*said),
            ..part(&spelled(facts, said))
        }));
        let plain = paths.iter().filter(is_plain);
        let plain: BTreeMap<u32, &(ByteSpan, Said)> = plain.map(|one| (one.0.start, one)).collect();
        let mut end = 0;
        for word in side.iter() {
            if word.span.start < end {
                continue;
            }
            let Some((span, said)) = plain.get(&word.span.start) else {
                self.parts.push(TextPart {
                    taken: word.taken,
                    ..part(word.text)
                });
                continue;
            };
            end = span.end;
            self.parts.push(TextPart {
                said: Some(*said),
                ..part(&spelled(facts, said))
            });
        }
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The segments of a path or an import in a body.
fn segments<'f>(facts: &'f SourceFacts, said: &Said) -> &'f [Segment] {
    match said.site {
        UseSite::Path(at) => facts.segments(facts.path(at).segments),
        UseSite::Leaf(at) => facts.segments(facts.leaf(at).segments),
        UseSite::ExternCrate(_) => &[],
    }
}

fn cover(facts: &SourceFacts, said: &Said) -> Option<ByteSpan> {
    let mut spans = segments(facts, said).iter().map(|one| one.span);
    let first = spans.next()?;
    Some(spans.fold(first, ByteSpan::cover))
}

fn spelled(facts: &SourceFacts, said: &Said) -> String {
    let names = segments(facts, said).iter().map(|one| facts.name(one.name));
    names.collect::<Vec<_>>().join("::")
}
