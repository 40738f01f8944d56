//! Where a browser listens for the DevTools protocol: on loopback, or it is not spoken to.

use std::io;
use std::net::SocketAddr;

use appduct_rpc::RpcError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Host, Url};

use super::refusal;
use super::targets::{self, Target};

/// The longest answer that is read. A browser with a thousand tabs says a megabyte.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;
const MAX_HEADERS: usize = 64;

/// A browser's debugging endpoint.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// The text is the browser's name on this machine: it checks that it is one.
    host: String,
    port: u16,
}

impl Endpoint {
    /// Takes `browserUrl`: `http` or `https` and a host that is this machine under one of three names.
    pub(super) fn parse(text: &str) -> Result<Self, RpcError> {
        let rule = || {
            refusal(format!(
                "\"browserUrl\" must be an http(s) URL whose host is 127.0.0.1, [::1] or localhost, and {text:?} is not one"
            ))
        };
        let url = Url::parse(text).map_err(|_| rule())?;
        let loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
            Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
            None => false,
        };
        if !loopback || !matches!(url.scheme(), "http" | "https") {
            return Err(rule());
        }
        if url.scheme() == "https" {
            return Err(refusal("browsers do not speak TLS on their debugging port: use http:// in \"browserUrl\""));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return Err(rule()) };
        Ok(Self { host: host.to_owned(), port })
    }

    /// As it stands in a URL.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The tabs, workers and extensions of the browser.
    pub(super) async fn targets(&self) -> Result<Vec<Target>, RpcError> {
        let failed = |error: io::Error| {
            let authority = self.authority();
            refusal(format!(
                "no browser answers at {authority} ({error}): start it with --remote-debugging-port={} and, if it is a \
                 Chrome, with a --user-data-dir of its own",
                self.port
            ))
        };
        let body = self.get("/json/list").await.map_err(failed)?;
        targets::parse(&body)
            .ok_or_else(|| refusal(format!("what listens at {} is no browser's debugging port", self.authority())))
    }

    /// A connection to this machine, whatever its files say of `localhost`.
    pub(super) async fn connect(&self) -> io::Result<TcpStream> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        let addresses: Vec<SocketAddr> = tokio::net::lookup_host((host, self.port)).await?.collect();
        for address in addresses.into_iter().filter(|address| address.ip().is_loopback()) {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One document, in one connection. Redirects lead nowhere.
    async fn get(&self, path: &str) -> io::Result<Vec<u8>> {
        let mut stream = self.connect().await?;
        let authority = self.authority();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        loop {
            if let Some(Answer { body, length: Some(length) }) = parse(&answer)?
                && answer.len() - body >= length
            {
                return Ok(answer[body..body + length].to_vec());
            }
            let room = MAX_ANSWER_BYTES.saturating_sub(answer.len());
            if room == 0 {
                return Err(invalid("an endless answer"));
            }
            if (&mut stream).take(room as u64).read_buf(&mut answer).await? == 0 {
                break;
            }
        }
        match parse(&answer)? {
            Some(Answer { body, length: None }) => Ok(answer.split_off(body)),
            Some(_) | None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A whole head: where the body starts, and its length where that is told.
struct Answer {
    body: usize,
    length: Option<usize>,
}

fn parse(bytes: &[u8]) -> io::Result<Option<Answer>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let body = match response.parse(bytes) {
        Ok(httparse::Status::Complete(body)) => body,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(invalid("no HTTP")),
    };
    if response.code != Some(200) {
        return Err(invalid("no list of tabs"));
    }
    let header = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    if header("transfer-encoding").is_some() {
        return Err(invalid("an answer in pieces"));
    }
    let length = header("content-length").map(|header| {
        std::str::from_utf8(header.value)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .ok_or_else(|| invalid("no length"))
    });
    let length = length.transpose()?;
    Ok(Some(Answer { body, length: length.filter(|&length: &usize| length <= MAX_ANSWER_BYTES) }))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to() {
        for good in ["http://127.0.0.1:9222", "http://localhost:9222/", "http://[::1]:1/x", "http://LOCALHOST:1"] {
            assert!(Endpoint::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "9222",
            "127.0.0.1:9222",
            "ws://127.0.0.1:9222",
            "ftp://localhost",
            "file:///x",
            "http://192.0.2.7:9222",
            "http://0.0.0.0:9222",
            "http://127.0.0.2:9222",
            "http://[::]:9222",
            "http://[::ffff:127.0.0.1]:9222",
            "http://localhost.evil.example:9222",
            "http://127.0.0.1:9222@evil.example/",
            "https://evil.example",
        ] {
            let error = Endpoint::parse(bad).unwrap_err();
            assert!(error.message.contains("\"browserUrl\" must be"), "{bad}: {}", error.message);
            assert_eq!(error.kind.unwrap().as_str(), "invalid_request");
        }
        assert!(Endpoint::parse("https://localhost:9222").unwrap_err().message.contains("use http://"));
        assert_eq!(Endpoint::parse("http://[::1]:7").unwrap().authority(), "[::1]:7");
        assert_eq!(Endpoint::parse("http://localhost").unwrap().authority(), "localhost:80");
    }

    #[test]
    fn an_answer_is_a_head_of_200_and_a_length_or_none() {
        let answer = |text: &str| parse(text.as_bytes()).map(|found| found.map(|found| (found.body, found.length)));
        assert_eq!(answer("HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
        assert_eq!(answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]").unwrap(), Some((38, Some(2))));
        assert_eq!(answer("HTTP/1.1 200 OK\r\n\r\n[]").unwrap(), Some((19, None)));
        for bad in [
            "HTTP/1.1 404 Not Found\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: http://evil.example\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(answer(bad).is_err(), "{bad}");
        }
    }
}
