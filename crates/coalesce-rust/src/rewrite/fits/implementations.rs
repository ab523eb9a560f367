//! `impl`s that name two types which become one: there would be two of a trait for one type, or one that turns a type
//! into itself, which the standard library has already.
//!
//! Heads are held against each other as their names lead, aliases followed; what macros implement goes by what they
//! are given.

use std::collections::{BTreeMap, BTreeSet};

use coalesce_model::{ByteSpan, Finding, Unproven, UnprovenKind, finding::codes};

use super::{
    names::{FileNames, Names},
    signature::parameters,
    types::{Meeting, Reader, Type},
    whole::Pairs,
};
use crate::{
    conditions::can_hold_together,
    facts::{ItemKind, MacroCall},
    lexer,
    resolve::{FileId, ImplSite, ItemId, ModuleId, Res},
    rewrite::{
        conditions,
        mapping::{Mapping, refusal},
    },
    syntax,
};

/// Traits of the standard library that every type has of itself.
const OF_ITSELF: [&str; 6] = ["Borrow", "BorrowMut", "From", "Into", "TryFrom", "TryInto"];

/// What comes to be implemented twice, and what may.
#[derive(Default)]
pub(super) struct ImplementedTwice {
    pub refusals: Vec<Finding>,
    pub unproven: Vec<Unproven>,
}

/// Looks at the `impl`s of a tree in which items give way to others.
pub(super) fn check(mapping: &Mapping<'_>, names: &Names<'_>, pairs: &Pairs) -> ImplementedTwice {
    let mut found = ImplementedTwice::default();
    let types: BTreeMap<ItemId, ItemId> = pairs
        .all
        .iter()
        .filter(|(old, _)| can_be_implemented(names, **old))
        .map(|(old, new)| (*old, *new))
        .collect();
    if types.is_empty() {
        return found;
    }
    let check = Check {
        mapping,
        names,
        types: &types,
        merged: &pairs.merged,
        before: BTreeMap::new(),
    };
    check.heads(&mut found);
    check.lost(&mut found.unproven);
    check.members(&mut found.refusals);
    check.macros(&mut found.unproven);
    found
}

fn can_be_implemented(names: &Names<'_>, item: ItemId) -> bool {
    let kinds = [
        ItemKind::Struct,
        ItemKind::Enum,
        ItemKind::Union,
        ItemKind::Trait,
        ItemKind::TypeAlias,
    ];
    kinds.contains(&names.world[item].kind)
}

struct Check<'c, 'n> {
    mapping: &'c Mapping<'c>,
    names: &'c Names<'n>,
    /// Types and traits that give way, each with the one in its place.
    types: &'c BTreeMap<ItemId, ItemId>,
    /// Those of modules that are merged.
    merged: &'c BTreeSet<ItemId>,
    /// Of the tree as it is: nothing gives way.
    before: BTreeMap<ItemId, ItemId>,
}

/// The head of an `impl`, in the tree as it is and as it will be.
struct Head<'w> {
    site: &'w ImplSite,
    before: ImplementedType,
    after: ImplementedType,
}

/// A call of a macro between items, with those that its arguments name.
struct CallWithItems {
    name: String,
    file: FileId,
    span: ByteSpan,
    items: BTreeSet<ItemId>,
}

/// A function or constant of an `impl`.
struct ImplMember {
    name: String,
    conditions: Vec<String>,
}

/// The conditions among attributes, as they stand between the brackets.
fn of_attributes(attributes: &[syn::Attribute]) -> Vec<String> {
    let said = conditions::conditions(attributes).into_iter();
    said.filter_map(|said| {
        let inner = said.strip_prefix("#[cfg(")?.strip_suffix(")]")?;
        Some(inner.to_owned())
    })
    .collect()
}

/// A trait with its arguments, and the type that it is implemented for.
#[derive(PartialEq, Eq)]
struct ImplementedType {
    by: Type,
    of: Type,
}

impl ImplementedType {
    fn meets(&self, other: &Self, names: &Names<'_>) -> Meeting {
        let (by, of) = (&self.by, &self.of);
        by.meets(&other.by, names).min(of.meets(&other.of, names))
    }

    /// Whether it is one that the standard library has for every type.
    fn is_of_itself(&self) -> bool {
        match &self.by {
            Type::Outside(name, arguments) => {
                let last = name.rsplit("::").next().unwrap_or_default();
                OF_ITSELF.contains(&last) && arguments.as_slice() == std::slice::from_ref(&self.of)
            }
            _ => false,
        }
    }
}

impl Check<'_, '_> {
    fn heads(&self, found: &mut ImplementedTwice) {
        let by_trait = self.heads_by_trait();
        for heads in by_trait.values() {
            let all = heads.iter().enumerate();
            for (at, one) in all.filter(|(_, one)| one.before != one.after) {
                let turned = one.after.is_of_itself() && !one.before.is_of_itself();
                let refused = turned.then(|| self.turns_into_itself(one.site));
                found.refusals.extend(refused);
                let others = heads.iter().enumerate().filter(|(other, _)| *other != at);
                for (_, other) in others {
                    self.two((one, other), found);
                }
            }
        }
    }

    /// The heads of the `impl`s that stay, by the trait that each is of then.
    fn heads_by_trait(&self) -> BTreeMap<String, Vec<Head<'_>>> {
        let mut by_trait: BTreeMap<String, Vec<Head<'_>>> = BTreeMap::new();
        let sites = self.names.world.impls().iter();
        let staying = sites.filter(|one| self.stays(one));
        for head in staying.filter_map(|site| self.head(site)) {
            let known = by_trait.entry(self.trait_after(&head)).or_default();
            known.push(head);
        }
        by_trait
    }

    /// `impl`s of a trait that go with it, for what has none of the one in its place.
    fn lost(&self, unproven: &mut Vec<Unproven>) {
        let world = self.names.world;
        let is_beside = |site: &&ImplSite, by: ItemId| {
            site.module == world[by].module && !self.mapping.is_replaced(site.module)
        };
        let gone = world.impls().iter().filter_map(|site| {
            let by = site
                .by
                .filter(|by| self.types.contains_key(by) && !self.merged.contains(by))?;
            let goes = is_beside(&site, by) && site.of.is_none();
            goes.then(|| self.head(site))?
        });
        let staying = self.heads_by_trait();
        for head in gone {
            let known = staying.get(&self.trait_after(&head));
            let mut others = known.into_iter().flatten();
            if others.any(|other| other.before.meets(&head.after, self.names) == Meeting::Always) {
                continue;
            }
            unproven.push(Unproven {
                path: world[head.site.file].path.clone(),
                span: Some(head.site.span),
                kind: UnprovenKind::UnknownType,
                name: head.site.by.map_or_else(String::new, |by| self.names.name_of(Res::Item(by))),
                why: "this `impl` goes with its trait, and what it is for may have none of the one in its place"
                    .to_owned(),
            });
        }
    }

    fn two(&self, (one, other): (&Head<'_>, &Head<'_>), found: &mut ImplementedTwice) {
        let meet = one.after.meets(&other.after, self.names);
        if meet == Meeting::Never || one.before.meets(&other.before, self.names) >= meet {
            return;
        }
        if self.exclude_each_other((one.site, &[]), (other.site, &[])) {
            return;
        }
        if meet == Meeting::Always {
            let message = "this `impl` would be there twice: what it is for, or is made from, becomes one with what \
                           another one has";
            let help = "take one of the two `impl`s out first";
            found.refusals.push(self.refused(one.site, message, help));
            return;
        }
        found.unproven.push(Unproven {
            path: self.names.world[one.site.file].path.clone(),
            span: Some(one.site.span),
            kind: UnprovenKind::UnknownType,
            name: self.names.name_of(Res::Module(one.site.module)),
            why: "this `impl` may come to be one for the same type as another one: its parameters do not tell"
                .to_owned(),
        });
    }

    fn turns_into_itself(&self, site: &ImplSite) -> Finding {
        let message = "this `impl` would turn a type into itself, which every type can already";
        self.refused(site, message, "take it out first, with what calls it")
    }

    fn refused(&self, site: &ImplSite, message: impl Into<String>, help: &str) -> Finding {
        let path = self.names.world[site.file].path.clone();
        let refused = refusal(path, message.into()).coded(codes::MISMATCHED_REPLACEMENT);
        refused.at(site.span).with_help(help.to_owned())
    }

    /// Whether an `impl` is there afterwards: those of a type that gives way go with it, where they stand beside it.
    fn stays(&self, site: &ImplSite) -> bool {
        let goes_along = |item: Option<ItemId>| {
            item.is_some_and(|item| {
                let home = self.names.world[item].module;
                let is_beside = home == site.module;
                // Of two that meet, a merge keeps one.
                let is_settled = is_beside || self.merged.contains(&item);
                self.types.contains_key(&item) && is_settled
            })
        };
        let by = site
            .by
            .filter(|by| self.merged.contains(by) || site.of.is_none() && goes_along(Some(*by)));
        !self.mapping.is_replaced(site.module) && !goes_along(site.of) && !goes_along(by)
    }

    /// The last name of the trait that a head is of in the end.
    fn trait_after(&self, head: &Head<'_>) -> String {
        let name = match &head.after.by {
            Type::Item(item, _) => self.names.world[*item].name.clone(),
            Type::Outside(name, _) | Type::Other(name) => name.clone(),
            _ => String::new(),
        };
        name.rsplit("::").next().unwrap_or_default().to_owned()
    }

    /// The head of an `impl` of a trait.
    fn head<'w>(&self, site: &'w ImplSite) -> Option<Head<'w>> {
        let _trees = syntax::Trees::begin();
        let file = self.names.file(site.file)?;
        let code = head_of(&file.text, site.span)?;
        let parsed = syntax::parse::<syn::ItemImpl>(&code).ok()?;
        let (path, of) = (&parsed.trait_.as_ref()?.0, &parsed.self_ty);
        let read = |pairs: &BTreeMap<ItemId, ItemId>| {
            let reader = Reader {
                names: self.names,
                file: &file,
                module: site.module,
                start: site.span.start,
                own: site.of,
                parameters: parameters(&parsed.generics),
                pairs,
                depth: 0,
            };
            ImplementedType {
                by: reader.path(path),
                of: reader.read(of),
            }
        };
        Some(Head {
            site,
            before: read(&self.before),
            after: read(self.types),
        })
    }

    /// Functions that `impl`s of a type have whose name an `impl` of the one in its place has as well.
    fn members(&self, refusals: &mut Vec<Finding>) {
        let world = self.names.world;
        for (old, new) in self.types {
            let stays = |one: &&ImplSite| one.is_inherent() && self.stays(one);
            let own: Vec<&ImplSite> = world.impls_of(*old).filter(stays).collect();
            if own.is_empty() {
                continue;
            }
            let others = world.impls_of(*new).filter(|one| one.is_inherent());
            let known = others.flat_map(|one| {
                self.functions_of(one)
                    .into_iter()
                    .map(move |member| (one, member))
            });
            let known: Vec<(&ImplSite, ImplMember)> = known.collect();
            for one in own {
                let mut members = self.functions_of(one).into_iter();
                let twice = members.find(|member| self.is_known((one, member), &known));
                refusals.extend(twice.map(|member| self.has_twice(one, *new, &member.name)));
            }
        }
    }

    /// Whether a member has the name of one that is there where it is.
    fn is_known(
        &self,
        (site, member): (&ImplSite, &ImplMember),
        known: &[(&ImplSite, ImplMember)],
    ) -> bool {
        let mut others = known.iter().filter(|(_, other)| other.name == member.name);
        others.any(|(there, other)| {
            !self.exclude_each_other((site, &member.conditions), (there, &other.conditions))
        })
    }

    /// Whether no compilation has both of two `impl`s, or of what stands in them under conditions of its own.
    fn exclude_each_other(
        &self,
        (one, mine): (&ImplSite, &[String]),
        (other, theirs): (&ImplSite, &[String]),
    ) -> bool {
        let (here, there) = (self.conditions(one), self.conditions(other));
        let all = here.iter().chain(&there).chain(mine).chain(theirs);
        !can_hold_together(all.map(String::as_str))
    }

    /// The conditions around an `impl`, and its own.
    fn conditions(&self, site: &ImplSite) -> BTreeSet<String> {
        let _trees = syntax::Trees::begin();
        let mut found = conditions::conditions_of(self.mapping, site.module);
        let names = self.names.file(site.file);
        let code = names.as_ref().and_then(|names| site.span.of(&names.text));
        let parsed = code.and_then(|code| syntax::parse::<syn::ItemImpl>(code).ok());
        found.extend(
            parsed
                .iter()
                .flat_map(|parsed| of_attributes(&parsed.attrs)),
        );
        found
    }

    fn has_twice(&self, site: &ImplSite, of: ItemId, name: &str) -> Finding {
        let of = self.names.name_of(Res::Item(of));
        let message = format!("`{of}` would have `{name}` twice");
        self.refused(site, message, "take one of the two out first")
    }

    /// The functions and constants of an `impl`.
    fn functions_of(&self, site: &ImplSite) -> Vec<ImplMember> {
        let _trees = syntax::Trees::begin();
        let names = self.names.file(site.file);
        let code = names.as_ref().and_then(|names| site.span.of(&names.text));
        let parsed = code.and_then(|code| syntax::parse::<syn::ItemImpl>(code).ok());
        let items = parsed.into_iter().flat_map(|parsed| parsed.items);
        let found = items.filter_map(|item| match item {
            syn::ImplItem::Fn(own) => Some((own.sig.ident, own.attrs)),
            syn::ImplItem::Const(own) => Some((own.ident, own.attrs)),
            _ => None,
        });
        let members = found.map(|(name, attributes)| ImplMember {
            name: name.to_string(),
            conditions: of_attributes(&attributes),
        });
        members.collect()
    }

    /// Macros that are given both a type and what takes its place, and may implement something for each.
    fn macros(&self, unproven: &mut Vec<Unproven>) {
        let calls = self.calls_with_items();
        let mut given: BTreeMap<&str, BTreeSet<ItemId>> = BTreeMap::new();
        for call in &calls {
            given.entry(&call.name).or_default().extend(&call.items);
        }
        for call in &calls {
            let all = given.get(call.name.as_str());
            let meets = call.items.iter().find_map(|old| {
                let new = self.types.get(old)?;
                all.is_some_and(|all| all.contains(new))
                    .then_some((*old, *new))
            });
            if let Some(pair) = meets.filter(|_| self.may_implement(&call.name)) {
                unproven.push(self.implements_both(call, pair));
            }
        }
    }

    /// The calls between items that stay, and that name some.
    fn calls_with_items(&self) -> Vec<CallWithItems> {
        let world = self.names.world;
        let mut found = Vec::new();
        for body in &world.bodies {
            let facts = world.facts(body.file);
            let stays = !self.mapping.is_replaced(body.module);
            let own = facts.macro_calls.iter().filter(|call| {
                stays && call.item_position && facts.module_scope(call.scope) == body.scope
            });
            found.extend(own.filter_map(|call| self.given_to(body.file, body.module, call)));
        }
        found
    }

    fn implements_both(&self, call: &CallWithItems, (old, new): (ItemId, ItemId)) -> Unproven {
        let full = |item: ItemId| self.names.name_of(Res::Item(item));
        let name = &call.name;
        Unproven {
            path: self.names.world[call.file].path.clone(),
            span: Some(call.span),
            kind: UnprovenKind::MacroArgument,
            name: name.clone(),
            why: format!(
                "`{name}!` is given `{}` and `{}`, which become one: what it implements for both would be there twice",
                full(old),
                full(new)
            ),
        }
    }

    /// The name of a macro that is called, and the items that its arguments name.
    fn given_to(&self, file: FileId, module: ModuleId, call: &MacroCall) -> Option<CallWithItems> {
        let facts = self.names.world.facts(file);
        let last = facts.segments(facts.path(call.path).segments).last()?;
        let names = self.names.file(file)?;
        let items = items_in(self.names, &names, (module, call.body));
        (!items.is_empty()).then(|| CallWithItems {
            name: facts.name(last.name).to_owned(),
            file,
            span: call.body,
            items,
        })
    }

    /// Whether a macro may write an `impl`: of those of the tree, the text tells.
    fn may_implement(&self, name: &str) -> bool {
        let world = self.names.world;
        let macros = (0..).map(ItemId).zip(&world.items);
        let mut own = macros
            .filter(|(_, node)| node.kind == ItemKind::Macro && node.name == name)
            .peekable();
        own.peek().is_none()
            || own.any(|(item, _)| {
                let known = self.names.definition(item).and_then(|(file, fact)| {
                    let names = self.names.file(file)?;
                    let tokens = lexer::tokens(&names.text, fact.span);
                    let mut words = tokens.iter().filter_map(|one| one.span.of(&names.text));
                    Some(words.any(|word| matches!(word, "impl" | "!")))
                });
                known.unwrap_or(true)
            })
    }
}

/// The items that the words of a piece of code lead to.
pub(super) fn items_in(
    names: &Names<'_>,
    file: &FileNames,
    (module, span): (ModuleId, ByteSpan),
) -> BTreeSet<ItemId> {
    let tokens = lexer::tokens(&file.text, span);
    let words = tokens.iter().filter(|token| token.is_ident());
    let led = words.flat_map(|token| names.leads_to(file, module, token.span));
    led.filter_map(|res| match res {
        Res::Item(item) => Some(item),
        _ => None,
    })
    .collect()
}

/// The head of an `impl` with empty braces, as long as the text before its own.
fn head_of(text: &str, span: ByteSpan) -> Option<String> {
    let tokens = lexer::tokens(text, span);
    let is_impl = |at: &usize| {
        tokens
            .get(*at)
            .is_some_and(|one| one.span.of(text) == Some("impl"))
    };
    let start = (0..tokens.len()).find(is_impl)?;
    let open = (start..tokens.len()).find(|at| {
        let kind = tokens.get(*at).map(|one| one.kind);
        kind == Some(lexer::TokenKind::Open(b'{'))
    })?;
    let head = ByteSpan::new(span.start, tokens.get(open)?.span.start);
    Some(format!("{}{{}}", head.of(text)?))
}
