//! `coalesce.toml`: what a tree says about how it is to be read.

use std::{fs, io::ErrorKind as IoErrorKind, path::Path};

use coalesce_model::{
    CheckSettings, DuplicateSettings, Layers, LineIndex, ProjectRule, RoleHome, RuleSubject,
    Settings, Severity, TreePath, json_schema, manifest::nearest, pattern::NamePattern,
};
use ignore::overrides::{Override, OverrideBuilder};
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::{
    Error, ErrorKind,
    filter::PathFilter,
    plain::{self, Links},
};

const FILE: &str = "coalesce.toml";
/// Longer settings are a mistake.
const MAXIMUM_BYTES: u64 = 1 << 20;

/// An example of each table, and of what stands above the first one.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("", "exclude = [\"vendor/\", \"*_pb2.py\"]\n"),
    ("python", "[python]\nroots = [\"src\"]\n"),
    (
        "duplicates",
        "[duplicates]\nmin-lines = 8\nexclude = [\"tests/\"]\n",
    ),
    (
        "check",
        "[check]\nrelease = \"4.0.0\"\nduplicates = \"duplicates-baseline.json\"\n",
    ),
    (
        "layers",
        "[[layers]]\nname = \"application\"\norder = [\"app.ui\", \"app.services\", \"app.core\"]\n",
    ),
    (
        "gpu-home",
        "[[gpu-home]]\nroles = [\"detect\", \"pool\"]\nmodules = [\"app.core.gpu**\"]\nmessage = \"ask app.core.gpu\"\n",
    ),
    (
        "rule",
        "[[rule]]\nname = \"no-raw-cupy\"\nover = \"imports\"\nregex = '^cupy\\b'\nhome = [\"app.core.gpu**\", \"tests/**\"]\n\
         message = \"CuPy is imported in one place\"\nhelp = \"use app.core.gpu.xp\"\n",
    ),
];

/// Settings of a tree: what is read, and what `coalesce check` looks for besides what it always does.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "Settings")]
struct Document {
    /// Files and folders that are not read, as globs of `.gitignore`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    exclude: Vec<Spanned<String>>,
    /// How Python names are found.
    #[serde(default)]
    python: Python,
    /// What counts as a duplicate.
    #[serde(default)]
    duplicates: Duplicates,
    /// How `coalesce check` runs.
    #[serde(default)]
    check: Check,
    /// Modules in an order: each layer may import those below it, never those above.
    #[serde(default)]
    layers: Vec<LayersTable>,
    /// Where calls of GPU libraries belong.
    #[serde(default)]
    gpu_home: Vec<GpuHome>,
    /// A rule of the project's own.
    #[serde(default)]
    rule: Vec<Rule>,
}

/// How Python names are found.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Python {
    /// Directories whose children are importable, instead of those that would be found.
    #[schemars(with = "Option<Vec<String>>")]
    roots: Option<Vec<Spanned<String>>>,
}

/// What counts as a duplicate.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Duplicates {
    /// Lines that a function, class or block must have.
    min_lines: Option<u32>,
    /// Tokens that its body must have.
    min_tokens: Option<u32>,
    /// Whether files are searched that say they are generated.
    #[serde(default)]
    generated: bool,
    /// Files that are searched, as globs; all when there is none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    include: Vec<Spanned<String>>,
    /// Files that are not searched, as globs.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    exclude: Vec<Spanned<String>>,
}

/// How `coalesce check` runs.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Check {
    /// Rules that do not run, by code.
    #[serde(default)]
    off: Vec<String>,
    /// The release that is being made, as `--release` says it.
    release: Option<String>,
    /// The baseline of duplicates, as `--duplicates` names it, relative to the root.
    duplicates: Option<String>,
}

/// Modules in an order: each layer may import those below it, never those above.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LayersTable {
    /// What the order is called in messages.
    name: String,
    /// Patterns of module names from the top to the bottom; `*` stands for part of a segment, `**`
    /// for segments, and what is below a name belongs to it. Each fits a module of the tree.
    order: Vec<String>,
}

/// Where calls of GPU libraries belong.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct GpuHome {
    /// What the calls are for: `detect`, `select`, `allocate`, `pool`, `release`, `measure`,
    /// `transfer`, `stream`, `profile`, `launch` or `compute`.
    roles: Vec<String>,
    /// Patterns of the modules that may make them; each fits one of the tree.
    modules: Vec<String>,
    /// What to use instead.
    message: Option<String>,
}

/// A rule of the project's own: what must stand nowhere but in its home.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Rule {
    /// What it is called in messages and in `coalesce: allow(NAME, reason)`.
    name: String,
    /// What the expression is held against.
    over: RuleSubject,
    /// A regular expression in the syntax of Rust's `regex` crate.
    #[schemars(with = "String")]
    regex: Spanned<String>,
    /// Where it is allowed: patterns of module names, or globs of files where there is a `/`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    home: Vec<Spanned<String>>,
    /// What is wrong with it.
    message: String,
    /// What to do instead.
    help: Option<String>,
    /// How bad it is.
    #[serde(default = "error")]
    severity: Severity,
}

const fn error() -> Severity {
    Severity::Error
}

/// The JSON schema of `coalesce.toml`.
#[must_use]
pub fn schema() -> schemars::Schema {
    json_schema::as_read::<Document>()
}

/// Settings of the walk and of the languages.
pub(crate) struct TreeSettings {
    /// What is left out of the walk.
    pub exclude: Override,
    /// What languages need to know.
    pub for_languages: Settings,
}

/// Reads the settings of the tree at `root`; a tree without the file has none.
pub(crate) fn read(root: &Path) -> Result<TreeSettings, Error> {
    match plain::read_to_string(&root.join(FILE), MAXIMUM_BYTES, Links::Refuse) {
        Ok(text) => parse(root, &text),
        Err(error) if error.kind() == IoErrorKind::NotFound => parse(root, ""),
        Err(error) => Err(Error::new(ErrorKind::from(&error), FILE, error.to_string())),
    }
}

fn parse(root: &Path, text: &str) -> Result<TreeSettings, Error> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        malformed(text, at, error.message())
    })?;
    let roots = document
        .python
        .roots
        .as_ref()
        .map(|roots| python_roots(root, text, roots));
    Ok(TreeSettings {
        exclude: excluded(root, text, &document.exclude)?,
        for_languages: Settings {
            python_roots: roots.transpose()?,
            duplicates: duplicates(text, &document.duplicates)?,
            check: check(text, document)?,
            ..Settings::default()
        },
    })
}

fn malformed(text: &str, at: usize, message: &str) -> Error {
    let at = u32::try_from(at).unwrap_or(0);
    let position = LineIndex::new(text).position(text, at);
    let path = format!("{FILE}:{}:{}", position.line, position.column);
    // The parser's second line only lists what it expected.
    let message = message.lines().next().unwrap_or_default();
    Error::new(ErrorKind::Settings, path, message)
}

/// The folders that modules are named from. One that is not there would leave all modules of the right one unnamed,
/// and nothing would be found wrong with them.
fn python_roots(
    tree: &Path,
    text: &str,
    roots: &[Spanned<String>],
) -> Result<Vec<TreePath>, Error> {
    let root = |root: &Spanned<String>| {
        let fail = |message: &str| malformed(text, root.span().start, message);
        let path = TreePath::new(root.get_ref()).map_err(|error| fail(&error.to_string()))?;
        if path.is_root() || tree.join(path.as_str()).is_dir() {
            return Ok(path);
        }
        let near = folder_meant(tree, &path).map(|near| format!(" (did you mean `{near}`?)"));
        let near = near.unwrap_or_default();
        Err(fail(&format!("there is no folder `{path}`{near}")))
    };
    roots.iter().map(root).collect()
}

/// The folder beside a missing one whose name is nearest to it.
fn folder_meant(tree: &Path, missing: &TreePath) -> Option<String> {
    let above = missing.parent()?;
    let listed = fs::read_dir(tree.join(above.as_str())).ok()?;
    let folders = listed.filter_map(|entry| {
        let entry = entry.ok()?;
        let is_folder = entry.file_type().ok()?.is_dir();
        is_folder.then(|| entry.file_name().into_string().ok())?
    });
    let folders: Vec<String> = folders.collect();
    let near = nearest(missing.file_name(), folders.iter().map(String::as_str))?;
    let path = above.join(near).ok()?;
    Some(path.to_string())
}

fn duplicates(text: &str, said: &Duplicates) -> Result<DuplicateSettings, Error> {
    let globs = |globs: &[Spanned<String>]| -> Result<Vec<String>, Error> {
        for glob in globs {
            PathFilter::new(std::slice::from_ref(glob.get_ref()), &[])
                .map_err(|message| malformed(text, glob.span().start, &message))?;
        }
        Ok(globs.iter().map(|glob| glob.get_ref().clone()).collect())
    };
    Ok(DuplicateSettings {
        min_lines: said.min_lines,
        min_tokens: said.min_tokens,
        generated: said.generated,
        include: globs(&said.include)?,
        exclude: globs(&said.exclude)?,
    })
}

/// What `check` looks for; expressions and globs are tried here, where their line is known.
fn check(text: &str, document: Document) -> Result<CheckSettings, Error> {
    let patterns = |texts: Vec<String>| texts.iter().map(|text| NamePattern::new(text)).collect();
    let layers = document.layers.into_iter().map(|table| Layers {
        name: table.name,
        order: patterns(table.order),
    });
    let homes = document.gpu_home.into_iter().map(|table| RoleHome {
        roles: table.roles,
        modules: patterns(table.modules),
        message: table.message,
    });
    let rules = document.rule.into_iter().map(|table| rule(text, table));
    Ok(CheckSettings {
        off: document.check.off,
        release: document.check.release,
        duplicates: document.check.duplicates,
        layers: layers.collect(),
        homes: homes.collect(),
        rules: rules.collect::<Result<_, Error>>()?,
    })
}

fn rule(text: &str, table: Rule) -> Result<ProjectRule, Error> {
    if let Err(error) = Regex::new(table.regex.get_ref()) {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        return Err(malformed(text, table.regex.span().start, last));
    }
    for home in &table.home {
        PathFilter::new(std::slice::from_ref(home.get_ref()), &[])
            .map_err(|message| malformed(text, home.span().start, &message))?;
    }
    Ok(ProjectRule {
        name: table.name,
        over: table.over,
        regex: table.regex.into_inner(),
        home: table.home.into_iter().map(Spanned::into_inner).collect(),
        message: table.message,
        help: table.help,
        severity: table.severity,
    })
}

fn excluded(root: &Path, text: &str, globs: &[Spanned<String>]) -> Result<Override, Error> {
    let mut exclude = OverrideBuilder::new(root);
    for glob in globs {
        let wrong = |message: &str| malformed(text, glob.span().start, message);
        if glob.get_ref().starts_with('!') {
            return Err(wrong("`!` takes nothing back here; name what is left out"));
        }
        // In an override, `!` marks what is left out.
        exclude
            .add(&format!("!{}", glob.get_ref()))
            .map_err(|error| wrong(&error.to_string()))?;
    }
    exclude
        .build()
        .map_err(|error| malformed(text, 0, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_read() {
        let text: String = EXAMPLES.iter().map(|(_, example)| *example).collect();
        let settings = parse(Path::new(env!("CARGO_MANIFEST_DIR")), &text)
            .unwrap()
            .for_languages;
        let check = settings.check;
        assert_eq!(
            (check.layers.len(), check.homes.len(), check.rules.len()),
            (1, 1, 1)
        );
        assert_eq!(check.rules[0].severity, Severity::Error);
    }

    #[test]
    fn mistakes_name_their_line() {
        // The folder that the tests run in has one of this name.
        let parse = |text| parse(Path::new(env!("CARGO_MANIFEST_DIR")), text);
        let settings = parse("exclude = ['vendor/']\n[python]\nroots = ['src']\n").unwrap();
        let roots = settings.for_languages.python_roots;
        assert_eq!(roots, Some(vec![TreePath::new("src").unwrap()]));
        for (text, start) in [
            ("x = 1", "coalesce.toml:1:1: unknown field"),
            ("[python]\nroots = ['.', '..']", "coalesce.toml:2:15: `..`"),
            (
                "[python]\nroots = ['srcc']",
                "coalesce.toml:2:10: there is no folder `srcc` (did you mean `src`?)",
            ),
            ("exclude = [\n 'a',\n 'a[']", "coalesce.toml:3:2: "),
            ("exclude = ['!a']", "coalesce.toml:1:12: `!`"),
            ("exclude = 1\n", "coalesce.toml:1:11: "),
            (
                "[[rule]]\nname = 'r'\nover = 'text'\nregex = '('\nmessage = 'm'\n",
                "coalesce.toml:4:9: ",
            ),
            (
                "[[rule]]\nname = 'r'\nover = 'comments'\n",
                "coalesce.toml:3:8: ",
            ),
        ] {
            let message = parse(text).err().map(|error| error.to_string());
            let message = message.unwrap_or_default();
            assert!(message.starts_with(start), "{message}");
        }
    }
}
