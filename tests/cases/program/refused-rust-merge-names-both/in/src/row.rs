pub struct Value(pub u8);
