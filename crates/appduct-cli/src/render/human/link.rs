//! A link, and its QR code.

use std::net::Ipv6Addr;

use appduct_rpc::methods::Attached;
use jiff::Timestamp;
use qrcode::{Color, EcLevel, QrCode};

use super::{Style, block, escape};
use crate::render::iso;
use crate::report::{Link, WebLink};

/// Light modules around a drawn code, where it is drawn in its own colours.
const QUIET_ZONE: usize = 4;

/// The link's parts, and the code where it was asked for.
pub(super) fn lines(link: &Link, style: Style) -> Vec<String> {
    let endpoint = &link.endpoint;
    let address = escape::line(&endpoint.address);
    let host = if address.parse::<Ipv6Addr>().is_ok() { format!("[{address}]") } else { address.into_owned() };
    let mut lines = vec![style.paint.green("Link Created")];
    lines.extend(block(
        "Link",
        [
            ("Session", Some(escape::line(&link.session_id).into_owned())),
            ("Deep link", Some(escape::line(&link.deep_link).into_owned())),
            ("Endpoint", Some(format!("wss://{host}:{}", endpoint.port))),
            ("Pin", Some(escape::line(&link.pin).into_owned())),
            ("Expires", Some(instant(link.expires_at))),
            ("Delivered", link.delivery.map(|delivery| format!("yes ({})", delivery.target))),
        ],
    ));
    if link.qr {
        lines.extend([String::new(), "QR".to_owned()]);
        match QrCode::with_error_correction_level(&link.deep_link, EcLevel::L) {
            Ok(code) => lines.extend(fitted_art(&code, style)),
            Err(error) => lines.push(format!("  The link does not fit into a QR code: {error}.")),
        }
    }
    lines
}

/// A link as a plain code.
pub(crate) fn qr_code(link: &str) -> Result<String, qrcode::types::QrError> {
    let code = QrCode::with_error_correction_level(link, EcLevel::L)?;
    Ok(art(&code, Style::new(false, false)).join("\n"))
}

/// The page's address with the link, and what its console takes instead.
pub(super) fn web_lines(link: &WebLink, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Link Created")];
    lines.extend(block(
        "Link",
        [
            ("Session", Some(escape::line(&link.session_id).into_owned())),
            ("URL", Some(escape::line(&link.url).into_owned())),
            ("Script", Some(escape::line(&link.script).into_owned())),
            ("Expires", Some(instant(link.expires_at))),
        ],
    ));
    lines
}

/// The page and its tab.
pub(super) fn attached_lines(attached: &Attached, style: Style) -> Vec<String> {
    let mut lines = vec![style.paint.green("Page Attached")];
    lines.extend(block(
        "Page",
        [
            ("Session", Some(escape::line(&attached.session_id).into_owned())),
            ("URL", Some(escape::line(&attached.url).into_owned())),
            ("Tab", Some(escape::line(&attached.target_id).into_owned())),
            ("Link expires", Some(instant(attached.expires_at))),
        ],
    ));
    lines
}

fn instant(seconds: u64) -> String {
    let instant = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    instant.map_or_else(|| seconds.to_string(), iso)
}

/// The code, or why there is none: lines that a terminal breaks make no code.
fn fitted_art(code: &QrCode, style: Style) -> Vec<String> {
    let columns = code.width() + 2 * margin(style);
    match style.width.filter(|width| *width < columns) {
        Some(width) => vec![format!("  The code is {columns} columns wide, and this terminal {width}.")],
        None => art(code, style),
    }
}

fn margin(style: Style) -> usize {
    if style.paint.is_on() { QUIET_ZONE } else { 0 }
}

/// Two rows of modules on each line.
///
/// Without colour the dark modules are blocks and there is no margin: the plain form, for files and for light paper. A
/// camera wants dark on light with a margin, and a terminal may be dark; so in colour the code is drawn black on white with
/// the margin that the standard asks for, whatever the terminal's theme.
fn art(code: &QrCode, style: Style) -> Vec<String> {
    let width = code.width();
    let modules = code.to_colors();
    let margin = margin(style);
    let is_dark = |column: usize, row: usize| {
        let inside = column.checked_sub(margin).zip(row.checked_sub(margin));
        inside
            .is_some_and(|(column, row)| column < width && row < width && modules[row * width + column] == Color::Dark)
    };
    let size = width + 2 * margin;
    (0..size)
        .step_by(2)
        .map(|row| {
            let line: String = (0..size)
                .map(|column| match (is_dark(column, row), is_dark(column, row + 1)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                })
                .collect();
            if style.paint.is_on() { format!("\u{1b}[30;107m{line}\u{1b}[39;49m") } else { line }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use appduct_rpc::methods::LinkEndpoint;

    use super::*;

    fn link(address: &str, family: u8) -> Link {
        Link {
            session_id: "s1".to_owned(),
            deep_link: "demo:///?appduct=AAAA&pin=sha256%2FAAAA%3D".to_owned(),
            endpoint: LinkEndpoint { family, address: address.to_owned(), port: 8443 },
            expires_at: 1_773_741_600,
            pin: "sha256/AAAA=".to_owned(),
            delivery: None,
            qr: false,
        }
    }

    #[test]
    fn a_link_shows_its_parts() {
        assert_eq!(
            lines(&link("192.168.1.5", 4), Style::new(false, false)),
            [
                "Link Created",
                "Link",
                "  Session    s1",
                "  Deep link  demo:///?appduct=AAAA&pin=sha256%2FAAAA%3D",
                "  Endpoint   wss://192.168.1.5:8443",
                "  Pin        sha256/AAAA=",
                "  Expires    2026-03-17T10:00:00.000Z",
            ]
        );
        assert_eq!(lines(&link("fe80::1", 6), Style::new(false, false))[4], "  Endpoint   wss://[fe80::1]:8443");
    }

    #[test]
    fn a_plain_code_has_no_margin_and_a_coloured_one_has() {
        let code = QrCode::with_error_correction_level("demo", EcLevel::L).unwrap();
        assert_eq!(code.width(), 21);
        let plain = art(&code, Style::new(false, false));
        assert_eq!(plain.len(), 11);
        assert!(plain.iter().all(|line| line.chars().count() == 21));
        assert!(plain[0].starts_with("█▀▀▀▀▀█"), "{}", plain[0]);
        assert_eq!(
            plain[10].chars().filter(|&module| module == '▀').count(),
            plain[10].trim().replace(' ', "").chars().count()
        );
        let coloured = art(&code, Style::new(true, false));
        assert_eq!(coloured.len(), 15);
        assert_eq!(coloured[0], format!("\u{1b}[30;107m{}\u{1b}[39;49m", " ".repeat(29)));
        assert!(coloured[2].starts_with("\u{1b}[30;107m    █▀▀▀▀▀█"), "{}", coloured[2]);
    }

    #[test]
    fn a_code_that_the_terminal_is_too_narrow_for_is_not_drawn() {
        let code = QrCode::with_error_correction_level("demo", EcLevel::L).unwrap();
        let style = Style::new(true, false);
        assert_eq!(fitted_art(&code, style.fitted(Some(29))), art(&code, style));
        assert_eq!(fitted_art(&code, style.fitted(Some(28))), ["  The code is 29 columns wide, and this terminal 28."]);
        assert_eq!(fitted_art(&code, Style::new(false, false)), art(&code, Style::new(false, false)));
    }
}
