//! How likely a maintainer who is shown some places welcomes a change that makes them one.
//!
//! That something is duplicated ([`crate::likelihood`]) is no reason to touch it: of what is told most is too little, or
//! stays as it is for a reason that its place or its head says ([`crate::chapters`]). Of the rest readers of trees that
//! no rule was made on want gone what has many lines in a row that are the same as they are written, which is what
//! one sees of a copy; of whole types and modules, and of what is alike in part, what stands in one file: several files
//! are oftener one a model or a format, by a rule that nobody wrote down. Whose text it is counts against several files
//! (the module `attribution`): it is kept as it came. So does one name of theirs in several folders: each has its own. It is
//! a logistic function of that, of how likely a copy it is, of how many places there are, and of what breaks the text; its
//! weights are fitted to their answers (`cargo xtask weights DIRECTORY --acting`).

use std::collections::BTreeSet;

use crate::{beside, likelihood::logistic, merging::Measure, report::Member};

/// What is weighed of a class.
pub const FEATURES: usize = 11;

/// What is added whatever is known of a class, and the weight of each feature.
const BASE: f32 = -9.275;
const WEIGHTS: [f32; FEATURES] = [
    0.884, 4.343, 1.030, 0.990, -0.161, 0.203, 0.279, -0.615, -0.688, -1.053, -0.981,
];

/// The likelihood of being duplicated that types and modules count as: nobody has measured it.
const WHOLE: f32 = 0.9;
/// Places from which on more of them say nothing more.
const PLACES: f32 = 8.0;
/// From this share on functions are one text, in however many files.
const ONE_TEXT: f32 = 0.8;

/// What is weighed of these places, of which a pair is as likely duplicated; of types and modules nobody knows that.
#[must_use]
pub fn features(measure: &Measure, likelihood: Option<f32>, members: &[Member]) -> [f32; FEATURES] {
    let files: BTreeSet<_> = members.iter().map(|member| &member.path).collect();
    let at_most = |count: usize| (count.max(1) as f32).min(PLACES).ln();
    let is_whole = likelihood.is_none();
    let is_family = is_whole || measure.share < ONE_TEXT;
    [
        measure.run.ln_1p(),
        likelihood.unwrap_or(WHOLE),
        at_most(members.len()),
        measure.share,
        measure.breaks.ln_1p(),
        measure.calls.ln_1p(),
        measure.decisions.ln_1p(),
        at_most(if is_family { files.len() } else { 1 }),
        f32::from(is_whole),
        f32::from(measure.attributed),
        f32::from(beside::share_a_name(members)),
    ]
}

/// How likely it is worth acting on, 0 to 1, as far as its texts say.
#[must_use]
pub fn likelihood(features: &[f32; FEATURES]) -> f32 {
    logistic(BASE, &WEIGHTS, features)
}

#[cfg(test)]
mod tests {
    use coalesce_model::TreePath;

    use super::*;

    /// So many places in so many files.
    fn members(count: u32, files: u32) -> Vec<Member> {
        let member = |at: u32| Member {
            path: TreePath::new(&format!("file_{}.py", at % files)).unwrap(),
            item: format!("function_{at}"),
            lines: (at * 100 + 1, at * 100 + 50),
            start: 0,
        };
        (0..count).map(member).collect()
    }

    fn acting((run, share): (f32, f32), likely: f32, (count, files): (u32, u32)) -> f32 {
        let measure = Measure {
            run,
            share,
            breaks: 2.0,
            calls: 8.0,
            decisions: 3.0,
            ..Measure::default()
        };
        likelihood(&features(&measure, Some(likely), &members(count, files)))
    }

    #[test]
    fn long_copies_in_many_places_are_welcome() {
        let long = acting((40.0, 0.9), 0.98, (2, 2));
        assert!(long > 0.5 && long > acting((8.0, 0.9), 0.98, (2, 2)));
        assert!(long > acting((40.0, 0.9), 0.7, (2, 2)));
        assert!(acting((12.0, 0.9), 0.95, (6, 2)) > acting((12.0, 0.9), 0.95, (2, 2)));
        assert!(acting((4.0, 0.9), 0.9, (2, 2)) < 0.3);
    }

    #[test]
    fn what_is_alike_in_part_is_welcome_in_few_files() {
        let (near, far) = ((6, 1), (6, 6));
        assert!(acting((12.0, 0.7), 0.95, near) > acting((12.0, 0.7), 0.95, far));
        let apart = acting((12.0, 0.9), 0.95, near) - acting((12.0, 0.9), 0.95, far);
        assert!(apart.abs() < 1e-6);
        // Of a whole type nobody knows how likely a copy it is.
        let whole = features(&Measure::default(), None, &members(20, 20));
        assert_eq!(whole[1..3], [WHOLE, PLACES.ln()]);
        assert_eq!(whole[7..9], [PLACES.ln(), 1.0]);
    }
}
