//! What the names in a file lead to, by the place where they stand.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use coalesce_model::{ByteSpan, Memo, Texts};

use crate::{
    lints,
    resolve::{FileId, Interner, ItemId, ModuleId, Res, Sym, UseSite, World, is_one_of_standard},
    syntax,
};

/// Files whose names are looked up, each read once.
pub(super) struct Names<'n> {
    pub world: &'n World,
    pub texts: &'n dyn Texts,
    /// Types that go with nothing in their place: nobody can name them afterwards.
    pub gone: BTreeSet<ItemId>,
    files: Memo<FileId, FileNames>,
    traits: RefCell<BTreeMap<ItemId, Rc<BTreeSet<String>>>>,
    /// Full names of what is outside, which the world has not: it follows a path as far as it leads out.
    outside: RefCell<Interner>,
}

/// From here on symbols are those of such names.
const FIRST_OUTSIDE: u32 = 1 << 31;

/// The names of one file.
pub(super) struct FileNames {
    pub text: Arc<str>,
    /// What stands at a byte leads to these.
    leads: BTreeMap<u32, BTreeSet<Res>>,
    /// The arguments of macros, whose single words are no paths to the parser.
    macros: Vec<ByteSpan>,
    /// The `impl`s, each with the items that its type and its trait are.
    pub impls: Vec<(ByteSpan, Option<ItemId>, Option<ItemId>)>,
}

impl<'n> Names<'n> {
    pub fn new(world: &'n World, texts: &'n dyn Texts) -> Self {
        Self {
            world,
            texts,
            gone: BTreeSet::new(),
            traits: RefCell::new(BTreeMap::new()),
            files: Memo::default(),
            outside: RefCell::default(),
        }
    }

    /// What a step of a path leads to; of what is outside, by the names behind the one that leads there.
    fn led(&self, res: Res, tail: u16, said: &[&str]) -> Res {
        let Res::External(first) = res else {
            return res;
        };
        let behind = said.len().saturating_sub(usize::from(tail));
        let behind = said.get(behind..).unwrap_or_default();
        if behind.is_empty() {
            return res;
        }
        let full = format!("{}::{}", self.outside_text(first), behind.join("::"));
        let known = self.world.names.get(&full);
        Res::External(known.unwrap_or_else(|| {
            let Sym(own) = self.outside.borrow_mut().intern(&full);
            Sym(own + FIRST_OUTSIDE)
        }))
    }

    /// The full name of what is outside.
    pub fn outside_text(&self, name: Sym) -> Arc<str> {
        match name.0.checked_sub(FIRST_OUTSIDE) {
            Some(own) => self.outside.borrow().text(Sym(own)),
            None => self.world.names.text(name),
        }
    }

    /// Whether two names from outside are of one thing: the standard library shows one by several of its crates.
    pub fn are_one_outside(&self, one: Sym, other: Sym) -> bool {
        one == other || is_one_of_standard(&self.outside_text(one), &self.outside_text(other))
    }

    /// The names of a file; `None` where it cannot be read.
    pub fn file(&self, file: FileId) -> Option<Rc<FileNames>> {
        self.files.get(file, || self.read(file))
    }

    fn read(&self, file: FileId) -> Option<FileNames> {
        let source = &self.world[file];
        let facts = self.world.facts(file);
        let text = self.texts.text(&source.path)?;
        let mut leads: BTreeMap<u32, BTreeSet<Res>> = BTreeMap::new();
        let mut paths: BTreeMap<u32, ItemId> = BTreeMap::new();
        self.world.visit_file(source, &mut |facts, site| {
            let said = site.segments.iter().map(|one| facts.name(one.name));
            let said: Vec<&str> = said.collect();
            let steps = site.trace.steps.iter().zip(site.segments).enumerate();
            for (at, (step, segment)) in steps {
                let known = leads.entry(segment.span.start).or_default();
                let said = said.get(..=at).unwrap_or_default();
                known.extend(step.all().map(|(res, _)| self.led(res, step.tail, said)));
            }
            let last = site.trace.steps.last();
            let item = last.and_then(|last| last.items().next());
            if let (UseSite::Path(path), Some(item)) = (site.site, item) {
                paths.insert(path, item);
            }
        });
        let of = |path: Option<u32>| paths.get(&path?).copied();
        let impls = facts.impls.iter();
        let impls = impls.map(|one| {
            let own = of(one.self_path).map(|item| self.world.behind_alias(item));
            (one.span, own, of(one.trait_path))
        });
        let impls = impls.collect();
        Some(FileNames {
            text,
            leads,
            macros: facts.macro_calls.iter().map(|call| call.body).collect(),
            impls,
        })
    }

    /// What the word at a place of a module leads to. A word in the arguments of a macro, which no
    /// parser reads, is looked up as a name of the module.
    pub fn leads_to(&self, file: &FileNames, module: ModuleId, span: ByteSpan) -> BTreeSet<Res> {
        let known = file.leads.get(&span.start);
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            return known.clone();
        }
        let in_macro = file.macros.iter().any(|body| body.contains(span));
        let name = span.of(&file.text).unwrap_or_default();
        let bindings = in_macro
            .then(|| Some(self.world.space(module)).zip(self.world.names.get(name)))
            .flatten()
            .and_then(|(space, sym)| space.names.get(&sym));
        let bindings = bindings.into_iter().flatten();
        bindings.map(|binding| binding.res).collect()
    }

    /// Whether a step of a path leads to modules alone, and the one behind it to what is known: the path is that one then.
    /// Modules of other packages are written in small letters.
    pub fn is_way_to(
        &self,
        (file, module): (&FileNames, ModuleId),
        step: ByteSpan,
        next: ByteSpan,
    ) -> bool {
        let word = step.of(&file.text).unwrap_or_default();
        let is_small = word.starts_with(|letter: char| letter.is_lowercase());
        let known = self.leads_to(file, module, step);
        let mut led = known.iter();
        let are_modules = led.all(|res| match res {
            Res::Module(_) => true,
            Res::External(_) => is_small,
            _ => false,
        });
        !known.is_empty() && are_modules && !self.leads_to(file, module, next).is_empty()
    }

    /// The traits of the tree that a module has by name and that have a function of this name: what
    /// stands behind a dot may be theirs.
    pub fn traits_with(&self, module: ModuleId, name: &str) -> BTreeSet<Res> {
        let traits = self.world.traits_in_scope(module);
        traits
            .filter(|item| self.functions_of(*item).contains(name))
            .map(Res::Item)
            .collect()
    }

    /// The functions that a trait says.
    fn functions_of(&self, item: ItemId) -> Rc<BTreeSet<String>> {
        let _trees = syntax::Trees::begin();
        if let Some(known) = self.traits.borrow().get(&item) {
            return Rc::clone(known);
        }
        let code = self.definition(item).and_then(|(file, fact)| {
            let names = self.file(file)?;
            Some(fact.span.of(&names.text)?.to_owned())
        });
        let found = match code.map(|code| syntax::parse(&code)) {
            Some(Ok(syn::Item::Trait(parsed))) => names_of_functions(&parsed),
            _ => BTreeSet::new(),
        };
        let found = Rc::new(found);
        self.traits.borrow_mut().insert(item, Rc::clone(&found));
        found
    }

    /// Where an item is defined; `None` of several definitions, by condition.
    pub fn definition(&self, item: ItemId) -> Option<(FileId, &'n crate::facts::Item)> {
        let node = &self.world[item];
        let [(file, at)] = node.definitions.as_slice() else {
            return None;
        };
        let fact = self.world.facts(*file).item(*at);
        Some((*file, fact))
    }

    /// The `impl` blocks for a type, or of a trait, with the module that each stands in.
    pub fn impls(&self, item: ItemId) -> Vec<(FileId, ByteSpan, ModuleId)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for body in &self.world.bodies {
            let facts = Some(self.world.facts(body.file));
            let own = facts.is_some_and(|facts| {
                let mut impls = facts.impls.iter();
                impls.any(|one| one.scope == body.scope)
            });
            let Some(names) = own.then(|| self.file(body.file)).flatten() else {
                continue;
            };
            let facts = facts.into_iter().flat_map(|facts| &facts.impls);
            let impls = facts.zip(&names.impls);
            let own = impls.filter(|(fact, (_, of, by))| {
                fact.scope == body.scope && (*of == Some(item) || *by == Some(item))
            });
            let spans = own.map(|(_, (span, ..))| *span);
            let new = spans.filter(|span| seen.insert((body.file, *span)));
            found.extend(new.map(|span| (body.file, span, body.module)));
        }
        found
    }

    /// Whether a type lends what it leads to (`Deref`).
    pub fn is_pointer(&self, item: ItemId) -> bool {
        self.impls(item).into_iter().any(|(file, span, _)| {
            let names = self.file(file);
            let code = names.as_ref().and_then(|names| span.of(&names.text));
            let head = code.and_then(|code| code.split('{').next());
            head.is_some_and(|head| head.contains("Deref"))
        })
    }

    /// Whether a definition says `#[deprecated]`.
    pub fn is_deprecated(&self, item: ItemId) -> bool {
        let world = self.world;
        world[item].definitions.iter().any(|(file, at)| {
            let fact = world.facts(*file).item(*at);
            let attributes = ByteSpan::new(fact.span.start, fact.signature.start);
            let Some(names) = self.file(*file) else {
                return false;
            };
            lints::says_deprecated(&names.text, attributes)
        })
    }

    /// The full name of what a result is, for people.
    pub fn name_of(&self, res: Res) -> String {
        match res {
            Res::External(name) => self.outside_text(name).to_string(),
            _ => self.world.name_of(&self.world.target(res)),
        }
    }
}

fn names_of_functions(parsed: &syn::ItemTrait) -> BTreeSet<String> {
    let functions = parsed.items.iter().filter_map(|member| match member {
        syn::TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
        _ => None,
    });
    functions.collect()
}
