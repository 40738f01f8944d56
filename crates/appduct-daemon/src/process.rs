//! The life of the process: what is acquired in which order, and given back in which.
//!
//! Up: state directory, configuration, lock and pid file, host key and certificate, saved
//! sessions, device ports, control socket. Nothing is
//! accepted before everything listens, so a failed start has no peer to tell; whatever it had acquired goes with its owner.
//!
//! Down: calls end and sockets are told to close, sessions are saved, ports close, what is queued is written, then the control socket's file
//! goes, the pid file after it, the lock last. Clients rely on that order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use appduct_proto::host::Host;
use signal_hook::consts::{SIGINT, SIGTERM};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing_subscriber::EnvFilter;

use crate::audit::Audit;
use crate::browser::Running;
use crate::config::PolicyFile;
use crate::event_loop::{self, Devices, Event, EventLoop, Logs, Mailbox};
use crate::events_log::EventsLog;
use crate::key::HostKey;
use crate::leaf::Leaf;
use crate::links::{BindError, Bound, Doorway, Origins};
use crate::lock::{self, Lock};
use crate::persistence::{LastPorts, Saver, SessionsFile};
use crate::state::{Facts, State};
use crate::validation::{Patience, Validation};
use crate::{Options, Seams, StartError, Started, address, control, descriptors, dir, leftovers, links};

/// How long close frames and replies may take to leave. Longer than any one connection may linger.
const FLUSH: Duration = Duration::from_secs(5);

/// What `APPDUCT_LOG` says where it is not set.
const DEFAULT_LOG: &str = "warn,appduct_daemon=info";

pub(crate) fn run(options: &Options, seams: Seams, on_ready: impl FnOnce(&Started)) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("appduct")
        .build()
        .map_err(StartError::io("start the runtime"))?;
    let ended = runtime.block_on(async {
        let daemon = Daemon::start(options, seams)?;
        let signals = Signals::catch()?;
        on_ready(&daemon.started);
        daemon.run(signals).await;
        Ok(())
    });
    // A disk that does not answer keeps nobody.
    runtime.shutdown_background();
    ended
}

/// Sends the log to stderr, as much as `APPDUCT_LOG` asks for.
pub(crate) fn init_log() {
    let filter = EnvFilter::try_from_env("APPDUCT_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT_LOG));
    // A line that cannot be written is lost: complaining of it on the same stderr would panic.
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .log_internal_errors(false);
    // Whoever embeds the daemon may have set up a log of their own.
    subscriber.try_init().ok();
}

/// A daemon that is up. Fields are dropped in their order: the socket's file goes before the pid file and the lock.
struct Daemon {
    started: Started,
    mailbox: Mailbox,
    owner: JoinHandle<Logs>,
    /// The listeners' tasks.
    accepting: Vec<JoinHandle<()>>,
    /// Ends when every socket and connection is gone.
    all_gone: mpsc::Receiver<()>,
    socket_file: SocketFile,
    lock: Lock,
}

impl Daemon {
    fn start(options: &Options, seams: Seams) -> Result<Self, StartError> {
        let Options { state_dir, version } = options;
        dir::prepare(state_dir.root())?;
        let started = seams.clock.now();
        let (policy_file, config) = PolicyFile::open(state_dir, started.wall)?;
        let lock = Lock::take(state_dir)?;
        leftovers::sweep(&state_dir.pid_file(), 0);
        leftovers::sweep(&config.key_path, 1);
        let audit =
            Audit::start(state_dir, config.audit_retention_days).map_err(StartError::io("start the audit log"))?;
        let events_log = EventsLog::start(state_dir, config.events_log_max_bytes)
            .map_err(StartError::io("start the log of events"))?;
        let key = HostKey::load_or_generate(&config.key_path)?;
        let pin = key.pin();
        // An address that is none is reported when a link needs it.
        let address = address::advertised(config.advertised_ip.as_deref()).ok();
        let certificate = |error: rcgen::Error| StartError::Certificate(error.to_string());
        let leaf = Leaf::new(key, address, started.wall).map_err(certificate)?;
        let saved = config.persist_sessions.then(|| SessionsFile::open(state_dir.sessions())).flatten();
        let (sessions_file, records) = saved.map_or((None, None), |(file, records)| (Some(file), records));
        let last_ports = LastPorts::read(&state_dir.last_ports());
        let bound = match config.wss_port {
            0 => Bound::bind_again(last_ports.wss, Bound::bind),
            port => Bound::bind(port),
        };
        let bound = bound.map_err(|error| match error {
            BindError::InUse => StartError::PortInUse { port: config.wss_port, config: state_dir.config() },
            BindError::Io(source) => StartError::Io { what: format!("listen on port {}", config.wss_port), source },
        })?;
        let wss_port = bound.port();
        let web_bound = Bound::bind_again(last_ports.web, Bound::bind_loopback).map_err(|error| StartError::Io {
            what: "listen on a loopback port for web pages".to_owned(),
            source: match error {
                BindError::InUse => std::io::ErrorKind::AddrInUse.into(),
                BindError::Io(source) => source,
            },
        })?;
        let web_port = web_bound.port();
        LastPorts { wss: Some(wss_port), web: Some(web_port) }.write(&state_dir.last_ports(), last_ports);
        let socket = state_dir.socket();
        let listener = control::bind(&socket).map_err(StartError::io(format!("listen on {}", socket.display())))?;
        let socket_file = SocketFile(socket.clone());
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| StartError::io("get randomness")(error.into()))?;

        let (mailbox, events) = event_loop::mailbox();
        // Nothing is ever sent: the channel ends when its last holder does.
        let (open, all_gone) = mpsc::channel(1);
        let doorway = Doorway {
            mailbox: mailbox.clone(),
            queue_bytes: config.bounds.device_queue_bytes,
            // Two device ports share what there is.
            connections_per_port: descriptors::raise() / 2,
            handshake_timeout: seams.handshake_timeout,
            open: open.clone(),
            next_socket: Arc::new(AtomicU64::new(0)),
        };
        let mut accepting = links::serve_native(bound, leaf.resolver(), &doorway)
            .map_err(|error| StartError::Certificate(error.to_string()))?;
        accepting.extend(links::serve_web(web_bound, Origins::new(config.web_origins.clone()), &doorway));
        accepting.push(control::serve(listener, mailbox.clone(), open.clone()));
        let mut host = Host::new(config.host_settings(sessions_file.is_some()), seed);
        if let Some(records) = records {
            tracing::info!(sessions = records.session_count(), links = records.link_count(), "taking over");
            host.restore(seams.clock.now(), records);
        }
        let state = State {
            host,
            devices: Devices::default(),
            leaf,
            policy_file,
            saver: Saver::new(sessions_file),
            facts: Facts {
                version: version.clone(),
                started,
                state_dir: state_dir.clone(),
                config,
                wss_port,
                web_port,
                pin,
            },
            calls_served: 0,
            in_flight: BTreeMap::new(),
            validation: Validation::with_patience(Patience { wait: seams.validation_wait, ..Patience::default() }),
            audit,
            events_log,
            relays: Running::new(open),
        };
        let owner = tokio::spawn(EventLoop::new(state, seams.clock, &mailbox, events).run());
        tracing::info!(version, wss_port, web_port, %pin, "the daemon is up");
        let started = Started { pid: std::process::id(), socket, wss_port, web_port };
        Ok(Self { started, mailbox, owner, accepting, all_gone, socket_file, lock })
    }

    /// Runs until the event loop has ended, then takes everything down.
    async fn run(self, mut signals: Signals) {
        let Self { started: _, mailbox, mut owner, accepting, mut all_gone, socket_file, lock } = self;
        let logs = tokio::select! {
            logs = &mut owner => logs,
            name = signals.first() => {
                tracing::info!("{name}: the daemon goes");
                mailbox.send(Event::Stop).await.ok();
                owner.await
            }
        };
        for task in accepting {
            task.abort();
            // Its listener is closed when it has ended.
            task.await.ok();
        }
        if timeout(FLUSH, all_gone.recv()).await.is_err() {
            tracing::warn!("some connections did not end in time");
        }
        drop(socket_file);
        match logs {
            Ok(logs) if timeout(FLUSH, logs.flush()).await.is_ok() => {}
            Ok(_) | Err(_) => tracing::warn!("some lines of the logs were not written in time"),
        }
        drop(lock);
        tracing::info!("the daemon is gone");
    }
}

/// The control socket's file. Dropped, it is removed; nobody else's can be there while the lock is held.
struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let path: &Path = &self.0;
        if let Err(error) = lock::remove(path) {
            tracing::warn!("{error}");
        }
    }
}

/// SIGINT and SIGTERM: the first ends the daemon in order, the second does what the system does by default.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    caught_one: Arc<AtomicBool>,
}

impl Signals {
    fn catch() -> Result<Self, StartError> {
        let caught_one = Arc::new(AtomicBool::new(false));
        let catch = || {
            for number in [SIGINT, SIGTERM] {
                signal_hook::flag::register_conditional_default(number, Arc::clone(&caught_one))?;
            }
            Ok((signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?))
        };
        let (interrupt, terminate) = catch().map_err(StartError::io("catch signals"))?;
        Ok(Self { interrupt, terminate, caught_one })
    }

    async fn first(&mut self) -> &'static str {
        let name = tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        };
        self.caught_one.store(true, Ordering::SeqCst);
        name
    }
}
