//! Uses of what is deprecated, from where nothing is that comes to use it: the compiler warns of each.

use coalesce_model::{ByteSpan, Unproven};
use rustc_hash::FxHashMap;

use super::{LintPlace, LintPlaces, Tree, linted_anew};
use crate::{
    facts::{Origin, SourceFacts},
    lexer::{self, Token, TokenKind},
    lints,
    resolve::{FileId, ItemId, ModuleId, Res, Site},
};

/// Such uses that the tree before has not.
pub(crate) fn deprecated_uses(before: Tree<'_>, after: Tree<'_>) -> Vec<Unproven> {
    let now = Deprecated::new(after).uses();
    let then = || Deprecated::new(before).uses();
    linted_anew(
        after,
        (&now, &then),
        ("deprecated", &|name, _| {
            format!(
                "`{name}` is deprecated, and it comes to be used here: the compiler warns of that"
            )
        }),
    )
}

/// What is deprecated in a tree, as far as somebody has asked.
struct Deprecated<'a> {
    tree: Tree<'a>,
    items: FxHashMap<ItemId, bool>,
    modules: FxHashMap<ModuleId, bool>,
}

impl<'a> Deprecated<'a> {
    fn new(tree: Tree<'a>) -> Self {
        Self {
            tree,
            items: FxHashMap::default(),
            modules: FxHashMap::default(),
        }
    }

    /// The uses of what is deprecated, by the modules that have them and the names of that.
    fn uses(&mut self) -> LintPlaces {
        let world = self.tree.world;
        let texts = self.tree.texts;
        let mut sources = world.sources();
        let says = |text: &str| text.contains("deprecated");
        if !sources.any(|(_, source)| texts.text(&source.path).is_some_and(|text| says(&text))) {
            return LintPlaces::new();
        }
        let mut found = LintPlaces::new();
        for (file, source) in world.sources() {
            let mut sites = Vec::new();
            world.visit_file(source, &mut |facts, site| sites.push((facts, site)));
            let uses = sites.into_iter();
            for (key, place) in uses.filter_map(|(facts, site)| self.use_at(file, facts, &site)) {
                found.entry(key).or_insert(place);
            }
        }
        found
    }

    /// The use of what is deprecated that a site is, with its module and the name.
    fn use_at(
        &mut self,
        file: FileId,
        facts: &SourceFacts,
        site: &Site<'_>,
    ) -> Option<((String, String), LintPlace)> {
        if matches!(
            site.origin,
            Origin::DocLink | Origin::DocCode | Origin::Quoted | Origin::MacroBody
        ) {
            return None;
        }
        let world = self.tree.world;
        let here = world.module_of(site.space);
        let steps = site.trace.steps.iter().zip(site.segments);
        let deprecated = steps.rev().find(|(step, _)| {
            let mut led = step.all().map(|(res, _)| res);
            led.any(|res| self.is_deprecated(res))
        });
        let (_, segment) = deprecated.filter(|_| !self.is_module_deprecated(here))?;
        let (span, said) = (segment.span, String::new());
        let name = facts.name(segment.name).to_owned();
        let key = (world[here].canonical.clone(), name);
        (!self.is_quiet(file, span.start)).then_some((key, LintPlace { file, span, said }))
    }

    fn is_deprecated(&mut self, res: Res) -> bool {
        match res {
            Res::Item(item) | Res::Variant(item, _) | Res::Member(item, _) => {
                self.is_item_deprecated(item)
            }
            Res::Module(module) => self.is_module_deprecated(module),
            Res::External(_) => false,
        }
    }

    fn is_item_deprecated(&mut self, item: ItemId) -> bool {
        if let Some(known) = self.items.get(&item) {
            return *known;
        }
        let world = self.tree.world;
        let node = &world[item];
        let own = node.definitions.iter().any(|(file, at)| {
            let fact = world.facts(*file).item(*at);
            let head = ByteSpan::new(fact.span.start, fact.signature.start);
            self.says_deprecated(*file, head)
        });
        let found = own || self.is_module_deprecated(node.module);
        self.items.insert(item, found);
        found
    }

    /// Whether a module is deprecated, or one around it.
    fn is_module_deprecated(&mut self, module: ModuleId) -> bool {
        if let Some(known) = self.modules.get(&module) {
            return *known;
        }
        let world = self.tree.world;
        let declarations = world.declarations(module);
        let mut bodies = world.bodies_of(module);
        let is_shim = bodies.any(|body| world.facts(body.file).shim_marker.is_some());
        let own = !is_shim
            && declarations.into_iter().any(|(file, at)| {
                let attributes = world.facts(file).module(at).attributes;
                attributes.is_some_and(|span| self.says_deprecated(file, span))
            });
        let parent = world[module].parent;
        let found = own || parent.is_some_and(|parent| self.is_module_deprecated(parent));
        self.modules.insert(module, found);
        found
    }

    /// Whether `#[deprecated]` is among attributes, but for shims: who names one is to be warned.
    fn says_deprecated(&self, file: FileId, span: ByteSpan) -> bool {
        let world = self.tree.world;
        let facts = world.facts(file);
        let is_shim = facts.shim_marker.is_some() || !facts.item_shims.is_empty();
        let text = self.tree.texts.text(&world[file].path);
        !is_shim && text.is_some_and(|text| lints::says_deprecated(&text, span))
    }

    /// Whether the statement or expression around a place says that it is allowed.
    fn is_allowed_here(&self, file: FileId, at: u32) -> bool {
        let text = self.tree.texts.text(&self.tree.world[file].path);
        let Some(text) = text.filter(|text| text.contains("(deprecated")) else {
            return false;
        };
        let tokens = lexer::tokens(&text, ByteSpan::new(0, at));
        let ends = |token: &&Token| {
            let braces = [TokenKind::Open(b'{'), TokenKind::Close(b'}')];
            !token.is(b';') && !braces.contains(&token.kind)
        };
        let statement = tokens.iter().rev().take_while(ends);
        let words = statement.filter_map(|token| token.span.of(&text));
        let words: Vec<&str> = words.collect();
        words.contains(&"deprecated") && words.contains(&"allow")
    }

    /// Whether nothing is said of a use: the lint is off there, or what says it is deprecated itself.
    fn is_quiet(&self, file: FileId, at: u32) -> bool {
        let world = self.tree.world;
        if lints::is_off(
            world,
            (file, at),
            &["deprecated", "warnings"],
            self.tree.texts,
        ) {
            return true;
        }
        if self.is_allowed_here(file, at) {
            return true;
        }
        let place = ByteSpan::empty(at);
        let facts = world.facts(file);
        let items = facts
            .items
            .iter()
            .map(|one| (one.span, one.signature.start));
        let mut around = items.filter(|(span, _)| span.contains(place));
        around.any(|(span, code)| self.says_deprecated(file, ByteSpan::new(span.start, code)))
    }
}
