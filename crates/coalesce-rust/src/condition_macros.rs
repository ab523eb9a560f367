//! Macros of the tree that put conditions around items and do nothing else:
//! `macro_rules! cfg_rt { ($($item:item)*) => { $(#[cfg(feature = "rt")] $item)* } }`.

use std::collections::BTreeMap;

use coalesce_model::{ByteSpan, Texts};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{
    facts::{ItemKind, MacroCall, SourceFacts},
    resolve::{CrateId, World},
    syntax,
};

/// What such macros put around items, by the crate that defines them and their name.
#[derive(Debug, Default)]
pub(crate) struct ConditionMacros {
    known: BTreeMap<(CrateId, String), Vec<String>>,
}

impl ConditionMacros {
    /// Reads the macros of a tree. A name with several definitions is none of them: calls see the one
    /// above.
    pub fn new(world: &World, texts: &dyn Texts) -> Self {
        let mut known = BTreeMap::new();
        for item in &world.items {
            if item.kind != ItemKind::Macro {
                continue;
            }
            let added = match item.definitions.as_slice() {
                [(file, at)] => {
                    let text = texts.text(&world[file].path);
                    let span = world.facts(*file).item(*at).span;
                    let own = text.as_deref().and_then(|text| span.of(text));
                    own.and_then(attributes).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let key = (world[item.module].krate, item.name.clone());
            known.entry(key).and_modify(Vec::clear).or_insert(added);
        }
        known.retain(|_, attributes| !attributes.is_empty());
        Self { known }
    }

    /// The attributes that a call puts on each item that it is given; `None` where it may do more.
    pub fn of_call(
        &self,
        krate: CrateId,
        facts: &SourceFacts,
        call: &MacroCall,
    ) -> Option<&[String]> {
        if self.known.is_empty() || !call.item_position {
            return None;
        }
        let path = facts.path(call.path);
        let name = facts.segments(path.segments).last()?;
        let key = (krate, facts.name(name.name).to_owned());
        self.known.get(&key).map(Vec::as_slice)
    }
}

/// The condition that an attribute says: what stands between the parentheses of `#[cfg(…)]`.
pub(crate) fn condition(attribute: &str) -> Option<&str> {
    let said = attribute.strip_prefix("#[")?.trim_start();
    let said = said.strip_prefix("cfg")?.trim_start();
    let inside = said.strip_prefix('(')?.trim_end();
    inside.strip_suffix(']')?.trim_end().strip_suffix(')')
}

/// The attributes of a macro with one rule, which repeats its items with attributes before each.
fn attributes(definition: &str) -> Option<Vec<String>> {
    let _trees = syntax::Trees::begin();
    if !definition.contains("cfg") {
        return None;
    }
    let item: syn::ItemMacro = syntax::parse(definition).ok()?;
    let found = rule(definition, &item.mac.tokens);
    found.filter(|found| found.iter().any(|one| condition(one).is_some()))
}

fn rule(text: &str, tokens: &TokenStream) -> Option<Vec<String>> {
    let mut trees = tokens.clone().into_iter();
    let pattern = group(&trees.next()?, None)?;
    let arrow = [trees.next()?, trees.next()?];
    let is_arrow = arrow
        .iter()
        .zip(['=', '>'])
        .all(|(tree, punct)| is(tree, punct));
    let body = group(&trees.next()?, None)?;
    let ends = trees.all(|tree| is(&tree, ';'));
    let name = repeated_items(&pattern).filter(|_| is_arrow && ends)?;
    let (inside, behind) = repetition(&body)?;
    behind.is_empty().then_some(())?;
    let inside: Vec<TokenTree> = inside.into_iter().collect();
    let (attributes, last) = inside.split_at(inside.len().checked_sub(2)?);
    let [dollar, item] = last else { return None };
    if !is(dollar, '$') || item.to_string() != name {
        return None;
    }
    attributes
        .chunks(2)
        .map(|pair| attribute_said(text, pair))
        .collect()
}

/// `#[…]` as written; `None` for other pairs of tokens.
fn attribute_said(text: &str, pair: &[TokenTree]) -> Option<String> {
    let [hash, brackets] = pair else { return None };
    let _ = group(brackets, Some(Delimiter::Bracket)).filter(|_| is(hash, '#'))?;
    let start = hash.span().byte_range().start;
    let end = brackets.span().byte_range().end;
    let said = ByteSpan::from_range(start..end).of(text)?;
    is_plain(said).then(|| said.to_owned())
}

/// Whether an attribute is a condition, or one for documentation.
fn is_plain(said: &str) -> bool {
    let shown: String = said.split_whitespace().collect();
    condition(said).is_some()
        || shown.starts_with("#[doc(")
        || shown.starts_with("#[cfg_attr(") && shown.contains(",doc(cfg(")
}

/// The name of the items that a pattern repeats, and takes nothing besides: `$($item:item)*`.
fn repeated_items(pattern: &TokenStream) -> Option<String> {
    let (inside, behind) = repetition(pattern)?;
    let inside: Vec<TokenTree> = inside.into_iter().collect();
    let [dollar, name, colon, kind] = inside.as_slice() else {
        return None;
    };
    let fits = behind.is_empty() && is(dollar, '$') && is(colon, ':') && kind.to_string() == "item";
    fits.then(|| name.to_string())
}

/// What `$(…)*` repeats, and what stands behind it.
fn repetition(tokens: &TokenStream) -> Option<(TokenStream, Vec<TokenTree>)> {
    let mut trees = tokens.clone().into_iter();
    let dollar = trees.next().filter(|tree| is(tree, '$'));
    let inside = group(&trees.next()?, Some(Delimiter::Parenthesis))?;
    let star = trees.next().filter(|tree| is(tree, '*') || is(tree, '+'));
    dollar.zip(star)?;
    Some((inside, trees.collect()))
}

fn group(tree: &TokenTree, delimiter: Option<Delimiter>) -> Option<TokenStream> {
    match tree {
        TokenTree::Group(group) if delimiter.is_none_or(|one| one == group.delimiter()) => {
            Some(group.stream())
        }
        _ => None,
    }
}

fn is(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(own) if own.as_char() == punct)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_puts_conditions_around_items_is_one() {
        for (text, expected) in [
            (
                "macro_rules! cfg_rt { ($($item:item)*) => { $(#[cfg(feature = \"rt\")] $item)* } }",
                Some(vec!["#[cfg(feature = \"rt\")]"]),
            ),
            (
                "macro_rules! c {\n ($($i:item)*) => {\n $(\n #[cfg(any(unix, test))]\n #[cfg_attr(docsrs, doc(cfg(unix)))]\n $i\n )*\n };\n}",
                Some(vec![
                    "#[cfg(any(unix, test))]",
                    "#[cfg_attr(docsrs, doc(cfg(unix)))]",
                ]),
            ),
            ("macro_rules! c { ($($i:item)*) => { $($i)* } }", None),
            (
                "macro_rules! c { ($($i:item)*) => { $(#[cfg(unix)] #[inline] $i)* } }",
                None,
            ),
            (
                "macro_rules! c { ($($i:item)*) => { $(#[cfg(unix)] $i)* mod more; } }",
                None,
            ),
            (
                "macro_rules! c { ($($t:tt)*) => { #[cfg(unix)] $($t)* } }",
                None,
            ),
            (
                "macro_rules! c { () => {}; ($($i:item)*) => { $(#[cfg(unix)] $i)* } }",
                None,
            ),
        ] {
            let expected = expected.map(|list| list.into_iter().map(str::to_owned).collect());
            assert_eq!(attributes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_condition_is_what_cfg_says() {
        assert_eq!(condition("#[cfg(all(a, b))]"), Some("all(a, b)"));
        assert_eq!(condition("#[cfg_attr(a, b)]"), None);
    }
}
