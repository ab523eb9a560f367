//! Which files say what was: release notes and guides from one release to another, by their usual
//! names. They stay as they were written.

use coalesce_model::TreePath;

/// Names of files, and of the directories that hold them.
const NAMES: [&str; 12] = [
    "changelog",
    "changelogs",
    "change_log",
    "changes",
    "history",
    "news",
    "release",
    "releases",
    "whatsnew",
    "whats_new",
    "what_s_new",
    "breaking_changes",
];

/// What such a name contains wherever it stands in it.
const PARTS: [&str; 12] = [
    "changelog",
    "release_note",
    "releasenote",
    "release_log",
    "release_history",
    "old_release",
    "whatsnew",
    "whats_new",
    "newsfragment",
    "news_fragment",
    "migration",
    "upgrading",
];

/// What it begins with.
const STARTS: [&str; 6] = [
    "migrating_",
    "migrate_",
    "upgrade_",
    "upgrade_guide",
    "changes_",
    "history_",
];

/// Directories whose files are history whatever they are written in.
const FRAGMENTS: [&str; 7] = [
    "changelog_d",
    "changes_d",
    "news_d",
    "newsfragments",
    "release_notes",
    "releasenotes",
    "changelog_unreleased",
];

/// Whether a file is history; `document` says whether it is one by its extension, or has none.
pub fn is_history(path: &TreePath, document: bool) -> bool {
    let name = path.file_name();
    let stem = name.rsplit_once('.').map_or(name, |(stem, extension)| {
        // The last number of a version is no extension.
        let number = extension.starts_with(|c: char| c.is_ascii_digit());
        if number { name } else { stem }
    });
    let mut directories: Vec<String> = path.components().map(normalized).collect();
    directories.pop();
    if directories
        .iter()
        .any(|part| FRAGMENTS.contains(&part.as_str()))
    {
        return true;
    }
    let named = |part: &String| {
        NAMES.contains(&part.as_str()) || PARTS.iter().any(|word| part.contains(word))
    };
    let own = normalized(stem);
    let numbered = NAMES.iter().any(|word| {
        let rest = own
            .strip_prefix(word)
            .and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit()) || rest.starts_with('v')
        })
    });
    document
        && (directories.iter().any(named)
            || named(&own)
            || numbered
            || STARTS.iter().any(|start| own.starts_with(start))
            || own == "upgrade"
            || is_version(stem))
}

fn normalized(part: &str) -> String {
    part.to_lowercase().replace(['-', '.', ' ', '\''], "_")
}

/// Whether a name is that of a release: `1.9`, `v1.9`, `api_1.9`, `version-2.0.1`.
fn is_version(stem: &str) -> bool {
    let lower = stem.to_lowercase();
    let rest = lower.trim_start_matches(|c: char| c.is_alphabetic() || matches!(c, '_' | '-'));
    let word = lower.get(..lower.len() - rest.len()).unwrap_or_default();
    let word = word.trim_end_matches(['_', '-']);
    let digits = rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('.');
    digits
        && matches!(
            word,
            "" | "v" | "api" | "version" | "release" | "rel" | "changes"
        )
        && rest
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}
