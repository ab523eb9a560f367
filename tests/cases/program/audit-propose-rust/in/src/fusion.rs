//! How much FusionLevel tells.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionLevel {
    Disabled,
    Basic,
    Medium,
    Full,
    Everything,
    Nothing,
}

impl FusionLevel {
    pub fn number(self) -> u8 {
        match self {
            Self::Disabled => 0,
            Self::Basic => 1,
            Self::Medium => 2,
            Self::Full => 3,
            Self::Everything => 4,
            Self::Nothing => 5,
        }
    }
}
