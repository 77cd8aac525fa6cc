//! Ctrl-C and SIGTERM: the first ends a run cleanly, the second at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::commands::terminal;

/// Exit code after a signal.
pub(super) const INTERRUPTED: u8 = 130;

static STOP: AtomicBool = AtomicBool::new(false);

/// Begins to listen; the value becomes true with the first signal.
pub(super) fn listen() -> &'static AtomicBool {
    let installed = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED.into());
        }
        terminal::tell("interrupted: writing what there is (again to abort)");
    });
    if let Err(e) = installed {
        log::warn!("cannot listen for signals ({e}): an interrupted run leaves no results");
    }
    &STOP
}
