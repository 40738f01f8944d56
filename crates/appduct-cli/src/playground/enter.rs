//! The Enter key of the terminal that the demo app runs in.

use std::io::{self, BufRead};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// Tells each line that somebody enters; `None` where stdin is no terminal of this program's.
///
/// The reader is a plain thread, which the end of the program does not wait for.
pub(super) fn watch() -> Option<mpsc::Receiver<()>> {
    if !is_ours(&io::stdin()) {
        return None;
    }
    let (sender, receiver) = mpsc::channel(1);
    std::thread::Builder::new().name("enter".to_owned()).spawn(move || read(&sender)).ok()?;
    Some(receiver)
}

fn read(sender: &mpsc::Sender<()>) {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    while is_readable(&stdin) && is_ours(&stdin) {
        line.clear();
        if !matches!(stdin.read_until(b'\n', &mut line), Ok(length) if length > 0) || sender.blocking_send(()).is_err()
        {
            return;
        }
    }
}

/// Waits until there is something to read.
fn is_readable(stdin: &impl AsFd) -> bool {
    loop {
        match poll(&mut [PollFd::new(stdin, PollFlags::IN)], None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Whether `stdin` is a terminal that this program is in the foreground of. A program in the background is stopped for
/// reading from it.
fn is_ours(stdin: &impl AsFd) -> bool {
    rustix::termios::tcgetpgrp(stdin).is_ok_and(|group| group == rustix::process::getpgrp())
}
