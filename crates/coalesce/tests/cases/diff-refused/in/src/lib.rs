pub fn split() {}
