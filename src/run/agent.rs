//! The agents are part of this binary. They are installed into a folder named by their digest,
//! so that versions never mix.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

include!(concat!(env!("OUT_DIR"), "/agent.rs"));
include!(concat!(env!("OUT_DIR"), "/native.rs"));

const JVM_FILE: &str = "jvm/libtamis_jvm.so";

/// The JVM agent's library in the folder of [`install_agent`].
pub(crate) fn jvm_library(agent: &Path) -> PathBuf {
    agent.join(JVM_FILE)
}

/// Installs the agents into the user's cache folder, or else below `fallback`. Outside the
/// project no coverage tool measures them.
///
/// # Errors
/// Neither folder can be written.
pub(crate) fn install_agent_for(fallback: &Path) -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    cache
        .filter(|cache| cache.is_absolute())
        .and_then(|cache| install_agent(&cache.join("tamis")).ok())
        .map_or_else(|| install_agent(fallback), Ok)
}

/// Installs the agents below `folder`, unless they are there, and returns their folder.
///
/// # Errors
/// The files cannot be written: names the path.
pub fn install_agent(folder: &Path) -> Result<PathBuf> {
    let home = folder.join(format!("agent-{AGENT_DIGEST}"));
    if home.join("complete").exists() {
        return Ok(home);
    }
    for (path, content) in AGENT_FILES {
        write(&home.join(path), content)?;
    }
    if let Some(native) = NATIVE {
        write(&home.join("boot/_tamis_native.so"), native)?;
    }
    if let Some(native) = JVM_AGENT {
        write(&home.join(JVM_FILE), native)?;
    }
    write(&home.join("complete"), b"")?;
    Ok(home)
}

/// Several processes may install at once: each file appears completely or not at all.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().context("agent files lie in folders")?;
    fs_err::create_dir_all(folder)?;
    Ok(crate::disk::write_atomically(path, content)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installs_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let first = install_agent(folder.path()).unwrap();
        assert!(first.join("boot/sitecustomize.py").exists());
        assert_eq!(install_agent(folder.path()).unwrap(), first);
    }
}
