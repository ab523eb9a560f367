//! The method that a name of a manifest means: `krate::module::Type::method`.

use std::rc::Rc;

use coalesce_model::{ByteSpan, Change, Finding, ItemPlace, Texts, TreePath};

use super::sources::{ParsedFile, Sources};
use crate::{
    facts::{ImplFunction, ItemKind},
    lexer,
    resolve::{FileId, ImplSite, ItemId, ModuleId, Res, World},
    rewrite::mapping::refusal,
};

/// A function that a type has by itself.
#[derive(Clone, Copy)]
pub(super) struct MethodPlace<'w> {
    pub site: &'w ImplSite,
    pub function: &'w ImplFunction,
}

/// The type before the last name of a full name, with that name.
pub(super) fn parts<'n>(world: &World, name: &'n str) -> Option<(ItemId, &'n str)> {
    let (parent, method) = name.rsplit_once("::")?;
    // What is a module is none, whatever else has its name.
    if !world.modules_named(parent).is_empty() {
        return None;
    }
    let (home, of) = parent.rsplit_once("::")?;
    let homes = world.modules_named(home).into_iter();
    let is_type = |item: &ItemId| {
        let kind = world[*item].kind;
        matches!(kind, ItemKind::Struct | ItemKind::Enum | ItemKind::Union) && !world[*item].local
    };
    let mut items = homes
        .flat_map(|home| world.bindings(home, of))
        .filter_map(|binding| match binding.res {
            Res::Item(item) => Some(item),
            _ => None,
        });
    items.find(is_type).map(|item| (item, method))
}

/// The functions of that name in a type's own `impl`s.
pub(super) fn places<'w>(world: &'w World, of: ItemId, method: &str) -> Vec<MethodPlace<'w>> {
    let blocks = world.impls_of(of).filter(|site| site.is_inherent());
    let found = blocks.flat_map(|site| {
        let functions = functions_in(world, site, method).into_iter();
        functions.map(move |function| MethodPlace { site, function })
    });
    found.collect()
}

/// The functions of that name in one block.
pub(super) fn functions_in<'w>(
    world: &'w World,
    site: &ImplSite,
    method: &str,
) -> Vec<&'w ImplFunction> {
    let facts = world.facts(site.file);
    let own = facts.impl_functions.iter().filter(|function| {
        let block = facts.impls.get(function.of as usize);
        block.is_some_and(|block| block.span == site.span)
            && facts.name(function.name.name) == method
    });
    own.collect()
}

/// What stands at the name of a method; `None` where it is no method's.
pub(crate) fn place_of(world: &World, name: &str) -> Option<ItemPlace> {
    let (item, method) = parts(world, name)?;
    let found = places(world, item, method);
    let first = found.first()?;
    let node = &world[item];
    let own = format!("{}::{}::{method}", world[node.module].canonical, node.name);
    if own != name {
        return Some(ItemPlace::Reexport(own));
    }
    let shims = &world.facts(first.site.file).item_shims;
    let known = format!("{}::{method}", node.name);
    let shim = shims.iter().find(|(_, name)| **name == *known);
    Some(match shim {
        Some((id, _)) => ItemPlace::Shim(id.to_string()),
        None => ItemPlace::Defined,
    })
}

/// Whether everybody who can name the type can call a method by a full name.
pub(crate) fn is_public(world: &World, name: &str, texts: &dyn Texts) -> bool {
    let places = parts(world, name).map(|(item, method)| places(world, item, method));
    places.into_iter().flatten().any(|place| {
        let text = texts.text(&world[place.site.file].path);
        let span = ByteSpan::new(place.function.span.start, place.function.name.span.start);
        text.is_some_and(|text| says_public(&text, span))
    })
}

/// Whether the head of a function, attributes included, says `pub` without a restriction.
fn says_public(text: &str, head: ByteSpan) -> bool {
    let tokens = lexer::tokens(text, head);
    let mut words = tokens.iter().map(|token| token.span.of(text)).rev();
    let Some(at) = words.position(|word| word == Some("pub")) else {
        return false;
    };
    let behind = tokens.len().checked_sub(at).and_then(|at| tokens.get(at));
    behind.is_none_or(|next| next.span.of(text) != Some("("))
}

/// A method that a change is about.
pub(super) struct Method<'w> {
    pub change: &'w Change,
    pub of: ItemId,
    pub name: String,
    /// The module of its block.
    pub home: ModuleId,
    pub file: FileId,
    pub source: Rc<ParsedFile>,
    pub block: syn::ItemImpl,
    pub function: syn::ImplItemFn,
    /// The block, from its first attribute.
    pub block_span: ByteSpan,
    /// From the first attribute or doc comment to the closing brace.
    pub span: ByteSpan,
}

impl Method<'_> {
    pub fn path(&self, world: &World) -> TreePath {
        world[self.file].path.clone()
    }

    /// The text of something parsed of its file.
    pub fn text(&self, of: &impl syn::spanned::Spanned) -> &str {
        let span = of.span();
        let span = ByteSpan::new(self.source.start(span), self.source.end(span));
        span.of(&self.source.text).unwrap_or_default()
    }
}

/// Finds it; why it cannot be taken out of its type.
pub(super) fn find<'w>(sources: &Sources<'w>, change: &'w Change) -> Result<Method<'w>, Finding> {
    let world = sources.world;
    let (of, name) = parts(world, &change.from).ok_or_else(|| missing(change))?;
    let place = only_one(world, change, &places(world, of, name))?;
    let site = place.site;
    let parsed = parse(sources, &change.from, place);
    let (source, block, function) = parsed.map_err(|message| {
        refusal(world[site.file].path.clone(), message).at(place.function.name.span)
    })?;
    Ok(Method {
        change,
        of,
        name: name.to_owned(),
        home: site.module,
        file: site.file,
        source,
        block,
        function,
        block_span: site.span,
        span: place.function.span,
    })
}

fn missing(change: &Change) -> Finding {
    let message = format!("there is no method `{}`", change.from);
    refusal(TreePath::root(), message)
}

/// The one place among those where a method is defined.
fn only_one<'w>(
    world: &World,
    change: &Change,
    found: &[MethodPlace<'w>],
) -> Result<MethodPlace<'w>, Finding> {
    let first = found.first().ok_or_else(|| missing(change))?;
    let count = found.len();
    if count == 1 {
        return Ok(*first);
    }
    let message = format!(
        "`{}` is defined {count} times, for other arguments or conditions",
        change.from
    );
    let path = world[first.site.file].path.clone();
    Err(refusal(path, message).at(first.function.name.span))
}

/// The file of a method, its block and itself; why they cannot be read.
fn parse(
    sources: &Sources<'_>,
    name: &str,
    place: MethodPlace<'_>,
) -> Result<(Rc<ParsedFile>, syn::ItemImpl, syn::ImplItemFn), String> {
    let file = place.site.file;
    let source = sources.get(file);
    let source = source.ok_or_else(|| format!("the file of `{name}` does not parse"))?;
    if is_shared(sources.world, file) {
        return Err(format!("the file of `{name}` is read as several modules"));
    }
    let at = place.function.name.span.start;
    let found = parsed(&source, &source.tree.items, at);
    let (block, function) = found
        .ok_or_else(|| format!("`{name}` is defined in the arguments of a macro, or in a block"))?;
    Ok((source, block, function))
}

/// Whether a text of a file is that of several modules.
fn is_shared(world: &World, file: FileId) -> bool {
    let modules = world[file].bodies.iter().map(|body| &world[body]);
    modules.clone().any(|body| {
        let mut others = modules.clone();
        others.any(|other| other.scope == body.scope && other.module != body.module)
    })
}

/// The block and the function whose name begins at a byte.
fn parsed(
    source: &ParsedFile,
    items: &[syn::Item],
    at: u32,
) -> Option<(syn::ItemImpl, syn::ImplItemFn)> {
    items.iter().find_map(|item| match item {
        syn::Item::Mod(module) => {
            let (_, items) = module.content.as_ref()?;
            parsed(source, items, at)
        }
        syn::Item::Impl(block) => {
            let function = block.items.iter().find_map(|item| match item {
                syn::ImplItem::Fn(function) if source.start(function.sig.ident.span()) == at => {
                    Some(function.clone())
                }
                _ => None,
            })?;
            Some((block.clone(), function))
        }
        _ => None,
    })
}
