//! `sessions.json`: the sessions and links of the last daemon.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use appduct_proto::host::{Records, RecordsFault};

use super::durable;

/// A file that this daemon may write.
#[derive(Debug)]
pub(crate) struct SessionsFile(PathBuf);

impl SessionsFile {
    /// Reads what the last daemon left; the caller owns the state directory. Without a file there are no records.
    ///
    /// `None` where the file must stay as it is, so that nothing is saved in this run: a newer version has written it, or it
    /// can neither be read nor set aside. A broken one is set aside.
    pub(crate) fn open(path: PathBuf) -> Option<(Self, Option<Records>)> {
        let shown = path.display();
        let document = match fs::read(&path) {
            Ok(document) => document,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some((Self(path), None)),
            Err(error) => {
                tracing::warn!("cannot read {shown}: {error}; sessions of this daemon will not outlive it");
                return None;
            }
        };
        match Records::decode(&document) {
            Ok(records) => Some((Self(path), Some(records))),
            Err(RecordsFault::NewerVersion(version)) => {
                tracing::warn!(
                    "{shown} is of version {version}, which a newer daemon has written: it is left as it is, and sessions \
                     of this daemon will not outlive it"
                );
                None
            }
            Err(RecordsFault::Broken) => match set_aside(&path) {
                Ok(aside) => {
                    tracing::warn!(
                        "{shown} is broken: it is {} from now on, and its sessions are lost",
                        aside.display()
                    );
                    Some((Self(path), None))
                }
                Err(error) => {
                    tracing::warn!(
                        "{shown} is broken and cannot be renamed: {error}; sessions of this daemon will not outlive it"
                    );
                    None
                }
            },
        }
    }

    /// Writes the records, see [`durable::replace`].
    pub(crate) fn write(&self, records: &Records) -> io::Result<()> {
        durable::replace(&self.0, records.encode().as_bytes())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Renames the file to the first free `<path>.broken-<n>`.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    for n in 1_u32.. {
        let mut aside = path.as_os_str().to_owned();
        aside.push(format!(".broken-{n}"));
        let aside = PathBuf::from(aside);
        // Whoever owns the state directory is alone with it, so the name stays free.
        if fs::symlink_metadata(&aside).is_err() {
            return fs::rename(path, &aside).map(|()| aside);
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = r#"{"version":1,"written":{"wallMs":1,"monoMs":1},"sessions":[],"links":[]}"#;

    fn opened(path: &Path) -> Option<bool> {
        SessionsFile::open(path.to_owned()).map(|(_, records)| records.is_some())
    }

    #[test]
    fn what_is_there_decides() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions.json");
        assert_eq!(opened(&path), Some(false));
        fs::write(&path, EMPTY).unwrap();
        assert_eq!(opened(&path), Some(true));
        fs::write(&path, r#"{"version":2,"any":"thing"}"#).unwrap();
        assert_eq!(opened(&path), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"version":2,"any":"thing"}"#);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(opened(&path), None);
    }

    #[test]
    fn broken_files_are_set_aside_each_under_its_own_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions.json");
        let broken = ["", "{", "\u{0}\u{0}\u{0}", r#"{"version":1}"#, "[]"];
        for text in broken {
            fs::write(&path, text).unwrap();
            assert_eq!(opened(&path), Some(false), "{text:?}");
            assert!(!path.exists());
        }
        for (n, text) in broken.iter().enumerate() {
            let aside = directory.path().join(format!("sessions.json.broken-{}", n + 1));
            assert_eq!(fs::read_to_string(aside).unwrap(), *text);
        }
    }

    #[test]
    fn records_come_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sessions.json");
        let records = Records::decode(EMPTY.as_bytes()).unwrap();
        let (file, _) = SessionsFile::open(path.clone()).unwrap();
        file.write(&records).unwrap();
        let (_, read) = SessionsFile::open(path).unwrap();
        assert_eq!(read, Some(records));
    }
}
