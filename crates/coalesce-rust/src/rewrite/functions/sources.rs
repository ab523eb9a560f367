//! Files as they are parsed, with what their paths lead to, and what is declared in them.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use coalesce_model::{Texts, texts::start_of_text};
use syn::visit::{self, Visit};

use super::{documents::DocumentCode, found::functions_in, spelling::is_integer, values::Value};
use crate::{
    facts::{ItemKind, Namespaces},
    resolve::{FileId, ImplSite, ItemId, Res, UseSite, World},
    rewrite::method_calls::homes,
    syntax,
};

/// How many aliases of aliases are followed.
const DEEPEST: usize = 8;

/// The libraries that come with the language.
const STANDARD: [&str; 3] = ["alloc", "core", "std"];

/// A function as it is declared.
#[derive(Clone)]
pub(super) struct DeclaredFunction {
    pub signature: Rc<syn::Signature>,
    /// Whether more than its own module sees it, where it is one of a type.
    pub is_shown: bool,
    /// The names of type parameters around it.
    pub generics: Rc<BTreeSet<String>>,
}

/// Fields of a struct, or of a variant.
#[derive(Clone)]
pub(super) struct DeclaredFields {
    pub fields: Rc<syn::Fields>,
    pub parameters: Rc<Vec<String>>,
}

/// A parsed file.
pub(super) struct ParsedFile {
    pub file: FileId,
    pub text: Arc<str>,
    pub tree: syn::File,
    /// Where the parser begins to count.
    pub base: u32,
    /// What each prefix of a path leads to, by where the path begins.
    named: BTreeMap<u32, Vec<Vec<(Res, Namespaces)>>>,
    functions: BTreeMap<u32, DeclaredFunction>,
    fields: BTreeMap<u32, DeclaredFields>,
    types: BTreeMap<u32, (Rc<syn::Type>, Vec<String>)>,
}

impl ParsedFile {
    /// The first byte of something parsed.
    pub fn start(&self, span: proc_macro2::Span) -> u32 {
        let start = u32::try_from(span.byte_range().start).unwrap_or_default();
        self.base + start
    }

    /// The byte behind something parsed.
    pub fn end(&self, span: proc_macro2::Span) -> u32 {
        let end = u32::try_from(span.byte_range().end).unwrap_or_default();
        self.base + end
    }

    /// What a path leads to, up to its segment `at`, in one of the namespaces.
    pub fn leads_to(&self, path: &syn::Path, at: usize, spaces: Namespaces) -> Option<Res> {
        let first = path.segments.first()?;
        let steps = self.named.get(&self.start(first.ident.span()))?;
        let mut found = steps.get(at)?.iter();
        found.find(|(_, of)| of.meets(spaces)).map(|(res, _)| *res)
    }

    /// Whether anything is known of what a path leads to.
    pub fn knows(&self, path: &syn::Path, at: usize) -> bool {
        let first = path.segments.first();
        let steps = first.and_then(|first| self.named.get(&self.start(first.ident.span())));
        let found = steps.and_then(|steps| steps.get(at));
        found.is_some_and(|found| !found.is_empty())
    }
}

/// The files that somebody asked for.
pub(super) struct Sources<'w> {
    pub world: &'w World,
    pub texts: &'w dyn Texts,
    read: RefCell<BTreeMap<FileId, Option<Rc<ParsedFile>>>>,
    /// For as long as the files are kept.
    _trees: syntax::Trees,
}

/// Names in a type that are no items: type parameters around it, with what they stand for, and `Self`.
#[derive(Clone, Default)]
pub(super) struct TypesAround {
    pub own: Option<Value>,
    pub parameters: BTreeMap<String, Value>,
}

impl<'w> Sources<'w> {
    pub fn new(world: &'w World, texts: &'w dyn Texts) -> Self {
        Self {
            world,
            texts,
            read: RefCell::default(),
            _trees: syntax::Trees::begin(),
        }
    }

    /// A file; `None` where it does not parse.
    pub fn get(&self, file: FileId) -> Option<Rc<ParsedFile>> {
        if let Some(known) = self.read.borrow().get(&file) {
            return known.clone();
        }
        let source = self.parse(file).map(Rc::new);
        self.read.borrow_mut().insert(file, source.clone());
        source
    }

    /// Code in documentation, parsed: `code` begins at a byte of the file and is as long there.
    pub fn document(&self, file: FileId, (start, code): (u32, &str)) -> Option<DocumentCode> {
        let text = self.texts.text(&self.world[file].path)?;
        let source = ParsedFile {
            file,
            text,
            base: start,
            named: self.named_in(file),
            functions: BTreeMap::new(),
            fields: BTreeMap::new(),
            types: BTreeMap::new(),
            tree: syntax::parse_file("").ok()?,
        };
        let statements = syntax::parse_statements(code).ok()?;
        Some(DocumentCode { source, statements })
    }

    /// What each prefix of a path of a file leads to.
    fn named_in(&self, file: FileId) -> BTreeMap<u32, Vec<Vec<(Res, Namespaces)>>> {
        let mut named: BTreeMap<u32, Vec<Vec<(Res, Namespaces)>>> = BTreeMap::new();
        self.world.visit_file(&self.world[file], &mut |_, site| {
            let (UseSite::Path(_), Some(first)) = (site.site, site.segments.first()) else {
                return;
            };
            let steps = named.entry(first.span.start).or_default();
            for (at, step) in site.trace.steps.iter().enumerate() {
                match steps.get_mut(at) {
                    Some(known) => known.extend(step.all()),
                    None => steps.push(step.all().collect()),
                }
            }
        });
        named
    }

    fn parse(&self, file: FileId) -> Option<ParsedFile> {
        let text = self.texts.text(&self.world[file].path)?;
        let base = start_of_text(&text);
        let tree = syntax::parse_file(text.get(base as usize..)?).ok()?;
        let mut index = Index {
            base,
            ..Index::default()
        };
        index.visit_file(&tree);
        let source = ParsedFile {
            file,
            text,
            base,
            named: self.named_in(file),
            functions: index.functions,
            fields: index.fields,
            types: index.types,
            tree,
        };
        Some(source)
    }

    /// Where an item is defined, if that is one place.
    fn definition(&self, item: ItemId) -> Option<(Rc<ParsedFile>, u32)> {
        let [(file, at)] = self.world[item].definitions.as_slice() else {
            return None;
        };
        let name = self.world.facts(*file).item(*at).name.span.start;
        Some((self.get(*file)?, name))
    }

    /// The type of what is written as one.
    pub fn value(&self, source: &ParsedFile, ty: &syn::Type, around: &TypesAround) -> Value {
        self.value_at(source, ty, around, 0)
    }

    fn value_at(
        &self,
        source: &ParsedFile,
        ty: &syn::Type,
        around: &TypesAround,
        depth: usize,
    ) -> Value {
        if depth > DEEPEST {
            return Value::Unknown;
        }
        let inner = |ty: &syn::Type| self.value_at(source, ty, around, depth + 1);
        match ty {
            syn::Type::Reference(reference) => {
                Value::reference(reference.mutability.is_some(), inner(&reference.elem))
            }
            syn::Type::Paren(ty) => inner(&ty.elem),
            syn::Type::Group(ty) => inner(&ty.elem),
            syn::Type::Array(ty) => Value::standard("[]", vec![inner(&ty.elem)]),
            syn::Type::Slice(ty) => Value::standard("[]", vec![inner(&ty.elem)]),
            syn::Type::Tuple(ty) => Value::standard("()", ty.elems.iter().map(inner).collect()),
            syn::Type::TraitObject(_) | syn::Type::FnPtr(_) | syn::Type::Never(_) => Value::Other,
            syn::Type::Path(path) if path.qself.is_none() => {
                self.value_of_path(source, &path.path, around, depth)
            }
            _ => Value::Unknown,
        }
    }

    fn value_of_path(
        &self,
        source: &ParsedFile,
        path: &syn::Path,
        around: &TypesAround,
        depth: usize,
    ) -> Value {
        let Some(last) = path.segments.last() else {
            return Value::Unknown;
        };
        if let Some(known) = around.named(path) {
            return known;
        }
        let arguments = syntax::arguments_of(&last.arguments)
            .into_iter()
            .map(|ty| self.value_at(source, ty, around, depth + 1));
        let arguments = arguments.collect();
        self.named_value(source, (path, &last.ident.to_string()), arguments, depth)
    }

    /// The type that a path with a last name leads to, with its arguments.
    fn named_value(
        &self,
        source: &ParsedFile,
        (path, name): (&syn::Path, &str),
        arguments: Vec<Value>,
        depth: usize,
    ) -> Value {
        let at = path.segments.len() - 1;
        match source.leads_to(path, at, Namespaces::TYPE) {
            Some(Res::Item(item)) => self.value_of_item(item, arguments, depth),
            Some(Res::External(full)) => {
                let full = self.world.names.text(full).to_string();
                let first = full.split("::").next().unwrap_or_default();
                outside(name, STANDARD.contains(&first), arguments)
            }
            Some(_) => Value::Unknown,
            None if source.knows(path, at) => Value::Unknown,
            // Of the prelude, or by a path of the standard library.
            None => outside(name, at == 0 || says_standard(path), arguments),
        }
    }

    fn value_of_item(&self, item: ItemId, arguments: Vec<Value>, depth: usize) -> Value {
        match self.world[item].kind {
            ItemKind::Struct | ItemKind::Enum | ItemKind::Union => Value::Item(item, arguments),
            ItemKind::TypeAlias => self.alias(item, &arguments, depth),
            _ => Value::Unknown,
        }
    }

    pub(super) fn alias(&self, item: ItemId, arguments: &[Value], depth: usize) -> Value {
        let Some((source, name)) = self.definition(item) else {
            return Value::Unknown;
        };
        let Some((ty, parameters)) = source.types.get(&name) else {
            return Value::Unknown;
        };
        let given = parameters.iter().enumerate().map(|(at, name)| {
            let argument = arguments.get(at).cloned().unwrap_or(Value::Unknown);
            (name.clone(), argument)
        });
        let around = TypesAround {
            own: None,
            parameters: given.collect(),
        };
        self.value_at(&source, ty, &around, depth + 1)
    }

    /// What an alias stands for, with the names of its parameters.
    pub fn aliased(&self, item: ItemId) -> Option<(Rc<ParsedFile>, Rc<syn::Type>, Vec<String>)> {
        let (source, name) = self.definition(item)?;
        let (ty, parameters) = source.types.get(&name)?.clone();
        Some((source, ty, parameters))
    }

    /// The type of a constant or a static.
    pub fn constant(&self, item: ItemId) -> Value {
        let Some((source, name)) = self.definition(item) else {
            return Value::Unknown;
        };
        match source.types.get(&name) {
            Some((ty, _)) => self.value(&source, ty, &TypesAround::default()),
            None => Value::Unknown,
        }
    }

    /// What a function gives when it is called.
    pub fn called(&self, item: ItemId) -> Value {
        let declared = self.definition(item).and_then(|(source, name)| {
            let declared = source.functions.get(&name)?.clone();
            Some((source, declared))
        });
        declared.map_or(Value::Unknown, |(source, declared)| {
            self.given_by(&source, &declared, None)
        })
    }

    /// How many parameters a function has.
    pub fn parameters_of(&self, item: ItemId) -> Option<usize> {
        let (source, name) = self.definition(item)?;
        let declared = source.functions.get(&name)?;
        Some(declared.signature.inputs.len())
    }

    fn given_by(
        &self,
        source: &ParsedFile,
        declared: &DeclaredFunction,
        own: Option<Value>,
    ) -> Value {
        let syn::ReturnType::Type(_, ty) = &declared.signature.output else {
            return Value::standard("()", Vec::new());
        };
        // What they stand for, the caller decides.
        let unknown = declared.generics.iter().cloned();
        let around = TypesAround {
            own,
            parameters: unknown.map(|name| (name, Value::Unknown)).collect(),
        };
        let given = self.value(source, ty, &around);
        match declared.signature.asyncness {
            Some(_) => Value::standard("Future", vec![given]),
            None => given,
        }
    }

    /// What a function of a type gives, called on it or by its name.
    pub fn result(&self, item: ItemId, own: &Value, method: &str) -> Value {
        let mut found: Option<Value> = None;
        for (source, declared) in self.functions_of(item, method) {
            let given = self.given_by(&source, &declared, Some(own.clone()));
            match &found {
                Some(known) if *known != given => return Value::Unknown,
                _ => found = Some(given),
            }
        }
        match method {
            // A derive may have written it, of which nothing is read.
            "default" | "from" => found.unwrap_or_else(|| own.clone()),
            _ => found.unwrap_or(Value::Unknown),
        }
    }

    /// Whether a type has a method of that name by itself, for everybody who can name the type.
    pub fn has_method(&self, item: ItemId, method: &str) -> bool {
        let sites = self.world.impls_of(item);
        let mut sites = sites.filter(|site| site.is_inherent());
        sites.any(|site| {
            let source = self.get(site.file);
            let declared = source.iter().flat_map(|source| {
                let own = source.functions.range(site.span.start..site.span.end);
                own.map(|(_, declared)| declared)
            });
            let mut declared = declared.filter(|one| one.signature.ident == method);
            declared.any(|one| one.is_shown && one.signature.receiver().is_some())
        })
    }

    /// The type that a type of the tree hands calls on to; `None` where it does not.
    pub fn handed_on(&self, item: ItemId) -> Option<Value> {
        if !homes::hands_on(self.world, self.texts, item) {
            return None;
        }
        let sites = self.world.impls_of(item);
        let mut sites = sites.filter(|site| site.trait_name(self.world) == Some("Deref"));
        let (Some(site), None) = (sites.next(), sites.next()) else {
            return Some(Value::Unknown);
        };
        let target = self.get(site.file).and_then(|source| {
            let mut types = source.types.range(site.span.start..site.span.end);
            let named = |at: u32| source.text.get(at as usize..)?.strip_prefix("Target");
            let (_, (ty, parameters)) = types.find(|(at, _)| named(**at).is_some())?;
            let unknown = parameters.iter().cloned();
            let around = TypesAround {
                own: None,
                parameters: unknown.map(|name| (name, Value::Unknown)).collect(),
            };
            Some(self.value(&source, ty, &around))
        });
        Some(target.unwrap_or(Value::Unknown))
    }

    /// The functions of that name in `impl`s of a type, its own before those of traits.
    fn functions_of(&self, item: ItemId, method: &str) -> Vec<(Rc<ParsedFile>, DeclaredFunction)> {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for site in self.world.impls_of(item) {
            let list = match site.is_inherent() {
                true => &mut own,
                false => &mut others,
            };
            list.extend(self.functions_in(site, method));
        }
        if own.is_empty() { others } else { own }
    }

    fn functions_in(
        &self,
        site: &ImplSite,
        method: &str,
    ) -> Vec<(Rc<ParsedFile>, DeclaredFunction)> {
        let Some(source) = self.get(site.file) else {
            return Vec::new();
        };
        let functions = functions_in(self.world, site, method).into_iter();
        let declared =
            functions.filter_map(|function| source.functions.get(&function.name.span.start));
        declared
            .map(|one| (Rc::clone(&source), one.clone()))
            .collect()
    }

    /// The type of a field of a struct.
    pub fn field(&self, of: &Value, member: &syn::Member) -> Value {
        let behind = of.behind().0;
        match behind {
            Value::Item(item, arguments) => {
                let Some((source, name)) = self.definition(*item) else {
                    return Value::Unknown;
                };
                let fields = source.fields.get(&name);
                fields.map_or(Value::Unknown, |fields| {
                    self.field_of(&source, fields, (arguments, behind), member)
                })
            }
            Value::Standard(name, _) if name == "()" => match member {
                syn::Member::Unnamed(index) => {
                    behind.argument(usize::try_from(index.index).unwrap_or(usize::MAX))
                }
                syn::Member::Named(_) => Value::Unknown,
            },
            _ if behind.shows_what_it_holds() => self.field(&behind.argument(0), member),
            _ => Value::Unknown,
        }
    }

    /// The type of a field of a variant, by the path of the variant.
    pub fn field_of_variant(
        &self,
        (item, variant): (ItemId, &str),
        own: &Value,
        member: &syn::Member,
    ) -> Value {
        let Some((source, name)) = self.definition(item) else {
            return Value::Unknown;
        };
        let facts = self.world.facts(source.file);
        let enumeration = facts.items.iter().find(|one| one.name.span.start == name);
        let segment = enumeration.and_then(|one| {
            let mut variants = one.variants.iter();
            variants.find(|one| facts.name(one.name) == variant)
        });
        let fields = segment.and_then(|segment| source.fields.get(&segment.span.start));
        let Value::Item(_, arguments) = own.behind().0 else {
            return Value::Unknown;
        };
        fields.map_or(Value::Unknown, |fields| {
            self.field_of(&source, fields, (arguments, own.behind().0), member)
        })
    }

    fn field_of(
        &self,
        source: &ParsedFile,
        fields: &DeclaredFields,
        (arguments, own): (&[Value], &Value),
        member: &syn::Member,
    ) -> Value {
        let mut all = fields.fields.iter().enumerate();
        let found = all.find(|(at, field)| match member {
            syn::Member::Named(name) => field.ident.as_ref() == Some(name),
            syn::Member::Unnamed(index) => usize::try_from(index.index).ok() == Some(*at),
        });
        let Some((_, field)) = found else {
            return Value::Unknown;
        };
        let parameters = fields.parameters.iter().enumerate().map(|(at, name)| {
            let argument = arguments.get(at).cloned().unwrap_or(Value::Unknown);
            (name.clone(), argument)
        });
        let around = TypesAround {
            own: Some(own.clone()),
            parameters: parameters.collect(),
        };
        self.value(source, &field.ty, &around)
    }
}

impl TypesAround {
    /// What a name that is no item's stands for.
    fn named(&self, path: &syn::Path) -> Option<Value> {
        let only = path.segments.first().filter(|_| path.segments.len() == 1)?;
        let name = only.ident.to_string();
        match name == "Self" {
            true => Some(self.own.clone().unwrap_or(Value::Unknown)),
            false => self.parameters.get(&name).cloned(),
        }
    }
}

/// Whether a path begins with the name of a library that comes with the language.
fn says_standard(path: &syn::Path) -> bool {
    let first = path.segments.first().map(|first| first.ident.to_string());
    first.is_some_and(|first| STANDARD.contains(&first.as_str()))
}

/// A type of another library by its name.
fn outside(name: &str, standard: bool, arguments: Vec<Value>) -> Value {
    let number = matches!(name, "bool" | "char" | "str" | "f32" | "f64") || is_integer(name);
    let plain = arguments.iter().all(|one| {
        matches!(one, Value::Other) || matches!(one, Value::Standard(_, of) if of.is_empty())
    });
    match standard {
        _ if number => Value::Other,
        // It knows no type of the tree, but those that it is given.
        false if plain => Value::Other,
        false => Value::Unknown,
        true if arguments.is_empty() && name.ends_with("Error") => Value::Other,
        true => Value::standard(name, arguments),
    }
}

/// Notes what a file declares.
#[derive(Default)]
struct Index {
    base: u32,
    functions: BTreeMap<u32, DeclaredFunction>,
    fields: BTreeMap<u32, DeclaredFields>,
    types: BTreeMap<u32, (Rc<syn::Type>, Vec<String>)>,
    /// The names of type parameters around.
    generics: Vec<String>,
}

impl Index {
    fn start(&self, name: &syn::Ident) -> u32 {
        let start = u32::try_from(name.span().byte_range().start).unwrap_or_default();
        self.base + start
    }

    fn within(&mut self, generics: &syn::Generics, read: impl FnOnce(&mut Self)) {
        let before = self.generics.len();
        let names = generics.type_params().map(|one| one.ident.to_string());
        self.generics.extend(names);
        read(self);
        self.generics.truncate(before);
    }

    fn function(&mut self, signature: &syn::Signature, visibility: &syn::Visibility) {
        let own = signature.generics.type_params();
        let own = own.map(|one| one.ident.to_string());
        let declared = DeclaredFunction {
            signature: Rc::new(signature.clone()),
            is_shown: !matches!(visibility, syn::Visibility::Inherited),
            generics: Rc::new(self.generics.iter().cloned().chain(own).collect()),
        };
        let at = self.start(&signature.ident);
        self.functions.insert(at, declared);
    }

    fn fields(&mut self, name: &syn::Ident, fields: &syn::Fields, generics: &syn::Generics) {
        let parameters = generics.type_params().map(|one| one.ident.to_string());
        let declared = DeclaredFields {
            fields: Rc::new(fields.clone()),
            parameters: Rc::new(parameters.collect()),
        };
        let at = self.start(name);
        self.fields.insert(at, declared);
    }

    fn ty(&mut self, name: &syn::Ident, ty: &syn::Type, parameters: Vec<String>) {
        let at = self.start(name);
        self.types.insert(at, (Rc::new(ty.clone()), parameters));
    }
}

impl<'ast> Visit<'ast> for Index {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.vis);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.vis);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_impl_item_type(&mut self, item: &'ast syn::ImplItemType) {
        let around = self.generics.clone();
        self.ty(&item.ident, &item.ty, around);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(&item.generics, |index| visit::visit_item_impl(index, item));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.fields(&item.ident, &item.fields, &item.generics);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        for variant in &item.variants {
            self.fields(&variant.ident, &variant.fields, &item.generics);
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let parameters = item.generics.type_params();
        let parameters = parameters.map(|one| one.ident.to_string());
        self.ty(&item.ident, &item.ty, parameters.collect());
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.ty(&item.ident, &item.ty, Vec::new());
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.ty(&item.ident, &item.ty, Vec::new());
        visit::visit_item_static(self, item);
    }
}
