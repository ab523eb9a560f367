use crate::launching::launch_left;

pub struct Left {
    pub width: u32,
}

impl Left {
    // coalesce: item shim m Left::launch
    /// Moved to `k::launching::launch_left`.
    #[deprecated(note = "use `k::launching::launch_left`")]
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
        launch_left(self, first, second, third, fourth, fifth, sixth, seventh)
    }
}
