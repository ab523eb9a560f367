//! Helps.

pub fn folded(sizes: &[u32]) -> u32 {
    let mut total = 0;
    for (at, size) in sizes.iter().enumerate() {
        if *size > 3 && at % 2 == 0 {
            total += size * (at as u32 + 1);
        } else {
            total = total.saturating_sub(*size);
        }
    }
    total.rotate_left(3)
}
