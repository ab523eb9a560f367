//! What a child process must do between its making and its program: the one place of it that safe
//! code cannot reach. It knows nothing of devices.

use std::process::Command;

/// Lets the kernel kill the child when its parent's thread ends that starts it, so that no process
/// outlives a parent that was killed. Start such children from a thread that lives as long as the
/// program. The child of a parent that is gone already does not start. Only Linux has this;
/// elsewhere the call does nothing.
///
/// The child's own children are not killed with it.
pub fn die_with_parent(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt as _;
        let parent = rustix::process::getpid();
        let prepare = move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // It may have ended before the kernel was told.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(std::io::ErrorKind::NotConnected.into())
            }
        };
        // SAFETY: the closure runs after the fork and makes two system calls; it takes no lock and
        // allocates nothing.
        unsafe { command.pre_exec(prepare) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}
