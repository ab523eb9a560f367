//! Names of modules that are imported by a string at run time: `import_module(".old", __package__)`.
//!
//! Tables that were read are looked at in `tables`; here is what no table accounts for.

use coalesce_model::{ByteSpan, Edit, Form};
use rustc_hash::FxHashSet;

use crate::{
    analysis::StringLiteral,
    extract::{is_dotted, is_identifier},
    names::literal_at,
    rewrite::{
        file::{File, FileEdits, Reference},
        imports,
    },
};

/// How a file imports by strings.
pub struct Lazy<'a> {
    file: &'a File<'a>,
    /// It imports modules whose names are in strings.
    dynamic: bool,
    /// Where the texts of tables begin that were read.
    understood: FxHashSet<u32>,
}

impl<'a> Lazy<'a> {
    pub fn new(file: &'a File<'a>) -> Self {
        let has =
            |text: &str| memchr::memmem::find(file.text.as_bytes(), text.as_bytes()).is_some();
        let tables = file.analysis().lazy.imports.iter();
        let imports = tables.map(|each| &each.import);
        let understood = imports.flat_map(|import| {
            let modules = import.from.iter().map(|from| from.span.start);
            let leaves = import.leaves.iter();
            let names = leaves.flat_map(|leaf| {
                let alias = leaf.alias.as_ref().map(|alias| alias.span.start);
                std::iter::once(leaf.name.span.start).chain(alias)
            });
            modules.chain(names).collect::<Vec<u32>>()
        });
        Self {
            file,
            understood: understood.collect(),
            dynamic: has("attach(")
                || has("import_module")
                || has("__getattr__")
                || has("__import__")
                || has("find_spec"),
        }
    }

    /// Rewrites a literal that is a name relative to a package; `true` when it was one.
    pub fn rewrite(&self, string: &StringLiteral, content: &str, found: &mut FileEdits) -> bool {
        if !self.dynamic || self.file.module.is_none() {
            return false;
        }
        // A full name is one wherever it stands.
        if self.understood.contains(&string.span.start) && !is_dotted(content) {
            return true;
        }
        let name = content.trim_start_matches('.');
        let dots = content.len() - name.len();
        let named = is_dotted(name) || is_identifier(name);
        match (dots, named) {
            (0, true) => self.bare(string.span, content, found),
            (0, false) | (_, false) => false,
            (_, true) => self.relative(string.span, content, dots, name, found),
        }
    }

    /// `".old"`: counted from the package that the call names, else from that of the file.
    fn relative(
        &self,
        span: ByteSpan,
        content: &str,
        dots: usize,
        name: &str,
        found: &mut FileEdits,
    ) -> bool {
        let (package, package_after) = match self.package_argument(span) {
            Some(package) => (
                package.clone(),
                self.file.absolute(&package).unwrap_or(package),
            ),
            None => (
                self.file.package.to_owned(),
                self.file.package_after.clone(),
            ),
        };
        let mut parts: Vec<&str> = package.split('.').filter(|part| !part.is_empty()).collect();
        parts.truncate((parts.len() + 1).saturating_sub(dots));
        if parts.is_empty() {
            return false;
        }
        let full = format!("{}.{name}", parts.join("."));
        if self.file.graph().find(self.file.module, &full).is_none() {
            return false;
        }
        let new = self.file.absolute(&full).unwrap_or_else(|| full.clone());
        let spelled = imports::relative(&package_after, &new).unwrap_or_else(|| new.clone());
        if spelled != content {
            let reference = Reference::exact(
                Form::String,
                &full,
                &new,
                "a relative name that is imported at run time",
            );
            found.change(Edit::replace(span, spelled), reference);
        }
        true
    }

    /// The package of `import_module(".old", package="pkg")`, when it is written out.
    fn package_argument(&self, span: ByteSpan) -> Option<String> {
        let rest = self
            .file
            .text
            .get(span.end as usize..)?
            .trim_start_matches(['"', '\''])
            .trim_start();
        let rest = rest.strip_prefix(',')?.trim_start();
        let rest = rest.strip_prefix("package").map_or(rest, |rest| {
            rest.trim_start().trim_start_matches('=').trim_start()
        });
        let (package, _) = literal_at(rest)?;
        let called = self
            .file
            .text
            .get(..span.start as usize)?
            .trim_end_matches(['"', '\''])
            .trim_end();
        (called.ends_with('(') && (is_dotted(package) || is_identifier(package)))
            .then(|| package.to_owned())
    }

    /// A bare `"old"` in the package that `old` leaves is reported.
    fn bare(&self, span: ByteSpan, content: &str, found: &mut FileEdits) -> bool {
        let Some(module) = self.file.module else {
            return false;
        };
        if !self
            .file
            .graph()
            .modules
            .get(module)
            .is_some_and(|module| module.package)
        {
            return false;
        }
        let full = format!("{}.{content}", self.file.package);
        let Some(new) = self
            .file
            .absolute(&full)
            .filter(|_| self.file.graph().find(self.file.module, &full).is_some())
        else {
            return false;
        };
        if self.is_export(span) {
            return false;
        }
        if self
            .file
            .mapping
            .all
            .iter()
            .all(|change| change.from != full)
            || new == full
        {
            return false;
        }
        found.told.leave(
            span,
            Form::String,
            &full,
            "a bare name in a package that imports by strings; it may name the module",
        );
        true
    }

    fn is_export(&self, span: ByteSpan) -> bool {
        self.file
            .analysis()
            .all
            .iter()
            .flatten()
            .any(|entry| entry.span == span)
    }
}
