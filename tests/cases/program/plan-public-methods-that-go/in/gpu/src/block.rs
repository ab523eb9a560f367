pub struct Block(pub usize);

impl Block {
    pub fn size(&self) -> usize {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

pub fn first() -> bool {
    Block(0).is_empty()
}
