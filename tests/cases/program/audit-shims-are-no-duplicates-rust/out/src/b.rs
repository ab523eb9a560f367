use crate::launching::launch_right;

pub struct Right {
    pub width: u32,
}

impl Right {
    // coalesce: item shim m Right::launch
    /// Moved to `k::launching::launch_right`.
    #[deprecated(note = "use `k::launching::launch_right`")]
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
        launch_right(self, first, second, third, fourth, fifth, sixth, seventh)
    }
}
