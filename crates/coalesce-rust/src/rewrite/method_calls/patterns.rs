//! What names in patterns stand for.

use syn::visit::Visit;

use super::{Reader, fields::KnownFields, kinds::ReceiverKind, outside};

impl Reader<'_> {
    /// Takes the names of a pattern for what is known of them.
    pub(super) fn bind(&mut self, pattern: &syn::Pat, kind: Option<ReceiverKind>) {
        if let syn::Pat::Guard(guarded) = pattern {
            self.bind(&guarded.pat, kind);
            return self.visit_expr(&guarded.guard);
        }
        // Whatever they stood for before.
        self.visit_pat(pattern);
        self.take(pattern, kind);
    }

    fn take(&mut self, pattern: &syn::Pat, kind: Option<ReceiverKind>) {
        match pattern {
            syn::Pat::Type(typed) => {
                let said = self.kind_of_type(&typed.ty);
                self.take(&typed.pat, said.or(kind));
            }
            syn::Pat::Ident(name) => {
                let inner = name.subpat.as_ref();
                if let Some((_, inner)) = inner {
                    self.take(inner, kind.clone());
                }
                let entry = kind.map(|kind| (name.ident.to_string(), kind));
                self.values.extend(entry);
            }
            syn::Pat::Paren(inner) => self.take(&inner.pat, kind),
            syn::Pat::Reference(inner) => self.take(&inner.pat, kind),
            syn::Pat::Tuple(tuple) => {
                if let Some(ReceiverKind::Outside(_, of)) = kind {
                    self.take_parts(tuple, of);
                }
            }
            syn::Pat::Slice(slice) => {
                let element = kind.and_then(|kind| outside::at_index(&kind, false));
                let rest =
                    |one: &&syn::Pat| matches!(one, syn::Pat::Ident(name) if name.subpat.is_some());
                for pattern in slice.elems.iter().filter(|one| !rest(one)) {
                    self.take(pattern, element.clone());
                }
            }
            syn::Pat::TupleStruct(tuple) => self.take_tuple(tuple, kind.as_ref()),
            syn::Pat::Struct(fields) => {
                let Some(shape) = self.shape(&fields.path, kind.as_ref()) else {
                    return;
                };
                for field in &fields.fields {
                    let kind = self.given.member(&shape, &field.member);
                    self.take(&field.pat, kind);
                }
            }
            _ => {}
        }
    }

    /// The same of the parts of a tuple, where it is known to have as many.
    fn take_parts(&mut self, tuple: &syn::PatTuple, of: Vec<Option<ReceiverKind>>) {
        if of.len() == tuple.elems.len() {
            for (pattern, kind) in tuple.elems.iter().zip(of) {
                self.take(pattern, kind);
            }
        }
    }

    fn take_tuple(&mut self, tuple: &syn::PatTupleStruct, kind: Option<&ReceiverKind>) {
        let name = tuple.path.get_ident().map(ToString::to_string);
        let at = match name.as_deref() {
            Some("Some" | "Ok") => Some(0),
            Some("Err") => Some(1),
            _ => None,
        };
        if let (Some(at), [pattern]) = (at, tuple.elems.iter().collect::<Vec<_>>().as_slice()) {
            let inside = kind.and_then(|kind| outside::inside(kind, at));
            return self.take(pattern, inside);
        }
        let Some(shape) = self.shape(&tuple.path, kind) else {
            return;
        };
        for (at, pattern) in tuple.elems.iter().enumerate() {
            if matches!(pattern, syn::Pat::Rest(_)) {
                break;
            }
            let kind = self.given.member(&shape, &syn::Member::from(at));
            self.take(pattern, kind);
        }
    }

    /// The fields that a path in a pattern stands for, of a type that is known by what is matched.
    fn shape(&self, path: &syn::Path, kind: Option<&ReceiverKind>) -> Option<KnownFields> {
        let last = path.segments.last()?.ident.to_string();
        match kind {
            Some(kind) => self.given.shape_of(kind, Some(&last)),
            None => {
                let path = syn::TypePath {
                    attrs: Vec::new(),
                    qself: None,
                    path: path.clone(),
                };
                let kind = self.kind_of_type(&syn::Type::Path(path))?;
                self.given.shape_of(&kind, None)
            }
        }
    }
}
