pub fn map_comparison(number: u32) -> u32 {
    match number {
        0 => 10,
        1 => 11,
        2 => 12,
        3 => 13,
        4 => 14,
        5 => 15,
        6 => 16,
        _ => 17,
    }
}
