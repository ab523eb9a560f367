//! Fields of structs and of variants, and what is made by naming them.

use super::kinds::{Given, ReceiverKind, Scope};
use crate::{
    facts::ItemKind,
    resolve::{ItemId, ModuleId},
    syntax,
};

/// The fields of a struct or of a variant, with what its type parameters stand for.
pub(super) struct KnownFields {
    home: ModuleId,
    scope: Scope,
    fields: syn::Fields,
}

impl Given<'_> {
    /// What a field of a type is.
    pub fn field(&self, kind: &ReceiverKind, member: &syn::Member) -> Option<ReceiverKind> {
        if let ReceiverKind::Outside(name, of) = kind {
            let syn::Member::Unnamed(index) = member else {
                return None;
            };
            let at = usize::try_from(index.index).ok()?;
            return of.get(at).filter(|_| name == "()").cloned().flatten();
        }
        let shape = self.shape_of(kind, None)?;
        self.member(&shape, member)
    }

    /// The fields of a struct, or of one of the variants of an enum.
    pub fn shape_of(&self, kind: &ReceiverKind, variant: Option<&str>) -> Option<KnownFields> {
        let _trees = syntax::Trees::begin();
        let ReceiverKind::Type(item, arguments) = kind else {
            return None;
        };
        let (home, text) = self.text_of(*item)?;
        let (generics, fields) = match self.kind_of_item(*item) {
            ItemKind::Struct => {
                let parsed: syn::ItemStruct = syntax::parse(&text).ok()?;
                (parsed.generics, parsed.fields)
            }
            ItemKind::Enum => {
                let parsed: syn::ItemEnum = syntax::parse(&text).ok()?;
                let mut variants = parsed.variants.into_iter();
                let found = variants.find(|one| Some(one.ident.to_string().as_str()) == variant)?;
                (parsed.generics, found.fields)
            }
            _ => return None,
        };
        let mut scope = Scope::from([("Self".to_owned(), kind.clone())]);
        // What nobody said a parameter stands for is not known by its bounds.
        for (parameter, argument) in generics.type_params().zip(arguments) {
            let argument = argument.clone();
            scope.extend(argument.map(|one| (parameter.ident.to_string(), one)));
        }
        let unsaid: Vec<String> = generics
            .type_params()
            .map(|one| one.ident.to_string())
            .filter(|name| !scope.contains_key(name))
            .collect();
        let unsaid = unsaid.into_iter().map(|name| (name, ReceiverKind::Hidden));
        scope.extend(unsaid);
        Some(KnownFields {
            home,
            scope,
            fields,
        })
    }

    /// What one of the fields is.
    pub fn member(&self, shape: &KnownFields, member: &syn::Member) -> Option<ReceiverKind> {
        let mut fields = shape.fields.iter().enumerate();
        let (_, field) = fields.find(|(at, field)| is_called(field, *at, member))?;
        self.kind(shape.home, &shape.scope, &field.ty)
    }

    /// A type with what its parameters come to by the fields that it is made of.
    pub fn made(
        &self,
        kind: ReceiverKind,
        values: &[(syn::Member, Option<ReceiverKind>)],
    ) -> ReceiverKind {
        let ReceiverKind::Type(item, arguments) = &kind else {
            return kind;
        };
        match self.filled(*item, values).filter(|_| arguments.is_empty()) {
            Some(filled) => ReceiverKind::Type(*item, filled),
            None => kind,
        }
    }

    fn filled(
        &self,
        item: ItemId,
        values: &[(syn::Member, Option<ReceiverKind>)],
    ) -> Option<Vec<Option<ReceiverKind>>> {
        let _trees = syntax::Trees::begin();
        let (_, text) = self.text_of(item)?;
        let parsed: syn::ItemStruct = syntax::parse(&text).ok()?;
        let of = |parameter: &syn::TypeParam| {
            let fields = parsed.fields.iter().enumerate();
            let mut fields = fields.filter(|(_, field)| {
                matches!(&field.ty, syn::Type::Path(path) if path.path.is_ident(&parameter.ident))
            });
            fields.find_map(|(at, field)| {
                let mut values = values.iter();
                let value = values.find(|(member, _)| is_called(field, at, member))?;
                value.1.clone()
            })
        };
        Some(parsed.generics.type_params().map(of).collect())
    }
}

fn is_called(field: &syn::Field, at: usize, member: &syn::Member) -> bool {
    match member {
        syn::Member::Named(name) => field.ident.as_ref() == Some(name),
        syn::Member::Unnamed(index) => usize::try_from(index.index).ok() == Some(at),
    }
}
