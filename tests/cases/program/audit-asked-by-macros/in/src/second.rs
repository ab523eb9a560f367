//! Second.

crate::wrap!(
    f32,
    softsign,
    pub fn run(values: &mut [f32], least: f32) -> usize {
        debug_assert!(values.len() % 4 == 0);
        let mut changed = 0;
        for value in values.iter_mut() {
            if *value > least && value.is_finite() {
                *value = (*value - least).sqrt();
                changed += 1;
            }
        }
        super::super::second::remainder(values, changed)
    }
);

pub fn remainder(values: &[f32], changed: usize) -> usize {
    values.len() - changed
}
