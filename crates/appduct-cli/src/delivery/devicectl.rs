//! The listing that `devicectl` writes.

use serde_json::Value;

use super::Device;

/// The devices that a link can be opened on. What a listing does not say disqualifies nothing; a listing that cannot be
/// read has none.
pub(super) fn devices(listing: &str) -> Vec<Device> {
    let listing: Value = serde_json::from_str(listing).unwrap_or_default();
    listing["result"]["devices"].as_array().into_iter().flatten().filter_map(device).collect()
}

fn device(device: &Value) -> Option<Device> {
    let hardware = &device["hardwareProperties"];
    let connection = &device["connectionProperties"];
    let is = |value: &Value, word: &str| value.as_str().is_none_or(|text| text.eq_ignore_ascii_case(word));
    let is_away = connection["tunnelState"].as_str().is_some_and(|state| state.eq_ignore_ascii_case("unavailable"));
    if !is(&hardware["platform"], "ios") || is_away || !is(&connection["pairingState"], "paired") {
        return None;
    }
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let id = text(&hardware["udid"]).or_else(|| text(&device["identifier"]))?;
    Some(Device { id, name: text(&device["deviceProperties"]["name"]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(devices_json: &str) -> Vec<String> {
        let listing = format!("{{\"result\":{{\"devices\":[{devices_json}]}}}}");
        devices(&listing)
            .into_iter()
            .map(|device| format!("{}/{}", device.id, device.name.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn only_what_is_said_disqualifies() {
        for (json, expected) in [
            (r#"{"identifier":"I1"}"#, Some("I1/")),
            (
                r#"{"identifier":"I1","hardwareProperties":{"udid":"U1"},"deviceProperties":{"name":"Phone"}}"#,
                Some("U1/Phone"),
            ),
            (r#"{"identifier":"I1","hardwareProperties":{"platform":"iOS","udid":""}}"#, Some("I1/")),
            (r#"{"identifier":"I1","hardwareProperties":{"platform":"watchOS"}}"#, None),
            (
                r#"{"identifier":"I1","connectionProperties":{"tunnelState":"disconnected","pairingState":"PAIRED"}}"#,
                Some("I1/"),
            ),
            (r#"{"identifier":"I1","connectionProperties":{"tunnelState":"Unavailable"}}"#, None),
            (r#"{"identifier":"I1","connectionProperties":{"pairingState":"unpaired"}}"#, None),
            (r#"{"deviceProperties":{"name":"nameless"}}"#, None),
            ("7", None),
        ] {
            assert_eq!(ids(json).first().map(String::as_str), expected, "{json}");
        }
        for listing in ["", "nope", "[]", r#"{"result":{"devices":{}}}"#] {
            assert_eq!(devices(listing), [], "{listing}");
        }
    }
}
