//! Servers for a test: started, awaited, and ended with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::python_file;

/// A server written in Python that writes its port into a file.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    pub fn start(
        python: &Path,
        script: &str,
        before: &[&str],
        folder: &Path,
        after: &[&str],
    ) -> Server {
        let port_file = folder.join(format!("{script}.port"));
        let _ = fs::remove_file(&port_file);
        let mut child = Command::new(python)
            .arg(python_file(script))
            .args(before)
            .arg(&port_file)
            .args(after)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join(format!("{script}.log"))).unwrap())
            .spawn()
            .unwrap();
        let started = Instant::now();
        loop {
            if let Some(port) = fs::read_to_string(&port_file)
                .ok()
                .and_then(|text| text.trim().parse().ok())
            {
                return Server { child, port };
            }
            if let Some(status) = child.try_wait().unwrap() {
                let log = fs::read_to_string(folder.join(format!("{script}.log")));
                panic!("{script} ended: {status}\n{}", log.unwrap_or_default());
            }
            assert!(started.elapsed() < Duration::from_secs(120), "{script}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A Python with moto, made on first use; an error if it cannot be made.
pub fn python_with_moto(python: &Path) -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../python");
    fs::create_dir_all(&target).map_err(|e| e.to_string())?;
    let venv = target
        .canonicalize()
        .map_err(|e| e.to_string())?
        .join("servers");
    let lock = fs::File::create(target.join("servers.lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    let wanted = python_file("requirements.txt");
    let stamp = fs::read_to_string(&wanted).map_err(|e| e.to_string())?;
    let executable = venv.join("bin/python");
    let stamp_file = venv.join("tamis-stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(executable);
    }
    let _ = fs::remove_dir_all(&venv);
    let run = |command: &mut Command| {
        let done = command
            .stdin(Stdio::null())
            .output()
            .map_err(|e| e.to_string())?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    };
    run(Command::new(python).args(["-m", "venv"]).arg(&venv))?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
    ];
    run(Command::new(&executable).args(install).arg(&wanted))?;
    fs::write(&stamp_file, stamp).map_err(|e| e.to_string())?;
    Ok(executable)
}
