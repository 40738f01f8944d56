//! One run: a daemon, its apps, their callers, and everything that can go wrong between them.

mod acts;
mod apps;
mod callers;
mod deaths;
mod hosts;
mod intruders;
mod peace;

use std::fmt;

use appduct_proto::host::Transport;

use crate::app::App;
use crate::daemon::Daemon;
use crate::network::{Connection, ConnectionNo, Network, Peer, Way};
use crate::oracle::{Counts, Oracle, Promise, Violation};
use crate::plan::Plan;
use crate::queue::{Happening, Queue};
use crate::random::Random;
use crate::sabotage::Sabotage;
use crate::trace::{Listener, Trace};

/// How much may happen at one moment. Far more than ever does: a machine that never comes to rest is broken.
const MAX_AT_ONCE: u32 = 100_000;

/// What a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// A hash of everything that happened, in order.
    pub hash: u64,
    /// How many lines that is.
    pub lines: u64,
    /// How much happened.
    pub counts: Counts,
}

pub(crate) struct World<'a> {
    now: u64,
    plan: Plan,
    random: Random,
    queue: Queue,
    network: Network,
    daemon: Daemon,
    apps: Vec<App>,
    oracle: Oracle,
    trace: Trace<'a>,
    /// How many acts are still to come.
    acts: u64,
    /// Counts what the apps post, so that every payload is another one.
    posts: u64,
    /// Counts what is registered and what is called.
    versions: u64,
    callers: callers::Callers,
    text: String,
}

/// Runs one seed to its end.
pub(crate) fn run(seed: u64, sabotage: Sabotage, listener: Option<Listener<'_>>) -> Result<Report, Violation> {
    let mut world = World::new(seed, sabotage, listener);
    world.storm();
    world.peace();
    match world.oracle.verdict {
        Some(violation) => Err(violation),
        None => Ok(Report { hash: world.trace.hash(), lines: world.trace.lines(), counts: world.oracle.counts }),
    }
}

impl<'a> World<'a> {
    fn new(seed: u64, sabotage: Sabotage, listener: Option<Listener<'a>>) -> Self {
        let mut random = Random::new(seed);
        let plan = Plan::new(&mut random);
        let mut world = Self {
            now: 0,
            oracle: Oracle::new(seed, plan.grace_ms, plan.has_bad_disk || plan.sets_clocks),
            queue: Queue::default(),
            network: Network::new(),
            daemon: Daemon::new(sabotage),
            apps: Vec::new(),
            trace: Trace::new(listener),
            acts: plan.acts,
            posts: 0,
            versions: 0,
            callers: callers::Callers::default(),
            text: String::new(),
            plan,
            random,
        };
        let line = format!("{:?}", world.plan);
        world.say(format_args!("{line}"));
        for _ in 0..world.plan.apps {
            let transport = if world.random.percent(20) { Transport::Web } else { Transport::Native };
            world.apps.push(App::new(transport));
        }
        world.start_daemon(false);
        for app in 0..world.apps.len() {
            world.start_app(app, false);
            world.give_link(app);
        }
        world.queue.put(1, Happening::Act);
        world
    }

    /// Everything that was planned happens.
    fn storm(&mut self) {
        while self.acts > 0 && self.oracle.verdict.is_none() {
            let Some(next) = self.next() else { return };
            self.turn(next);
        }
    }

    /// Lets time pass.
    fn pass(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.oracle.verdict.is_none()
            && let Some(next) = self.next().filter(|&next| next <= end)
        {
            self.turn(next);
        }
        self.set_time(end);
    }

    fn set_time(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.oracle.now = self.now;
    }

    /// The next moment at which anything happens.
    fn next(&self) -> Option<u64> {
        let apps = self.apps.iter().filter_map(|app| Some(app.until?.max(app.frozen_until)));
        let host = self.daemon.until.map(|until| until.max(self.daemon.asleep_until));
        apps.chain(host).chain(self.queue.next()).min()
    }

    fn turn(&mut self, at: u64) {
        self.set_time(at);
        let mut happened = 0;
        while self.oracle.verdict.is_none()
            && let Some(happening) = self.queue.take_due(self.now)
        {
            self.happen(happening);
            happened += 1;
            if happened > MAX_AT_ONCE {
                self.oracle.violate(Promise::SoundMachines, "there is no end to one moment".to_owned());
            }
        }
        if self.daemon.is_awake(self.now) && self.daemon.until.is_some_and(|until| until <= self.now) {
            self.wake_host();
        }
        for app in 0..self.apps.len() {
            let is_due = self.apps[app].until.is_some_and(|until| until <= self.now);
            if is_due && self.apps[app].is_awake(self.now) {
                self.wake_app(app);
            }
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::ToHost(no) => self.reach_host(no),
            Happening::ToApp(no) => self.reach_app(no),
            Happening::HostLoses(no) => self.host_loses(no),
            Happening::AppLoses(no) => self.app_loses(no),
            Happening::HostIsDone(no) => self.host_is_done(no),
            Happening::Refused { app, life, socket } => self.refuse_dial(app, life, socket),
            Happening::Saved { life, generation } => self.end_save(life, generation),
            Happening::Exits { life } => self.exit(life),
            Happening::Starts { reboot } => self.start_daemon(reboot),
            Happening::Handler { app, life, call, step } => self.step_handler(app, life, call, step),
            Happening::Link { app, life, url, session } => self.open_link(app, life, &url, &session),
            Happening::AppStarts { app, life, reload } => {
                if self.apps[app].life == life && self.apps[app].core.is_none() {
                    self.start_app(app, reload);
                }
            }
            Happening::Foreground { app, life } => self.foreground(app, life),
            Happening::Act => self.act(),
        }
    }

    /// Notes what happens.
    fn say(&mut self, text: fmt::Arguments<'_>) {
        self.trace.line(self.now, text);
    }

    /// The connection, if anything of it is left.
    fn connection(&self, no: ConnectionNo) -> Option<&Connection> {
        self.network.find(no)
    }

    fn send(&mut self, no: ConnectionNo, way: Way, message: crate::network::Message) {
        self.network.send(self.now, no, way, message, &mut self.random, &mut self.queue);
    }

    /// The app behind a connection, while that process lives and has not closed it.
    fn app_behind(&self, no: ConnectionNo) -> Option<(usize, appduct_proto::app::SocketId)> {
        let connection = self.connection(no).filter(|connection| connection.app_end)?;
        match connection.peer {
            Peer::App { app, life, socket } if self.apps[app].life == life => Some((app, socket)),
            Peer::App { .. } | Peer::Intruder => None,
        }
    }
}
