pub struct Value(pub u16);
