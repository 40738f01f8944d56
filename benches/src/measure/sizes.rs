//! Files: what is shipped, and how large it is.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Result;

use super::Bench;
use crate::report::{Report, Row, size};

const MB: u64 = 1_000_000;

pub(crate) fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    report.add(file("release binary, stripped", &bench.program, 14 * MB)?);
    Ok(())
}

/// A file that need not be there.
fn file(what: &str, path: &Path, limit: u64) -> Result<Row> {
    let target = format!("<= {} MB", limit / MB);
    match fs::metadata(path) {
        Ok(metadata) => Ok(Row::plain(what, size(metadata.len()), &target, metadata.len() <= limit)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let row = Row::plain(what, String::new(), &target, false);
            Ok(Row { verdict: "not built".to_owned(), ..row })
        }
        Err(error) => Err(error.into()),
    }
}
