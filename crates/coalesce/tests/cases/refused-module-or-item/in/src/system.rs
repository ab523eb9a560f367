pub struct Clock;
