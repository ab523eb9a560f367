//! Members of an item that takes the place of one in another module: users of that one see what they saw.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Edit, Texts, TreePath};
use syn::spanned::Spanned as _;

use super::supersede::item_named;
use crate::{
    resolve::{FileId, ItemId, World},
    syntax,
};

/// How far a member is seen, and where it says so.
struct ShownMember {
    file: FileId,
    /// What it says; empty where it says nothing.
    visibility: ByteSpan,
    reach: MemberReach,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MemberReach {
    Private,
    Restricted,
    Public,
}

/// Has fields and functions of the item `from` be seen from as far as those of their names of the item `to`.
pub(super) fn show_as_far(
    world: &World,
    (from, to): (&str, &str),
    texts: &dyn Texts,
) -> Vec<(TreePath, Edit)> {
    let members = |name: &str| {
        let item = item_named(world, name);
        item.map(|item| members_of(world, item, texts))
    };
    let Some((here, there)) = members(from).zip(members(to)) else {
        return Vec::new();
    };
    let narrower = here.iter().filter_map(|(name, own)| {
        let other = there.get(name)?;
        (own.reach < other.reach).then_some((own, other.reach))
    });
    let edits = narrower.map(|(own, reach)| {
        let text = match reach {
            MemberReach::Public => "pub",
            _ => "pub(crate)",
        };
        (world[own.file].path.clone(), say(own.visibility, text))
    });
    edits.collect()
}

/// Has a visibility, which is empty where nothing is said, be another one.
pub(super) fn say(visibility: ByteSpan, text: &str) -> Edit {
    match visibility.is_empty() {
        true => Edit::insert(visibility.start, format!("{text} ")),
        false => Edit::replace(visibility, text),
    }
}

/// The fields of a structure and what it has by itself.
fn members_of(world: &World, item: ItemId, texts: &dyn Texts) -> BTreeMap<String, ShownMember> {
    let _trees = syntax::Trees::begin();
    let definitions = world[item].definitions.iter();
    let definitions = definitions.map(|(file, at)| (*file, world.facts(*file).item(*at).span));
    let impls = world.impls_of(item).filter(|one| one.is_inherent());
    let impls = impls.map(|one| (one.file, one.span));
    let mut found = BTreeMap::new();
    for (file, span) in definitions.chain(impls) {
        let text = texts.text(&world[file].path);
        let code = text.as_deref().and_then(|text| span.of(text));
        let Some(parsed) = code.and_then(|code| syntax::parse::<syn::Item>(code).ok()) else {
            continue;
        };
        found.extend(
            said_of(&parsed)
                .into_iter()
                .map(|(name, visibility, start)| {
                    (name, member((file, span.start), visibility, start))
                }),
        );
    }
    found
}

/// The members of one text, with what each says of who sees it and where that stands, or would stand.
fn said_of(item: &syn::Item) -> Vec<(String, &syn::Visibility, usize)> {
    match item {
        syn::Item::Struct(item) => {
            let fields = item.fields.iter().enumerate();
            let fields = fields.map(|(at, field)| {
                let name = field.ident.as_ref().map(syn::Ident::to_string);
                let first = match &field.ident {
                    Some(name) => name.span(),
                    None => field.ty.span(),
                };
                (
                    name.unwrap_or_else(|| at.to_string()),
                    &field.vis,
                    first.byte_range().start,
                )
            });
            fields.collect()
        }
        syn::Item::Impl(block) => {
            let functions = block.items.iter().filter_map(|member| match member {
                syn::ImplItem::Fn(one) => {
                    let start = one.sig.span().byte_range().start;
                    Some((one.sig.ident.to_string(), &one.vis, start))
                }
                _ => None,
            });
            functions.collect()
        }
        _ => Vec::new(),
    }
}

fn member((file, start): (FileId, u32), visibility: &syn::Visibility, first: usize) -> ShownMember {
    let reach = match visibility {
        syn::Visibility::Public(_) => MemberReach::Public,
        syn::Visibility::Restricted(said) if !said.path.is_ident("self") => MemberReach::Restricted,
        _ => MemberReach::Private,
    };
    let range = match visibility {
        syn::Visibility::Inherited => first..first,
        said => said.span().byte_range(),
    };
    let start = start as usize;
    ShownMember {
        file,
        visibility: ByteSpan::from_range(start + range.start..start + range.end),
        reach,
    }
}
