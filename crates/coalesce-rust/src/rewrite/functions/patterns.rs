//! What names in patterns stand for, references that a pattern adds by itself included.

use syn::punctuated::Punctuated;

use super::{reader::CallReader, values::Value};
use crate::{facts::Namespaces, resolve::Res};

impl CallReader<'_, '_> {
    /// Takes the names of a pattern for what is known of them.
    pub(super) fn bind(&mut self, pattern: &syn::Pat, value: &Value) {
        match pattern {
            syn::Pat::Ident(name) => self.bind_name(name, value),
            syn::Pat::Type(typed) => {
                let said = self.value_of(&typed.ty);
                let known = if said == Value::Unknown { value } else { &said };
                self.bind(&typed.pat, known);
            }
            syn::Pat::Paren(inner) => self.bind(&inner.pat, value),
            syn::Pat::Reference(inner) => match value {
                Value::Reference(_, of) => self.bind(&inner.pat, of),
                _ => self.bind(&inner.pat, &Value::Unknown),
            },
            syn::Pat::Or(or) => {
                for case in &or.cases {
                    self.bind(case, value);
                }
            }
            syn::Pat::Tuple(tuple) => self.bind_parts(&tuple.elems, "()", value),
            syn::Pat::Slice(slice) => self.bind_parts(&slice.elems, "[]", value),
            syn::Pat::TupleStruct(tuple) => self.bind_tuple(tuple, value),
            syn::Pat::Struct(of) => {
                for field in &of.fields {
                    let part = self.field_in(&of.path, value, &field.member);
                    self.bind(&field.pat, &part);
                }
            }
            syn::Pat::Guard(guarded) => self.bind(&guarded.pat, value),
            _ => {}
        }
    }

    fn bind_name(&mut self, name: &syn::PatIdent, value: &Value) {
        let held = match (&name.by_ref, name.mutability) {
            (Some(_), mutable) => Value::reference(mutable.is_some(), value.clone()),
            (None, _) => value.clone(),
        };
        if let Some((_, inner)) = &name.subpat {
            self.bind(inner, value);
        }
        self.values.insert(name.ident.to_string(), held);
    }

    /// The parts of a tuple, or of a slice.
    fn bind_parts(
        &mut self,
        parts: &Punctuated<syn::Pat, syn::Token![,]>,
        kind: &str,
        value: &Value,
    ) {
        let of = value.behind().0.clone();
        let is = matches!(&of, Value::Standard(name, _) if name == kind);
        let rest = parts.iter().any(|one| matches!(one, syn::Pat::Rest(_)));
        for (at, one) in parts.iter().enumerate() {
            let whole = matches!(one, syn::Pat::Ident(name) if name.subpat.is_some());
            let part = match kind {
                "[]" if is && !whole => value.part(of.argument(0)),
                "()" if is && !rest => value.part(of.argument(at)),
                _ => Value::Unknown,
            };
            self.bind(one, &part);
        }
    }

    fn bind_tuple(&mut self, tuple: &syn::PatTupleStruct, value: &Value) {
        let name = tuple.path.get_ident().map(ToString::to_string);
        let (of, _) = value.behind();
        let held = match (name.as_deref(), of) {
            (Some("Some" | "Ok"), Value::Standard(name, _))
                if matches!(name.as_str(), "Option" | "Result") =>
            {
                Some(of.argument(0))
            }
            (Some("Err"), Value::Standard(name, _)) if name == "Result" => Some(of.argument(1)),
            _ => None,
        };
        for (at, one) in tuple.elems.iter().enumerate() {
            let part = match &held {
                Some(held) if at == 0 => value.part(held.clone()),
                Some(_) => Value::Unknown,
                None => self.field_in(&tuple.path, value, &syn::Member::from(at)),
            };
            self.bind(one, &part);
        }
    }

    /// The type of a field that a pattern names by the path of its struct or variant.
    fn field_in(&self, path: &syn::Path, value: &Value, member: &syn::Member) -> Value {
        let at = path.segments.len().saturating_sub(1);
        let spaces = Namespaces::TYPE.or(Namespaces::VALUE);
        let found = match self.source.leads_to(path, at, spaces) {
            Some(Res::Variant(item, name)) => {
                let variant = self.sources.world.names.text(name).to_string();
                self.sources
                    .field_of_variant((item, &variant), value, member)
            }
            Some(Res::Item(_)) => self.sources.field(value, member),
            _ if path.is_ident("Self") => self.sources.field(value, member),
            _ => Value::Unknown,
        };
        value.part(found)
    }
}
