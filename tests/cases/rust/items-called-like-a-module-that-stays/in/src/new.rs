pub fn more() {}
