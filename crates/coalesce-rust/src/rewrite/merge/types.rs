//! A type that a module which gives way shares with the one in its place: what each of them has.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Edit, finding::codes};
use syn::spanned::Spanned as _;

use super::{
    home::Home,
    impls::{Key, Sorted, bare},
    note,
};
use crate::{
    lexer,
    resolve::{FileId, ItemId},
    rewrite::{
        items::{moving::Moving, replace::Members},
        lines,
        mapping::refusal,
    },
    syntax,
    words::STANDARD_DERIVES,
};

/// A type that the other module has as well.
pub(super) struct Type {
    /// Its full name there.
    pub name: String,
    /// The names of the old one that are no methods: those go along.
    fields: BTreeSet<String>,
    pub there: Members,
    derived: BTreeSet<String>,
    primary: ItemId,
}

impl Type {
    pub fn new(home: &Home<'_>, moving: &Moving<'_>, primary: ItemId) -> Self {
        let set = home.set;
        let here = Members::of(set, moving.item);
        let there = Members::of(set, primary);
        Self {
            name: moving.change.to.clone(),
            fields: here.names.difference(&here.methods(set)).cloned().collect(),
            derived: definition(home, primary)
                .map(|found| found.derives)
                .unwrap_or_default(),
            there,
            primary,
        }
    }

    /// Whether a trait is derived there.
    pub fn derives(&self, head: &str) -> bool {
        let derived = head.split_once(" for ").map(|(of, _)| of);
        derived.is_some_and(|of| self.derived.contains(of))
    }

    /// A name of the old type that a text says of something and the new one lacks.
    pub fn missing(&self, text: &str) -> Option<String> {
        let whole = ByteSpan::from_range(0..text.len());
        let mut before = false;
        for token in lexer::tokens(text, whole) {
            let name = token.span.of(text).unwrap_or_default();
            let lost = self.fields.contains(name) && !self.there.names.contains(name);
            if token.is_ident() && before && lost {
                return Some(name.to_owned());
            }
            before = token.is(b'.');
        }
        None
    }

    /// Has the type in the other module derive what the old one did.
    pub fn derive(
        &self,
        home: &Home<'_>,
        moving: &Moving<'_>,
        theirs: &BTreeSet<Key>,
        sorted: &mut Sorted,
    ) {
        let (Some(old), Some(new)) = (
            definition(home, moving.item),
            definition(home, self.primary),
        ) else {
            return;
        };
        let has = |of: &str| {
            let head = format!("{of} for ");
            let mut own = theirs.iter().filter(|key| key.of == Some(self.primary));
            self.derived.contains(of) || own.any(|key| key.head.starts_with(&head))
        };
        let lacking: Vec<&String> = old.derives.iter().filter(|of| !has(of)).collect();
        if lacking.is_empty() {
            return;
        }
        let names: Vec<&str> = lacking.iter().map(|of| of.as_str()).collect();
        let list = names.join(", ");
        let plain = names.iter().all(|of| STANDARD_DERIVES.contains(of));
        let (path, span) = (home.set.path(old.file), Some(old.name));
        if old.fields != new.fields || !plain {
            let message = format!("`{}` does not derive {list}, as this does", self.name);
            let refused = refusal(path, message).coded(codes::MISMATCHED_REPLACEMENT);
            sorted.refusals.push(refused.at(span).with_help(format!(
                "derive it there first, or take it out here: {list}"
            )));
            return;
        }
        let message = format!("`{}` derives {list} from now on, as this does", self.name);
        sorted.notes.push(note(path, old.name, message));
        let edit = Edit::insert(
            new.start,
            format!("#[derive({list})]{}{}", new.line, new.indent),
        );
        sorted.added.push((home.set.path(new.file), edit));
    }
}

/// What a definition says of itself.
struct Definition {
    file: FileId,
    name: ByteSpan,
    /// Where its signature starts.
    start: u32,
    line: &'static str,
    indent: String,
    derives: BTreeSet<String>,
    /// Its fields or variants, without attributes and visibilities.
    fields: String,
}

fn definition(home: &Home<'_>, item: ItemId) -> Option<Definition> {
    let _trees = syntax::Trees::begin();
    let (file, at) = *home.world[item].definitions.first()?;
    let fact = home.world.facts(file).item(at);
    let text = home.text(file)?;
    let own = fact.span.of(&text)?;
    let parsed = syntax::parse::<syn::Item>(own).ok()?;
    let (attributes, fields) = match &parsed {
        syn::Item::Struct(item) => (&item.attrs, fields(own, &item.fields)),
        syn::Item::Enum(item) => {
            let variants = item.variants.iter();
            let variants = variants.map(|one| format!("{}{}", one.ident, fields(own, &one.fields)));
            (&item.attrs, variants.collect())
        }
        _ => return None,
    };
    let derives = attributes.iter().flat_map(derived).collect();
    Some(Definition {
        file,
        name: fact.name.span,
        start: fact.signature.start,
        line: lines::line_break(&text),
        indent: lines::prefix(&text, fact.span.start)
            .unwrap_or_default()
            .to_owned(),
        derives,
        fields,
    })
}

/// The traits that an attribute derives.
pub(in super::super) fn derived(attribute: &syn::Attribute) -> Vec<String> {
    type Paths = syn::punctuated::Punctuated<syn::Path, syn::Token![,]>;
    if !attribute.path().is_ident("derive") {
        return Vec::new();
    }
    let list = attribute.parse_args_with(Paths::parse_terminated);
    list.into_iter()
        .flatten()
        .filter_map(|path| path.segments.last().map(|last| last.ident.to_string()))
        .collect()
}

/// Fields in one spelling, without attributes and visibilities.
fn fields(text: &str, fields: &syn::Fields) -> String {
    let kind = |field: &syn::Field| {
        let text = text.get(field.ty.span().byte_range()).unwrap_or_default();
        bare(text, &str::to_owned)
    };
    let name = |field: &syn::Field| field.ident.as_ref().map(syn::Ident::to_string);
    let all: Vec<String> = fields
        .iter()
        .map(|field| format!("{}: {}", name(field).unwrap_or_default(), kind(field)))
        .collect();
    format!("({})", all.join(", "))
}
