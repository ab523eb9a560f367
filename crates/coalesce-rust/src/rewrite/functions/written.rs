//! A method as a function: what stood for `self` is a parameter, `Self` is spelled out, and what the block said of
//! its type parameters and lifetimes is said by the function.

use std::collections::BTreeSet;

use coalesce_model::{ByteSpan, Finding};
use syn::{
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    found::Method,
    lifetimes::{self, LifetimesLeftOut},
    sources::Sources,
    spelling::{snake, without_name, words},
};
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
    let header = method.text(&*method.block.self_ty).to_owned();
    let generics = [&method.block.generics, &method.function.sig.generics];
    let parameters = generics.into_iter().flat_map(|generics| {
        let types = generics.type_params().map(|one| one.ident.to_string());
        let constants = generics.const_params().map(|one| one.ident.to_string());
        types.chain(constants).collect::<Vec<_>>()
    });
    let mut writer = FunctionWriter {
        sources,
        method,
        edits: Vec::new(),
        header,
        parameters: parameters.collect(),
    };
    let written = writer.write(name, dropped);
    written.map_err(|message| {
        let path = method.path(sources.world);
        refusal(path, format!("`{}` {message}", method.change.from)).at(method.span)
    })
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
        let mut carried = Vec::new();
        if dropped {
            self.drop_receiver();
        } else {
            let parameter = self.parameter();
            let own = self.own_names(&parameter)?;
            let lifetimes = self.lifetimes(taken)?;
            carried = self.generics(taken, &own, lifetimes);
        }
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
            if ![
                "cfg",
                "allow",
                "expect",
                "warn",
                "deny",
                "automatically_derived",
            ]
            .iter()
            .any(|name| is(name))
            {
                let said = self.method.text(attribute);
                return Err(format!(
                    "is in a block below `{said}`, which may do anything with it"
                ));
            }
            above.push_str(self.method.text(attribute));
            above.push('\n');
        }
        for attribute in &self.method.function.attrs {
            let first = attribute.path().segments.first();
            let first = first.map(|first| first.ident.to_string());
            let known = first.is_some_and(|first| BUILT_IN_ATTRIBUTES.contains(&first));
            if !known || attribute.path().is_ident("cfg_attr") {
                let said = self.method.text(attribute);
                return Err(format!(
                    "stands below `{said}`, which may do anything with it"
                ));
            }
        }
        Ok(above)
    }

    fn taken(&self) -> Result<HowTaken, String> {
        let Some(receiver) = self.method.function.sig.receiver() else {
            return Ok(HowTaken::Nothing);
        };
        let own = ["Self", self.header.as_str()];
        let plain = |ty: &syn::Type| own.contains(&self.method.text(ty));
        let mutable = |is: bool| {
            if is {
                HowTaken::Mutable
            } else {
                HowTaken::Shared
            }
        };
        match &receiver.kind {
            syn::ReceiverKind::Value => Ok(HowTaken::Value),
            syn::ReceiverKind::Reference(_, _, of) => Ok(mutable(of.is_some())),
            syn::ReceiverKind::Typed(_, ty) => match &**ty {
                syn::Type::Reference(of) if plain(&of.elem) => Ok(mutable(of.mutability.is_some())),
                ty if plain(ty) => Ok(HowTaken::Value),
                ty => Err(format!(
                    "takes `self: {}`, and how that is handed over at each call is not followed",
                    self.method.text(ty)
                )),
            },
            _ => Err("takes `self` in a way that is not read".to_owned()),
        }
    }

    /// The lifetime that its receiver is written with.
    fn lifetime_of_receiver(&self) -> Option<String> {
        let receiver = self.method.function.sig.receiver()?;
        let lifetime = match &receiver.kind {
            syn::ReceiverKind::Reference(_, lifetime, _) => lifetime.as_ref(),
            syn::ReceiverKind::Typed(_, ty) => match &**ty {
                syn::Type::Reference(of) => of.lifetime.as_ref(),
                _ => None,
            },
            _ => None,
        };
        lifetime.map(ToString::to_string)
    }

    /// It is seen by whoever sees the type as well.
    fn visibility(&mut self) -> Result<(), String> {
        let world = self.sources.world;
        let vis = &self.method.function.vis;
        let own = match vis {
            syn::Visibility::Inherited => String::new(),
            other => self.method.text(other).to_owned(),
        };
        let node = &world[self.method.of];
        let mut narrow: Option<String> = None;
        for (file, at) in &node.definitions {
            let said = world.facts(*file).item(*at).visibility;
            let text = self.sources.texts.text(&world[*file].path);
            let text = text.as_deref().and_then(|text| said.span.of(text));
            let elsewhere = node.module != self.method.home;
            match said.kind {
                VisibilityKind::Public => {}
                VisibilityKind::Crate if own == "pub" => narrow = Some("pub(crate)".to_owned()),
                VisibilityKind::Crate => {}
                _ if own.is_empty() => {}
                _ if elsewhere => {
                    return Err(
                        "is seen by more than see its type, which is defined in another module"
                            .to_owned(),
                    );
                }
                VisibilityKind::Private | VisibilityKind::SelfModule => {
                    narrow = Some(String::new())
                }
                _ => narrow = text.map(str::to_owned),
            }
        }
        let Some(narrow) = narrow else { return Ok(()) };
        let mut span = self.span(vis);
        if narrow.is_empty() {
            let rest = self
                .method
                .source
                .text
                .get(span.end as usize..)
                .unwrap_or_default();
            let space = rest.len() - rest.trim_start().len();
            span = ByteSpan::new(
                span.start,
                span.end + u32::try_from(space).unwrap_or_default(),
            );
        }
        self.edits.push((span, narrow));
        Ok(())
    }

    /// The signature without what it was called on.
    fn drop_receiver(&mut self) {
        let inputs = &self.method.function.sig.inputs;
        let Some(first) = inputs.first() else { return };
        let span = self.span(first);
        let next = inputs.iter().nth(1).map(|next| self.span(next).start);
        let close = self.method.function.sig.paren_token.span.close();
        let end = next.unwrap_or_else(|| self.method.source.start(close));
        self.edits
            .push((ByteSpan::new(span.start, end), String::new()));
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
        let source = &self.method.source;
        let place =
            |span: &proc_macro2::Span| ByteSpan::new(source.start(*span), source.end(*span));
        let receiver = self.method.function.sig.receiver();
        let nested = inside.items.iter().map(place);
        let aside = nested.chain(receiver.map(|one| self.span(one)));
        let places = PlacesInside {
            aside: aside.collect(),
            types: inside
                .types
                .iter()
                .map(|span| source.start(*span))
                .collect(),
            formats: inside.formats.iter().map(place).collect(),
        };
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

    /// What becomes of a token, and of names in it.
    fn own_name(
        &self,
        (token, next): (&Token, &[Token]),
        places: &PlacesInside,
        parameter: &str,
        own: &mut OwnNames,
    ) -> Vec<(ByteSpan, String)> {
        let renamed = |span: ByteSpan| (span, parameter.to_owned());
        match (token.kind, self.said(token)) {
            (TokenKind::Ident, "self") => {
                let path = matches!(next, [one, two, ..] if one.is(b':') && two.is(b':'));
                (!path).then(|| renamed(token.span)).into_iter().collect()
            }
            (TokenKind::Ident, "Self") => {
                let body = self.span(&self.method.function.block);
                let in_signature = !body.contains(token.span);
                let is_type = in_signature || places.types.contains(&token.span.start);
                own.in_signature |= in_signature;
                let (said, whole) = self.spelled(is_type);
                own.with_arguments |= whole;
                vec![(token.span, said)]
            }
            (TokenKind::Text { content }, _)
                if places.formats.iter().any(|span| span.contains(token.span)) =>
            {
                let text = content.of(&self.method.source.text).unwrap_or_default();
                let found = text.match_indices("{self").filter(|(at, _)| {
                    let after = text.get(at + 5..).and_then(|rest| rest.chars().next());
                    matches!(after, Some('}' | ':'))
                });
                found
                    .map(|(at, _)| {
                        let start = content.start + u32::try_from(at + 1).unwrap_or_default();
                        renamed(ByteSpan::new(start, start + 4))
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
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
        let name = self
            .header
            .split('<')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        let docs = self.method.function.attrs.iter();
        let docs: Vec<ByteSpan> = docs
            .filter(|attribute| attribute.path().is_ident("doc"))
            .map(|attribute| self.span(attribute))
            .collect();
        for span in docs {
            let text = span.of(&self.method.source.text).unwrap_or_default();
            for (found, _) in text.match_indices("Self") {
                let before = text.get(..found).and_then(|before| before.chars().last());
                let after = text.get(found + 4..).and_then(|rest| rest.chars().next());
                if matches!(before, Some('`' | '[' | '('))
                    && matches!(after, Some('`' | ']' | ')' | ':'))
                {
                    let start = span.start + u32::try_from(found).unwrap_or_default();
                    self.edits
                        .push((ByteSpan::new(start, start + 4), name.clone()));
                }
            }
        }
    }

    /// Lifetimes that have to be said, since the function would find others.
    fn lifetimes(&mut self, taken: HowTaken) -> Result<SaidLifetimes, String> {
        let signature = &self.method.function.sig;
        let syn::ReturnType::Type(_, output) = &signature.output else {
            return Ok(SaidLifetimes::default());
        };
        let read = |ty: &syn::Type| {
            lifetimes::read(self.sources, &self.method.source, &self.parameters, ty)
        };
        let given = read(output);
        let mut others = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(read(&typed.ty)),
            syn::FnArg::Receiver(_) => None,
        });
        let own = self.header.contains('\'');
        let alone = others.all(|other| other.is_free()) && !own;
        let left_out = given.left().next().is_some() || !given.hidden.is_empty();
        let by_reference = matches!(taken, HowTaken::Shared | HowTaken::Mutable);
        if !left_out || alone {
            return Ok(SaidLifetimes::default());
        }
        if by_reference {
            return self.say_lifetimes(&given);
        }
        // It finds its lifetime among the other arguments, now as before.
        let mut inputs = signature.inputs.iter();
        let said = inputs.any(|input| self.method.text(input).contains("Self"));
        match own && (taken == HowTaken::Value || said) {
            true => Err("gives what may be of any of its arguments: write the lifetime".to_owned()),
            false => Ok(SaidLifetimes::default()),
        }
    }

    /// Says that what is given is of the receiver.
    fn say_lifetimes(&mut self, given: &LifetimesLeftOut) -> Result<SaidLifetimes, String> {
        if let Some(hidden) = given.hidden.first() {
            return Err(format!(
                "gives `{hidden}`, and whether that is of `self` is not known: write its lifetime, `'_` where it is"
            ));
        }
        let (name, fresh) = match self.lifetime_of_receiver() {
            Some(written) => (written, None),
            None => {
                let name = self.fresh();
                (name.clone(), Some(name))
            }
        };
        for at in &given.references {
            let span = ByteSpan::new(*at, *at);
            self.edits.push((span, format!("{name} ")));
        }
        for at in &given.anonymous {
            self.edits.push((ByteSpan::new(*at, *at + 2), name.clone()));
        }
        Ok(SaidLifetimes { fresh })
    }

    /// A lifetime that nothing else is called.
    fn fresh(&self) -> String {
        let block = self
            .method
            .block_span
            .of(&self.method.source.text)
            .unwrap_or_default();
        let names = ('a'..='z').map(|letter| format!("'{letter}"));
        let taken = |name: &String| {
            block.match_indices(name.as_str()).any(|(at, _)| {
                let next = block.get(at + 2..).and_then(|rest| rest.chars().next());
                next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            })
        };
        let mut names = names.filter(|name| !taken(name));
        names.next().unwrap_or_else(|| "'receiver".to_owned())
    }

    /// Says the parameters of the block and the receiver; gives the type and constant parameters that come from there.
    fn generics(
        &mut self,
        taken: HowTaken,
        own: &OwnNames,
        lifetimes: SaidLifetimes,
    ) -> Vec<String> {
        let method = self.method;
        let block = &method.block.generics;
        let clauses = block
            .where_clause
            .iter()
            .flat_map(|clause| &clause.predicates);
        let clauses: Vec<&str> = clauses.map(|one| method.text(one)).collect();
        let parameters: Vec<(String, &str)> = block
            .params
            .iter()
            .map(|one| (name_of(one), method.text(one)))
            .collect();
        let used = reached(self.used(taken, own), &parameters, &clauses);
        let kept = parameters.iter().filter(|(name, _)| used.contains(name));
        let kept: Vec<&(String, &str)> = kept.collect();
        let about = |clause: &str| {
            let said = words(clause);
            let mut about = parameters.iter().filter(|(name, _)| said.contains(name));
            about.all(|(name, _)| used.contains(name))
        };
        let kept_clauses: Vec<&str> = clauses.into_iter().filter(|one| about(one)).collect();
        self.say_parameters(&kept, &lifetimes);
        self.say_clauses(&kept_clauses);
        self.say_receiver(taken, &own.parameter, &lifetimes, &|name| {
            used.contains(name)
        });
        let carried = kept.iter().filter(|(name, _)| !name.starts_with('\''));
        carried.map(|(name, _)| name.clone()).collect()
    }

    /// What the function names, the type of its first parameter included, but for the lifetimes of that.
    fn used(&self, taken: HowTaken, own: &OwnNames) -> BTreeSet<String> {
        let receiver = self.method.function.sig.receiver();
        let receiver = receiver.map(|one| self.span(one));
        let tokens = self.tokens();
        let rest = tokens
            .iter()
            .filter(|token| receiver.is_none_or(|span| !span.contains(token.span)));
        let mut used: BTreeSet<String> = rest.map(|token| self.said(token).to_owned()).collect();
        let head = words(&self.header);
        if own.in_signature || own.with_arguments {
            used.extend(head.iter().cloned());
        }
        if taken != HowTaken::Nothing {
            let plain = head.into_iter().filter(|word| !word.starts_with('\''));
            used.extend(plain);
        }
        used
    }

    fn say_parameters(&mut self, kept: &[&(String, &str)], lifetimes: &SaidLifetimes) {
        let method = self.method;
        let signature = &method.function.sig;
        let own = signature.generics.params.iter();
        let own: Vec<(bool, String)> = own
            .map(|one| {
                let lifetime = matches!(one, syn::GenericParam::Lifetime(_));
                (lifetime, method.text(one).to_owned())
            })
            .collect();
        let of_block = kept
            .iter()
            .map(|(name, said)| (name.starts_with('\''), (*said).to_owned()));
        let fresh = lifetimes.fresh.iter().map(|name| (true, name.clone()));
        let mut all: Vec<(bool, String)> = fresh.chain(of_block).chain(own).collect();
        all.sort_by_key(|(lifetime, _)| !lifetime);
        if all.is_empty() || (kept.is_empty() && lifetimes.fresh.is_none()) {
            return;
        }
        let said: Vec<String> = all.into_iter().map(|(_, said)| said).collect();
        let said = format!("<{}>", said.join(", "));
        match (&signature.generics.lt_token, &signature.generics.gt_token) {
            (Some(open), Some(close)) => {
                let span = ByteSpan::new(self.span(open).start, self.span(close).end);
                self.edits.push((span, said));
            }
            _ => {
                let end = self.span(&signature.ident).end;
                self.edits.push((ByteSpan::new(end, end), said));
            }
        }
    }

    fn say_clauses(&mut self, kept: &[&str]) {
        let spelled = |clause: &&str| clause.replace("Self:", &format!("{}:", self.header));
        let kept: Vec<String> = kept.iter().map(spelled).collect();
        if kept.is_empty() {
            return;
        }
        let signature = &self.method.function.sig;
        let kept = kept.join(",\n    ");
        match &signature.generics.where_clause {
            Some(clause) => {
                let at = self.span(&clause.where_token).end;
                self.edits
                    .push((ByteSpan::new(at, at), format!(" {kept},")));
            }
            None => {
                let before = self.span(signature).end;
                self.edits.push((
                    ByteSpan::new(before, before),
                    format!("\nwhere\n    {kept},"),
                ));
            }
        }
    }

    fn say_receiver(
        &mut self,
        taken: HowTaken,
        parameter: &str,
        lifetimes: &SaidLifetimes,
        is_used: &dyn Fn(&str) -> bool,
    ) {
        let signature = &self.method.function.sig;
        let Some(receiver) = signature.receiver() else {
            return;
        };
        let written = self
            .lifetime_of_receiver()
            .or_else(|| lifetimes.fresh.clone());
        let lifetime = written.map_or_else(String::new, |name| format!("{name} "));
        // A lifetime that nothing else names needs no name.
        let mut header = self.header.clone();
        for one in self.method.block.generics.lifetimes() {
            let name = one.lifetime.to_string();
            if !is_used(&name) {
                header = without_name(&header, &name);
            }
        }
        let said = match taken {
            HowTaken::Nothing => return,
            HowTaken::Value => {
                let mutable = receiver.mutability.map_or("", |_| "mut ");
                format!("{mutable}{parameter}: {header}")
            }
            HowTaken::Shared => format!("{parameter}: &{lifetime}{header}"),
            HowTaken::Mutable => format!("{parameter}: &{lifetime}mut {header}"),
        };
        self.edits.push((self.span(receiver), said));
    }
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

#[derive(Default)]
struct SaidLifetimes {
    /// One that the function has to declare.
    fresh: Option<String>,
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

fn name_of(parameter: &syn::GenericParam) -> String {
    match parameter {
        syn::GenericParam::Lifetime(one) => one.lifetime.to_string(),
        syn::GenericParam::Type(one) => one.ident.to_string(),
        syn::GenericParam::Const(one) => one.ident.to_string(),
    }
}

/// The names that are used, with those that are said of them: what is said of a parameter may name others.
fn reached(
    mut used: BTreeSet<String>,
    parameters: &[(String, &str)],
    clauses: &[&str],
) -> BTreeSet<String> {
    loop {
        let before = used.len();
        for (name, said) in parameters {
            if used.contains(name) {
                used.extend(words(said));
            }
        }
        for clause in clauses {
            let said = words(clause);
            let about = parameters.iter().filter(|(name, _)| said.contains(name));
            let about: Vec<&String> = about.map(|(name, _)| name).collect();
            if !about.is_empty() && about.iter().all(|name| used.contains(*name)) {
                used.extend(said);
            }
        }
        if used.len() == before {
            return used;
        }
    }
}
