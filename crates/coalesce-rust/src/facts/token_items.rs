//! Declarations that the token scanner recognises: `mod`, `use`, and items by their keyword.

use coalesce_model::ByteSpan;

use super::{
    Item, ItemKind, ModuleDeclaration, Namespaces, ScopeId, Segment, UseDeclaration, UseTree,
    Visibility, VisibilityKind, source::index, source::private, tokens::Scanner,
};
use crate::lexer::{Token, TokenKind};

impl Scanner<'_, '_, '_> {
    /// The index of the `pub` that belongs to the keyword at `at`, or `at`.
    pub(super) fn visibility_start(&self, at: usize) -> usize {
        let mut from = at;
        while from > 0
            && matches!(
                self.text(from - 1),
                "unsafe" | "async" | "const" | "default"
            )
        {
            from -= 1;
        }
        if from > 0 && self.text(from - 1) == "pub" {
            return from - 1;
        }
        self.restricted_visibility(from).unwrap_or(at)
    }

    /// The index of the `pub` of a `pub(…)` that ends before `from`.
    fn restricted_visibility(&self, from: usize) -> Option<usize> {
        let close = self.tokens.get(from.checked_sub(1)?)?;
        (close.kind == TokenKind::Close(b')')).then_some(())?;
        let open = (0..from - 1).rev().find(|at| {
            self.tokens
                .get(*at)
                .is_some_and(|t| t.kind == TokenKind::Open(b'('))
        })?;
        let before = open.checked_sub(1)?;
        (self.text(before) == "pub").then_some(before)
    }

    fn visibility(&self, at: usize) -> Visibility {
        let start = self.tokens.get(at).map_or(0, |token| token.span.start);
        let from = self.visibility_start(at);
        let Some(first) = self.tokens.get(from).filter(|_| from < at) else {
            return private(start);
        };
        let parenthesis = self
            .tokens
            .get(from + 1)
            .is_some_and(|token| token.kind == TokenKind::Open(b'('));
        let (kind, end) = match self.text(from + 2) {
            _ if !parenthesis => (VisibilityKind::Public, first.span.end),
            "super" => (VisibilityKind::Super, self.closing(from + 1)),
            // Which part of the crate `in` names is not read here: no more than its module is sure.
            "self" | "in" => (VisibilityKind::SelfModule, self.closing(from + 1)),
            _ => (VisibilityKind::Crate, self.closing(from + 1)),
        };
        Visibility {
            kind,
            span: ByteSpan::new(first.span.start, end),
        }
    }

    pub(super) fn module(&mut self, at: usize, scopes: &mut Vec<Option<ScopeId>>) -> usize {
        let Some(name) = self
            .tokens
            .get(at + 1)
            .map(|token| self.builder.segment(token.span))
        else {
            return at + 1;
        };
        let visibility = self.visibility(at);
        let behind = self.tokens.get(at + 2).copied();
        let open = behind.filter(|token| token.kind == TokenKind::Open(b'{'));
        if open.is_none() && !self.is(at + 2, b';') {
            return at + 2;
        }
        let end = open.map_or(behind.map_or(name.span.end, |semi| semi.span.end), |_| {
            self.closing(at + 2)
        });
        self.declare_module(at, name, visibility, end);
        let Some(open) = open.filter(|_| self.mode.scopes) else {
            return at + 3;
        };
        let span = ByteSpan::new(open.span.start, end);
        let outer = self.builder.open_module(span, open.span.end);
        scopes.push(Some(outer));
        at + 3
    }

    /// Notes the module `name`, which the keyword at `at` declares.
    fn declare_module(&mut self, at: usize, name: Segment, visibility: Visibility, end: u32) {
        let declaration = ModuleDeclaration {
            scope: self.builder.scope,
            name,
            span: ByteSpan::new(visibility.span.start, end),
            attributes: None,
            visibility,
            cfg: Vec::new(),
            path_attributes: self.path_attributes(at),
            macro_use: false,
            body: None,
            origin: self.builder.origin,
        };
        self.builder.facts.modules.push(declaration);
    }

    /// `path = "…"` in the attributes before the declaration at `at`.
    fn path_attributes(&self, at: usize) -> Vec<super::PathAttribute> {
        let mut found = Vec::new();
        let mut end = self.visibility_start(at);
        while let Some(open) = self.attribute_before(end) {
            let inside = self.tokens.get(open..end).unwrap_or_default();
            let conditional = inside
                .iter()
                .any(|token| self.builder.slice(token.span) == "cfg_attr");
            let values = inside.windows(3);
            found.extend(values.filter_map(|window| self.path_attribute(window, conditional)));
            end = open;
        }
        found
    }

    /// `path = "…"`
    fn path_attribute(&self, window: &[Token], conditional: bool) -> Option<super::PathAttribute> {
        let [name, equals, value] = window else {
            return None;
        };
        let TokenKind::Text { content } = value.kind else {
            return None;
        };
        let is_path = equals.is(b'=') && self.builder.slice(name.span) == "path";
        is_path.then(|| super::PathAttribute {
            value: Box::from(self.builder.slice(content)),
            span: content,
            cfg: conditional.then(|| Box::from("cfg_attr")),
        })
    }

    /// The index of the `#` of an attribute that ends before `end`.
    fn attribute_before(&self, end: usize) -> Option<usize> {
        let last = self.tokens.get(end.checked_sub(1)?)?;
        if last.kind != TokenKind::Close(b']') {
            return None;
        }
        let mut depth = 0usize;
        for at in (0..end).rev() {
            match self.tokens.get(at)?.kind {
                TokenKind::Close(_) => depth += 1,
                TokenKind::Open(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return at.checked_sub(1).filter(|hash| self.is(*hash, b'#'));
            }
        }
        None
    }

    pub(super) fn item(&mut self, at: usize) -> Option<usize> {
        let (kind, namespaces) = self.kind_of_item(at)?;
        let name_at = self.place_of_name(at, kind)?;
        if self.mode.scopes && self.is_member(at) {
            return Some(name_at + 1);
        }
        let token = *self.tokens.get(name_at)?;
        let name = self.builder.segment(token.span);
        let visibility = self.visibility(at);
        let span = ByteSpan::new(visibility.span.start, name.span.end);
        let variants = self.variants(kind, name_at + 1);
        self.builder.facts.items.push(Item {
            scope: self.builder.scope,
            name,
            kind,
            namespaces,
            visibility,
            span,
            signature: span,
            conditional: false,
            exported: false,
            variants,
            origin: self.builder.origin,
        });
        self.enter(kind, name_at + 1);
        Some(name_at + 1)
    }

    /// What the keyword at `at` defines.
    fn kind_of_item(&self, at: usize) -> Option<(ItemKind, Namespaces)> {
        let both = Namespaces::TYPE.or(Namespaces::VALUE);
        let kind = match self.text(at) {
            "struct" => (ItemKind::Struct, both),
            "enum" => (ItemKind::Enum, Namespaces::TYPE),
            "union" => (ItemKind::Union, Namespaces::TYPE),
            "trait" => (ItemKind::Trait, Namespaces::TYPE),
            "type" => (ItemKind::TypeAlias, Namespaces::TYPE),
            "fn" => (ItemKind::Function, Namespaces::VALUE),
            "const" => (ItemKind::Const, Namespaces::VALUE),
            "static" => (ItemKind::Static, Namespaces::VALUE),
            "macro_rules" if self.is(at + 1, b'!') => (ItemKind::Macro, Namespaces::MACRO),
            _ => return None,
        };
        Some(kind)
    }

    /// The index of the name of an item that the keyword at `at` defines.
    fn place_of_name(&self, at: usize, kind: ItemKind) -> Option<usize> {
        let skip =
            usize::from(kind == ItemKind::Macro || matches!(self.text(at + 1), "mut" | "ref"));
        let name_at = at + 1 + skip;
        (self.is_ident(name_at) && !self.is_keyword(name_at)).then_some(name_at)
    }

    /// Notes that what the braces of an item say is no item of the module: the constants of
    /// `struct Flags: u32 { … }`.
    fn enter(&mut self, kind: ItemKind, at: usize) {
        let has_body = matches!(
            kind,
            ItemKind::Struct | ItemKind::Enum | ItemKind::Union | ItemKind::Trait
        );
        if !has_body || self.mode.scopes {
            return;
        }
        let rest = self.tokens.get(at..).unwrap_or_default();
        let mut depth = 0_usize;
        for (ahead, token) in rest.iter().enumerate() {
            match token.kind {
                TokenKind::Open(b'{') if depth == 0 => {
                    self.inside_until = self.closing(at + ahead);
                    return;
                }
                TokenKind::Open(_) => depth += 1,
                TokenKind::Close(_) if depth == 0 => return,
                TokenKind::Close(_) => depth -= 1,
                TokenKind::Punct(b';') if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// Names at depth one of the braces after `at` that stand at the start of a variant; none of what is no enum.
    fn variants(&mut self, kind: ItemKind, at: usize) -> Vec<Segment> {
        if kind != ItemKind::Enum {
            return Vec::new();
        }
        let tokens = self.tokens;
        let opens = |at: &usize| {
            let token = tokens.get(*at);
            token.is_none_or(|token| token.kind == TokenKind::Open(b'{'))
        };
        let open = (at..at + 64).find(opens);
        let (mut variants, mut depth, mut expected) = (Vec::new(), 0usize, false);
        for token in open.and_then(|open| tokens.get(open..)).unwrap_or_default() {
            match token.kind {
                TokenKind::Open(_) => {
                    depth += 1;
                    expected = depth == 1;
                }
                TokenKind::Close(_) if depth <= 1 => break,
                TokenKind::Close(close) => {
                    depth -= 1;
                    expected = depth == 1 && close == b']';
                }
                TokenKind::Punct(b',') => expected = depth == 1,
                TokenKind::Ident if depth == 1 && expected => {
                    variants.push(self.builder.segment(token.span));
                    expected = false;
                }
                _ => {}
            }
        }
        variants
    }

    pub(super) fn use_declaration(&mut self, at: usize) -> usize {
        let Some(keyword) = self.tokens.get(at).map(|token| token.span) else {
            return at + 1;
        };
        let visibility = self.visibility(at);
        let colons = self.is_colons(at + 1);
        let from = if colons { at + 3 } else { at + 1 };
        let leading = self.tokens.get(at + 1).filter(|_| colons);
        let leading = leading.map(|token| ByteSpan::new(token.span.start, token.span.start + 2));
        let first = index(self.builder.facts.leaves.len());
        let Some((tree, next)) = self.use_to_end(from, colons) else {
            return at + 1;
        };
        let end = self
            .tokens
            .get(next)
            .map_or(keyword.end, |semi| semi.span.end);
        let last = index(self.builder.facts.leaves.len());
        self.builder.facts.uses.push(UseDeclaration {
            scope: self.builder.scope,
            span: ByteSpan::new(visibility.span.start, end),
            attributes: None,
            keyword: ByteSpan::new(keyword.start, end),
            visibility,
            cfg: Vec::new(),
            leading_colons: leading,
            tree,
            leaves: (first, last),
            origin: self.builder.origin,
        });
        next + 1
    }

    /// The tree of a `use` and the index of the `;` behind it; the leaves of one without are forgotten.
    fn use_to_end(&mut self, at: usize, colons: bool) -> Option<(UseTree, usize)> {
        let first = self.builder.facts.leaves.len();
        let mut next = at;
        let tree = self.use_tree(&mut next, &mut Vec::new(), colons, 0);
        let whole = tree.filter(|_| self.is(next, b';'));
        if whole.is_none() {
            self.builder.facts.leaves.truncate(first);
        }
        Some((whole?, next))
    }

    fn use_tree(
        &mut self,
        next: &mut usize,
        prefix: &mut Vec<Segment>,
        colons: bool,
        depth: u32,
    ) -> Option<UseTree> {
        if depth > 64 {
            return None;
        }
        let token = *self.tokens.get(*next)?;
        if token.is(b'*') {
            *next += 1;
            return Some(self.builder.glob_leaf(token.span, prefix, colons));
        }
        if token.kind == TokenKind::Open(b'{') {
            return self.use_group(next, prefix, colons, depth);
        }
        let (segment, behind) = self.segment(*next)?;
        *next = behind;
        if self.is_colons(*next) {
            return self.use_path(segment, next, prefix, colons, depth);
        }
        let alias = self.use_alias(next);
        Some(self.builder.name_leaf(segment, alias, prefix, colons))
    }

    /// What follows `segment::` from the colons on.
    fn use_path(
        &mut self,
        segment: Segment,
        next: &mut usize,
        prefix: &mut Vec<Segment>,
        colons: bool,
        depth: u32,
    ) -> Option<UseTree> {
        *next += 2;
        prefix.push(segment);
        let rest = self.use_tree(next, prefix, colons, depth + 1);
        prefix.pop();
        Some(UseTree::Path(segment, Box::new(rest?)))
    }

    /// The name behind `as`.
    fn use_alias(&mut self, next: &mut usize) -> Option<Segment> {
        if self.text(*next) != "as" || !self.is_ident(*next + 1) {
            return None;
        }
        let name = self.tokens.get(*next + 1)?.span;
        *next += 2;
        Some(self.builder.segment(name))
    }

    fn use_group(
        &mut self,
        next: &mut usize,
        prefix: &mut Vec<Segment>,
        colons: bool,
        depth: u32,
    ) -> Option<UseTree> {
        let open = self.tokens.get(*next)?.span.start;
        *next += 1;
        let mut items = Vec::new();
        loop {
            let token = *self.tokens.get(*next)?;
            if token.kind == TokenKind::Close(b'}') {
                *next += 1;
                return Some(UseTree::Group(ByteSpan::new(open, token.span.end), items));
            }
            items.push(self.use_tree(next, prefix, colons, depth + 1)?);
            if self.is(*next, b',') {
                *next += 1;
            }
        }
    }
}
