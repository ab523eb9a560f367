//! How likely a maintainer who is shown some places welcomes a change that makes them one.
//!
//! That something is duplicated ([`crate::likelihood`]) is no reason to touch it: of what is told most is too little, or
//! stays as it is for a reason that its place or its head says ([`crate::chapters`]). Of the rest readers of trees that
//! no rule was made on want gone what has many lines in a row that are the same as they are written, which is what
//! one sees of a copy. It is a logistic function of that, of how likely a copy it is, of how many places there are, and of
//! what breaks the text; its weights are fitted to their answers (`cargo xtask weights DIRECTORY --acting`).

use crate::{likelihood::logistic, merging::Measure};

/// What is weighed of a class.
pub const FEATURES: usize = 7;

/// What is added whatever is known of a class, and the weight of each feature.
const BASE: f32 = -10.885;
const WEIGHTS: [f32; FEATURES] = [1.020, 4.407, 1.280, 1.801, -0.134, 0.196, 0.354];

/// The likelihood of being duplicated that types and modules count as: nobody has measured it.
const WHOLE: f32 = 0.9;
/// Places from which on more of them say nothing more.
const PLACES: f32 = 8.0;

/// What is weighed of so many places, of which a pair is as likely duplicated.
#[must_use]
pub fn features(measure: &Measure, likelihood: Option<f32>, places: usize) -> [f32; FEATURES] {
    [
        measure.run.ln_1p(),
        likelihood.unwrap_or(WHOLE),
        (places as f32).min(PLACES).ln(),
        measure.share,
        measure.breaks.ln_1p(),
        measure.calls.ln_1p(),
        measure.decisions.ln_1p(),
    ]
}

/// How likely it is worth acting on, 0 to 1, as far as its texts say.
#[must_use]
pub fn likelihood(features: &[f32; FEATURES]) -> f32 {
    logistic(BASE, &WEIGHTS, features)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acting(run: f32, likely: f32, places: usize) -> f32 {
        let measure = Measure {
            run,
            share: 0.9,
            breaks: 2.0,
            calls: 8.0,
            decisions: 3.0,
            ..Measure::default()
        };
        likelihood(&features(&measure, Some(likely), places))
    }

    #[test]
    fn long_copies_in_many_places_are_welcome() {
        assert!(acting(40.0, 0.98, 2) > acting(8.0, 0.98, 2));
        assert!(acting(40.0, 0.98, 2) > acting(40.0, 0.7, 2));
        assert!(acting(12.0, 0.95, 6) > acting(12.0, 0.95, 2));
        assert!(acting(40.0, 0.98, 2) > 0.55 && acting(4.0, 0.9, 2) < 0.3);
        // Of a whole type nobody knows how likely a copy it is.
        let whole = features(&Measure::default(), None, 20);
        assert_eq!((whole[1], whole[2]), (WHOLE, PLACES.ln()));
    }
}
