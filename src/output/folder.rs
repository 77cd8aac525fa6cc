//! A result folder that is either whole or not there: it is filled beside its final place, then renamed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::output::{FORMAT, MANIFEST_JSON};

/// A folder being filled. Dropped before [`ResultFolder::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct ResultFolder {
    target: PathBuf,
    staging: PathBuf,
    force: bool,
    keep: bool,
}

/// What is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Present {
    Nothing,
    EmptyFolder,
    ResultFolder,
    Other,
}

impl ResultFolder {
    /// Prepares to create the folder `target`; with `force` a former result folder there will be replaced.
    ///
    /// # Errors
    /// [`Error::Create`] if something else is in the way, or the place cannot be written.
    pub fn begin(target: &Path, force: bool) -> Result<Self, Error> {
        // A link to a folder stays a link.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        refuse(&target, force)?;
        let parent = parent(&target);
        fs::create_dir_all(parent).map_err(|e| Error::Create(parent.to_path_buf(), e))?;
        let staging = create_sibling(&target, "partial")?;
        Ok(Self { target, staging, force, keep: false })
    }

    /// Where to write the files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.staging
    }

    /// Where they will be.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Puts the folder in its place.
    ///
    /// # Errors
    /// [`Error::Create`] if something got in the way meanwhile; the files then stay where [`ResultFolder::path`] says.
    pub fn commit(mut self) -> Result<PathBuf, Error> {
        self.keep = true;
        self.install().map_err(|e| match e {
            Error::Create(path, e) => {
                let e = io::Error::new(e.kind(), format!("{e}; the results are in `{}`", self.staging.display()));
                Error::Create(path, e)
            }
            other => other,
        })?;
        Ok(self.target.clone())
    }

    fn install(&self) -> Result<(), Error> {
        let create = |e| Error::Create(self.target.clone(), e);
        match refuse(&self.target, self.force)? {
            Present::Nothing => fs::rename(&self.staging, &self.target).map_err(create),
            Present::EmptyFolder => {
                fs::remove_dir(&self.target).map_err(create)?;
                fs::rename(&self.staging, &self.target).map_err(create)
            }
            Present::ResultFolder | Present::Other => self.replace().map_err(create),
        }
    }

    /// Swaps the former folder for the new one; if that fails, the former one stays.
    fn replace(&self) -> io::Result<()> {
        let former = sibling(&self.target, "former", 0);
        fs::rename(&self.target, &former)?;
        if let Err(e) = fs::rename(&self.staging, &self.target) {
            fs::rename(&former, &self.target)?;
            return Err(e);
        }
        fs::remove_dir_all(&former)
    }
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        if !self.keep
            && let Err(e) = fs::remove_dir_all(&self.staging)
        {
            log::warn!("cannot remove `{}`: {e}", self.staging.display());
        }
    }
}

/// Says what is at `target`, as an error if it must not be replaced.
fn refuse(target: &Path, force: bool) -> Result<Present, Error> {
    let refusal = |kind, text: &str| Err(Error::Create(target.to_path_buf(), io::Error::new(kind, text)));
    match present(target).map_err(|e| Error::Create(target.to_path_buf(), e))? {
        Present::Other => refusal(io::ErrorKind::AlreadyExists, "it exists and is not a result folder"),
        Present::ResultFolder if !force => {
            refusal(io::ErrorKind::AlreadyExists, "it holds results already (--force replaces them, -o names another place)")
        }
        other => Ok(other),
    }
}

fn present(target: &Path) -> io::Result<Present> {
    match fs::symlink_metadata(target) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Present::Nothing),
        Err(e) => return Err(e),
        Ok(m) if !m.is_dir() => return Ok(Present::Other),
        Ok(_) => {}
    }
    if fs::read_dir(target)?.next().is_none() {
        return Ok(Present::EmptyFolder);
    }
    let manifest = fs::read_to_string(target.join(MANIFEST_JSON)).ok();
    let manifest: Option<serde_json::Value> = manifest.and_then(|text| serde_json::from_str(&text).ok());
    let format = manifest.as_ref().and_then(|m| m.get("format")).and_then(|f| f.as_str());
    Ok(if format == Some(FORMAT) { Present::ResultFolder } else { Present::Other })
}

fn parent(target: &Path) -> &Path {
    target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A hidden name beside the target, of this process.
fn sibling(target: &Path, role: &str, attempt: u32) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    parent(target).join(format!(".{name}.{role}-{}-{attempt}", std::process::id()))
}

fn create_sibling(target: &Path, role: &str) -> Result<PathBuf, Error> {
    for attempt in 0.. {
        let path = sibling(target, role, attempt);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
            Err(e) => return Err(Error::Create(path, e)),
        }
    }
    unreachable!("the loop ends with a folder or an error")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(target: &Path, force: bool, text: &str) -> Result<PathBuf, Error> {
        let folder = ResultFolder::begin(target, force)?;
        fs::write(folder.path().join(MANIFEST_JSON), format!("{{\"format\": \"{FORMAT}\", \"text\": \"{text}\"}}"))
            .expect("staging is writable");
        folder.commit()
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).expect("readable").map(|e| e.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn nothing_is_at_the_place_before_commit_and_nothing_beside_it_after() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let target = dir.path().join("a/b");
        let folder = ResultFolder::begin(&target, false).expect("free place");
        assert!(!target.exists());
        let staging = folder.path().to_path_buf();
        assert_eq!(folder.commit().expect("committed"), target);
        assert!(target.is_dir() && !staging.exists());
        assert_eq!(names(&dir.path().join("a")), ["b"]);
    }

    #[test]
    fn a_dropped_folder_leaves_nothing() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let folder = ResultFolder::begin(&dir.path().join("out"), false).expect("free place");
        fs::write(folder.path().join("half"), "x").expect("staging is writable");
        drop(folder);
        assert_eq!(names(dir.path()), Vec::<String>::new());
    }

    #[test]
    fn results_are_replaced_only_by_force() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let target = dir.path().join("out");
        fill(&target, false, "one").expect("free place");
        let error = fill(&target, false, "two").expect_err("there already");
        assert_eq!(error.exit_code(), 73);
        assert!(error.to_string().contains("--force"), "{error}");
        let text = || fs::read_to_string(target.join(MANIFEST_JSON)).expect("manifest");
        assert!(text().contains("one"));
        fs::write(target.join("stale.csv"), "x").expect("writable");
        fill(&target, true, "three").expect("forced");
        assert!(text().contains("three"));
        assert_eq!(names(&target), [MANIFEST_JSON]);
        assert_eq!(names(dir.path()), ["out"]);
    }

    #[test]
    fn other_things_are_never_replaced() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let target = dir.path().join("thesis");
        fs::create_dir(&target).expect("created");
        fs::write(target.join("chapter1.tex"), "years of work").expect("written");
        for force in [false, true] {
            let error = ResultFolder::begin(&target, force).expect_err("not ours");
            assert_eq!(error.exit_code(), 73);
            assert!(error.to_string().contains("is not a result folder"), "{error}");
        }
        let file = target.join("chapter1.tex");
        assert_eq!(ResultFolder::begin(&file, true).expect_err("a file").exit_code(), 73);
        assert_eq!(names(dir.path()), ["thesis"]);
    }

    #[test]
    fn an_empty_folder_may_be_used() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fill(dir.path(), false, "one").expect("empty place");
        assert_eq!(names(dir.path()), [MANIFEST_JSON]);
    }

    #[test]
    fn what_got_in_the_way_meanwhile_is_kept_and_so_are_the_results() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let target = dir.path().join("out");
        let folder = ResultFolder::begin(&target, false).expect("free place");
        fs::write(folder.path().join("flows.csv"), "x").expect("staging is writable");
        fill(&target, false, "other").expect("still free");
        let staging = folder.path().to_path_buf();
        let error = folder.commit().expect_err("taken");
        assert!(error.to_string().contains(&*staging.to_string_lossy()), "{error}");
        assert!(staging.join("flows.csv").exists());
    }

    #[test]
    fn a_place_under_a_file_cannot_be_created() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join("file"), "x").expect("written");
        let error = ResultFolder::begin(&dir.path().join("file/out"), false).expect_err("a file is no folder");
        assert_eq!(error.exit_code(), 73);
    }
}
