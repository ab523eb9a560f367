//! Settings in files of sections, `[mypy]` and `plugins = pkg`, and the lines of a `MANIFEST.in`.

use coalesce_model::{ByteSpan, lines::placed_lines};

use super::{SettingRole, SettingValue, arguments::ArgumentReader, plain, role};

/// The values of a file, and names in the heads of its sections: `[mypy-pkg.*]`.
pub(super) fn values(text: &str) -> Vec<SettingValue> {
    let mut found = Vec::new();
    let mut arguments = ArgumentReader::default();
    let (mut section, mut key) = ("", None);
    for (at, line) in placed_lines(text) {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(head) = content.strip_prefix('[') {
            (section, key) = (head.trim_end_matches(']'), None);
            found.extend(named_in_head(at, line));
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        let value = match line.split_once(['=', ':']).filter(|_| !indented) {
            Some((name, value)) => {
                key = Some(name);
                found.extend(key_of_package(section, at, name));
                value
            }
            None => line,
        };
        let span = trimmed(at + line.len() - value.len(), value);
        match key.map(plain).as_deref() {
            Some("addopts") => arguments.line(text, span),
            Some("package_dir") if section == "options" => {
                found.extend(folder_of_package(span, text))
            }
            _ => {
                let role = key.and_then(|key| role_in(section, key));
                found.extend(role.map(|role| SettingValue { span, role }));
            }
        }
    }
    found.extend(arguments.values);
    found
}

/// `pkg = pkg`, a line of `package_dir`: a name and its folder.
fn folder_of_package(line: ByteSpan, text: &str) -> Vec<SettingValue> {
    let content = line.of(text).unwrap_or_default();
    let Some((name, folder)) = content.split_once('=') else {
        return Vec::new();
    };
    let at = line.start as usize;
    let value = |at: usize, part: &str, role: SettingRole| SettingValue {
        span: trimmed(at, part),
        role,
    };
    vec![
        value(at, name, SettingRole::Name),
        value(at + name.len() + 1, folder, SettingRole::Folder),
    ]
}

fn trimmed(at: usize, value: &str) -> ByteSpan {
    let content = value.trim();
    let start = at + value.len() - value.trim_start().len();
    ByteSpan::from_range(start..start + content.len())
}

/// What a key of a section says; settings whose meaning is not known may be anything there.
fn role_in(section: &str, key: &str) -> Option<SettingRole> {
    let builds = section.starts_with("options");
    // The list of packages is edited with those that come into being.
    let listed = section == "options" && plain(key) == "packages";
    role(key, builds).filter(|role| *role != SettingRole::Unknown && !listed)
}

/// The package that a key of `[options.package_data]` is.
fn key_of_package(section: &str, at: usize, key: &str) -> Option<SettingValue> {
    let of_packages = section.ends_with("package_data") || section.ends_with("package_dir");
    of_packages.then(|| SettingValue {
        span: trimmed(at, key),
        role: SettingRole::Name,
    })
}

/// The modules that the head of a section is about, `[mypy-pkg.*,other]`.
fn named_in_head(at: usize, line: &str) -> Option<SettingValue> {
    const HEAD: &str = "[mypy-";
    let modules = line.strip_prefix(HEAD)?.split(']').next()?;
    let start = at + HEAD.len();
    Some(SettingValue {
        span: ByteSpan::from_range(start..start + modules.len()),
        role: SettingRole::Name,
    })
}

/// The modules that heads of sections are about.
pub(in crate::project_edit) fn heads(text: &str) -> Vec<ByteSpan> {
    let heads = placed_lines(text).filter_map(|(at, line)| named_in_head(at, line));
    heads.map(|head| head.span).collect()
}

/// What the lines of a `MANIFEST.in` take in by folder: `graft pkg`, `recursive-include pkg *.json`.
pub(super) fn manifest(text: &str) -> Vec<SettingValue> {
    let taken = placed_lines(text).filter_map(|(at, line)| {
        let (command, rest) = line.trim_start().split_once([' ', '\t'])?;
        let known = ["graft", "prune", "recursive-include", "recursive-exclude"];
        known.contains(&command).then(|| {
            let start = at + line.len() - rest.len();
            let folder = rest.trim_start().split([' ', '\t']).next();
            let folder = folder.unwrap_or_default();
            let start = start + rest.len() - rest.trim_start().len();
            SettingValue {
                span: ByteSpan::from_range(start..start + folder.len()),
                role: SettingRole::Folder,
            }
        })
    });
    taken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_sections_are_found() {
        let text = "[mypy]\nplugins = a\n[mypy-b.*]\nstrict = True\n[options.package_data]\nc = *.txt\n\
            [tool:pytest]\nmarkers =\n    d: of d\naddopts =\n    e\n[options]\npackages = f\n";
        let found = values(text);
        let found: Vec<_> = found
            .iter()
            .filter_map(|value| value.span.of(text))
            .collect();
        assert_eq!(found, ["a", "b.*", "c", "e"]);
        let text = "graft a\nrecursive-include b *.txt\ninclude c/d\n";
        let found = manifest(text);
        let found: Vec<_> = found
            .iter()
            .filter_map(|value| value.span.of(text))
            .collect();
        assert_eq!(found, ["a", "b"]);
    }
}
