//! The demo app: five tools, one session, and a line for everything that happens.

mod enter;
mod journal;
mod tools;

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use appduct::{Appduct, ConnectError, Event, EventDeclaration, RegisterError, SessionChange};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

use crate::error::{Failure, Kind, sentence};
use journal::{Happening, Journal};

/// The event that the demo app declares.
const PING: &str = "playground_ping";

/// Its payload.
#[derive(Serialize, JsonSchema)]
struct Ping {
    /// When, in milliseconds since the Unix epoch.
    at: u64,
}

impl Ping {
    fn now() -> Self {
        Self { at: Timestamp::now().as_millisecond().try_into().unwrap_or_default() }
    }
}

/// When the demo app posts its event.
#[derive(Debug)]
struct Pings {
    every: Option<tokio::time::Interval>,
    /// `None` where nobody can press it.
    enter: Option<mpsc::Receiver<()>>,
}

impl Pings {
    fn new(every: Option<Duration>, enter: Option<mpsc::Receiver<()>>) -> Self {
        // A time that the clock does not reach never comes.
        let every = every.and_then(|every| Some((Instant::now().checked_add(every)?, every)));
        let every = every.map(|(first, every)| {
            let mut interval = tokio::time::interval_at(first, every);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        Self { every, enter }
    }

    /// Resolves when the next is due.
    async fn next(&mut self) {
        let tick = async {
            match &mut self.every {
                Some(every) => drop(every.tick().await),
                None => std::future::pending().await,
            }
        };
        let enter = async {
            match &mut self.enter {
                Some(enter) => enter.recv().await,
                None => None,
            }
        };
        tokio::select! {
            () = tick => {}
            Some(()) = enter => {}
            else => std::future::pending().await,
        }
    }
}

/// Runs the demo app, paired through `link`, until Ctrl-C or a termination signal. Then it gives its session up. Where the
/// session ends before, `again` says how to get another. It posts its event at each Enter, and `ping_every` so long.
pub(crate) fn run(link: &str, again: &str, ping_every: Option<Duration>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(format!("The playground cannot start: {error}.")))?;
    runtime.block_on(async {
        let stop = stopped().map_err(|error| Failure::internal(format!("Ctrl-C cannot be watched: {error}.")))?;
        play(link, again, Pings::new(ping_every, enter::watch()), &mut io::stdout().lock(), stop).await
    })
}

/// Resolves when somebody wants the program to end.
pub(crate) fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

async fn play(
    link: &str,
    again: &str,
    pings: Pings,
    out: &mut dyn Write,
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let app =
        Appduct::builder().device_manufacturer("Appduct").device_model("Playground").lease_slot("playground").build();
    let (journal, mut happenings) = Journal::new();
    register(&app, &journal).map_err(|error| Failure::internal(format!("The playground cannot start: {error}.")))?;
    let mut events = app.events();
    let result = tokio::select! {
        result = watch(&app, link, again, pings, out, &mut events, &mut happenings) => result,
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
    app.register_event(&EventDeclaration::new(PING, "Posted when somebody pings the playground.").payload::<Ping>())?;
    Ok(())
}

/// Pairs and prints what happens. It ends if the pairing fails or the session is gone for good: nobody can give this app
/// another link.
async fn watch(
    app: &Appduct,
    link: &str,
    again: &str,
    mut pings: Pings,
    out: &mut dyn Write,
    events: &mut appduct::Events,
    happenings: &mut mpsc::UnboundedReceiver<Happening>,
) -> Result<(), Failure> {
    print(out, &journal::opening(&app.tools(), pings.enter.is_some() && io::stdin().is_terminal()));
    let connecting = app.connect(link);
    tokio::pin!(connecting);
    let mut is_paired = false;
    loop {
        let lines = tokio::select! {
            // What led to the end of a connect is told before the end.
            biased;
            Some(event) = events.next() => {
                let line = journal::event(&event);
                if let Event::Session(SessionChange::Lost { reason }) = &event {
                    print(out, &line);
                    return Err(Failure::new(Kind::Session, format!("The session is over ({reason}).")).with_hint(again));
                }
                line
            }
            Some(happening) = happenings.recv() => journal::happening(&happening),
            result = &mut connecting, if !is_paired => {
                result.map_err(|error| refused(&error))?;
                is_paired = true;
                continue;
            }
            () = pings.next() => journal::posted(PING, app.post_event(PING, &Ping::now())),
        };
        print(out, &lines);
    }
}

fn refused(error: &ConnectError) -> Failure {
    let message = error.to_string();
    let (what, next) = message.split_once("; ").unwrap_or((&message, ""));
    // The rest is for who builds an app.
    let next = if *error == ConnectError::PublicAddress { "put both machines on one network" } else { next };
    let failure = Failure::connection(sentence(what));
    if next.is_empty() { failure } else { failure.with_hint(sentence(next)) }
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
        let failure =
            play("playground:///", "", Pings::new(None, None), &mut out, std::future::pending()).await.unwrap_err();
        assert_eq!(failure.message, "This is not an appduct link.");
        assert_eq!(failure.hint.as_deref(), Some("Get one with `appduct link`."));
        let out = String::from_utf8(out).unwrap();
        assert!(out.starts_with("Playground\n"), "{out}");
    }

    #[test]
    fn nobody_is_told_to_build_the_demo_app_anew() {
        let failure = refused(&ConnectError::PublicAddress);
        assert_eq!(failure.message, "The link leads to a public address, which this app does not dial.");
        assert_eq!(failure.hint.as_deref(), Some("Put both machines on one network."));
    }

    #[tokio::test]
    async fn stopping_gives_the_session_up() {
        let mut out = Vec::new();
        play("playground:///?appduct=AAAA", "", Pings::new(None, None), &mut out, std::future::ready(()))
            .await
            .unwrap_or_default();
        let out = String::from_utf8(out).unwrap();
        assert!(out.ends_with("State    closed (closed_by_app)\n"), "{out}");
    }
}
