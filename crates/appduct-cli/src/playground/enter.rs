//! The Enter key of the terminal that the demo app runs in, or the lines that another program writes to it.

use std::io::{self, BufRead, IsTerminal};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// Tells each line that comes; `None` where stdin is a terminal that belongs to another program now.
///
/// The reader is a plain thread, which the end of the program does not wait for.
pub(super) fn watch() -> Option<mpsc::Receiver<()>> {
    let stdin = io::stdin();
    if stdin.is_terminal() && !is_ours(&stdin) {
        return None;
    }
    let (sender, receiver) = mpsc::channel(1);
    std::thread::Builder::new().name("enter".to_owned()).spawn(move || read(&sender)).ok()?;
    Some(receiver)
}

fn read(sender: &mpsc::Sender<()>) {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    // A terminal gives a line at a time, so nothing is left behind in the buffer while the next one is waited for.
    let is_terminal = stdin.is_terminal();
    while !is_terminal || (is_readable(&stdin) && is_ours(&stdin)) {
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
