//! What the function says that the block or `self` said: lifetimes, parameters, clauses, and what it is called on.

use std::collections::BTreeSet;

use coalesce_model::ByteSpan;

use super::{
    super::{
        lifetimes::{self, LifetimesLeftOut},
        spelling::{without_name, words},
    },
    FunctionWriter, HowTaken, OwnNames,
};

/// Lifetimes that are said anew.
#[derive(Default)]
pub(super) struct SaidLifetimes {
    /// One that the function has to declare.
    fresh: Option<String>,
}

/// A parameter as it is declared.
struct Parameter<'m> {
    name: String,
    said: &'m str,
}

impl Parameter<'_> {
    fn is_lifetime(&self) -> bool {
        self.name.starts_with('\'')
    }
}

impl FunctionWriter<'_, '_> {
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

    /// The signature without what it was called on.
    pub(super) fn drop_receiver(&mut self) {
        let inputs = &self.method.function.sig.inputs;
        let Some(first) = inputs.first() else { return };
        let span = self.span(first);
        let next = inputs.iter().nth(1).map(|next| self.span(next).start);
        let close = self.method.function.sig.paren_token.span.close();
        let end = next.unwrap_or_else(|| self.method.source.start(close));
        self.edits
            .push((ByteSpan::new(span.start, end), String::new()));
    }

    /// Lifetimes that have to be said, since the function would find others.
    pub(super) fn lifetimes(&mut self, taken: HowTaken) -> Result<SaidLifetimes, String> {
        let signature = &self.method.function.sig;
        let syn::ReturnType::Type(_, output) = &signature.output else {
            return Ok(SaidLifetimes::default());
        };
        let given = self.left_out(output);
        let left_out = given.left().next().is_some() || !given.hidden.is_empty();
        let own = self.header.contains('\'');
        if !left_out || !own && self.are_arguments_free() {
            return Ok(SaidLifetimes::default());
        }
        if matches!(taken, HowTaken::Shared | HowTaken::Mutable) {
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

    /// What a type of the signature leaves out.
    fn left_out(&self, ty: &syn::Type) -> LifetimesLeftOut {
        lifetimes::read(self.sources, &self.method.source, &self.parameters, ty)
    }

    /// Whether no argument but what it is called on has a lifetime.
    fn are_arguments_free(&self) -> bool {
        let inputs = self.method.function.sig.inputs.iter();
        let mut types = inputs.filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        types.all(|ty| self.left_out(ty).is_free())
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
    pub(super) fn generics(
        &mut self,
        taken: HowTaken,
        own: &OwnNames,
        lifetimes: SaidLifetimes,
    ) -> Vec<String> {
        let method = self.method;
        let block = &method.block.generics;
        let clauses = block.where_clause.iter();
        let clauses = clauses.flat_map(|clause| &clause.predicates);
        let clauses: Vec<&str> = clauses.map(|one| method.text(one)).collect();
        let parameters = block.params.iter().map(|one| Parameter {
            name: name_of(one),
            said: method.text(one),
        });
        let parameters: Vec<Parameter<'_>> = parameters.collect();
        let used = reached(self.used(taken, own), &parameters, &clauses);
        let kept_clauses = clauses_about(&clauses, &parameters, &used);
        let kept = parameters
            .into_iter()
            .filter(|one| used.contains(&one.name));
        let kept: Vec<Parameter<'_>> = kept.collect();
        self.say_parameters(&kept, &lifetimes);
        self.say_clauses(&kept_clauses);
        self.say_receiver(taken, &own.parameter, &lifetimes, &used);
        let carried = kept.into_iter().filter(|one| !one.is_lifetime());
        carried.map(|one| one.name).collect()
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

    fn say_parameters(&mut self, kept: &[Parameter<'_>], lifetimes: &SaidLifetimes) {
        if kept.is_empty() && lifetimes.fresh.is_none() {
            return;
        }
        let signature = &self.method.function.sig;
        let said = self.parameters_in_order(kept, lifetimes);
        let said = format!("<{}>", said.join(", "));
        let span = match (&signature.generics.lt_token, &signature.generics.gt_token) {
            (Some(open), Some(close)) => ByteSpan::new(self.span(open).start, self.span(close).end),
            _ => ByteSpan::empty(self.span(&signature.ident).end),
        };
        self.edits.push((span, said));
    }

    /// All parameters of the function: lifetimes come first, those of the block before its own.
    fn parameters_in_order(
        &self,
        kept: &[Parameter<'_>],
        lifetimes: &SaidLifetimes,
    ) -> Vec<String> {
        let own = self.method.function.sig.generics.params.iter();
        let own = own.map(|one| {
            let lifetime = matches!(one, syn::GenericParam::Lifetime(_));
            (lifetime, self.method.text(one).to_owned())
        });
        let of_block = kept
            .iter()
            .map(|one| (one.is_lifetime(), one.said.to_owned()));
        let fresh = lifetimes.fresh.iter().map(|name| (true, name.clone()));
        let mut all: Vec<(bool, String)> = fresh.chain(of_block).chain(own).collect();
        all.sort_by_key(|(lifetime, _)| !lifetime);
        all.into_iter().map(|(_, said)| said).collect()
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
        used: &BTreeSet<String>,
    ) {
        let Some(receiver) = self.method.function.sig.receiver() else {
            return;
        };
        let written = self.lifetime_of_receiver();
        let written = written.or_else(|| lifetimes.fresh.clone());
        let lifetime = written.map_or_else(String::new, |name| format!("{name} "));
        let header = self.header_naming(used);
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

    /// The type as the block names it: a lifetime that nothing else names needs no name.
    fn header_naming(&self, used: &BTreeSet<String>) -> String {
        let lifetimes = self.method.block.generics.lifetimes();
        let names = lifetimes.map(|one| one.lifetime.to_string());
        let idle = names.filter(|name| !used.contains(name));
        idle.fold(self.header.clone(), |header, name| {
            without_name(&header, &name)
        })
    }
}

fn name_of(parameter: &syn::GenericParam) -> String {
    match parameter {
        syn::GenericParam::Lifetime(one) => one.lifetime.to_string(),
        syn::GenericParam::Type(one) => one.ident.to_string(),
        syn::GenericParam::Const(one) => one.ident.to_string(),
    }
}

/// The parameters that a clause says something of.
fn parameters_in<'p>(clause: &str, parameters: &'p [Parameter<'_>]) -> Vec<&'p String> {
    let said = words(clause);
    let names = parameters.iter().map(|one| &one.name);
    names.filter(|name| said.contains(*name)).collect()
}

/// The clauses that say something of nothing else than what is used.
fn clauses_about<'m>(
    clauses: &[&'m str],
    parameters: &[Parameter<'_>],
    used: &BTreeSet<String>,
) -> Vec<&'m str> {
    let about = |clause: &&str| {
        let about = parameters_in(clause, parameters);
        about.into_iter().all(|name| used.contains(name))
    };
    clauses.iter().copied().filter(about).collect()
}

/// The names that are used, with those that are said of them: what is said of a parameter may name others.
fn reached(
    mut used: BTreeSet<String>,
    parameters: &[Parameter<'_>],
    clauses: &[&str],
) -> BTreeSet<String> {
    loop {
        let before = used.len();
        for one in parameters {
            let known = used.contains(&one.name);
            used.extend(known.then(|| words(one.said)).into_iter().flatten());
        }
        for clause in clauses {
            let about = parameters_in(clause, parameters);
            let known = !about.is_empty() && about.into_iter().all(|name| used.contains(name));
            used.extend(known.then(|| words(clause)).into_iter().flatten());
        }
        if used.len() == before {
            return used;
        }
    }
}
