pub fn kernel() -> &'static str { "k" }
