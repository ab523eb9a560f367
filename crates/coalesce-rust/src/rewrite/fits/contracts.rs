//! What a trait asks of its types, held against the trait in its place: who implements the one has to fit the other,
//! and who has a type by it relies on what is asked for.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned as _;

use super::{
    heads::{Home, Takes},
    names::Names,
};
use crate::{resolve::ItemId, syntax};

/// A trait.
#[derive(Default)]
struct Contract {
    is_unsafe: bool,
    takes: Takes,
    /// The traits that it asks for besides.
    above: BTreeSet<String>,
    members: BTreeMap<String, TraitMember>,
    /// Whether it is implemented for whatever fits.
    is_blanket: bool,
}

/// What a trait has.
#[derive(PartialEq, Eq)]
struct TraitMember {
    is_provided: bool,
    /// Of a type or a constant what it has to be, and of a function its signature.
    said: String,
}

/// How the trait in the place of another one differs for those who implement or use it; `None` where it does not, or
/// where one of both is no trait that can be read.
pub(super) fn apart(
    names: &Names<'_>,
    pairs: &BTreeMap<ItemId, ItemId>,
    (old, new): (ItemId, ItemId),
) -> Option<String> {
    let (was, is) = (contract(names, pairs, old)?, contract(names, pairs, new)?);
    if was.is_unsafe != is.is_unsafe {
        return Some("one of both is `unsafe`".to_owned());
    }
    if let Some(why) = was.takes.apart(&is.takes) {
        return Some(why);
    }
    if was.above != is.above {
        let more = is.above.symmetric_difference(&was.above).next()?;
        return Some(format!("one of both asks for `{more}`"));
    }
    if is.is_blanket && !was.is_blanket {
        return Some("it is implemented for all types that fit".to_owned());
    }
    was.members_apart(&is)
}

impl Contract {
    fn members_apart(&self, new: &Self) -> Option<String> {
        let lacking = self.members.iter().find_map(|(name, was)| {
            let Some(is) = new.members.get(name) else {
                return Some(format!("it has no `{name}`"));
            };
            if was.is_provided && !is.is_provided {
                return Some(format!(
                    "`{name}` has nothing there that serves where a type has none"
                ));
            }
            (was.said != is.said)
                .then(|| format!("`{name}` is `{}`, and was `{}`", is.said, was.said))
        });
        let asked = || {
            let mut more = new.members.iter();
            let more = more.find(|(name, is)| !is.is_provided && !self.members.contains_key(*name));
            more.map(|(name, _)| format!("it asks for `{name}` as well"))
        };
        lacking.or_else(asked)
    }
}

fn contract(names: &Names<'_>, pairs: &BTreeMap<ItemId, ItemId>, item: ItemId) -> Option<Contract> {
    let _trees = syntax::Trees::begin();
    let (file, fact) = names.definition(item)?;
    let text = names.file(file)?;
    let syn::Item::Trait(parsed) = syntax::parse(fact.span.of(&text.text)?).ok()? else {
        return None;
    };
    let home = Home {
        names,
        pairs,
        file: &text,
        module: names.world[item].module,
        own: None,
        start: fact.span.start,
    };
    let parameters = super::signature::parameters(&parsed.generics);
    let above = parsed.supertraits.iter();
    let above = above.map(|bound| home.meant(bound.span(), &parameters));
    let members = parsed.items.iter();
    Some(Contract {
        is_unsafe: parsed.unsafety.is_some(),
        takes: home.takes(&parsed.generics, &[]),
        above: above.collect(),
        members: members
            .filter_map(|member| member_of(&home, member, &parameters))
            .collect(),
        is_blanket: is_blanket(names, item),
    })
}

fn member_of(
    home: &Home<'_, '_>,
    member: &syn::TraitItem,
    parameters: &[String],
) -> Option<(String, TraitMember)> {
    match member {
        syn::TraitItem::Fn(function) => Some((
            function.sig.ident.to_string(),
            TraitMember {
                is_provided: function.default.is_some(),
                said: signature(home, &function.sig, parameters),
            },
        )),
        syn::TraitItem::Const(constant) => Some((
            constant.ident.to_string(),
            TraitMember {
                is_provided: constant.default.is_some(),
                said: home.meant(constant.ty.span(), parameters),
            },
        )),
        syn::TraitItem::Type(kind) => {
            let takes = home.takes(&kind.generics, parameters);
            let bounds = kind.bounds.iter();
            let bounds: BTreeSet<String> = bounds
                .map(|bound| home.meant(bound.span(), parameters))
                .collect();
            Some((
                kind.ident.to_string(),
                TraitMember {
                    is_provided: kind.default.is_some(),
                    said: format!("{bounds:?} {takes:?}"),
                },
            ))
        }
        _ => None,
    }
}

/// A signature, by what its names lead to, without those of its parameters.
fn signature(home: &Home<'_, '_>, parsed: &syn::Signature, around: &[String]) -> String {
    let mut parameters = around.to_vec();
    parameters.extend(super::signature::parameters(&parsed.generics));
    let inputs = parsed.inputs.iter().map(|input| match input {
        syn::FnArg::Receiver(receiver) => home.meant(receiver.span(), &parameters),
        syn::FnArg::Typed(typed) => home.meant(typed.ty.span(), &parameters),
    });
    let inputs: Vec<String> = inputs.collect();
    let output = match &parsed.output {
        syn::ReturnType::Default => String::new(),
        syn::ReturnType::Type(_, kind) => format!(" -> {}", home.meant(kind.span(), &parameters)),
    };
    let takes = home.takes(&parsed.generics, around);
    let asked: Vec<String> = takes.bounds.into_iter().collect();
    let asked = match asked.is_empty() && takes.kinds.is_empty() {
        true => String::new(),
        false => format!(" for {} with {}", takes.kinds.len(), asked.join(", ")),
    };
    let words = [
        ("unsafe ", matches!(parsed.safety, syn::Safety::Unsafe(_))),
        ("async ", parsed.asyncness.is_some()),
    ];
    let words = words.iter().filter(|(_, is_said)| *is_said);
    let words: String = words.map(|(word, _)| *word).collect();
    format!("{words}fn({}){output}{asked}", inputs.join(", "))
}

/// Whether a trait is implemented for a parameter: for all types that fit.
fn is_blanket(names: &Names<'_>, item: ItemId) -> bool {
    let _trees = syntax::Trees::begin();
    names.impls(item).into_iter().any(|(file, span, _)| {
        let text = names.file(file);
        let code = text.as_ref().and_then(|text| span.of(&text.text));
        let parsed = code.and_then(|code| syntax::parse::<syn::ItemImpl>(code).ok());
        let Some(parsed) = parsed else { return false };
        let mut kind = &*parsed.self_ty;
        while let syn::Type::Reference(to) = kind {
            kind = &to.elem;
        }
        let syn::Type::Path(path) = kind else {
            return false;
        };
        let mut parameters = parsed.generics.type_params();
        parameters.any(|one| path.path.is_ident(&one.ident))
    })
}
