pub(crate) mod hostname;

pub struct Clock;
