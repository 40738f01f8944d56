//! The tarball: the same bytes for the same files, whenever and wherever it is packed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::{Staged, files, mode_of};

pub(super) struct Tarball {
    pub(super) path: PathBuf,
    /// Lowercase hex.
    pub(super) sha256: String,
}

pub(super) fn pack(staged: &Staged, dist: &Path) -> Result<Tarball> {
    let name = staged.folder.file_name().context("a staged folder has a name")?;
    let path = dist.join(format!("{}.tar.gz", name.to_string_lossy()));
    let mut archive = tar::Builder::new(GzEncoder::new(File::create(&path)?, Compression::best()));
    for file in files(&staged.folder)? {
        let bytes = fs::read(staged.folder.join(&file))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(bytes.len())?);
        header.set_mode(mode_of(&file));
        header.set_mtime(0);
        archive.append_data(&mut header, Path::new(name).join(&file), bytes.as_slice())?;
    }
    archive.into_inner()?.finish()?;
    let digest = Sha256::digest(fs::read(&path)?);
    let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    fs::write(dist.join(format!("{}.tar.gz.sha256", name.to_string_lossy())), format!("{sha256}\n"))?;
    Ok(Tarball { path, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_bytes_and_only_the_command_may_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let staged = Staged {
            folder: folder.path().join("appduct-1.2.3-here"),
            version: "1.2.3".to_owned(),
            target: "here".to_owned(),
        };
        for part in ["bin", "man"] {
            fs::create_dir_all(staged.folder.join(part)).unwrap();
        }
        fs::write(staged.folder.join("bin/appduct"), "program").unwrap();
        fs::write(staged.folder.join("man/appduct.1"), "page").unwrap();
        let first = pack(&staged, folder.path()).unwrap();
        let bytes = fs::read(&first.path).unwrap();
        let second = pack(&staged, folder.path()).unwrap();
        assert_eq!((first.sha256.len(), &first.sha256), (64, &second.sha256));

        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let entries = archive.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap())
        });
        let expected = [("appduct-1.2.3-here/bin/appduct", 0o755), ("appduct-1.2.3-here/man/appduct.1", 0o644)];
        assert_eq!(entries.collect::<Vec<_>>(), expected.map(|(path, mode)| (path.to_owned(), mode)));
    }
}
