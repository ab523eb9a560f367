pub struct Pool;
