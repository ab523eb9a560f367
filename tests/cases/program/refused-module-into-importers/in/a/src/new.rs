pub(crate) use crate::old;
