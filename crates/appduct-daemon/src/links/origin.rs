//! Which web pages may use the web listener.
//!
//! Any page that a browser shows can open a WebSocket to loopback. What tells a page of this machine's developer from a
//! stranger's is the `Origin` header, which no page can forge; programs that are no browsers send none.

use tokio_tungstenite::tungstenite::http::{HeaderMap, header};
use url::{Host, Url};

/// Takes loopback origins, and those that the user lists.
#[derive(Debug)]
pub(crate) struct Origins {
    /// Compared as they are.
    listed: Vec<String>,
}

impl Origins {
    pub(crate) fn new(listed: Vec<String>) -> Self {
        Self { listed }
    }

    /// Whether a request with these headers may upgrade: it names no origin, or exactly one that is taken.
    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(origin), None) => origin.to_str().is_ok_and(|origin| self.takes(origin)),
            (Some(_), Some(_)) => false,
        }
    }

    fn takes(&self, origin: &str) -> bool {
        self.listed.iter().any(|listed| listed == origin) || is_loopback(origin)
    }
}

/// Whether a browser would reach this machine and no other by `origin`, on any port. A trailing dot, a subdomain or another
/// address of the loopback network is not it.
fn is_loopback(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    if !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address == std::net::Ipv4Addr::LOCALHOST,
        Some(Host::Ipv6(address)) => address == std::net::Ipv6Addr::LOCALHOST,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_tungstenite::tungstenite::http::HeaderValue;

    fn admits(origins: &[&[u8]]) -> bool {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(header::ORIGIN, HeaderValue::from_bytes(origin).unwrap());
        }
        Origins::new(vec!["https://app.example".to_owned(), "null-ish".to_owned()]).admit(&headers)
    }

    #[test]
    fn no_origin_is_no_browser() {
        assert!(admits(&[]));
    }

    #[test]
    fn loopback_is_taken_in_every_spelling_of_a_browser() {
        for origin in [
            "http://localhost",
            "http://localhost:3000",
            "https://localhost:8443",
            "http://LOCALHOST:1",
            "http://127.0.0.1:5173",
            "http://127.1",
            "http://2130706433",
            "http://0x7f.1",
            "https://[::1]:3000",
            "http://[0:0:0:0:0:0:0:1]",
            "http://localhost:3000/",
            // A backslash ends the host of an http URL.
            "http://localhost\\@evil.example",
        ] {
            assert!(admits(&[origin.as_bytes()]), "{origin}");
        }
    }

    #[test]
    fn look_alikes_of_loopback_are_not() {
        for origin in [
            "null",
            "",
            "localhost",
            "localhost:3000",
            "//localhost",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "http://evil.example/localhost",
            "http://evil.example#localhost",
            "http://evil.example?http://localhost",
            "http://localhost@evil.example",
            "http://localhost.",
            "http://127.0.0.2",
            "http://0.0.0.0",
            "http://[::]",
            "http://[::ffff:127.0.0.1]",
            "http://localhost:99999",
            "http://localhost, http://localhost",
            "ws://localhost",
            "file://localhost",
            "chrome-extension://localhost",
            "https://evil.example",
        ] {
            assert!(!admits(&[origin.as_bytes()]), "{origin}");
        }
        assert!(!admits(&[b"http://localhost\xff"]));
    }

    #[test]
    fn a_listed_origin_is_taken_as_it_is_and_no_other_like_it() {
        assert!(admits(&[b"https://app.example"]));
        assert!(admits(&[b"null-ish"]));
        for origin in [
            "https://app.example/",
            "https://app.example:443",
            "https://APP.example",
            "http://app.example",
            "https://app.example.evil.example",
            "https://evil-app.example",
        ] {
            assert!(!admits(&[origin.as_bytes()]), "{origin}");
        }
    }

    #[test]
    fn several_origins_are_none_that_a_browser_sends() {
        assert!(!admits(&[b"http://localhost", b"http://localhost"]));
        assert!(!admits(&[b"http://localhost", b"https://evil.example"]));
    }
}
