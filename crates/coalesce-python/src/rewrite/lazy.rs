//! Names of modules that are imported by a string at run time: `import_module(".old", __package__)`,
//! tables of a module's `__getattr__`, `lazy.attach`.

use coalesce_model::{ByteSpan, Edit, Form};

use crate::{
    analysis::StringLiteral,
    extract::{is_dotted, is_identifier},
    rewrite::{
        file::{File, FileEdits, Reference},
        imports,
        strings::relative_after,
    },
};

/// How a file imports by strings.
pub struct Lazy<'a> {
    file: &'a File<'a>,
    /// It imports modules whose names are in strings.
    dynamic: bool,
    /// It uses `lazy_loader`.
    attaches: bool,
}

impl<'a> Lazy<'a> {
    pub fn new(file: &'a File<'a>) -> Self {
        let has =
            |text: &str| memchr::memmem::find(file.text.as_bytes(), text.as_bytes()).is_some();
        let attaches = has("attach(");
        Self {
            file,
            attaches,
            dynamic: attaches
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
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let package = rest.get(1..)?.split(quote).next()?;
        let called = self
            .file
            .text
            .get(..span.start as usize)?
            .trim_end_matches(['"', '\''])
            .trim_end();
        (called.ends_with('(') && (is_dotted(package) || is_identifier(package)))
            .then(|| package.to_owned())
    }

    /// A bare `"old"` in the package that `old` leaves: a key of `submod_attrs` changes, other
    /// entries of tables are reported.
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
        let rest = self
            .file
            .text
            .get(span.end as usize + 1..)
            .unwrap_or_default()
            .trim_start();
        let key = rest
            .strip_prefix(':')
            .is_some_and(|rest| rest.trim_start().starts_with('['));
        let relative = relative_after(self.file, &new)
            .map(|relative| relative.trim_start_matches('.').to_owned());
        match relative.filter(|_| {
            self.attaches && key && new.starts_with(&format!("{}.", self.file.package_after))
        }) {
            Some(relative) => {
                let reference = Reference::exact(
                    Form::String,
                    &full,
                    &new,
                    "a key of a table of lazy imports",
                );
                found.change(Edit::replace(span, relative), reference.needs_review());
            }
            None if self.attaches && key && !self.has_shim(&full) => {
                let help = "import the names from the new module in the package itself";
                let package = &self.file.package;
                let message = format!(
                    "lazy imports of `{package}` cannot lead to `{new}`, which is not below it"
                );
                found.refuse(span, message, Some(help.to_owned()));
            }
            None => found.leave(
                span,
                Form::String,
                &full,
                "a bare name in a package that imports by strings; it may name the module",
            ),
        }
        true
    }

    /// Whether the change that concerns a name leaves a shim.
    fn has_shim(&self, name: &str) -> bool {
        let changes = self.file.mapping.all.iter().filter(|change| {
            let rest = name.strip_prefix(change.from.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        let nearest = changes.max_by_key(|change| change.from.len());
        nearest.is_some_and(|change| change.shim.is_some())
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
