//! The daemon is killed at any instant, and its apps come back.

use proptest::prelude::*;

use super::record::Instead;
use super::*;

/// How many apps there are.
const APPS: usize = 3;

/// Long enough for every link and grace: nothing ends by time here.
const LONG: Duration = Duration::from_secs(100_000);

/// One thing that happens. The daemon is killed after so many of the outputs that it brings about, if it brings so many.
#[derive(Clone, Debug)]
struct Step {
    op: Op,
    app: usize,
    killed_after: Option<usize>,
    /// Whether the save in flight reaches the disk before the daemon dies.
    written: bool,
}

#[derive(Clone, Debug)]
enum Op {
    /// The app opens a socket and shows what it has. Whether the daemon hears the end of the older one first.
    Hello {
        closed: bool,
    },
    /// The app says something on its socket, once it has its ack.
    Frame,
    /// What the app said on its older socket arrives at last.
    LateFrame,
    /// The network loses the socket; the daemon hears of it.
    Drop,
    /// The network loses all that is under way to the app, and nobody hears of it.
    Deafen,
    /// The save in flight ends.
    Saved,
    Pass {
        ms: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        6 => any::<bool>().prop_map(|closed| Op::Hello { closed }),
        3 => Just(Op::Frame),
        3 => Just(Op::LateFrame),
        2 => Just(Op::Drop),
        2 => Just(Op::Deafen),
        6 => Just(Op::Saved),
        2 => (0..2_000_u64).prop_map(|ms| Op::Pass { ms }),
    ];
    let killed_after = prop_oneof![4 => Just(None), 1 => (0..5_usize).prop_map(Some)];
    (op, 0..APPS, killed_after, any::<bool>()).prop_map(|(op, app, killed_after, written)| Step {
        op,
        app,
        killed_after,
        written,
    })
}

/// An app that behaves: it knows what it was sent, and nothing else.
#[derive(Debug)]
struct Phone {
    session: String,
    has: Has,
    socket: Option<SocketId>,
    /// The socket that the app has left, if it may have said something there.
    older: Option<SocketId>,
    acked: bool,
    deaf: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Has {
    LinkToken(String),
    ResumeToken(String),
}

impl Phone {
    fn frame(&self) -> Received {
        let frame = json!({ "type": "event", "session_id": self.session, "name": "n", "ts": 1 });
        Received::decode(&Bytes::from(frame.to_string()))
    }

    fn hello(&self) -> Value {
        match &self.has {
            Has::LinkToken(token) => json!({
                "type": "session_claim", "protocol_version": 2, "session_id": self.session, "token": token,
            }),
            Has::ResumeToken(token) => json!({
                "type": "session_resume", "protocol_version": 2, "session_id": self.session, "resume_token": token,
            }),
        }
    }
}

struct Run {
    host: Host,
    now: Now,
    disk: String,
    saving: Option<(Generation, String)>,
    /// When the save in flight began.
    saving_since: Moment,
    phones: Vec<Phone>,
    sockets: u64,
    lives: u8,
}

impl Run {
    fn new() -> Self {
        let mut run = Self {
            host: host(1),
            now: Now { mono: Moment(1_000), wall: Timestamp(START_MS) },
            disk: host(1).records(Now::default()).encode(),
            saving: None,
            saving_since: Moment(0),
            phones: Vec::new(),
            sockets: 0,
            lives: 1,
        };
        for _ in 0..APPS {
            let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
            let link = LinkRequest { transport: Transport::Native, endpoint, ttl: LONG };
            let link = run.host.create_link(run.now, &link).unwrap();
            let has = Has::LinkToken(link.bootstrap.token_text());
            let phone = Phone { session: link.session_id, has, socket: None, older: None, acked: false, deaf: false };
            run.phones.push(phone);
            run.drain(None);
        }
        // From here on every link is on disk: a link that is lost with its daemon is minted again.
        run.save();
        run
    }

    fn run(&mut self, step: &Step) {
        let phone = &mut self.phones[step.app];
        let mut left = step.killed_after;
        match step.op {
            Op::Hello { closed } => {
                let hello = phone.hello().to_string();
                let older = phone.socket.take();
                phone.older = older.filter(|_| phone.acked && !closed).or(phone.older);
                if let Some(older) = older.filter(|_| closed) {
                    self.host.handle_closed(self.now, older, None);
                    if self.drain_or_die(&mut left, step.written) {
                        return;
                    }
                }
                self.sockets += 1;
                let socket = SocketId(self.sockets);
                let phone = &mut self.phones[step.app];
                (phone.socket, phone.acked, phone.deaf) = (Some(socket), false, false);
                self.host.handle_opened(self.now, socket, Transport::Native);
                if self.drain_or_die(&mut left, step.written) {
                    return;
                }
                let received = Received::decode(&Bytes::from(hello));
                self.host.handle_received(self.now, socket, received);
            }
            Op::Frame => {
                let Some(socket) = phone.socket.filter(|_| phone.acked && !phone.deaf) else { return };
                let frame = phone.frame();
                self.host.handle_received(self.now, socket, frame);
            }
            Op::LateFrame => {
                let Some(older) = phone.older else { return };
                let frame = phone.frame();
                self.host.handle_received(self.now, older, frame);
            }
            Op::Drop => {
                let Some(socket) = phone.socket.take() else { return };
                self.host.handle_closed(self.now, socket, None);
            }
            Op::Deafen => phone.deaf = true,
            Op::Saved => self.end_save(),
            Op::Pass { ms } => {
                if (self.now.mono + millis(ms)).since(self.saving_since) >= secs(3) {
                    // This disk is never so slow that nobody waits for it any longer.
                    self.end_save();
                    if self.drain_or_die(&mut left, step.written) {
                        return;
                    }
                }
                self.now = Now { mono: self.now.mono + millis(ms), wall: self.now.wall + millis(ms) };
                self.host.handle_timeout(self.now);
            }
        }
        self.drain_or_die(&mut left, step.written);
    }

    /// The bytes reach the disk and the daemon hears of it.
    fn end_save(&mut self) {
        if let Some((generation, document)) = self.saving.take() {
            self.disk = document;
            self.host.handle_saved(self.now, generation, true);
        }
    }

    /// Lets every save end.
    fn save(&mut self) {
        while self.saving.is_some() {
            self.end_save();
            self.drain(None);
        }
    }

    /// Whether the daemon was killed.
    fn drain_or_die(&mut self, left: &mut Option<usize>, written: bool) -> bool {
        *left = self.drain(*left);
        let killed = *left == Some(0);
        if killed {
            self.kill(written);
        }
        killed
    }

    /// Carries outputs out, up to so many. Returns how many are left.
    fn drain(&mut self, mut left: Option<usize>) -> Option<usize> {
        while left != Some(0) {
            let output = self.host.poll_output();
            if let Output::Idle { .. } = output {
                break;
            }
            left = left.map(|left| left - 1);
            self.carry_out(output);
            self.check();
        }
        left
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Send { socket, text } => {
                let DaemonReceived::Frame { frame: Ok(Some(DaemonFrame::Ack(ack))), .. } =
                    DaemonReceived::decode(&Bytes::from(text))
                else {
                    panic!("no call is made here");
                };
                let records = Records::decode(self.disk.as_bytes()).unwrap();
                let durable =
                    records.sessions.iter().any(|on_disk| on_disk.resume_token_sha256.is_of(&ack.resume_token));
                assert!(durable, "an ack leaves before its token is on disk");
                if let Some(phone) = self.phones.iter_mut().find(|phone| phone.socket == Some(socket) && !phone.deaf) {
                    phone.has = Has::ResumeToken(ack.resume_token);
                    phone.acked = true;
                }
            }
            Output::Close { socket, close } => {
                if let Some(phone) = self.phones.iter_mut().find(|phone| phone.socket == Some(socket)) {
                    assert_ne!(close.code, 1008, "an app that behaves is told to go away: {}", close.reason);
                    phone.socket = None;
                }
            }
            Output::Save { generation, records } => {
                assert!(self.saving.is_none(), "two saves at once");
                self.saving = Some((generation, records.encode()));
                self.saving_since = self.now.mono;
            }
            Output::Terminate { socket } => {
                if let Some(phone) = self.phones.iter_mut().find(|phone| phone.socket == Some(socket)) {
                    phone.socket = None;
                }
            }
            Output::Ping { .. } | Output::Event(_) | Output::CallFinished(_) | Output::Idle { .. } => {}
        }
    }

    /// Whatever is on disk or on its way there, every app has something that is good for it.
    fn check(&self) {
        let saving = self.saving.iter().map(|(_, document)| document);
        for document in [&self.disk].into_iter().chain(saving).filter(|_| self.phones.len() == APPS) {
            let records = Records::decode(document.as_bytes()).unwrap();
            for phone in &self.phones {
                let is_started = self.lives > 1 || records.session_count() + records.link_count() == APPS;
                assert!(!is_started || accepts(&records, phone), "{phone:?} would not come back");
            }
        }
    }

    fn kill(&mut self, written: bool) {
        if let Some((_, document)) = self.saving.take()
            && written
        {
            self.disk = document;
        }
        self.lives += 1;
        self.host = host(self.lives);
        for phone in &mut self.phones {
            (phone.socket, phone.older) = (None, None);
        }
        self.host.restore(self.now, Records::decode(self.disk.as_bytes()).unwrap());
        self.drain(None);
    }

    /// Every app comes back and hears its ack.
    fn all_come_back(&mut self) {
        for app in 0..APPS {
            self.run(&Step { op: Op::Hello { closed: false }, app, killed_after: None, written: false });
            self.now = Now { mono: self.now.mono + secs(1), wall: self.now.wall + secs(1) };
            self.host.handle_timeout(self.now);
            self.drain(None);
            self.save();
            assert!(self.phones[app].acked, "an app does not come back");
        }
        assert!(self.host.sessions().iter().all(|session| session.suspended.is_none()));
    }
}

fn host(life: u8) -> Host {
    Host::new(Settings { persist: true, grace: LONG, max_link_ttl: LONG, ..Settings::default() }, [life; 32])
}

fn accepts(records: &Records, phone: &Phone) -> bool {
    let session = records.sessions.iter().find(|session| session.session_id == phone.session);
    let link = records.links.iter().find(|link| link.session_id == phone.session);
    let instead = session.and_then(|session| session.instead.as_ref());
    match (&phone.has, instead) {
        (Has::ResumeToken(token), Some(Instead::Resume { token_sha256 })) if token_sha256.is_of(token) => true,
        (Has::ResumeToken(token), _) => session.is_some_and(|session| session.resume_token_sha256.is_of(token)),
        (Has::LinkToken(token), Some(Instead::Claim { token_sha256, .. })) => token_sha256.is_of(token),
        (Has::LinkToken(token), _) => link.is_some_and(|link| link.token_sha256.is_of(token)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn apps_come_back_whenever_the_daemon_was_killed(steps in prop::collection::vec(step(), 1..80), written: bool) {
        let mut run = Run::new();
        for step in &steps {
            run.run(step);
        }
        run.kill(written);
        run.all_come_back();
    }
}
