//! The state directory: there, ours, and for nobody else.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use crate::StartError;

/// Creates the directory where it is missing and sets its mode to 0700, which guards every file in it from birth.
pub(crate) fn prepare(root: &Path) -> Result<(), StartError> {
    let shown = root.display();
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent).map_err(StartError::io(format!("create {}", parent.display())))?;
    }
    match DirBuilder::new().mode(0o700).create(root) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(StartError::Io { what: format!("create the state directory {shown}"), source: error });
        }
        Ok(()) | Err(_) => {}
    }
    let metadata = fs::metadata(root).map_err(StartError::io(format!("look at the state directory {shown}")))?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(StartError::ForeignStateDir { path: root.to_owned(), owner: metadata.uid() });
    }
    fs::set_permissions(root, Permissions::from_mode(0o700))
        .map_err(StartError::io(format!("set the mode of the state directory {shown}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_made_or_closed_to_others() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("a/b");
        let mode = || fs::metadata(&root).unwrap().permissions().mode() & 0o777;
        prepare(&root).unwrap();
        assert_eq!(mode(), 0o700);
        fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
        prepare(&root).unwrap();
        assert_eq!(mode(), 0o700);
    }

    #[test]
    fn a_file_in_its_place_is_an_error() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("state");
        fs::write(&root, "").unwrap();
        assert!(matches!(prepare(&root.join("inner")), Err(StartError::Io { .. })));
    }
}
