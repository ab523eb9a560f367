//! Modules, `use` declarations leaf by leaf, and `extern crate`.

use coalesce_model::ByteSpan;
use syn::visit::Visit;

use super::{
    ExternCrate, LeafKind, ModuleDeclaration, Segment, UseDeclaration, UseLeaf, UseTree,
    extract::Extractor, source::Builder, source::index,
};

impl Extractor<'_, '_> {
    pub(super) fn module(&mut self, module: &syn::ItemMod) {
        let keyword = self.start_of_module(module);
        let outer = self.outer(&module.attrs, &module.vis, keyword);
        let visibility = self.visibility(&module.vis, outer.code);
        let name = self.segment(&module.ident);
        let end = self.end_of_module(module, name);
        let declaration = ModuleDeclaration {
            scope: self.builder.scope,
            name,
            span: ByteSpan::new(outer.start, end),
            attributes: outer.attributes,
            visibility,
            cfg: outer.cfg,
            path_attributes: outer.paths,
            macro_use: outer.macro_use,
            body: None,
            origin: self.builder.origin,
        };
        self.builder.facts.modules.push(declaration);
        if let Some((brace, items)) = &module.content {
            self.module_body(brace, items, &module.attrs);
        }
    }

    /// Where `mod` stands, or the `unsafe` before it.
    fn start_of_module(&self, module: &syn::ItemMod) -> u32 {
        let keyword = module.unsafety.map(|token| token.span);
        self.places.start(keyword.unwrap_or(module.mod_token.span))
    }

    fn end_of_module(&self, module: &syn::ItemMod, name: Segment) -> u32 {
        match (&module.content, &module.semi) {
            (Some((brace, _)), _) => self.places.past(brace.span.close()),
            (None, Some(semi)) => self.places.past(semi.span),
            (None, None) => name.span.end,
        }
    }

    fn module_body(
        &mut self,
        brace: &syn::token::Brace,
        items: &[syn::Item],
        attributes: &[syn::Attribute],
    ) {
        let open = self.places.start(brace.span.open());
        let span = ByteSpan::new(open, self.places.past(brace.span.close()));
        let mark = self.builder.enter_item();
        let outer = self.builder.open_module(span, open + 1);
        let scope = self.builder.scope;
        if let Some(end) = self.module_attributes(attributes)
            && let Some(scope) = self.builder.facts.scopes.get_mut(scope.0 as usize)
        {
            scope.items_start = end;
        }
        for item in items {
            self.visit_item(item);
        }
        self.builder.scope = outer;
        self.builder.leave(mark);
    }

    pub(super) fn use_declaration(&mut self, item: &syn::ItemUse) {
        let keyword = self.places.start(item.use_token.span);
        let outer = self.outer(&item.attrs, &item.vis, keyword);
        let visibility = self.visibility(&item.vis, outer.code);
        let end = self.places.past(item.semi_token.span);
        let leading_colons = item.leading_colon;
        let leading_colons = leading_colons.map(|colons| self.span_of_colons(&colons));
        let first = index(self.builder.facts.leaves.len());
        let mut prefix = Vec::new();
        let tree = self.use_tree(&item.tree, &mut prefix, leading_colons.is_some());
        let last = index(self.builder.facts.leaves.len());
        self.builder.facts.uses.push(UseDeclaration {
            scope: self.builder.scope,
            span: ByteSpan::new(outer.start, end),
            attributes: outer.attributes,
            keyword: ByteSpan::new(keyword, end),
            visibility,
            cfg: outer.cfg,
            leading_colons,
            tree,
            leaves: (first, last),
            origin: self.builder.origin,
        });
    }

    fn span_of_colons(&self, colons: &syn::Token![::]) -> ByteSpan {
        let start = self.places.start(colons.spans[0]);
        ByteSpan::new(start, start + 2)
    }

    fn use_tree(
        &mut self,
        tree: &syn::UseTree,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        match tree {
            syn::UseTree::Path(path) => {
                let segment = self.segment(&path.ident);
                prefix.push(segment);
                let rest = self.use_tree(&path.tree, prefix, colons);
                prefix.pop();
                UseTree::Path(segment, Box::new(rest))
            }
            syn::UseTree::Group(group) => self.use_group(group, prefix, colons),
            syn::UseTree::Name(name) => self.name_leaf(&name.ident, None, prefix, colons),
            syn::UseTree::Rename(rename) => {
                let alias = self.segment(&rename.rename);
                self.name_leaf(&rename.ident, Some(alias), prefix, colons)
            }
            syn::UseTree::Glob(glob) => {
                let start = self.places.start(glob.star_token.span);
                let star = ByteSpan::new(start, start + 1);
                self.builder.glob_leaf(star, prefix, colons)
            }
        }
    }

    fn use_group(
        &mut self,
        group: &syn::UseGroup,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        let open = self.places.start(group.brace_token.span.open());
        let span = ByteSpan::new(open, self.places.past(group.brace_token.span.close()));
        let items = group
            .items
            .iter()
            .map(|item| self.use_tree(item, prefix, colons))
            .collect();
        UseTree::Group(span, items)
    }

    fn name_leaf(
        &mut self,
        ident: &syn::Ident,
        alias: Option<Segment>,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        let name = self.segment(ident);
        self.builder.name_leaf(name, alias, prefix, colons)
    }

    pub(super) fn extern_crate(&mut self, item: &syn::ItemExternCrate) {
        let start = self.places.start(item.extern_token.span);
        let outer = self.outer(&item.attrs, &item.vis, start);
        let visibility = self.visibility(&item.vis, outer.code);
        let name = self.segment(&item.ident);
        let alias = item.rename.as_ref().map(|(_, alias)| self.segment(alias));
        let end = self.places.past(item.semi_token.span);
        self.builder.facts.extern_crates.push(ExternCrate {
            scope: self.builder.scope,
            name,
            alias,
            span: ByteSpan::new(outer.start, end),
            visibility,
            macro_use: outer.macro_use,
        });
    }
}

/// A leaf of a use tree as a reader meets it.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    pub kind: LeafKind,
    pub own: u16,
    pub alias: Option<Segment>,
    pub span: ByteSpan,
}

impl Builder<'_> {
    /// Notes a leaf that is `*`, below `prefix`.
    pub fn glob_leaf(&mut self, star: ByteSpan, prefix: &[Segment], colons: bool) -> UseTree {
        let leaf = Leaf {
            kind: LeafKind::Glob,
            own: 0,
            alias: None,
            span: star,
        };
        self.leaf(leaf, prefix, colons)
    }

    /// Notes a leaf that is a name or `self`, below `prefix`.
    pub fn name_leaf(
        &mut self,
        name: Segment,
        alias: Option<Segment>,
        prefix: &mut Vec<Segment>,
        colons: bool,
    ) -> UseTree {
        let span = alias.map_or(name.span, |alias| name.span.cover(alias.span));
        let is_module = self.slice(name.span) == "self" && !prefix.is_empty();
        let (kind, own) = match is_module {
            true => (LeafKind::SelfModule, 0),
            false => (LeafKind::Name, 1),
        };
        let leaf = Leaf {
            kind,
            own,
            alias,
            span,
        };
        if is_module {
            return self.leaf(leaf, prefix, colons);
        }
        prefix.push(name);
        let tree = self.leaf(leaf, prefix, colons);
        prefix.pop();
        tree
    }

    /// Notes a leaf with its whole path. Its declaration is the next one to be pushed.
    pub fn leaf(&mut self, leaf: Leaf, path: &[Segment], colons: bool) -> UseTree {
        let segments = self.push_segments(path);
        let declaration = index(self.facts.uses.len());
        let Leaf {
            kind,
            own,
            alias,
            span,
        } = leaf;
        let leaf = UseLeaf {
            declaration,
            kind,
            segments,
            own,
            alias,
            span,
            leading_colons: colons,
        };
        self.facts.leaves.push(leaf);
        UseTree::Leaf(index(self.facts.leaves.len() - 1))
    }
}
