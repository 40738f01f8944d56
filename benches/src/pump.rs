//! Lines out, lines in: many requests in flight on each of a few connections.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

/// How much of it at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub(crate) connections: u32,
    /// Requests in flight on each.
    pub(crate) window: u32,
    /// Requests of each.
    pub(crate) requests: u32,
}

impl Flow {
    pub(crate) fn total(self) -> u32 {
        self.connections * self.requests
    }
}

/// Sends what `line` makes of the connection's number and the request's, and takes each line that comes back and passes
/// `is_reply` for the end of one. Returns how long it took.
pub(crate) async fn pump(
    path: &Path,
    flow: Flow,
    has_greeting: bool,
    line: impl Fn(u32, u32) -> String,
    is_reply: impl Fn(&str) -> bool,
) -> Result<Duration> {
    let mut streams = Vec::new();
    for _ in 0..flow.connections {
        let (reading, writing) = UnixStream::connect(path).await?.into_split();
        let mut lines = BufReader::new(reading).lines();
        let mut number = 0;
        if has_greeting {
            number = lines.next_line().await?.context("a greeting")?.parse()?;
        }
        streams.push((number, lines, writing));
    }
    let start = Instant::now();
    let runs = streams.into_iter().map(|(number, mut lines, mut writing)| {
        let (line, is_reply) = (&line, &is_reply);
        async move {
            let (mut sent, mut done) = (0, 0);
            while done < flow.requests {
                let mut batch = String::new();
                while sent < flow.requests && sent - done < flow.window {
                    batch.push_str(&line(number, sent));
                    sent += 1;
                }
                writing.write_all(batch.as_bytes()).await?;
                let reply = lines.next_line().await?.context("a reply to every request")?;
                ensure!(is_reply(&reply), "an unexpected line: {reply}");
                done += 1;
            }
            Ok(())
        }
    });
    for ended in futures_util::future::join_all(runs).await {
        ended?;
    }
    Ok(start.elapsed())
}
