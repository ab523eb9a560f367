//! What is said of a manifest, in the words of the command that stands for it: whoever typed `move` has no file in
//! which a key could be written.

use coalesce_engine::Failure;
use coalesce_model::{
    Finding,
    envelope::ErrorKind,
    manifest::{EntryText, Verb},
};
use coalesce_report::typed::shell_word;

use super::entry::words;

/// The entry of a command.
pub struct Spoken<'e>(pub &'e EntryText);

impl Spoken<'_> {
    /// The finding with its help.
    pub fn finding(&self, mut finding: Finding) -> Finding {
        let help = finding.help.take();
        finding.help = help.map(|help| self.said(&help));
        finding
    }

    /// The failure without places in a file that does not exist.
    pub fn failure(&self, failure: &Failure) -> Failure {
        let entry = failure.entry();
        let spoken = match entry.kind {
            ErrorKind::Internal => Failure::internal(&entry.message),
            ErrorKind::User | ErrorKind::Config => Failure::user(&entry.message),
        };
        let hints = entry.hints.iter().map(|hint| self.without_places(hint));
        let hints = hints.filter_map(|hint| without_record(&hint));
        hints.fold(spoken, |failure, hint| failure.hint(self.said(&hint)))
    }

    /// A hint without `NAME.toml:4:8: ` in it.
    fn without_places(&self, hint: &str) -> String {
        let label = format!("{}.toml:", self.0.id());
        let Some((before, after)) = hint.split_once(&label) else {
            return hint.to_owned();
        };
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        format!("{before}{}", rest.trim_start())
    }

    /// Advice for a manifest as advice for this command.
    fn said(&self, advice: &str) -> String {
        let mut said = decisions(advice, &self.0.decide);
        said = said.replace("`shim = true`", "`--shim`");
        said = said.replace(
            &format!(" instead of `[[{}]]`", self.0.verb.as_str()),
            " instead",
        );
        for verb in [Verb::Move, Verb::Replace, Verb::Merge, Verb::Remove] {
            let table = format!("`[[{}]]`", verb.as_str());
            if said.contains(&table) {
                said = said.replace(&table, &format!("`coalesce {}`", self.other(verb)));
            }
        }
        // A refused entry is saved nowhere, and stands on the page.
        let place = "write at the top of the manifest: ";
        said = said.replace(
            place,
            "write the manifest above to a file, with this at its top: ",
        );
        said.replace("write `coalesce", "type `coalesce")
            .replace("say `coalesce", "type `coalesce")
    }

    /// The words of the same entry with another verb.
    fn other(&self, verb: Verb) -> String {
        let to =
            (verb != Verb::Remove).then(|| self.0.to.clone().unwrap_or_else(|| "TO".to_owned()));
        let other = EntryText {
            verb,
            to,
            decide: Vec::new(),
            shim: self.0.shim && verb != Verb::Remove,
            ..self.0.clone()
        };
        let words: Vec<String> = words(&other).iter().map(|word| shell_word(word)).collect();
        words.join(" ")
    }
}

/// A hint without what it says of the record beside a manifest; none where it says nothing else.
fn without_record(hint: &str) -> Option<String> {
    let Some((before, _)) = hint.split_once("if it was applied already, say so in `") else {
        return Some(hint.to_owned());
    };
    let mut left = before
        .trim_end()
        .trim_end_matches('(')
        .trim_end()
        .to_owned();
    if left.contains('(') && !left.contains(')') {
        left.push(')');
    }
    Some(left).filter(|left| !left.is_empty())
}

/// Advice with ``write `decide = { a = "keep-into" }` `` as options, without those that are typed already.
fn decisions(advice: &str, typed: &[(String, String)]) -> String {
    const TABLE: &str = "write `decide = {";
    let Some((before, rest)) = advice.split_once(TABLE) else {
        return advice.to_owned();
    };
    let Some((table, after)) = rest.rsplit_once("}`") else {
        return advice.to_owned();
    };
    let mut options = Vec::new();
    let mut rest = table.trim();
    while let Some((key, value)) = rest.split_once(" = \"") {
        let Some((choice, others)) = value.split_once('"') else {
            break;
        };
        // Strings of TOML are strings of JSON as far as keys are concerned.
        let key = key.trim();
        let key = serde_json::from_str(key).unwrap_or_else(|_| key.trim_matches('\'').to_owned());
        if !typed.iter().any(|(known, _)| *known == key) {
            let option = shell_word(&format!("{key}={choice}"));
            options.push(format!("--decide {option}"));
        }
        rest = others.trim_start_matches([',', ' ']);
    }
    format!("{before}add `{}`{after}", options.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_in_words_of_the_command_line() {
        let mut entry = EntryText::new(Verb::Move, "a.b", Some("a.c".to_owned()));
        entry.shim = true;
        for (advice, said) in [
            (
                "to give its users the existing one, write `[[replace]]` instead of `[[move]]`",
                "to give its users the existing one, type `coalesce replace a.b a.c --shim` instead",
            ),
            (
                "look, then write `decide = { x = \"keep-into\", \"f(\\\"a\\\")\" = \"keep-from\" }` now",
                "look, then add `--decide x=keep-into --decide 'f(\"a\")=keep-from'` now",
            ),
            (
                "leave a shim with `shim = true`, or not",
                "leave a shim with `--shim`, or not",
            ),
            ("nothing of the kind", "nothing of the kind"),
        ] {
            assert_eq!(Spoken(&entry).said(advice), said);
        }
    }

    #[test]
    fn a_failure_names_no_file_that_is_not_there() {
        let entry = EntryText::new(Verb::Replace, "app.user", Some("app.other".to_owned()));
        let failure = Failure::config("there is no module `app.user`")
            .hint("if it was applied already, say so in `replace-app.user.applied` beside the manifest: `x`")
            .hint(format!("also {}.toml:4:8: nothing is there", entry.id()));
        let spoken = Spoken(&entry).failure(&failure);
        assert_eq!(spoken.entry().hints, ["also nothing is there"]);
        assert_eq!(spoken.entry().place, None);
    }
}
