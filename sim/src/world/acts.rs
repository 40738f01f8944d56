//! What goes wrong, and what people and apps do meanwhile.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use appduct_proto::app::{Core, State};
use appduct_proto::host::{Endpoint, LinkRequest};
use appduct_proto::wire::{DeepLink, Pin, RawJson};

use super::World;
use crate::disk::Condition;
use crate::network::{Way, Weather};
use crate::oracle::Promise;
use crate::queue::Happening;

impl World<'_> {
    pub(super) fn act(&mut self) {
        if self.acts == 0 {
            return;
        }
        self.acts -= 1;
        self.network.forget_closed();
        let next = self.now + self.random.below(self.plan.pause_ms);
        self.queue.put(next, Happening::Act);
        let app = self.random.place(self.apps.len());
        match self.random.below(100) {
            0..16 => self.call_some(),
            16..26 => self.burst(),
            26..30 => self.cancel_some(),
            30..37 => self.register_some(app),
            37..42 => self.unregister_some(app),
            42..48 => self.post_some(app),
            48..53 => self.change_weather(),
            53..61 => self.harm_connections(),
            61..65 if self.plan.has_bad_disk => self.change_disk(),
            65..72 if !self.plan.is_deadly => self.call_some(),
            65..68 => self.kill_daemon(false),
            68 => self.kill_daemon(true),
            69..71 => self.stop_daemon(),
            71 => self.sleep_daemon(),
            72..74 if self.plan.sets_clocks => self.set_clock(app),
            74..77 => self.freeze(app),
            77..80 => self.background(app),
            80..83 => self.reload_app(app),
            83 => {
                let device = self.random.percent(50);
                self.kill_app(app, device);
            }
            84..89 => self.give_link(app),
            89 => self.disconnect(app),
            90 => self.revoke_some(),
            91..93 => self.read_events(),
            93 => self.crowd(),
            _ => self.intrude(),
        }
    }

    fn burst(&mut self) {
        for _ in 0..self.random.below(6) {
            self.call_some();
        }
    }

    pub(super) fn register_some(&mut self, app: usize) {
        if !self.apps[app].is_awake(self.now) {
            return;
        }
        self.versions += 1;
        let (is_tool, version) = (self.random.percent(60), self.versions);
        let name = format!("{}{}", if is_tool { "t" } else { "e" }, self.random.below(6));
        let text = format!(r#"{{"name":"{name}","description":"{version}"}}"#);
        let raw = RawJson::parse(&text).expect("it is an object");
        let registered =
            self.drive_app(
                app,
                |core, now| {
                    if is_tool { core.register_tool(now, &raw) } else { core.register_event(now, &raw) }
                },
            );
        let Some(Ok(registration)) = registered else {
            self.oracle.violate(Promise::SoundMachines, format!("app {app} cannot register {text}"));
            return;
        };
        let app = &mut self.apps[app];
        let registry = if is_tool { &mut app.tools } else { &mut app.events };
        registry.insert(name, (registration, text));
    }

    fn unregister_some(&mut self, app: usize) {
        if !self.apps[app].is_awake(self.now) {
            return;
        }
        let is_tool = self.random.percent(60);
        let registry = if is_tool { &self.apps[app].tools } else { &self.apps[app].events };
        let names: Vec<_> = registry.keys().cloned().collect();
        let Some(name) = self.random.pick(&names) else { return };
        let registry = if is_tool { &mut self.apps[app].tools } else { &mut self.apps[app].events };
        let Some((registration, _)) = registry.remove(name) else { return };
        self.drive_app(app, |core, now| {
            if is_tool { core.unregister_tool(now, registration) } else { core.unregister_event(now, registration) }
        });
    }

    fn post_some(&mut self, app: usize) {
        for _ in 0..1 + self.random.below(12) {
            if !self.apps[app].is_awake(self.now) {
                return;
            }
            self.posts += 1;
            let payload = RawJson::parse(&self.posts.to_string()).expect("it is a number");
            // Without a session there is nobody to hear it.
            let _unheard = self.drive_app(app, |core, now| core.post_event(now, "e", Some(&payload)));
        }
    }

    fn change_weather(&mut self) {
        self.network.weather = if self.random.percent(30) { Weather::CALM } else { Weather::bad(&mut self.random) };
        let weather = self.network.weather;
        self.say(format_args!("{weather:?}"));
    }

    fn change_disk(&mut self) {
        self.daemon.disk.condition =
            if self.random.percent(40) { Condition::GOOD } else { Condition::bad(&mut self.random) };
        let condition = self.daemon.disk.condition;
        self.say(format_args!("disk {condition:?}"));
    }

    fn harm_connections(&mut self) {
        let open = self.network.open();
        let all = self.random.percent(40);
        let one = self.random.pick(&open).copied();
        let kind = self.random.below(4);
        for no in if all { open } else { Vec::from_iter(one) } {
            self.say(format_args!("{no:?} is harmed ({kind})"));
            match kind {
                0 => self.network.tear(self.now, no, &mut self.random, &mut self.queue),
                1 => {
                    let way = if self.random.percent(50) { Way::Up } else { Way::Down };
                    self.network.silence(no, way);
                }
                2 => {
                    self.network.silence(no, Way::Up);
                    self.network.silence(no, Way::Down);
                }
                _ => {
                    let until = self.now + self.random.below(14_000);
                    let way = self.random.below(3);
                    if way != 0 {
                        self.network.hold(no, Way::Up, until);
                    }
                    if way != 1 {
                        self.network.hold(no, Way::Down, until);
                    }
                }
            }
        }
    }

    fn sleep_daemon(&mut self) {
        if !self.daemon.is_awake(self.now) || self.daemon.is_stopping {
            return;
        }
        let ms =
            if self.random.percent(70) { self.random.below(8_000) } else { self.random.below(2 * self.plan.grace_ms) };
        self.say(format_args!("the daemon sleeps for {ms} ms"));
        self.daemon.asleep_until = self.now + ms;
        self.daemon.slept_ms += ms;
    }

    fn set_clock(&mut self, app: usize) {
        let by = self.random.below(4_000_000) as i64 - 2_000_000;
        if self.random.percent(70) {
            self.say(format_args!("the daemon's clock is set by {by} ms"));
            self.daemon.set_by_ms += by;
        } else {
            self.say(format_args!("the clock of app {app} is set by {by} ms"));
            self.apps[app].set_by_ms += by;
            self.apps[app].clock_was_set = true;
        }
    }

    fn freeze(&mut self, app: usize) {
        let ms = if self.random.percent(70) { self.random.below(4_000) } else { self.random.below(60_000) };
        self.say(format_args!("app {app} freezes for {ms} ms"));
        self.apps[app].frozen_until = self.now + ms;
    }

    fn background(&mut self, app: usize) {
        if !self.apps[app].is_awake(self.now) || self.apps[app].is_in_background {
            return;
        }
        self.say(format_args!("app {app} goes to the background"));
        self.apps[app].is_in_background = true;
        self.drive_app(app, Core::handle_background);
        let (life, back) = (self.apps[app].life, self.now + self.random.below(self.plan.grace_ms * 3 / 2));
        self.queue.put(back, Happening::Foreground { app, life });
    }

    pub(super) fn foreground(&mut self, app: usize, life: u64) {
        if self.apps[app].life != life || self.apps[app].core.is_none() || !self.apps[app].is_in_background {
            return;
        }
        if !self.apps[app].is_awake(self.now) {
            self.queue.put(self.apps[app].frozen_until, Happening::Foreground { app, life });
            return;
        }
        self.apps[app].is_in_background = false;
        self.drive_app(app, Core::handle_foreground);
    }

    fn disconnect(&mut self, app: usize) {
        if !self.apps[app].is_awake(self.now) {
            return;
        }
        self.say(format_args!("app {app} disconnects"));
        self.apps[app].gave_up = true;
        self.drive_app(app, Core::disconnect);
    }

    /// Somebody mints a link, and it reaches an app soon, if that has no session or now and then if it has.
    pub(super) fn give_link(&mut self, app: usize) {
        if !self.daemon.is_awake(self.now) || self.daemon.is_stopping {
            return;
        }
        let is_busy =
            self.apps[app].core.as_ref().is_some_and(|core| !matches!(core.state(), State::Idle | State::Closed));
        if is_busy && !self.random.percent(20) {
            return;
        }
        let ttl_ms = self.plan.link_ttl_ms;
        let transport = self.apps[app].transport;
        let endpoint = Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 8443 };
        let request = LinkRequest { transport, endpoint, ttl: Duration::from_millis(ttl_ms) };
        let now = self.daemon.clocks(self.now);
        let Some(Ok(minted)) = self.daemon.host.as_mut().map(|host| host.create_link(now, &request)) else {
            self.oracle.violate(Promise::SoundMachines, "the host mints no link".to_owned());
            return;
        };
        self.oracle.link_minted(&minted.session_id, minted.bootstrap.token_text(), transport, ttl_ms);
        self.drain_host();
        let payload = minted.bootstrap.encode().expect("a minted link has a payload");
        let pin = (transport == appduct_proto::host::Transport::Native).then(|| Pin::of_spki(b"daemon"));
        let url = DeepLink { payload, pin }.compose("app").expect("it is a scheme");
        let (life, at) = (self.apps[app].life, self.now + self.random.below(2_000));
        self.queue.put(at, Happening::Link { app, life, url, session: minted.session_id });
    }
}
