//! What a Rust shim looks like: aliases and forwarding functions that warn, and a glob for the rest.
//!
//! rustc warns about what is *defined* as deprecated, not about what is re-exported (tried with
//! rustc 1.95). So types become aliases, functions forward, constants are defined again; traits,
//! macros, statics, enum variants imported by name and constructors come through re-exports, in
//! silence. The names that stay silent are listed in the shim itself.

use std::{collections::BTreeSet, ops::Range};

use coalesce_model::ShimRequest;
use syn::{ext::IdentExt as _, spanned::Spanned, visit::Visit};

use crate::{raw_names::written, syntax};

/// What a shim of one module needs to know.
pub(crate) struct Shim<'a> {
    /// The text that defines the items.
    pub text: &'a str,
    /// The name of the one item of the text, where that is not the one at the new path.
    pub defined_as: &'a str,
    /// `crate::new::path`; empty for the module of the shim itself.
    pub inside: &'a str,
    /// `path`, where the module of the shim imports it by that name; else empty.
    pub short: &'a str,
    /// `crate_name::new::path`, for the notes.
    pub outside: &'a str,
    /// `(name at the old path, name at the new one)`, every public name.
    pub names: &'a [(String, String)],
    /// Items whose signatures name what the shim cannot: they come through re-exports.
    pub unsayable: &'a BTreeSet<String>,
    /// Whether everything else may come through a glob: the module moved as a whole.
    pub whole: bool,
    /// When it was deprecated, and when it goes.
    pub dates: &'a Dates,
    /// Whether a trait becomes one of its own that everything implements which implements the new one:
    /// it warns where it is asked for, and can no more be implemented by its old name.
    pub trait_bounds: bool,
    /// Whether a name in a type is known to lead somewhere.
    pub known: &'a dyn Fn(&str) -> bool,
}

/// What a deprecation says of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dates {
    /// `since = "…", ` or nothing.
    pub since: String,
    /// `; it will be removed in …` or nothing.
    pub removal: String,
}

impl Dates {
    pub fn of(request: &ShimRequest) -> Self {
        let since = request.since.as_ref();
        let removal = request.remove_in.as_ref();
        Self {
            since: since.map_or_else(String::new, |since| format!("since = \"{since}\", ")),
            removal: removal.map_or_else(String::new, |release| {
                format!("; it will be removed in {release}")
            }),
        }
    }
}

/// What an unsafe function that forwards says of safety, where clippy looks for that.
pub(crate) const SAFETY: &str = "///\n/// # Safety\n///\n/// The same as there.\n";

/// The items of a shim.
#[derive(Debug, Default)]
pub(crate) struct ShimItems {
    pub text: String,
    /// Old names about which rustc will be silent.
    pub silent: Vec<String>,
    /// First names of types in signatures: they have to be in scope.
    pub needed: BTreeSet<String>,
}

/// The attribute that warns.
pub(crate) fn deprecated(shim: &Shim<'_>, name: &str) -> String {
    let path = if name.is_empty() {
        shim.outside.to_owned()
    } else {
        format!("{}::{name}", shim.outside)
    };
    format!(
        "#[deprecated({}note = \"use `{path}`{}\")]",
        shim.dates.since, shim.dates.removal
    )
}

/// Writes the items; `None` when the text does not parse.
pub(crate) fn items(shim: &Shim<'_>) -> Option<ShimItems> {
    let _trees = syntax::Trees::begin();
    let text = shim.text.strip_prefix('\u{feff}').unwrap_or(shim.text);
    let file: syn::File = syntax::parse(text).ok()?;
    let mut writer = Writer {
        shim,
        text,
        made: ShimItems::default(),
        reexports: Vec::new(),
    };
    for (old, new) in shim.names {
        writer.name(&file, old, new);
    }
    writer.rest();
    let made = writer.made;
    Some(made)
}

struct Writer<'a> {
    shim: &'a Shim<'a>,
    text: &'a str,
    made: ShimItems,
    /// What a re-export has to bring, where there is no glob.
    reexports: Vec<String>,
}

/// How a function is called on.
struct Forward {
    signature: String,
    body: String,
}

impl Writer<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The name by which the text defines what has the name `new` at the new path.
    fn defined<'n>(&'n self, new: &'n str) -> &'n str {
        if self.shim.defined_as.is_empty() {
            new
        } else {
            self.shim.defined_as
        }
    }

    fn of(&self, kind: &syn::Type) -> &str {
        self.slice(kind.span().byte_range())
    }

    fn name(&mut self, file: &syn::File, old: &str, new: &str) {
        let found: Vec<&syn::Item> = file
            .items
            .iter()
            .filter(|item| named(item).is_some_and(|name| name == self.defined(new)))
            .collect();
        let mut warns = !found.is_empty();
        let mut constructor = false;
        for item in &found {
            match self.sayable(item, old, new) {
                Some(definition) => {
                    self.define(item, new, &definition);
                    constructor |= has_constructor(item);
                }
                None => warns = false,
            }
        }
        if !warns {
            self.reexport(old, new);
        } else if constructor {
            self.made.silent.push(format!("{old}(…)"));
        }
    }

    /// The definition that warns, where every name in it is known.
    fn sayable(&mut self, item: &syn::Item, old: &str, new: &str) -> Option<String> {
        let before = self.made.needed.clone();
        let unsayable = self.shim.unsayable.contains(self.defined(new));
        let made = self.item(item, old, new).filter(|_| !unsayable);
        let made = made.filter(|_| {
            let needed = self.made.needed.difference(&before);
            needed.into_iter().all(|name| (self.shim.known)(name))
        });
        if made.is_none() {
            self.made.needed = before;
        }
        made
    }

    /// Adds a definition that warns, with what is said of it.
    fn define(&mut self, item: &syn::Item, new: &str, definition: &str) {
        let conditions = self.conditions(item);
        let note = deprecated(self.shim, new);
        let mut doc = match self.shim.inside {
            "" => format!("/// Renamed to [`{new}`].\n"),
            inside => format!("/// Moved to [`{inside}::{new}`].\n"),
        };
        if matches!(item, syn::Item::Trait(_)) {
            doc.push_str("/// It is asked for by this name, and implemented by that one.\n");
        }
        if let syn::Item::Fn(item) = item
            && matches!(item.sig.safety, syn::Safety::Unsafe(_))
        {
            doc.push_str(SAFETY);
        }
        let text = format!("{doc}{conditions}{note}\n{definition}\n\n");
        self.made.text.push_str(&text);
    }

    /// Has a name come through a re-export, in silence.
    fn reexport(&mut self, old: &str, new: &str) {
        self.made.silent.push(old.to_owned());
        self.reexports.push(if old == new {
            written(new)
        } else {
            format!("{} as {}", written(new), written(old))
        });
    }

    /// The definition that warns; `None` for what cannot be defined again.
    fn item(&mut self, item: &syn::Item, old: &str, new: &str) -> Option<String> {
        let (path, old) = (self.path_to(new), written(old));
        let old = old.as_str();
        match item {
            syn::Item::Struct(item) => {
                (!is_value(&item.fields) || self.shim.whole).then_some(())?;
                self.alias(old, &path, &item.generics)
            }
            syn::Item::Enum(item) => self.alias(old, &path, &item.generics),
            syn::Item::Union(item) => self.alias(old, &path, &item.generics),
            syn::Item::Type(item) => self.alias(old, &path, &item.generics),
            syn::Item::Const(item) => {
                self.need(&item.ty);
                let kind = self.of(&item.ty);
                Some(format!("pub const {old}: {kind} = {path};"))
            }
            syn::Item::Fn(item) => {
                let forward = self.forward(item, old, &path)?;
                Some(format!(
                    "{} {{\n    {}\n}}",
                    forward.signature, forward.body
                ))
            }
            syn::Item::Trait(item) => self.bound(item, old, &path),
            _ => None,
        }
    }

    /// The path by which the shim names what is defined as `new`.
    fn path_to(&self, new: &str) -> String {
        match (self.shim.short, self.shim.inside) {
            ("", "") => written(new),
            ("", inside) => format!("{inside}::{}", written(new)),
            (short, _) => format!("{short}::{}", written(new)),
        }
    }

    /// A trait that stands for another one where it is asked for.
    fn bound(&self, item: &syn::ItemTrait, old: &str, path: &str) -> Option<String> {
        let plain = item.generics.params.is_empty() && item.unsafety.is_none();
        (self.shim.trait_bounds && plain).then(|| {
            format!("pub trait {old}: {path} {{}}\n\nimpl<T: {path} + ?Sized> {old} for T {{}}")
        })
    }

    fn conditions(&self, item: &syn::Item) -> String {
        let attributes = match item {
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Union(item) => &item.attrs,
            syn::Item::Type(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Trait(item) => &item.attrs,
            _ => return String::new(),
        };
        let function = matches!(item, syn::Item::Fn(_));
        let kept = attributes.iter().filter_map(|attribute| {
            let path = attribute.path();
            let said = self.slice(attribute.span().byte_range());
            let means = path.is_ident("cfg")
                || (function && (path.is_ident("must_use") || path.is_ident("track_caller")));
            match means {
                true => Some(said.to_owned()),
                false => allowed(attribute),
            }
        });
        kept.map(|attribute| format!("{attribute}\n")).collect()
    }

    /// `pub type Old<'a, T> = path<'a, T>;`, bounds left out: aliases do not check them.
    fn alias(&mut self, old: &str, path: &str, generics: &syn::Generics) -> Option<String> {
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for parameter in &generics.params {
            match parameter {
                syn::GenericParam::Lifetime(lifetime) => {
                    parameters.push(lifetime.lifetime.to_string());
                    arguments.push(lifetime.lifetime.to_string());
                }
                syn::GenericParam::Type(parameter) => {
                    arguments.push(parameter.ident.to_string());
                    parameters.push(self.declared_type(parameter));
                }
                syn::GenericParam::Const(parameter) => {
                    arguments.push(parameter.ident.to_string());
                    parameters.push(self.declared_constant(parameter));
                }
            }
        }
        Some(format!(
            "pub type {old}{} = {path}{};",
            in_angle_brackets(&parameters),
            in_angle_brackets(&arguments)
        ))
    }

    /// A type parameter with its default, as an alias declares it.
    fn declared_type(&mut self, parameter: &syn::TypeParam) -> String {
        let Some((_, default)) = &parameter.default else {
            return parameter.ident.to_string();
        };
        self.need(default);
        format!("{} = {}", parameter.ident, self.of(default))
    }

    /// A constant parameter with its default, as an alias declares it.
    fn declared_constant(&mut self, parameter: &syn::ConstParam) -> String {
        self.need(&parameter.ty);
        let text = format!("const {}: {}", parameter.ident, self.of(&parameter.ty));
        match &parameter.default {
            Some((_, default)) => {
                format!("{text} = {}", self.slice(default.span().byte_range()))
            }
            None => text,
        }
    }

    fn forward(&mut self, item: &syn::ItemFn, old: &str, path: &str) -> Option<Forward> {
        let signature = &item.sig;
        if signature.variadic.is_some() {
            return None;
        }
        let (parameters, arguments) = self.parameters(signature)?;
        if let syn::ReturnType::Type(_, kind) = &signature.output {
            self.need(kind);
        }
        self.need_generics(&signature.generics);
        let (generics, call) = self.generics(&signature.generics);
        let qualifiers = self.qualifiers(item);
        let output = self.output(signature);
        let bounds = self.bounds(&signature.generics);
        let call = format!("{path}{call}({})", arguments.join(", "));
        Some(Forward {
            signature: format!(
                "pub {qualifiers}fn {old}{generics}({}){output}{bounds}",
                parameters.join(", ")
            ),
            body: forwarding_body(signature, &call),
        })
    }

    /// The parameters of a function that forwards, each with a name, and these names; `None` for a method.
    fn parameters(&mut self, signature: &syn::Signature) -> Option<(Vec<String>, Vec<String>)> {
        let mut parameters = Vec::new();
        let mut arguments = Vec::new();
        for (at, input) in signature.inputs.iter().enumerate() {
            let syn::FnArg::Typed(typed) = input else {
                return None;
            };
            let name = match &*typed.pat {
                syn::Pat::Ident(ident) => ident.ident.to_string(),
                _ => format!("argument_{at}"),
            };
            self.need(&typed.ty);
            parameters.push(format!("{name}: {}", self.of(&typed.ty)));
            arguments.push(name);
        }
        Some((parameters, arguments))
    }

    /// What stands between `pub` and `fn`, with the blank that follows it.
    fn qualifiers(&self, item: &syn::ItemFn) -> String {
        let start = item.vis.span().byte_range().end;
        let end = item.sig.fn_token.span.byte_range().start;
        match self.slice(start..end).trim() {
            "" => String::new(),
            said => format!("{said} "),
        }
    }

    /// What a function returns, as written.
    fn output(&self, signature: &syn::Signature) -> String {
        match &signature.output {
            syn::ReturnType::Default => String::new(),
            output @ syn::ReturnType::Type(..) => {
                format!(" {}", self.slice(output.span().byte_range()))
            }
        }
    }

    /// The `where` clause as written, on a line of its own.
    fn bounds(&self, generics: &syn::Generics) -> String {
        let clause = generics.where_clause.as_ref();
        clause.map_or_else(String::new, |clause| {
            let said = self.slice(clause.span().byte_range());
            format!("\n{}", said.trim_end_matches(','))
        })
    }

    /// The generics as written, and the turbofish that hands them on.
    fn generics(&self, generics: &syn::Generics) -> (String, String) {
        let (Some(open), Some(close)) = (generics.lt_token, generics.gt_token) else {
            return (String::new(), String::new());
        };
        let text = self.slice(open.span().byte_range().start..close.span().byte_range().end);
        let names: Vec<String> = generics
            .params
            .iter()
            .filter_map(|parameter| match parameter {
                syn::GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
                syn::GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        let call = if names.is_empty() {
            String::new()
        } else {
            format!("::<{}>", names.join(", "))
        };
        (text.to_owned(), call)
    }

    fn need(&mut self, kind: &syn::Type) {
        FirstNames(&mut self.made.needed).visit_type(kind);
    }

    fn need_generics(&mut self, generics: &syn::Generics) {
        FirstNames(&mut self.made.needed).visit_generics(generics);
        for parameter in generics.type_params() {
            self.made.needed.remove(&parameter.ident.to_string());
        }
    }

    /// What comes through re-exports.
    fn rest(&mut self) {
        let inside = match self.shim.inside {
            "" => "self",
            inside => inside,
        };
        if self.shim.whole {
            self.made.text.push_str(&format!("pub use {inside}::*;\n"));
        } else if !self.reexports.is_empty() {
            let made = reexport(inside, &self.reexports);
            self.made.text.push_str(&made);
        }
    }
}

/// The re-export of names of a module, each as a use tree says it; braces stand around several.
pub(crate) fn reexport(inside: &str, names: &[String]) -> String {
    match names {
        [one] => format!("pub use {inside}::{one};\n"),
        several => format!("pub use {inside}::{{{}}};\n", several.join(", ")),
    }
}

/// The lints that an attribute allows or expects, of those that may find something in a shim too: it
/// has the name and the signature of what it stands for.
fn allowed(attribute: &syn::Attribute) -> Option<String> {
    let path = attribute.path();
    if !(path.is_ident("allow") || path.is_ident("expect")) {
        return None;
    }
    let said = attribute.meta.span().source_text()?;
    let (_, list) = said.split_once('(')?;
    let list = list.trim_end().strip_suffix(')')?;
    let lints = list.split(',').map(str::trim);
    let lints: Vec<&str> = lints
        .filter(|lint| !lint.is_empty() && !lint.contains('='))
        .filter(|lint| !crate::words::BODY_LINTS.contains(lint))
        .collect();
    (!lints.is_empty()).then(|| format!("#[allow({})]", lints.join(", ")))
}

/// The first names of paths in a type.
struct FirstNames<'a>(&'a mut BTreeSet<String>);

impl<'ast> Visit<'ast> for FirstNames<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first() {
            self.0.insert(first.ident.to_string());
        }
        syn::visit::visit_path(self, path);
    }
}

fn named(item: &syn::Item) -> Option<String> {
    let (visibility, ident) = match item {
        syn::Item::Struct(item) => (&item.vis, &item.ident),
        syn::Item::Enum(item) => (&item.vis, &item.ident),
        syn::Item::Union(item) => (&item.vis, &item.ident),
        syn::Item::Type(item) => (&item.vis, &item.ident),
        syn::Item::Const(item) => (&item.vis, &item.ident),
        syn::Item::Fn(item) => (&item.vis, &item.sig.ident),
        syn::Item::Static(item) => (&item.vis, &item.ident),
        syn::Item::Trait(item) => (&item.vis, &item.ident),
        syn::Item::TraitAlias(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, syn::Visibility::Public(_)).then(|| ident.unraw().to_string())
}

/// `<A, B>`, or nothing for none.
fn in_angle_brackets(list: &[String]) -> String {
    if list.is_empty() {
        String::new()
    } else {
        format!("<{}>", list.join(", "))
    }
}

/// What a function does that forwards by `call`.
fn forwarding_body(signature: &syn::Signature, call: &str) -> String {
    let wait = if signature.asyncness.is_some() {
        ".await"
    } else {
        ""
    };
    let body = format!("{call}{wait}");
    if matches!(signature.safety, syn::Safety::Unsafe(_)) {
        return format!(
            "// SAFETY: the caller keeps the promises of the function itself.\n    unsafe {{ {body} }}"
        );
    }
    body
}

/// Whether a type is a value as well: `Name(…)` or `Name`.
fn has_constructor(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Struct(item) if is_value(&item.fields))
}

/// Whether fields make a value of their type's name that others can use: none, or all of them
/// public.
fn is_value(fields: &syn::Fields) -> bool {
    let syn::Fields::Unnamed(fields) = fields else {
        return matches!(fields, syn::Fields::Unit);
    };
    let mut all = fields.unnamed.iter();
    all.all(|field| matches!(field.vis, syn::Visibility::Public(_)))
}
