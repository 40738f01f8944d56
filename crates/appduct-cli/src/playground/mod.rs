//! The demo app: five tools, one session, and a line for everything that happens.

mod journal;
mod tools;

use std::future::Future;
use std::io::{self, Write};

use appduct::{Appduct, ConnectError, EventDeclaration, RegisterError};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::Failure;
use journal::{Happening, Journal};

/// The payload of the event that the demo app declares.
#[derive(Serialize, JsonSchema)]
struct Ping {
    /// When, in milliseconds since the Unix epoch.
    at: u64,
}

/// Runs the demo app, paired through `link`, until Ctrl-C or a termination signal. Then it gives its session up.
pub(crate) fn run(link: &str) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("The playground cannot start: {error}.")))?;
    runtime.block_on(async {
        let stop = stopped().map_err(|error| Failure::internal(format!("Ctrl-C cannot be watched: {error}.")))?;
        play(link, &mut io::stdout().lock(), stop).await
    })
}

/// Resolves when somebody wants the app to end.
fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

async fn play(link: &str, out: &mut dyn Write, stop: impl Future<Output = ()>) -> Result<(), Failure> {
    let app =
        Appduct::builder().device_manufacturer("Appduct").device_model("Playground").lease_slot("playground").build();
    let (journal, mut happenings) = Journal::new();
    register(&app, &journal).map_err(|error| Failure::internal(format!("The playground cannot start: {error}.")))?;
    let mut events = app.events();
    let result = tokio::select! {
        result = watch(&app, link, out, &mut events, &mut happenings) => result,
        () = stop => Ok(()),
    };
    app.disconnect();
    app.shutdown().await;
    while let Some(event) = events.try_next() {
        print(out, &journal::event(&event));
    }
    result
}

fn register(app: &Appduct, journal: &Journal) -> Result<(), RegisterError> {
    tools::register(app, journal)?;
    app.register_event(
        &EventDeclaration::new("playground_ping", "Posted when somebody pings the playground.").payload::<Ping>(),
    )?;
    Ok(())
}

/// Pairs and prints what happens. It ends only if the pairing fails: a session that is lost later is told and leaves the
/// app running, as any other app would be.
async fn watch(
    app: &Appduct,
    link: &str,
    out: &mut dyn Write,
    events: &mut appduct::Events,
    happenings: &mut mpsc::UnboundedReceiver<Happening>,
) -> Result<(), Failure> {
    print(out, &journal::opening(&app.tools()));
    let connecting = app.connect(link);
    tokio::pin!(connecting);
    let mut is_paired = false;
    loop {
        let lines = tokio::select! {
            // What led to the end of a connect is told before the end.
            biased;
            Some(event) = events.next() => journal::event(&event),
            Some(happening) = happenings.recv() => journal::happening(&happening),
            result = &mut connecting, if !is_paired => {
                result.map_err(|error| refused(&error))?;
                is_paired = true;
                continue;
            }
        };
        print(out, &lines);
    }
}

fn refused(error: &ConnectError) -> Failure {
    let message = error.to_string();
    let (what, next) = message.split_once("; ").unwrap_or((&message, ""));
    let failure = Failure::connection(sentence(what));
    if next.is_empty() { failure } else { failure.with_hint(sentence(next)) }
}

fn sentence(fragment: &str) -> String {
    let mut characters = fragment.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).chain(['.']).collect()
}

/// Whoever reads the lines may have gone; the app goes on for its daemon.
fn print(out: &mut dyn Write, lines: &str) {
    out.write_all(lines.as_bytes()).and_then(|()| out.flush()).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_link_that_leads_nowhere_ends_the_app_with_what_to_do() {
        let mut out = Vec::new();
        let failure = play("playground:///", &mut out, std::future::pending()).await.unwrap_err();
        assert_eq!(failure.message, "This is not an appduct link.");
        assert_eq!(failure.hint.as_deref(), Some("Get one with `appduct link`."));
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("Playground\n"), "{out}");
    }

    #[tokio::test]
    async fn stopping_gives_the_session_up() {
        let mut out = Vec::new();
        play("playground:///?appduct=AAAA", &mut out, std::future::ready(())).await.unwrap_or_default();
        let out = String::from_utf8(out).unwrap();
        assert!(out.ends_with("State    closed (closed_by_app)\n"), "{out}");
    }
}
