use crate::Value;

pub fn keep(value: Value) -> Value {
    value
}
