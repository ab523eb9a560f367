/// Median.
pub fn median(x: &[f64]) -> f64 {
    x[0]
}
