//! What may lie in device memory, and the types that arrays are described with.

use serde::{Deserialize, Serialize};

/// A type whose values are their bytes: no pointers, no padding, every pattern valid.
///
/// Every `bytemuck::Pod` is one, so that own types join by deriving that.
pub trait DeviceType: bytemuck::Pod + Send + Sync {}

impl<T: bytemuck::Pod + Send + Sync> DeviceType for T {}

/// The type of an array's elements, as array libraries name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DType {
    /// One byte, zero or one.
    Bool,
    /// Eight bits without sign.
    UInt8,
    /// Eight bits.
    Int8,
    /// Sixteen bits without sign.
    UInt16,
    /// Sixteen bits.
    Int16,
    /// Thirty-two bits without sign.
    UInt32,
    /// Thirty-two bits.
    Int32,
    /// Sixty-four bits without sign.
    UInt64,
    /// Sixty-four bits.
    Int64,
    /// Half precision.
    Float16,
    /// The upper half of single precision.
    BFloat16,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
    /// Two single-precision numbers.
    Complex64,
    /// Two double-precision numbers.
    Complex128,
}

impl DType {
    /// Length of an element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::UInt16 | DType::Int16 | DType::Float16 | DType::BFloat16 => 2,
            DType::UInt32 | DType::Int32 | DType::Float32 => 4,
            DType::UInt64 | DType::Int64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }

    /// Bytes of an array of that shape; none if that is no number. A shape without dimensions is
    /// one element.
    #[must_use]
    pub fn array_bytes(self, shape: &[u64]) -> Option<u64> {
        shape
            .iter()
            .try_fold(self.bytes(), |bytes, extent| bytes.checked_mul(*extent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_as_long_as_their_elements() {
        assert_eq!(DType::Float32.array_bytes(&[3, 5]), Some(60));
        assert_eq!(DType::Complex128.array_bytes(&[]), Some(16));
        assert_eq!(DType::Int8.array_bytes(&[0, 9]), Some(0));
        assert_eq!(DType::Int64.array_bytes(&[u64::MAX, 2]), None);
    }
}
