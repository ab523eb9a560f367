use crate::row::Value;

pub fn keep(value: Value) -> Value {
    value
}
