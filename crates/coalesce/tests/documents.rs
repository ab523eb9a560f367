//! The commands that the documents show can be called as they stand there.

use std::{fs, path::Path};

use coalesce::cli::Invocation;

/// What ends a command of a shell, or begins a remark beside it.
const ENDS: [&str; 7] = ["#", "|", "||", "&&", ">", ">>", "<"];

/// The commands of the program in the code of a document, each as its words, with its line.
fn commands(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if !fenced && !line.starts_with("    ") {
            continue;
        }
        let line = line.trim_start();
        let line = line.strip_prefix("$ ").unwrap_or(line);
        for part in line.split(" && ") {
            let mut words = part.split_whitespace();
            if words.next() == Some("coalesce") {
                let words = words.take_while(|word| !ENDS.contains(word) && !word.starts_with('['));
                found.push((
                    number,
                    words.map(|word| word.trim_matches(['"', '\''])).collect(),
                ));
            }
        }
    }
    found
}

#[test]
fn commands_of_documents_can_be_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![root.join("README.md"), root.join("GUIDE.md")];
    let listed = fs::read_dir(root.join("docs")).expect("there are documents");
    documents.extend(listed.map(|entry| entry.expect("an entry").path()));
    let (mut tried, mut wrong) = (0, Vec::new());
    for path in documents
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
    {
        let text = fs::read_to_string(path).expect("a text");
        for (line, words) in commands(&text) {
            tried += 1;
            if let Err(error) = Invocation::of(words.iter().copied())
                && error.use_stderr()
            {
                wrong.push(format!("{}:{line}: {error}", path.display()));
            }
        }
    }
    assert!(tried > 50, "only {tried} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_with_what_goes_to_them() {
    let text = "Call `coalesce not-this`:\n\n    coalesce audit --fail-on 'a,b'   # why\n\
                \n```console\n$ coalesce plan | less\n```\n    cd x && coalesce status > y\n";
    let found: Vec<String> = commands(text)
        .into_iter()
        .map(|(line, words)| format!("{line}: {}", words.join(" ")))
        .collect();
    assert_eq!(found, ["3: audit --fail-on a,b", "6: plan", "8: status"]);
}
