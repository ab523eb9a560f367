pub struct Right {
    pub width: u32,
}

impl Right {
    pub fn launch(
        &self,
        first: u32,
        second: u32,
        third: u32,
        fourth: u32,
        fifth: u32,
        sixth: u32,
        seventh: u32,
    ) -> u32 {
        first.max(second).min(third) ^ fourth ^ (fifth | sixth) ^ self.width ^ seventh
    }
}
