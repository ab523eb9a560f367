//! Arguments that pytest is given by its settings: `addopts = "-m gpu --ignore=pkg"`. What each is there for, its option says.

use coalesce_model::ByteSpan;

use super::{SettingRole, SettingValue};

/// Options of pytest that take the path of a folder.
const TAKING_FOLDERS: [&str; 4] = ["--confcutdir", "--ignore", "--rootdir", "--deselect"];

/// Options of pytest that take words of other kinds: `-m gpu` asks for a mark.
const TAKING_WORDS: [&str; 21] = [
    "--asyncio-mode",
    "--capture",
    "--color",
    "--cov-report",
    "--dist",
    "--durations",
    "--import-mode",
    "--log-cli-level",
    "--log-level",
    "--maxfail",
    "--numprocesses",
    "--override-ini",
    "--tb",
    "--timeout",
    "-W",
    "-c",
    "-k",
    "-m",
    "-n",
    "-o",
    "-r",
];

/// Options of pytest that take nothing.
const ALONE: [&str; 15] = [
    "--doctest-modules",
    "--exitfirst",
    "--last-failed",
    "--no-header",
    "--quiet",
    "--showlocals",
    "--strict-config",
    "--strict-markers",
    "--verbose",
    "-l",
    "-q",
    "-s",
    "-v",
    "-vv",
    "-x",
];

/// Reads arguments one by one.
#[derive(Default)]
pub(super) struct ArgumentReader<'t> {
    /// The option that the next one may belong to.
    option: Option<&'t str>,
    pub(super) values: Vec<SettingValue>,
}

impl<'t> ArgumentReader<'t> {
    /// All arguments of a line, as a shell parts them.
    pub(super) fn line(&mut self, text: &'t str, line: ByteSpan) {
        for span in parted(text, line) {
            self.argument(text, span);
        }
    }

    /// One argument.
    pub(super) fn argument(&mut self, text: &'t str, span: ByteSpan) {
        let argument = span.of(text).unwrap_or_default();
        let option = self.option.take();
        if !argument.starts_with('-') {
            let role = match option {
                Some(option) => taken_by(option),
                None => Some(SettingRole::Folder),
            };
            return self
                .values
                .extend(role.map(|role| SettingValue { span, role }));
        }
        let glued = argument.strip_prefix("-p").filter(|name| !name.is_empty());
        if let Some(name) = glued {
            let start = span.end - u32::try_from(name.len()).unwrap_or(0);
            return self.values.push(SettingValue {
                span: ByteSpan::new(start, span.end),
                role: SettingRole::Name,
            });
        }
        match argument.split_once('=') {
            Some((option, value)) => {
                let start = span.end - u32::try_from(value.len()).unwrap_or(0);
                let span = ByteSpan::new(start, span.end);
                let role = taken_by(option);
                self.values
                    .extend(role.map(|role| SettingValue { span, role }));
            }
            None => self.option = Some(argument).filter(|option| !ALONE.contains(option)),
        }
    }
}

/// What an option takes; nothing where that is no name and no folder.
fn taken_by(option: &str) -> Option<SettingRole> {
    match option {
        _ if TAKING_FOLDERS.contains(&option) => Some(SettingRole::Folder),
        _ if TAKING_WORDS.contains(&option) => None,
        // `-ra`, `-n4`: the word is taken already.
        _ if !option.starts_with("--") && option.len() > 2 => Some(SettingRole::Folder),
        _ => Some(SettingRole::Unknown),
    }
}

/// The words of a line; what stands in quotes is one.
fn parted(text: &str, line: ByteSpan) -> Vec<ByteSpan> {
    let content = line.of(text).unwrap_or_default();
    let (mut found, mut start, mut quote) = (Vec::new(), None, None);
    for (at, c) in content.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c.is_whitespace() => {
                found.extend(start.take().map(|start| (start, at)));
            }
            None => {
                start = start.or(Some(at));
                quote = matches!(c, '"' | '\'').then_some(c);
            }
        }
    }
    found.extend(start.map(|start| (start, content.len())));
    let spans = found.into_iter().map(|(start, end): (usize, usize)| {
        let word = content.get(start..end).unwrap_or_default();
        let quoted = word.len() > 1 && word.starts_with(['"', '\'']) && word.ends_with(['"', '\'']);
        let inset = usize::from(quoted);
        let from = line.start as usize;
        ByteSpan::from_range(from + start + inset..from + end - inset)
    });
    spans.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_what_their_options_take() {
        for (text, expected) in [
            ("-m a -k 'a and b' -ra a", "a Folder"),
            ("-m \"not a\" a", "a Folder"),
            ("-ma --ignore=a --rootdir a", "a Folder, a Folder"),
            ("-pa --verbose a", "a Name, a Folder"),
            ("--odd a --even=a", "a Unknown, a Unknown"),
            ("--cov-report=a --tb a", ""),
        ] {
            let whole = ByteSpan::from_range(0..text.len());
            let mut reader = ArgumentReader::default();
            reader.line(text, whole);
            let found: Vec<String> = reader
                .values
                .iter()
                .map(|value| {
                    format!(
                        "{} {:?}",
                        value.span.of(text).unwrap_or_default(),
                        value.role
                    )
                })
                .collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }
}
