//! From a plan to a changed tree: what `migrate`, `retire` and the commands of one entry do alike.

use coalesce_apply::Store;
use coalesce_engine::{
    Commits, MigrationPlan, PlannedCommits, PreparedMigration, Session, UncommittedChanges, answer,
    verify,
};
use coalesce_model::{
    Finding, Severity, TreePath,
    envelope::{self, CommitEntry, Committed, Grade, Locator, Migrate},
    finding::codes,
    manifest::VerifyTable,
};

use super::{confirm, remarks};
use crate::{
    cli,
    exit::{Exit, Failure},
    terminal::{self, Answer},
};

/// How a plan goes to the tree.
pub struct Application<'a> {
    /// The tree.
    pub session: &'a Session,
    /// Its journal.
    pub store: &'a Store,
    /// What whoever calls wants proven, and has allowed beforehand.
    pub options: &'a cli::ApplyOptions,
    /// The checks of `--verify`.
    pub checks: &'a VerifyTable,
}

/// What came of a plan.
pub struct CarriedOut {
    /// The plan, whether it was applied, and by which name it is undone.
    pub body: Migrate,
    /// What there is to say.
    pub findings: Vec<Finding>,
    /// How the command ends.
    pub exit: Exit,
}

impl Application<'_> {
    /// [`Self::carry_out`] where `apply` says so, else [`Self::show_only`].
    ///
    /// # Errors
    /// As these.
    pub fn carry_out_if(
        &self,
        apply: bool,
        worked: &mut MigrationPlan,
        locator: &mut Locator<'_>,
    ) -> anyhow::Result<CarriedOut> {
        if apply {
            self.carry_out(worked, locator)
        } else {
            self.show_only(worked, locator)
        }
    }

    /// Verifies the plan where that is wanted, and applies it if enough was proven.
    ///
    /// # Errors
    /// When a check cannot be made, somebody says no, or the tree cannot be written; it is then as
    /// it was.
    pub fn carry_out(
        &self,
        worked: &mut MigrationPlan,
        locator: &mut Locator<'_>,
    ) -> anyhow::Result<CarriedOut> {
        if self.options.commits && !worked.nothing_to_do() {
            // Before anything that takes its time.
            PlannedCommits::refuse_unclean(self.session)?;
        }
        let wanted = self.options.verify || offer_to_verify(self.session, worked, self.options)?;
        let mut carried = self.show(worked, locator, wanted)?;
        if carried.exit == Exit::Success && !worked.nothing_to_do() {
            let short = too_little(self.session, &carried.body.plan, self.options)?;
            if short.is_some() {
                carried.exit = Exit::Failed;
                carried.findings.extend(short);
                return Ok(carried);
            }
            self.apply(worked, wanted, &mut carried)?;
        }
        Ok(carried)
    }

    /// Writes what was worked out, and commits it where that is wanted.
    fn apply(
        &self,
        worked: &MigrationPlan,
        verified: bool,
        carried: &mut CarriedOut,
    ) -> anyhow::Result<()> {
        let checks = verified.then_some(self.checks);
        let planned = || PlannedCommits::of(self.session, worked, checks);
        let planned = self.options.commits.then(planned).transpose()?;
        let prepared = PreparedMigration::new(self.session, worked, self.uncommitted())?;
        self.ask(&prepared, planned.as_ref())?;
        let made = planned.as_ref().map(|planned| planned.make(self.session));
        let made = made.transpose()?;
        let count = prepared.file_count();
        let progress = &self.session.progress;
        progress.stage(format_args!("writing {count} files"));
        let applied = prepared.apply(self.store)?;
        carried.body.migration = Some(applied.id);
        carried.body.applied = true;
        carried.findings.extend(remarks(&applied.remarks));
        if let Some((planned, made)) = planned.zip(made) {
            carried.publish(&planned, &made);
        }
        Ok(())
    }

    fn uncommitted(&self) -> UncommittedChanges {
        if self.options.allow_dirty {
            UncommittedChanges::Touch
        } else {
            UncommittedChanges::Refuse
        }
    }

    fn ask(
        &self,
        prepared: &PreparedMigration<'_>,
        commits: Option<&PlannedCommits>,
    ) -> anyhow::Result<()> {
        let mut question = format!(
            "write or remove {} files of {}",
            prepared.file_count(),
            self.session.tree.root().display()
        );
        if let Some(commits) = commits {
            question.push_str(&format!(", in {} commits", commits.len()));
        }
        question.push('?');
        self.session.progress.end();
        confirm(self.options.yes, &question)
    }

    /// The plan without applying it; verified only where that is asked for.
    ///
    /// # Errors
    /// When a check cannot be made.
    pub fn show_only(
        &self,
        worked: &mut MigrationPlan,
        locator: &mut Locator<'_>,
    ) -> anyhow::Result<CarriedOut> {
        self.show(worked, locator, self.options.verify)
    }

    fn show(
        &self,
        worked: &mut MigrationPlan,
        locator: &mut Locator<'_>,
        wanted: bool,
    ) -> anyhow::Result<CarriedOut> {
        let wanted = wanted && !worked.refused();
        let verification = wanted.then(|| verify(self.session, worked, self.checks));
        let verification = verification.transpose()?;
        let mut body = Migrate {
            plan: worked.to_entry(self.session, locator),
            ..Migrate::default()
        };
        body.plan.answer = answer(worked, verification.as_ref());
        let passed = verification
            .as_ref()
            .is_none_or(|verification| verification.passed);
        body.verification = verification;
        let stopped = worked.refused() || !passed;
        Ok(CarriedOut {
            body,
            findings: worked.findings(),
            exit: if stopped { Exit::Failed } else { Exit::Success },
        })
    }
}

impl CarriedOut {
    /// Makes the commits of an applied migration visible.
    fn publish(&mut self, planned: &PlannedCommits, made: &Commits) {
        match made.publish() {
            Ok(()) => self.body.committed = Some(committed(planned, made)),
            // The tree is changed: only the commits are missing.
            Err(error) => {
                let message = format!("the migration is applied, and not committed: {error}");
                let help = "commit it yourself, or `coalesce rollback`";
                self.findings.push(not_finished(message, help));
                self.exit = Exit::Partly;
            }
        }
    }
}

/// Asks whoever is at the terminal whether the project's own checks shall run first.
fn offer_to_verify(
    session: &Session,
    plan: &MigrationPlan,
    options: &cli::ApplyOptions,
) -> anyhow::Result<bool> {
    if options.yes || plan.refused() || plan.nothing_to_do() {
        return Ok(false);
    }
    session.progress.end();
    let question =
        "compile and import the planned tree on a copy first? it runs the project's code";
    Ok(terminal::ask(question)? == Answer::Yes)
}

/// Why a plan is not applied of which too little was proven; nothing where whoever is asked says yes.
fn too_little(
    session: &Session,
    plan: &envelope::Plan,
    options: &cli::ApplyOptions,
) -> anyhow::Result<Option<Finding>> {
    let answer = &plan.answer;
    if let Some(required) = options.require {
        return Ok(falls_short(answer, required));
    }
    if answer.grade != Some(Grade::NotProven) || options.allow_unproven {
        return Ok(None);
    }
    let short = falls_short(answer, Grade::Resolved);
    if options.yes {
        return Ok(short);
    }
    match ask_all_the_same(session, plan)? {
        Answer::Yes => Ok(None),
        Answer::No => Err(Failure::user("nothing was done").into()),
        Answer::NobodyThere => Ok(short),
    }
}

/// Asks whether the tree is to be changed although places could not be proven.
fn ask_all_the_same(session: &Session, plan: &envelope::Plan) -> anyhow::Result<Answer> {
    session.progress.end();
    // The page comes only after the question.
    let places = coalesce_report::unproven_places(&plan.unproven);
    let question = format!("{places}\nchange the tree all the same?");
    Ok(terminal::ask(&question)?)
}

/// That less was proven than is required.
#[must_use]
pub fn falls_short(answer: &envelope::Answer, required: Grade) -> Option<Finding> {
    let grade = answer.grade?;
    let unchecked = answer.not_checked.len();
    if grade >= required && (required < Grade::Compiled || unchecked == 0) {
        return None;
    }
    let message = match grade {
        _ if grade >= required => format!(
            "{unchecked} of the configurations in `matrix` could not be checked, or not as a whole"
        ),
        Grade::NotProven => "some places could not be proven".to_owned(),
        _ => format!(
            "it was proven as far as `{}`, not `{}`",
            grade.as_str(),
            required.as_str()
        ),
    };
    Some(Finding {
        code: codes::NOT_PROVEN,
        severity: Severity::Error,
        path: TreePath::root(),
        span: None,
        message,
        help: Some(how_to_prove_more(grade, answer).to_owned()),
    })
}

fn how_to_prove_more(grade: Grade, answer: &envelope::Answer) -> &'static str {
    match grade {
        Grade::Compiled | Grade::Tested if !answer.not_checked.is_empty() => {
            "make them compile before the change, or take them out of `matrix` in `[verify]`"
        }
        Grade::NotProven => {
            "read them above; `migrate --verify` settles what a compiler can, `--allow-unproven` \
             applies the plan as it is"
        }
        Grade::Resolved if answer.configurations.is_empty() => {
            "`migrate --verify` compiles and imports the planned tree"
        }
        Grade::Resolved => {
            "some edited lines were in no configuration: name one that has them with `matrix` in \
             `[verify]` of the manifest"
        }
        Grade::Compiled | Grade::Tested => "name tests with `tests` in `[verify]` of the manifest",
    }
}

fn committed(planned: &PlannedCommits, made: &Commits) -> Committed {
    let mut notes = planned.joined.clone();
    if made.lack_signature() {
        notes.push("git is configured to sign commits, and these are not signed".to_owned());
    }
    let entries = made.hashes().into_iter().zip(planned.subjects());
    Committed {
        base: made.base(),
        commits: entries
            .map(|(hash, (subject, files))| CommitEntry {
                hash,
                subject,
                files,
            })
            .collect(),
        notes,
    }
}

/// The tree is changed, and what should come after that was not done.
pub fn not_finished(message: String, help: &str) -> Finding {
    Finding {
        code: codes::UNSAFE_CHANGE,
        severity: Severity::Error,
        path: TreePath::root(),
        span: None,
        message,
        help: Some(help.to_owned()),
    }
}
