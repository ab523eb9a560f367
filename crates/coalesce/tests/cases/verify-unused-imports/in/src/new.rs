pub struct Unit;
