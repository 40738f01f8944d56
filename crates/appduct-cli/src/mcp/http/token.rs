//! The secret that a client shows. It is made once and kept in a file that only its user may read.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use subtle::ConstantTimeEq;

/// A token. It is in no log and no debug print.
#[derive(Clone)]
pub(in crate::mcp) struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// The token of a file, which is made where there is none. A file that others may read or write is refused.
    pub(in crate::mcp) fn load(path: &Path) -> io::Result<Self> {
        match Self::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read,
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // Whole or not at all: another server may be starting.
        let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
        file.write_all(token.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(Self(token)),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Self::read(path),
            Err(error) => Err(error.error),
        }
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = fs::File::open(path)?;
        if file.metadata()?.mode() & 0o077 != 0 {
            return Err(io::Error::other(
                "others may read or write it; `chmod 600` closes it, deleting it makes a new one",
            ));
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let token = text.trim();
        if token.len() < 32 {
            return Err(io::Error::other("it holds no token; delete it to have a new one made"));
        }
        Ok(Self(token.to_owned()))
    }

    /// Whether the `Authorization` header of a request shows this token. It takes as long for one wrong token as for another.
    pub(super) fn admits(&self, header: &str) -> bool {
        let Some((scheme, shown)) = header.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && bool::from(shown.trim().as_bytes().ct_eq(self.0.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_shown_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let token = Token::load(&path).unwrap();
        assert_eq!(Token::load(&path).unwrap().0, token.0);
        assert_eq!(token.0.len(), 64);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn only_the_whole_token_is_admitted() {
        let directory = tempfile::tempdir().unwrap();
        let token = Token::load(&directory.path().join("token")).unwrap();
        let secret = &token.0;
        assert!(token.admits(&format!("Bearer {secret}")) && token.admits(&format!("bearer  {secret}")));
        for header in
            [secret.clone(), format!("Basic {secret}"), format!("Bearer {}", &secret[1..]), "Bearer ".to_owned()]
        {
            assert!(!token.admits(&header));
        }
    }

    #[test]
    fn a_file_that_others_may_read_or_that_is_empty_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        Token::load(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::load(&path).unwrap_err().to_string().contains("chmod 600"));
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Token::load(&path).unwrap_err().to_string().contains("no token"));
    }
}
