pub struct Left {
    pub width: u32,
}

impl Left {
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
        self.width + first * second - third / fourth + fifth * sixth * seventh
    }
}
