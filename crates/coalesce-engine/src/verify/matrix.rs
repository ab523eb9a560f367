//! What a manifest asks for in `matrix` and no run can answer for: it is told, and never left out in silence.

use coalesce_model::{envelope::NotChecked, manifest::VerifyTable};
use coalesce_verify::{CargoConfiguration, Check, Outcome};

use super::{
    states::{Need, Planned, asked},
    verdict::Ran,
};

/// What of a baseline says nothing.
#[derive(Default)]
pub struct Silent {
    /// Nobody asked for it.
    pub left_out: Vec<String>,
    /// Configurations that a manifest names, and why they fail.
    asked: Vec<(CargoConfiguration, String)>,
    /// Those of which only a part fails.
    in_part: Vec<NotChecked>,
}

impl Silent {
    /// Adds a check that fails before the change for this reason.
    pub fn add(&mut self, planned: &Planned, why: String) {
        match (&planned.check, planned.need) {
            (Check::Cargo { configuration, .. }, Need::Asked) => {
                self.asked.push((configuration.clone(), why));
            }
            (check, _) => self.left_out.push(format!("{}: {why}", check.label())),
        }
    }

    /// Adds what fails of a check that a manifest asks for.
    pub fn add_failing(&mut self, planned: &Planned, outcome: &Outcome) {
        let Some(first) = outcome
            .failures
            .first()
            .filter(|_| planned.need == Need::Asked)
        else {
            return;
        };
        let said = first.message.lines().next().unwrap_or_default();
        self.in_part.push(NotChecked {
            check: planned.check.label(),
            why: format!(
                "{} of {} fail before the change: {said}",
                outcome.failures.len(),
                outcome.judged
            ),
        });
    }

    /// What was asked for and not checked, or not as a whole. What one workspace does not have another one may.
    pub fn not_checked(self, table: &VerifyTable, ran: &[Ran]) -> Vec<NotChecked> {
        let is_made = |wanted: &CargoConfiguration| {
            ran.iter().any(|ran| match &ran.check {
                Check::Cargo { configuration, .. } => configuration == wanted,
                _ => false,
            })
        };
        let mut all: Vec<NotChecked> = Vec::new();
        for (configuration, why) in self.asked {
            let check = configuration.command();
            let known = all.iter().any(|one| one.check == check);
            if !known && !is_made(&configuration) {
                all.push(NotChecked { check, why });
            }
        }
        all.extend(self.in_part);
        if !table.commands.is_empty() {
            all.extend(asked(table).iter().map(|configuration| NotChecked {
                check: configuration.command(),
                why: "`commands` of `[verify]` are run instead of it".to_owned(),
            }));
        }
        all
    }
}
