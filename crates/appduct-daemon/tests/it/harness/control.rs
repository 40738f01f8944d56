//! A raw client of the control socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use super::PATIENCE;

pub(crate) struct Control {
    pub(crate) stream: UnixStream,
    reader: BufReader<UnixStream>,
    next_id: u64,
}

impl Control {
    pub(crate) fn try_connect(path: &Path) -> Option<Self> {
        let stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Some(Self { stream, reader, next_id: 1 })
    }

    pub(crate) fn connect(path: &Path) -> Self {
        Self::try_connect(path).expect("the daemon listens")
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The same where the daemon may be gone: `None` then, as in the next two.
    pub(crate) fn try_request(&mut self, method: &str, params: Value) -> Option<u64> {
        let id = self.next_id;
        self.next_id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        self.stream.write_all(line.as_bytes()).ok()?;
        Some(id)
    }

    /// The next line's value. A daemon that dies while it writes leaves half a line.
    pub(crate) fn try_value(&mut self) -> Option<Value> {
        let line = self.line()?;
        line.ends_with('\n').then(|| parsed(&line))
    }

    pub(crate) fn try_call(&mut self, method: &str, params: Value) -> Option<Result<Value, Value>> {
        let id = self.try_request(method, params)?;
        loop {
            let value = self.try_value()?;
            if value["id"] == id {
                return Some(outcome(&value));
            }
        }
    }

    /// The next line; `None` at the end.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line),
            // The daemon dropped the connection with bytes of ours unread.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn value(&mut self) -> Value {
        parsed(&self.line().expect("a line"))
    }

    /// Sends a request and waits for its reply; notifications before it are dropped.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        loop {
            let value = self.value();
            if value["id"] == id {
                return outcome(&value);
            }
        }
    }

    /// The next notification of this kind.
    pub(crate) fn event(&mut self, kind: &str) -> Value {
        loop {
            let value = self.value();
            if value["method"] == "event" && value["params"]["kind"] == kind {
                return value["params"].clone();
            }
        }
    }

    pub(crate) fn read_to_end(&mut self) -> String {
        let mut bytes = Vec::new();
        match self.reader.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("{error}"),
        }
        String::from_utf8(bytes).unwrap()
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

fn outcome(reply: &Value) -> Result<Value, Value> {
    match reply.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(reply["result"].clone()),
    }
}
