//! Detection by `nvidia-smi`, from before `gpu`.

pub fn detect() -> bool {
    std::process::Command::new("nvidia-smi").output().is_ok()
}
