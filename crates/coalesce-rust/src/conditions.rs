//! Which lines of a file a configuration compiles: conditions (`#[cfg]`) around them, held against the
//! names that are set.

use std::collections::BTreeSet;

use syn::{
    Attribute, Meta, Token,
    punctuated::Punctuated,
    spanned::Spanned as _,
    visit::{self, Visit},
};

use crate::syntax;

/// What a compilation has set: `unix`, `test`, `feature="cuda"`, `target_os="linux"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration {
    /// The names that are set, with their values.
    pub names: BTreeSet<String>,
}

impl Configuration {
    /// A configuration of these names; values as `rustc --print cfg` writes them.
    #[must_use]
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self {
            names: names.into_iter().collect(),
        }
    }

    /// Whether a compilation may have all of these names set.
    fn can_be(&self) -> bool {
        let has = |name: &str| self.names.contains(name);
        let has_many = |key: &&str| {
            let start = format!("{key}=");
            self.names
                .iter()
                .filter(|name| name.starts_with(&start))
                .count()
                > 1
        };
        let system = self
            .names
            .iter()
            .find(|name| name.starts_with("target_os="));
        let is_windows = system.map(|system| system == "target_os=\"windows\"");
        let contradicts = has("unix") && (has("windows") || is_windows == Some(true))
            || has("windows") && is_windows == Some(false);
        !contradicts && !OF_ONE_VALUE.iter().any(has_many)
    }

    fn holds(&self, meta: &Meta) -> bool {
        match meta {
            Meta::Path(path) => path
                .get_ident()
                .is_some_and(|name| self.names.contains(&name.to_string())),
            Meta::NameValue(pair) => named_value(pair)
                .is_some_and(|(name, value)| self.names.contains(&format!("{name}=\"{value}\""))),
            Meta::List(list) => {
                let Some(inner) = metas(list) else {
                    return false;
                };
                if list.path.is_ident("all") {
                    inner.iter().all(|one| self.holds(one))
                } else if list.path.is_ident("any") {
                    inner.iter().any(|one| self.holds(one))
                } else {
                    list.path.is_ident("not") && inner.first().is_some_and(|one| !self.holds(one))
                }
            }
        }
    }
}

/// Lines of a file that stand under a condition.
#[derive(Clone, Debug)]
pub struct ConditionalLines {
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// `None` where the condition is one that no attribute says: the branches of `cfg_if!`.
    condition: Option<Meta>,
}

impl ConditionalLines {
    /// Whether these lines are compiled.
    #[must_use]
    pub fn holds(&self, configuration: &Configuration) -> bool {
        let condition = self.condition.as_ref();
        condition.is_some_and(|condition| configuration.holds(condition))
    }

    /// The features that the condition names.
    #[must_use]
    pub fn features(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if let Some(condition) = &self.condition {
            gather_features(condition, &mut found);
        }
        found
    }
}

/// The lines of a text that stand under conditions, one entry for each; none where it does not parse.
#[must_use]
pub fn conditional_lines(text: &str) -> Vec<ConditionalLines> {
    let _trees = syntax::Trees::begin();
    let mut gatherer = Gatherer { found: Vec::new() };
    if let Ok(file) = syntax::parse_file(text) {
        gatherer.visit_file(&file);
    }
    gatherer.found
}

fn gather_features(meta: &Meta, found: &mut BTreeSet<String>) {
    match meta {
        Meta::NameValue(pair) => {
            let named = named_value(pair).filter(|(name, _)| name == "feature");
            found.extend(named.map(|(_, value)| value));
        }
        Meta::List(list) => {
            for inner in metas(list).iter().flatten() {
                gather_features(inner, found);
            }
        }
        Meta::Path(_) => {}
    }
}

/// Names that have one value at a time.
const OF_ONE_VALUE: [&str; 7] = [
    "panic",
    "target_abi",
    "target_arch",
    "target_endian",
    "target_env",
    "target_os",
    "target_pointer_width",
];

/// How many names are set and not set in turn.
const MOST_NAMES: usize = 10;

/// Whether some compilation may have all of these conditions, each as it stands between the brackets of a `cfg`; where
/// that is not known, it may.
pub(crate) fn can_hold_together<'c>(conditions: impl IntoIterator<Item = &'c str>) -> bool {
    let _trees = syntax::Trees::begin();
    let parsed: Option<Vec<Meta>> = conditions
        .into_iter()
        .map(|condition| syntax::parse(condition).ok())
        .collect();
    let Some(all) = parsed else { return true };
    let mut names = BTreeSet::new();
    let are_read = all
        .iter()
        .all(|one| gather_names(one, &mut names).is_some());
    if !are_read || names.len() > MOST_NAMES {
        return true;
    }
    let names: Vec<String> = names.into_iter().collect();
    (0..1_usize << names.len()).any(|set| {
        let chosen = names
            .iter()
            .enumerate()
            .filter(|(at, _)| (set >> at) & 1 == 1);
        let configuration = Configuration::new(chosen.map(|(_, name)| name.clone()));
        configuration.can_be() && all.iter().all(|one| configuration.holds(one))
    })
}

/// The names that a condition asks for, as a configuration has them; `None` where it has another form.
fn gather_names(meta: &Meta, found: &mut BTreeSet<String>) -> Option<()> {
    match meta {
        Meta::Path(path) => _ = found.insert(path.get_ident()?.to_string()),
        Meta::NameValue(pair) => {
            let (name, value) = named_value(pair)?;
            found.insert(format!("{name}=\"{value}\""));
        }
        Meta::List(list) => {
            for inner in metas(list)? {
                gather_names(&inner, found)?;
            }
        }
    }
    Some(())
}

fn named_value(pair: &syn::MetaNameValue) -> Option<(String, String)> {
    let name = pair.path.get_ident()?.to_string();
    match &pair.value {
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(value) => Some((name, value.value())),
            _ => None,
        },
        _ => None,
    }
}

fn metas(list: &syn::MetaList) -> Option<Punctuated<Meta, Token![,]>> {
    list.parse_args_with(Punctuated::parse_terminated).ok()
}

struct Gatherer {
    found: Vec<ConditionalLines>,
}

impl Gatherer {
    fn look_at(&mut self, attributes: &[Attribute], span: proc_macro2::Span) {
        let lines = line_range(span);
        for attribute in attributes.iter().filter(|one| one.path().is_ident("cfg")) {
            self.found.push(ConditionalLines {
                lines,
                condition: attribute.parse_args().ok(),
            });
        }
    }
}

fn line_range(span: proc_macro2::Span) -> (u32, u32) {
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    (line(span.start().line), line(span.end().line))
}

macro_rules! look_at_attributes {
    ($($visit:ident: $node:ident),* $(,)?) => {
        $(fn $visit(&mut self, node: &'ast syn::$node) {
            self.look_at(&node.attrs, node.span());
            visit::$visit(self, node);
        })*
    };
}

impl<'ast> Visit<'ast> for Gatherer {
    look_at_attributes! {
        visit_item_const: ItemConst, visit_item_enum: ItemEnum,
        visit_item_extern_crate: ItemExternCrate, visit_item_fn: ItemFn,
        visit_item_foreign_mod: ItemForeignMod, visit_item_impl: ItemImpl,
        visit_item_macro: ItemMacro, visit_item_mod: ItemMod, visit_item_static: ItemStatic,
        visit_item_struct: ItemStruct, visit_item_trait: ItemTrait, visit_item_type: ItemType,
        visit_item_union: ItemUnion, visit_item_use: ItemUse, visit_impl_item_const: ImplItemConst,
        visit_impl_item_fn: ImplItemFn, visit_impl_item_type: ImplItemType,
        visit_trait_item_const: TraitItemConst, visit_trait_item_fn: TraitItemFn,
        visit_trait_item_type: TraitItemType, visit_field: Field, visit_variant: Variant,
        visit_arm: Arm, visit_local: Local, visit_expr_block: ExprBlock,
        visit_expr_call: ExprCall, visit_expr_method_call: ExprMethodCall,
        visit_expr_if: ExprIf, visit_expr_macro: ExprMacro, visit_stmt_macro: StmtMacro,
        visit_field_value: FieldValue,
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        let name = node.path.segments.last().map(|last| last.ident.to_string());
        if name.as_deref() == Some("cfg_if") {
            self.found.push(ConditionalLines {
                lines: line_range(node.span()),
                condition: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "use a::B;\n#[cfg(feature = \"cuda\")]\nuse a::C;\nmod m {\n    #[cfg(all(unix, not(test)))]\n    fn f() {\n        g();\n    }\n}\nfn h() {\n    #[cfg(any(windows, feature = \"x\"))]\n    let a = 1;\n}\ncfg_if::cfg_if! {\n    if #[cfg(unix)] { use a::D; }\n}\n";

    fn left_out(names: &[&str]) -> Vec<(u32, u32)> {
        let configuration = Configuration::new(names.iter().map(|name| (*name).to_owned()));
        conditional_lines(TEXT)
            .iter()
            .filter(|lines| !lines.holds(&configuration))
            .map(|lines| lines.lines)
            .collect()
    }

    #[test]
    fn lines_are_compiled_where_all_their_conditions_hold() {
        let (import, function, local, branches) = ((2, 3), (5, 8), (11, 12), (14, 16));
        for (names, expected) in [
            (&[][..], vec![import, function, local, branches]),
            (&["unix"], vec![import, local, branches]),
            (&["unix", "test"], vec![import, function, local, branches]),
            (&["unix", "feature=\"cuda\""], vec![local, branches]),
            (&["windows"], vec![import, function, branches]),
        ] {
            assert_eq!(left_out(names), expected, "{names:?}");
        }
    }

    #[test]
    fn conditions_hold_together_unless_one_excludes_another() {
        for (conditions, expected) in [
            (&["unix", "feature = \"a\""][..], true),
            (&["feature=\"a\"", "not(feature = \"a\")"], false),
            (&["any(unix, feature=\"a\")", "not(unix)"], true),
            (&["all(unix, test)", "not(any(unix, windows))"], false),
            (&["target_os = \"linux\"", "target_os = \"macos\""], false),
            (&["unix", "windows"], false),
            (&["windows", "target_os = \"linux\""], false),
            (&["feature = \"a\"", "feature = \"b\""], true),
            (&["version(\"1.2\")", "not(version(\"1.2\"))"], true),
        ] {
            let told = can_hold_together(conditions.iter().copied());
            assert_eq!(told, expected, "{conditions:?}");
        }
    }

    #[test]
    fn features_are_those_that_conditions_name() {
        let all: BTreeSet<String> = conditional_lines(TEXT)
            .iter()
            .flat_map(ConditionalLines::features)
            .collect();
        assert!(all.iter().eq(["cuda", "x"]));
        assert!(conditional_lines("fn (").is_empty());
    }
}
