//! The floor of every command: a process that prints a line and ends.

use std::io::Write;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(b"hello, world\n")
}
