//! Many apps of one daemon, in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use appduct_proto::wire::{DeepLink, Pin, RawJson};
use appduct_rpc::Client;
use appduct_rpc::methods::{Link, LinkCreate};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::app::{App, Common, Orders};
use crate::daemon::Daemon;
use crate::tls;

/// How many links are minted before their apps are waited for.
const BATCH: usize = 200;

/// How long apps may take over what must happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// The apps; they end with this value.
pub(crate) struct Fleet {
    common: Arc<Common>,
    orders: watch::Sender<Orders>,
    size: usize,
    runtime: Handle,
    pub(crate) session_ids: Vec<String>,
}

impl Fleet {
    /// A fleet of nobody, whose apps will have these tools.
    pub(crate) fn new(daemon: &Daemon, tools: Vec<RawJson>, runtime: &Handle) -> Result<Self> {
        let pin = daemon.status.pinned_keys.first().context("a daemon has a pin")?;
        let pin = pin.parse::<Pin>().ok().context("a daemon's pin is a pin")?;
        let common = Common {
            connector: tls::connector(pin),
            port: daemon.status.wss_port,
            tools,
            active: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
        };
        let (orders, _) = watch::channel(Orders::default());
        let common = Arc::new(common);
        Ok(Self { common, orders, size: 0, runtime: runtime.clone(), session_ids: Vec::new() })
    }

    /// Adds apps until there are `size`, each with an active session.
    pub(crate) fn grow_to(&mut self, size: usize, client: &mut Client) -> Result<()> {
        while self.size < size {
            for _ in 0..BATCH.min(size - self.size) {
                let link: Link = client.request(&LinkCreate::default(), Client::REQUEST_TIMEOUT)?;
                let pin = link.pin.parse().ok();
                let url = DeepLink { payload: link.deep_link_payload, pin }.compose("load").ok();
                let who = u32::try_from(self.size)?;
                let url = url.context("a link can be composed")?;
                let app = App::new(who, &url, Arc::clone(&self.common), self.orders.subscribe())?;
                self.runtime.spawn(app.run());
                self.session_ids.push(link.session_id);
                self.size += 1;
            }
            self.wait_until_all_are_active()?;
        }
        Ok(())
    }

    /// Every app loses its socket at once. Returns how long it took until all were active again.
    pub(crate) fn drop_all_sockets(&self) -> Result<Duration> {
        let start = Instant::now();
        self.orders.send_modify(|orders| orders.drops += 1);
        // Until every app has noticed, `active` counts those who have not.
        self.wait_for(|common| common.active.load(Ordering::Relaxed) < self.size)?;
        self.wait_until_all_are_active()?;
        Ok(start.elapsed())
    }

    /// Every app registers these too, each in a frame of its own.
    pub(crate) fn register_later(&self, tools: Vec<RawJson>) {
        self.orders.send_modify(|orders| orders.more_tools = tools.into());
    }

    pub(crate) fn answered(&self) -> usize {
        self.common.answered.load(Ordering::Relaxed)
    }

    fn wait_until_all_are_active(&self) -> Result<()> {
        self.wait_for(|common| common.active.load(Ordering::Relaxed) == self.size)
    }

    fn wait_for(&self, is_so: impl Fn(&Common) -> bool) -> Result<()> {
        let start = Instant::now();
        while !is_so(&self.common) {
            let (active, lost) = (self.common.active.load(Ordering::Relaxed), self.common.lost.load(Ordering::Relaxed));
            ensure!(lost == 0, "{lost} of {} apps have lost their session", self.size);
            ensure!(start.elapsed() < PATIENCE, "{active} of {} apps are active after {PATIENCE:?}", self.size);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// `count` tools in some groups; the first is called `sum`.
pub(crate) fn tools(count: usize) -> Result<Vec<RawJson>> {
    let name = |index: usize| if index == 0 { "sum".to_owned() } else { format!("tool_{index:05}") };
    let tool = |index: usize| {
        let number = json!({ "type": "number" });
        RawJson::of(&json!({
            "name": name(index),
            "description": format!("Adds two numbers, for the {index}th time."),
            "input_schema": {
                "type": "object",
                "properties": { "a": number, "b": number },
                "required": ["a", "b"],
            },
            "output_schema": { "type": "object", "properties": { "total": number }, "required": ["total"] },
            "group": format!("group_{}/part_{}", index % 10, index % 3),
        }))
    };
    (0..count).map(|index| tool(index).map_err(Into::into)).collect()
}
