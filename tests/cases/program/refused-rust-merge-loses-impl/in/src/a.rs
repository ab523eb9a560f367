use crate::Pool;
impl Pool {
    pub fn take(&self) -> usize { self.0 }
}
