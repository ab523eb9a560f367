//! What is said of a merge: what is undecided, with the one line that decides all of it, and what goes.

use coalesce_clones::coverage::{Difference, Entry, PartKind, Place, Relation, Text};
use coalesce_model::{
    ByteSpan, Finding, Severity, TreePath, envelope::DifferenceAspect, finding::codes,
    manifest::toml_key,
};

use super::{
    Merge, Pair,
    fates::{Fate, Part},
    note,
};

/// Differences of one thing that are told; the diff of the two shows all.
const TOLD: usize = 4;

/// What else helps where a type is renamed to another one that differs.
const OUT_OF_RENAME: &str = ", or take it out of `rename`: then both stay";

/// What is undecided of the modules of one merge.
#[derive(Default)]
pub struct Undecided {
    refusals: Vec<Finding>,
    /// Each key with its choice, once: one decision is for everything of its name.
    choices: Vec<String>,
}

impl Undecided {
    /// Adds what is undecided of a pair of modules.
    pub fn add(&mut self, merge: &Merge<'_>, pair: &Pair<'_>, parts: &[Part<'_>]) {
        let is_renamed = |part: &Part<'_>| {
            let mut renames = merge.renames_of(pair).iter();
            renames.any(|(old, _)| part.names.contains(old))
        };
        for part in parts.iter().filter(|part| part.fate == Fate::Undecided) {
            let choice = choice(pair, part);
            if !self.choices.contains(&choice) {
                self.choices.push(choice);
            }
            self.refusals.push(Finding {
                span: Some(ByteSpan::empty(part.place.span.start)),
                help: Some(match is_renamed(part) {
                    true => OUT_OF_RENAME.to_owned(),
                    false => options(part),
                }),
                ..undecided_part(pair, message(pair, part))
            });
        }
    }

    /// A refusal for each, and the line that decides all of them. A table of TOML stands once in an entry, so
    /// nothing else is a line to be written, and what is decided already is a part of it.
    pub fn told(mut self, merge: &Merge<'_>, pair: &Pair<'_>) -> Vec<Finding> {
        if self.choices.is_empty() {
            return Vec::new();
        }
        let decided = merge.open.entry.decide.iter().map(|decision| {
            let key = toml_key(&decision.item);
            format!("{key} = \"{}\"", decision.choice)
        });
        let choices: Vec<String> = decided.chain(self.choices).collect();
        let line = format!("write `decide = {{ {} }}`", choices.join(", "));
        match self.refusals.as_mut_slice() {
            [only] => {
                let others = only.help.take().unwrap_or_default();
                only.help = Some(format!("{line}{others}"));
            }
            all => {
                let (count, from, into) = (all.len(), &pair.from.name, &pair.into.name);
                let help = format!("look at them with `coalesce diff {from} {into}`, then {line}");
                for one in all {
                    one.help = one.help.take().map(|others| format!("`keep-into`{others}"));
                }
                let message = format!("{count} things of `{from}` are undecided");
                self.refusals.push(Finding {
                    help: Some(help),
                    ..undecided_part(pair, message)
                });
            }
        }
        self.refusals
    }
}

/// Refuses a merge that does not say what becomes of something.
fn undecided_part(pair: &Pair<'_>, message: String) -> Finding {
    Finding {
        code: codes::UNDECIDED_MERGE,
        severity: Severity::Error,
        ..note(&pair.from.path, message)
    }
}

/// The `impl`s of a module that defines nothing: they go with what the module defines, and would be
/// lost. What the module that stays has as well need not go anywhere.
pub fn left_impls(pair: &Pair<'_>, entries: &[Entry]) -> Vec<Finding> {
    let same = |entry: &&Entry| matches!(entry.relation, Relation::Same | Relation::Reworded);
    let places = entries.iter().filter(|entry| !same(entry));
    let impls = places
        .filter_map(|entry| entry.left.as_ref())
        .filter(|place| place.kind == PartKind::Impl);
    let refusal = |place: &Place| Finding {
        code: codes::UNDECIDED_MERGE,
        severity: Severity::Error,
        span: Some(ByteSpan::empty(place.span.start)),
        help: Some(format!("move it to `{}` by hand first", pair.into.name)),
        ..note(
            &pair.from.path,
            format!(
                "`{}` is of a type from elsewhere, and nothing that moves takes it along",
                place.name
            ),
        )
    };
    impls.map(refusal).collect()
}

fn at(path: &TreePath, place: &Place) -> String {
    format!("{path}:{}", place.lines.0)
}

fn message(pair: &Pair<'_>, part: &Part<'_>) -> String {
    let names: Vec<String> = part.names.iter().map(|name| format!("`{name}`")).collect();
    let Some(right) = &part.entry.right else {
        return message_of_one_side(pair, part, &names);
    };
    let names = match names.as_slice() {
        [] => format!("`{}`", part.place.name),
        names => names.join(", "),
    };
    let how = match part.entry.relation {
        Relation::Conflicting => "means another thing",
        Relation::ChangedSignature => "has another signature",
        // What is the same by itself has `impl`s that are not.
        Relation::ChangedBody | Relation::Same | Relation::Reworded => "does something else",
        _ => "has another signature and does something else",
    };
    let (into, right) = (&pair.into.name, at(&pair.into.path, right));
    let differences = differences(pair, part);
    format!("{names} {how} in `{into}` ({right}){differences}")
}

/// Of what the module that gives way has alone.
fn message_of_one_side(pair: &Pair<'_>, part: &Part<'_>, names: &[String]) -> String {
    let (from, into) = (&pair.from.name, &pair.into.name);
    match names {
        [] => format!(
            "`{}` stands in `{from}` alone, and binds nothing that could move",
            part.place.name
        ),
        names => format!(
            "{} is special to `{from}`, and `{into}` has none",
            names.join(", ")
        ),
    }
}

/// What differs, most hurtful first.
fn differences(pair: &Pair<'_>, part: &Part<'_>) -> String {
    let mut found: Vec<(&str, &Difference)> = Vec::new();
    collect(part.entry, "", &mut found);
    for one in &part.impls {
        collect(one, "", &mut found);
    }
    let mut told: Vec<String> = found
        .iter()
        .take(TOLD)
        .map(|(name, difference)| told(name, difference))
        .collect();
    if found.len() > TOLD {
        told.push(format!("and {} more", found.len() - TOLD));
    }
    told.extend(of_one_side(pair, part.entry));
    if told.is_empty() {
        String::new()
    } else {
        format!(": {}", told.join("; "))
    }
}

/// The members that one of the two alone has, as sentence fragments.
fn of_one_side(pair: &Pair<'_>, entry: &Entry) -> Vec<String> {
    let alone = |relation: Relation| {
        let members = entry.members.iter();
        let own = members.filter(|member| member.relation == relation);
        let places = own.filter_map(|member| member.left.as_ref().or(member.right.as_ref()));
        let names: Vec<String> = places.map(|place| format!("`{}`", place.name)).collect();
        names.join(", ")
    };
    let sides = [
        (&pair.from.name, alone(Relation::OnlyLeft)),
        (&pair.into.name, alone(Relation::OnlyRight)),
    ];
    let sides = sides.into_iter().filter(|(_, names)| !names.is_empty());
    sides
        .map(|(module, names)| format!("`{module}` alone has {names}"))
        .collect()
}

/// `name = "keep-into"`.
fn choice(pair: &Pair<'_>, part: &Part<'_>) -> String {
    let key = part.keys.first().map_or("", String::as_str);
    let key = toml_key(&format!("{}{key}", pair.prefix));
    format!("{key} = \"keep-into\"")
}

/// What else can be decided than `keep-into`.
fn options(part: &Part<'_>) -> String {
    let others = match (part.names.as_slice(), &part.entry.right) {
        ([], _) => " to let it go with its module",
        (_, None) => ", or `keep-from`",
        (_, Some(_)) => ", or `keep-from` or `rename:NAME`",
    };
    others.to_owned()
}

fn collect<'e>(entry: &'e Entry, name: &'e str, found: &mut Vec<(&'e str, &'e Difference)>) {
    found.extend(
        entry
            .differences
            .iter()
            .map(|difference| (name, difference)),
    );
    for member in &entry.members {
        let place = member.left.as_ref().or(member.right.as_ref());
        collect(member, place.map_or("", |place| place.name.as_str()), found);
    }
}

fn told(name: &str, difference: &Difference) -> String {
    let text = |side: &Option<Text>| {
        side.as_ref()
            .map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", text.text))
    };
    let (left, right) = (text(&difference.left), text(&difference.right));
    let place = if name.is_empty() {
        String::new()
    } else {
        format!(" of {name}")
    };
    format!(
        "{}{place}: {left} against {right}",
        aspect(difference.aspect)
    )
}

fn aspect(aspect: DifferenceAspect) -> &'static str {
    match aspect {
        DifferenceAspect::Wording => "message",
        other => other.as_str(),
    }
}

/// What the reader should know of a part that goes on by another name or another text.
fn said(merge: &Merge<'_>, pair: &Pair<'_>, part: &Part<'_>) -> Option<String> {
    let name = part.keys.join(", ");
    let left = at(&pair.from.path, part.place);
    let (from, into) = (&pair.from.name, &pair.into.name);
    match &part.fate {
        Fate::Renamed(new) => Some(format!(
            "`{name}` ({left}) is `{new}` in `{into}`; references follow"
        )),
        Fate::Supersede => Some(format!(
            "`{name}` of `{into}` gives way to that of `{from}` ({left})"
        )),
        Fate::Covered { changed: true } => Some(format!(
            "`{name}` ({left}) gives way to that of `{into}`, which is not the same"
        )),
        Fate::Move(None) if merge.decision(pair, &part.keys).is_none() => said_of_twins(pair, part),
        _ => None,
    }
}

/// Of a part that stays beside one of another name that the comparison puts beside it: how alike the two are decides
/// whether anybody would make them one.
fn said_of_twins(pair: &Pair<'_>, part: &Part<'_>) -> Option<String> {
    let right = part.entry.right.as_ref();
    // An import there is of the very thing.
    let right = right.filter(|right| right.kind != PartKind::Import);
    let right = right.filter(|_| part.entry.is_renamed())?;
    let (name, twin, into) = (part.keys.join(", "), &right.name, &pair.into.name);
    let left = at(&pair.from.path, part.place);
    let how = match part.entry.relation {
        Relation::Same | Relation::Reworded => "which has the same text",
        Relation::ChangedSignature => "which has another signature and the same body",
        _ => "which is alike in part",
    };
    let (differences, choice) = (differences(pair, part), choice(pair, part));
    Some(format!(
        "`{name}` ({left}) comes beside `{twin}` of `{into}`, {how}{differences}; `decide = {{ {choice} }}` makes them one"
    ))
}

/// What the reader should know: what goes, what has another name, what takes whose place.
pub fn notes(merge: &Merge<'_>, pair: &Pair<'_>, parts: &[Part<'_>]) -> Vec<Finding> {
    let mut notes: Vec<String> = parts
        .iter()
        .filter_map(|part| said(merge, pair, part))
        .collect();
    let goes = parts.iter().filter(|part| part.fate == Fate::Goes);
    let goes = goes.map(|part| {
        let line = part.place.lines.0;
        format!("{} (line {line})", part.keys.join(", "))
    });
    let goes: Vec<String> = goes.collect();
    if !goes.is_empty() {
        notes.push(format!(
            "with `{}` goes what nothing needs any more: {}",
            merge.open.entry.from.text,
            goes.join(", ")
        ));
    }
    let notes = notes.into_iter();
    notes.map(|said| note(&pair.from.path, said)).collect()
}
