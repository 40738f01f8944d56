//! `keygen`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::run::Place;

#[test]
fn a_key_is_made_once() {
    let place = Place::new();
    insta::with_settings!({ filters => vec![(r"sha256/[A-Za-z0-9+/]{43}=", "[PIN]")] }, {
        insta::assert_snapshot!("keygen", place.run(&["keygen"]));
        insta::assert_snapshot!("keygen_exists", place.run(&["keygen"]));
        insta::assert_snapshot!("keygen_json", place.run(&["keygen", "--force", "--json"]));
    });
    let key = place.state_dir().join("key.pem");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let first = fs::read(&key).unwrap();
    assert_eq!(place.run(&["keygen"]).code, Some(64));
    assert_eq!(fs::read(&key).unwrap(), first);
    place.run(&["keygen", "--force"]).ok();
    assert_ne!(fs::read(&key).unwrap(), first);
}

#[test]
fn a_key_of_either_type_goes_where_it_is_wanted() {
    let place = Place::new();
    for (key_type, bytes) in [("ec", 200..300), ("rsa", 1600..1800)] {
        let out = format!("deep/er/{key_type}.pem");
        let document = place.run(&["keygen", "--out", &out, "--type", key_type, "--json"]).json();
        assert_eq!(document["data"]["path"], out);
        let pem = fs::read_to_string(place.work().join(&out)).unwrap();
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----"));
        assert!(bytes.contains(&pem.len()), "{key_type}: {} bytes", pem.len());
    }
    let refused = place.run(&["keygen", "--type", "dsa", "--json"]).failure();
    assert_eq!(refused, (64, "usage_error".to_owned(), "\"--type\" must be ec or rsa; got \"dsa\".".to_owned()));
    assert!(!place.state_dir().exists());
}
