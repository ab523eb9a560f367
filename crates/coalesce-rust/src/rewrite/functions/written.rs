//! A method as a function: what stood for `self` is a parameter, `Self` is spelled out, and what the block said of
//! its type parameters and lifetimes is said by the function.

mod signature;

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding};
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{found::Method, sources::Sources, spelling::snake};
use crate::{
    facts::VisibilityKind,
    lexer::{self, Token, TokenKind},
    rewrite::mapping::refusal,
    words::{BUILT_IN_ATTRIBUTES, FORMAT_MACROS, LOG_MACROS},
};

/// How a method takes what it is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HowTaken {
    /// It is called by its name alone.
    Nothing,
    Value,
    Shared,
    Mutable,
}

impl HowTaken {
    fn reference(mutable: bool) -> Self {
        match mutable {
            true => Self::Mutable,
            false => Self::Shared,
        }
    }
}

/// Attributes of a block that say of each function in it what they would say above that.
const OF_BLOCKS: [&str; 6] = [
    "cfg",
    "allow",
    "expect",
    "warn",
    "deny",
    "automatically_derived",
];

/// Why its visibility cannot be said.
const ELSEWHERE: &str = "is seen by more than see its type, which is defined in another module";

/// What becomes of a method.
pub(super) struct WrittenFunction {
    /// Edits of its text, in places of its file.
    pub edits: Vec<(ByteSpan, String)>,
    /// What stands above it: conditions and lints of its block.
    pub above: String,
    pub taken: HowTaken,
    /// Type and constant parameters that it has from its block, in order.
    pub carried: Vec<String>,
    /// The same where they are the arguments of the type, in this order and no others.
    pub by_arguments: bool,
    /// Whether it takes no receiver any more, because what takes its place has none.
    pub dropped: bool,
}

/// Writes it.
struct FunctionWriter<'m, 'w> {
    sources: &'m Sources<'w>,
    method: &'m Method<'w>,
    edits: Vec<(ByteSpan, String)>,
    /// The type as the block names it.
    header: String,
    /// The names of all type and constant parameters.
    parameters: BTreeSet<String>,
}

/// The function that a method becomes, under a name; why it cannot be one.
pub(super) fn write(
    sources: &Sources<'_>,
    method: &Method<'_>,
    name: &str,
    dropped: bool,
) -> Result<WrittenFunction, Finding> {
    let mut writer = FunctionWriter {
        sources,
        method,
        edits: Vec::new(),
        header: method.text(&*method.block.self_ty).to_owned(),
        parameters: parameters_of(method),
    };
    let written = writer.write(name, dropped);
    written.map_err(|message| {
        let path = method.path(sources.world);
        refusal(path, format!("`{}` {message}", method.change.from)).at(method.span)
    })
}

/// The names of all type and constant parameters.
fn parameters_of(method: &Method<'_>) -> BTreeSet<String> {
    let generics = [&method.block.generics, &method.function.sig.generics];
    let parameters = generics.into_iter().flat_map(|generics| {
        let types = generics.type_params().map(|one| one.ident.to_string());
        let constants = generics.const_params().map(|one| one.ident.to_string());
        types.chain(constants).collect::<Vec<_>>()
    });
    parameters.collect()
}

impl FunctionWriter<'_, '_> {
    fn span(&self, of: &impl Spanned) -> ByteSpan {
        let span = of.span();
        let source = &self.method.source;
        ByteSpan::new(source.start(span), source.end(span))
    }

    fn write(&mut self, name: &str, dropped: bool) -> Result<WrittenFunction, String> {
        let above = self.attributes()?;
        let taken = self.taken()?;
        let signature = &self.method.function.sig;
        self.visibility()?;
        self.edits
            .push((self.span(&signature.ident), name.to_owned()));
        let carried = if dropped {
            self.drop_receiver();
            Vec::new()
        } else {
            self.take_over(taken)?
        };
        let by_arguments = carried == self.arguments();
        Ok(WrittenFunction {
            edits: std::mem::take(&mut self.edits),
            above,
            taken,
            carried,
            by_arguments,
            dropped,
        })
    }

    /// Says by itself what `self`, `Self` and the block said; gives the parameters that it has from the block.
    fn take_over(&mut self, taken: HowTaken) -> Result<Vec<String>, String> {
        let parameter = self.parameter();
        let own = self.own_names(&parameter)?;
        let lifetimes = self.lifetimes(taken)?;
        Ok(self.generics(taken, &own, lifetimes))
    }

    /// The arguments of the type in the head of the block, but for lifetimes.
    fn arguments(&self) -> Vec<String> {
        let syn::Type::Path(path) = &*self.method.block.self_ty else {
            return Vec::new();
        };
        let Some(last) = path.path.segments.last() else {
            return Vec::new();
        };
        let syn::PathArguments::AngleBracketed(list) = &last.arguments else {
            return Vec::new();
        };
        let said = list.args.iter().filter_map(|one| match one {
            syn::GenericArgument::Lifetime(_) => None,
            other => Some(self.method.text(other).to_owned()),
        });
        said.collect()
    }

    /// What the block says of all in it; what is said by attributes that may do anything stays where it is.
    fn attributes(&self) -> Result<String, String> {
        let mut above = String::new();
        for attribute in &self.method.block.attrs {
            let is = |name: &str| attribute.path().is_ident(name);
            if is("doc") {
                continue;
            }
            let said = self.method.text(attribute);
            if !OF_BLOCKS.into_iter().any(is) {
                return Err(format!(
                    "is in a block below `{said}`, which may do anything with it"
                ));
            }
            above.push_str(said);
            above.push('\n');
        }
        self.own_attributes()?;
        Ok(above)
    }

    /// Why it cannot be moved with the attributes that it has itself.
    fn own_attributes(&self) -> Result<(), String> {
        let mut unknown = self.method.function.attrs.iter().filter(|attribute| {
            let first = attribute.path().segments.first();
            let first = first.map(|first| first.ident.to_string());
            let known = first.is_some_and(|first| BUILT_IN_ATTRIBUTES.contains(&first));
            !known || attribute.path().is_ident("cfg_attr")
        });
        let Some(attribute) = unknown.next() else {
            return Ok(());
        };
        let said = self.method.text(attribute);
        Err(format!(
            "stands below `{said}`, which may do anything with it"
        ))
    }

    fn taken(&self) -> Result<HowTaken, String> {
        let Some(receiver) = self.method.function.sig.receiver() else {
            return Ok(HowTaken::Nothing);
        };
        let own = ["Self", self.header.as_str()];
        let plain = |ty: &syn::Type| own.contains(&self.method.text(ty));
        match &receiver.kind {
            syn::ReceiverKind::Value => Ok(HowTaken::Value),
            syn::ReceiverKind::Reference(_, _, of) => Ok(HowTaken::reference(of.is_some())),
            syn::ReceiverKind::Typed(_, ty) => match &**ty {
                syn::Type::Reference(of) if plain(&of.elem) => {
                    Ok(HowTaken::reference(of.mutability.is_some()))
                }
                ty if plain(ty) => Ok(HowTaken::Value),
                ty => Err(format!(
                    "takes `self: {}`, and how that is handed over at each call is not followed",
                    self.method.text(ty)
                )),
            },
            _ => Err("takes `self` in a way that is not read".to_owned()),
        }
    }

    /// It is seen by whoever sees the type as well.
    fn visibility(&mut self) -> Result<(), String> {
        let vis = &self.method.function.vis;
        let Some(narrow) = self.narrower_visibility()? else {
            return Ok(());
        };
        let mut span = self.span(vis);
        if narrow.is_empty() {
            let text = &self.method.source.text;
            let rest = text.get(span.end as usize..).unwrap_or_default();
            let space = rest.len() - rest.trim_start().len();
            let end = span.end + u32::try_from(space).unwrap_or_default();
            span = ByteSpan::new(span.start, end);
        }
        self.edits.push((span, narrow));
        Ok(())
    }

    /// That of the type, where fewer see it than see the method; why it cannot be said.
    fn narrower_visibility(&self) -> Result<Option<String>, String> {
        let world = self.sources.world;
        let own = match &self.method.function.vis {
            syn::Visibility::Inherited => "",
            other => self.method.text(other),
        };
        let node = &world[self.method.of];
        let mut narrow: Option<String> = None;
        for (file, at) in &node.definitions {
            let said = world.facts(*file).item(*at).visibility;
            match said.kind {
                VisibilityKind::Public => {}
                VisibilityKind::Crate if own == "pub" => narrow = Some("pub(crate)".to_owned()),
                VisibilityKind::Crate => {}
                _ if own.is_empty() => {}
                _ if node.module != self.method.home => return Err(ELSEWHERE.to_owned()),
                VisibilityKind::Private | VisibilityKind::SelfModule => {
                    narrow = Some(String::new())
                }
                _ => {
                    let text = self.sources.texts.text(&world[*file].path);
                    let text = text.as_deref().and_then(|text| said.span.of(text));
                    narrow = text.map(str::to_owned);
                }
            }
        }
        Ok(narrow)
    }

    /// The tokens of the function, attributes left out.
    fn tokens(&self) -> Vec<Token> {
        let sig = self.span(&self.method.function.sig);
        let end = self.span(&self.method.function.block).end;
        lexer::tokens(&self.method.source.text, ByteSpan::new(sig.start, end))
    }

    fn said(&self, token: &Token) -> &str {
        token.span.of(&self.method.source.text).unwrap_or_default()
    }

    /// A name for the parameter that nothing else has.
    fn parameter(&self) -> String {
        let name = &self.sources.world[self.method.of].name;
        let tokens = self.tokens();
        let taken: BTreeSet<&str> = tokens.iter().map(|token| self.said(token)).collect();
        let plain = snake(name);
        let usable = syn::parse_str::<syn::Ident>(&plain).is_ok();
        let mut candidates = usable
            .then_some(plain)
            .into_iter()
            .chain(["this".to_owned()]);
        let free = candidates.find(|name| !taken.contains(name.as_str()));
        free.unwrap_or_else(|| format!("this_{}", snake(name)))
    }

    /// The name of the parameter, where nothing reads it, or not under each condition, another one: the compiler
    /// never warns of `self`, but of any name that does not begin so.
    fn named_by_reading(&self, parameter: &str, edits: &mut [(ByteSpan, String)]) -> String {
        let certain = self.first_condition();
        let reads: Vec<_> = edits
            .iter_mut()
            .filter(|(_, said)| said == parameter)
            .collect();
        if reads.iter().any(|(span, _)| span.start < certain) {
            return parameter.to_owned();
        }
        let tokens = self.tokens();
        let mut name = format!("_{parameter}");
        while tokens.iter().any(|token| self.said(token) == name) {
            name.insert(0, '_');
        }
        for (_, said) in reads {
            said.clone_from(&name);
        }
        name
    }

    /// Where a body begins to depend on conditions: what is read behind that may be left out of what is compiled.
    fn first_condition(&self) -> u32 {
        let body = self.span(&self.method.function.block);
        let text = body.of(&self.method.source.text).unwrap_or_default();
        let found = ["#[cfg", "cfg_if"].into_iter();
        let found = found.filter_map(|word| text.find(word)).min();
        found.map_or(body.end, |at| {
            body.start + u32::try_from(at).unwrap_or_default()
        })
    }

    /// Spells `self` and `Self` anew in the signature and the body.
    fn own_names(&mut self, parameter: &str) -> Result<OwnNames, String> {
        let mut inside = Inside::default();
        inside.visit_impl_item_fn(&self.method.function);
        if inside.defines_macros {
            return Err("defines a macro inside".to_owned());
        }
        let places = self.places_inside(&inside);
        let mut own = OwnNames::default();
        let tokens = self.tokens();
        let mut edits = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if !places.aside.iter().any(|span| span.contains(token.span)) {
                let next = tokens.get(at + 1..).unwrap_or_default();
                edits.extend(self.own_name((token, next), &places, parameter, &mut own));
            }
        }
        own.parameter = self.named_by_reading(parameter, &mut edits);
        self.edits.extend(edits);
        self.documents();
        Ok(own)
    }

    fn places_inside(&self, inside: &Inside) -> PlacesInside {
        let source = &self.method.source;
        let place =
            |span: &proc_macro2::Span| ByteSpan::new(source.start(*span), source.end(*span));
        let receiver = self.method.function.sig.receiver();
        let nested = inside.items.iter().map(place);
        let aside = nested.chain(receiver.map(|one| self.span(one)));
        let types = inside.types.iter().map(|span| source.start(*span));
        PlacesInside {
            aside: aside.collect(),
            types: types.collect(),
            formats: inside.formats.iter().map(place).collect(),
        }
    }

    /// What becomes of a token, and of names in it.
    fn own_name(
        &self,
        (token, next): (&Token, &[Token]),
        places: &PlacesInside,
        parameter: &str,
        own: &mut OwnNames,
    ) -> Vec<(ByteSpan, String)> {
        match (token.kind, self.said(token)) {
            (TokenKind::Ident, "self") => {
                let path = matches!(next, [one, two, ..] if one.is(b':') && two.is(b':'));
                let renamed = (!path).then(|| (token.span, parameter.to_owned()));
                renamed.into_iter().collect()
            }
            (TokenKind::Ident, "Self") => vec![(token.span, self.own_type(token, places, own))],
            (TokenKind::Text { content }, _)
                if places.formats.iter().any(|span| span.contains(token.span)) =>
            {
                let text = content.of(&self.method.source.text).unwrap_or_default();
                let found = selves_in_format(text, content.start).into_iter();
                found.map(|span| (span, parameter.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The type where `Self` stands, of which is noted how it is said.
    fn own_type(&self, token: &Token, places: &PlacesInside, own: &mut OwnNames) -> String {
        let body = self.span(&self.method.function.block);
        let in_signature = !body.contains(token.span);
        let is_type = in_signature || places.types.contains(&token.span.start);
        own.in_signature |= in_signature;
        let (said, whole) = self.spelled(is_type);
        own.with_arguments |= whole;
        said
    }

    /// The type where `Self` stood, and whether its arguments are said.
    fn spelled(&self, is_type: bool) -> (String, bool) {
        let Some((name, arguments)) = self.header.split_once('<') else {
            return (self.header.clone(), false);
        };
        if is_type {
            return (self.header.clone(), true);
        }
        match self.arguments().is_empty() {
            // Lifetimes are found out.
            true => (name.trim_end().to_owned(), false),
            false => (
                format!("{}::<{arguments}", name.trim_end().trim_end_matches("::")),
                true,
            ),
        }
    }

    /// `Self` in links of its documentation.
    fn documents(&mut self) {
        let name = self.header.split('<').next().unwrap_or_default();
        let name = name.trim().to_owned();
        let docs = self.method.function.attrs.iter();
        let docs: Vec<ByteSpan> = docs
            .filter(|attribute| attribute.path().is_ident("doc"))
            .map(|attribute| self.span(attribute))
            .collect();
        for span in docs {
            let text = span.of(&self.method.source.text).unwrap_or_default();
            let found = selves_in_links(text, span.start).into_iter();
            self.edits.extend(found.map(|span| (span, name.clone())));
        }
    }
}

/// Where a text with a format, which begins at a byte, names `self`.
fn selves_in_format(text: &str, start: u32) -> Vec<ByteSpan> {
    let found = text.match_indices("{self").filter_map(|(at, _)| {
        let after = text.get(at + 5..).and_then(|rest| rest.chars().next());
        let start = start + u32::try_from(at + 1).unwrap_or_default();
        matches!(after, Some('}' | ':')).then(|| ByteSpan::new(start, start + 4))
    });
    found.collect()
}

/// Where documentation, which begins at a byte, names `Self` in a link.
fn selves_in_links(text: &str, start: u32) -> Vec<ByteSpan> {
    let found = text.match_indices("Self").filter_map(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().last());
        let after = text.get(at + 4..).and_then(|rest| rest.chars().next());
        let is_link =
            matches!(before, Some('`' | '[' | '(')) && matches!(after, Some('`' | ']' | ')' | ':'));
        let start = start + u32::try_from(at).unwrap_or_default();
        is_link.then(|| ByteSpan::new(start, start + 4))
    });
    found.collect()
}

/// Places in a function.
struct PlacesInside {
    /// What has a `self` of its own, or is spelled by somebody else.
    aside: Vec<ByteSpan>,
    /// Where types begin.
    types: BTreeSet<u32>,
    /// Arguments of macros with a format.
    formats: Vec<ByteSpan>,
}

/// Where `Self` stands.
#[derive(Default)]
struct OwnNames {
    in_signature: bool,
    /// With the arguments of the type.
    with_arguments: bool,
    /// What stands for `self`.
    parameter: String,
}

/// What stands in a function that its names are no names of, and what they are.
#[derive(Default)]
struct Inside {
    /// Items with a `self` and a `Self` of their own.
    items: Vec<proc_macro2::Span>,
    /// Where types begin.
    types: Vec<proc_macro2::Span>,
    /// Arguments of macros with a format.
    formats: Vec<proc_macro2::Span>,
    defines_macros: bool,
}

impl<'ast> Visit<'ast> for Inside {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        match item {
            syn::Item::Macro(of) if of.mac.path.is_ident("macro_rules") => {
                self.defines_macros = true
            }
            syn::Item::Macro(_) | syn::Item::Use(_) => {}
            other => self.items.push(other.span()),
        }
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let first = path.path.segments.first();
        self.types.extend(
            first
                .filter(|_| path.qself.is_none())
                .map(|first| first.ident.span()),
        );
        visit::visit_type_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let last = call.path.segments.last().map(|last| last.ident.to_string());
        if last.is_some_and(|last| FORMAT_MACROS.contains(&last) || LOG_MACROS.contains(&last)) {
            self.formats.push(call.delimiter.span().join());
        }
    }
}
