//! What each kind of finding means: the text of `explain`, one entry a code.

use coalesce_model::{
    Code,
    envelope::{Body, Command, Envelope, Explain},
    finding::codes,
};

use crate::page::{BOLD, PLAIN, Page};

/// What there is to know about one kind of finding.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The kind.
    pub code: Code,
    /// What it finds.
    pub what: &'static str,
    /// Why it is bad.
    pub why: &'static str,
    /// Code that has it.
    pub example: &'static str,
    /// What to write instead.
    pub instead: &'static str,
}

/// The explanation of `code`; every code of [`codes::ALL`] has one.
#[must_use]
pub fn explanation(code: Code) -> Option<&'static Explanation> {
    EXPLANATIONS
        .iter()
        .find(|explanation| explanation.code == code)
}

/// What `explain` prints about `code`.
///
/// # Panics
/// For a code that is not in [`codes::ALL`], which only this workspace could make.
#[must_use]
pub fn envelope(code: Code) -> Envelope {
    let explanation = explanation(code).expect("invariant: every code is explained");
    Envelope::new(".", Command::Explain, Body::Explain(explanation.into()))
}

impl From<&Explanation> for Explain {
    fn from(explanation: &Explanation) -> Self {
        Self {
            code: explanation.code,
            what: explanation.what.to_owned(),
            why: explanation.why.to_owned(),
            example: explanation.example.to_owned(),
            instead: explanation.instead.to_owned(),
        }
    }
}

/// Writes the page of `explain`.
pub fn write(page: &mut Page, explain: &Explain) {
    page.put(BOLD, explain.code).end();
    let parts = [
        ("What it finds", &explain.what),
        ("Why it is bad", &explain.why),
        ("Example", &explain.example),
        ("Use instead", &explain.instead),
    ];
    for (heading, text) in parts {
        page.gap();
        page.put(BOLD, heading).end();
        for line in text.lines() {
            page.put(PLAIN, format_args!("  {line}")).end();
        }
    }
}

const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: codes::UNRESOLVED_IMPORT,
        what: "An import, or a `use`, that names a package of the tree but nothing that is in it.",
        why: "It fails as soon as it runs. In a function that is rarely called, that is in production.\n\
              A name that something invisible could supply (a star import of a third party, a\n\
              compiled extension, an unexpanded macro) is not reported.",
        example: "from lidar.core.gpu_pool import Pool   # lidar/core/gpu_pool.py was moved",
        instead: "from lidar.core.gpu_memory import Pool\n\
                  Move modules with `coalesce migrate`, which leaves no such import behind.",
    },
    Explanation {
        code: codes::FORBIDDEN_PATH,
        what: "An import, a string or a configuration value that names a path which a manifest's\n\
               `[[forbid]]` rules out, or an import of a shim that Coalesce left.",
        why: "The old path comes back, one import at a time, until it cannot be removed.",
        example: "from lidar.optimization.gpu import get_manager\n\
                  @mock.patch(\"lidar.optimization.gpu.get_manager\")",
        instead: "Name the new home, as the help of the finding says. Where the old path must stay,\n\
                  add the importer to `except` in the manifest.",
    },
    Explanation {
        code: codes::NEW_EAGER_CYCLE,
        what: "Modules that run each other's import while they are imported, where the baseline\n\
               (`check --baseline`) had no such cycle.",
        why: "Which of them is imported first decides whether a name is bound yet. It works until\n\
              somebody sorts the imports.",
        example: "# a.py\nfrom pkg.b import helper\n# b.py\nfrom pkg.a import Config",
        instead: "Move what both need to a third module, or import inside the function that needs it.",
    },
    Explanation {
        code: codes::SYNTAX_ERROR,
        what: "A source file that the language's parser refuses.",
        why: "Only its import statements can be seen and rewritten; references in the rest of it\n\
              are missed.",
        example: "print \"no parentheses\"",
        instead: "Repair the file, or add it to `.gitignore` or `.ignore` if it is no source.",
    },
    Explanation {
        code: codes::ORPHAN_FILE,
        what: "A source file that no module tree reaches: in Rust over all targets, features and\n\
               platforms, `#[path]`, `include!` and macro-declared modules included.",
        why: "It looks alive and is not: it is edited, searched and reviewed, but never compiled.",
        example: "src/gpu_old.rs, with no `mod gpu_old;` anywhere",
        instead: "Declare the module, or delete the file.",
    },
    Explanation {
        code: codes::IMPORT_CYCLE,
        what: "Modules that import each other, directly or through others.",
        why: "None of them can be used, tested or moved without the others.",
        example: "# a.py\nimport pkg.b\n# b.py\nimport pkg.a",
        instead: "Move what both need to a third module. `audit` shows the shortest cycle: the fewest\n\
                  imports that have to change.",
    },
    Explanation {
        code: codes::STALE_GUARD,
        what: "An import whose failure is caught (`try`/`except ImportError`, `suppress`,\n\
               `importorskip`) and that can no longer succeed, because its name is gone.",
        why: "Nothing fails. The fallback runs, always: the GPU is off, and only the run time tells.",
        example: "try:\n    from lidar.gpu_utils import fast_path   # moved two releases ago\n\
                  except ImportError:\n    fast_path = None",
        instead: "Name the module where it is now, or remove the guard and the fallback.",
    },
    Explanation {
        code: codes::EMPTY_STUB,
        what: "A module that defines nothing and re-exports nothing.",
        why: "It promises something that is not there, and it is one more place to look.",
        example: "\"\"\"GPU memory management (to be implemented).\"\"\"",
        instead: "Remove it, or replace it by the module that does the work: `[[replace]]` in a manifest.",
    },
    Explanation {
        code: codes::DUPLICATES,
        what: "Functions, classes, modules or blocks that are copies of each other: exact, with renamed\n\
               variables, with small changes, or one inside of the other; and idioms that stand in\n\
               several places, such as finding out whether there is a GPU. What nobody would merge,\n\
               such as two lines that every method of an interface has, is told as a sibling (in\n\
               --format json, with the likelihood); files that say they are generated are left out.",
        why: "A mistake is mended in one copy and stays in the others. They drift apart, and which of\n\
              them is right is forgotten.",
        example: "def _to_cpu(self, array): …   # in three classes, one of them without the check",
        instead: "Keep one and import it; `audit` shows what each copy does that the others do not.\n\
                  Where a copy is wanted, say so above it: `# coalesce: allow(duplicate, reason)`.\n\
                  `audit --baseline FILE` fails on new copies only.",
    },
    Explanation {
        code: codes::MANIFEST,
        what: "A migration manifest that cannot be followed: an unknown key, a name that does not\n\
               exist, entries that contradict each other.",
        why: "A migration does all of a manifest or nothing; a guess would be worse than a stop.",
        example: "[[move]]\nfrm = \"lidar.gpu\"",
        instead: "[[move]]\nfrom = \"lidar.gpu\"\nto = \"lidar.core.gpu\"",
    },
    Explanation {
        code: codes::UNSAFE_CHANGE,
        what: "A migration that would break something: an import that no longer resolves, a name read\n\
               before it is bound, a guarded import with another outcome, an edited file that does\n\
               not parse.",
        why: "The planned tree is checked before anything is written; this is what the check found.",
        example: "a move that makes `pkg.a` import `pkg.b` while `pkg.b` is still importing `pkg.a`",
        instead: "Change the manifest or the code at the place that the finding names, then plan again.",
    },
    Explanation {
        code: codes::UNDECIDED_MERGE,
        what: "Two modules that a `[[merge]]` joins both have something of this name, and it is not the\n\
               same; or the one that gives way does something that cannot move, such as a call that\n\
               stands in the module itself.",
        why: "Which of the two is right is known to people only: a threshold, a divisor or what is\n\
              caught changes what a program computes, and no import fails.",
        example: "[[merge]]\nfrom = \"lidar.gpu_utils\"\ninto = \"lidar.core.gpu\"   # both have `is_large`, \
                  10_000_000 against 1_000_000",
        instead: "Look at `coalesce diff lidar.gpu_utils lidar.core.gpu`, then say which stays:\n\
                  decide = { is_large = \"keep-into\" }     # or \"keep-from\", or \"rename:NAME\"",
    },
    Explanation {
        code: codes::NEW_FAILURE,
        what: "A target that does not compile, a module that cannot be imported, a test or a command\n\
               that fails on the planned tree (`verify`, `migrate --verify`) and passes on the tree\n\
               as it is.",
        why: "Something names the old place in a way that no reading of the text shows: a name that\n\
              is put together while the program runs, a macro, a file that is looked up by its path.\n\
              `because` names the planned change that stands at the place, where one does.",
        example: "plugin = importlib.import_module(\"lidar.optimization.\" + name)",
        instead: "Write the new name there by hand and plan again, or keep a shim at the old place\n\
                  (`shim = true`). Where the failure has another reason, run the check by hand:\n\
                  what fails before, too, is not listed.",
    },
    Explanation {
        code: codes::FAILS_WITHOUT_SHIM,
        what: "A check that passes on the planned tree, but not without the shims that the plan\n\
               leaves: something of the tree itself still needs the old name.",
        why: "The tree goes on using what it tells others not to use, and breaks on the day that the\n\
              shim is removed. A warning does not show it: Python hides the one of a deprecated\n\
              import, and rustc is silent about many kinds of items.",
        example: "manager = load(\"lidar.optimization.\" + \"gpu\")   # works only through the shim",
        instead: "Write the new name at the place that the finding shows, then verify again.",
    },
    Explanation {
        code: codes::NOT_PROVEN,
        what: "A plan of which less was proven than is asked for: by `--require`, or by `migrate`\n\
               itself where places are left that reading cannot tell.",
        why: "What a macro puts together, a table that is read at run time, a file that does not\n\
              parse may name what moves. The plan may well be right; nobody has shown it.",
        example: "coalesce migrate --yes   # with 2 places not proven",
        instead: "Read the places: `plan` lists each with what keeps it from being proven.\n\
                  `migrate --verify` compiles and imports the planned tree, which settles many.\n\
                  `--allow-unproven` applies the plan as it is.",
    },
    Explanation {
        code: codes::UNRESOLVED_AFTER_CHANGE,
        what: "An import of the planned tree that leads nowhere, and led somewhere before.",
        why: "It would fail as soon as it runs, so nothing is written.",
        example: "from pkg.core.gpu import missing",
        instead: "Name everything that the old module offers in the new one, or keep a shim. If a plan of\n\
              Coalesce's own making does this, report it.",
    },
    Explanation {
        code: codes::UNPARSABLE_AFTER_CHANGE,
        what: "An edited file that would not parse, and parses now.",
        why: "Nobody could import or compile it, so nothing is written.",
        example: "use crate::{a, };  # cut in two",
        instead: "Report it: an edit of ours should never do this.",
    },
    Explanation {
        code: codes::NEW_SILENT_FALLBACK,
        what: "An import inside of `try`/`except ImportError` or its like that succeeds now and would\n\
              fail after the change.",
        why: "Nothing would show it: the fallback runs, and a feature is off.",
        example: "try:\n\
                  from pkg.gpu import fast\n\
              except ImportError:\n\
                  fast = None",
        instead: "Let the import name the new home, by hand if the plan cannot.",
    },
    Explanation {
        code: codes::OCCUPIED_PATH,
        what: "A file that would land where another one is or would land, also where only the case of\n\
              its letters differs.",
        why: "One of them would be lost, or the tree could not be checked out everywhere.",
        example: "move a/gpu.py and a/GPU.py to b/",
        instead: "Choose another name, or move the other file first.",
    },
    Explanation {
        code: codes::CONFLICTING_EDITS,
        what: "Two edits of one place that say different things, or of a text that has changed.",
        why: "An edit that is merged by guesswork is no edit.",
        example: "two manifests that rename one import differently",
        instead: "Follow the manifests one after the other.",
    },
    Explanation {
        code: codes::UNREADABLE_SOURCE,
        what: "A source file that may name what moves and is not text that can be read.",
        why: "Its references would be left behind.",
        example: "a module in Latin-1 without a declaration",
        instead: "Make it UTF-8, or leave it out with `exclude` in coalesce.toml.",
    },
    Explanation {
        code: codes::LINK_IN_THE_WAY,
        what: "A symbolic link or a device that would have to move, stays in a folder that goes, or may\n\
              lead to a file that leaves its place.",
        why: "Nothing is written through links, and what one leads to from elsewhere is not ours to say.",
        example: "pkg/gpu.py -> ../shared/gpu.py",
        instead: "Put a plain file in its place first, or move the link by hand.",
    },
    Explanation {
        code: codes::SHIM_IN_USE,
        what: "A shim that is to go and that something in the tree still names.",
        why: "Whoever names it breaks.",
        example: "from pkg.gpu import count   # the shim",
        instead: "Let them name the new home; run the manifest once more. `--even-used` removes it all the\n\
              same.",
    },
    Explanation {
        code: codes::PLAN_REMARK,
        what: "Something about a plan that is worth knowing: what was widened, made, left or taken out.",
        why: "It stops nothing, and a reviewer will ask.",
        example: "note: `fill` is public now, since another crate uses it",
        instead: "Read it; there is nothing to repair.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_once_in_the_order_of_the_list() {
        let explained: Vec<_> = EXPLANATIONS
            .iter()
            .map(|explanation| explanation.code)
            .collect();
        assert_eq!(explained, codes::ALL);
        let made = include_str!("../../coalesce-model/src/finding.rs");
        let constants = made.matches(": Code = Code(").count();
        assert_eq!(constants, codes::ALL.len(), "a code is missing in the list");
    }
}
