//! What the JVM of tests will be given, as far as this process can tell.

use std::path::Path;
use std::time::SystemTime;

use anyhow::Result;

use crate::languages::Probe;
use crate::matrix::{Fingerprint, Unit, What};
use crate::runners::maven::runtime_in;
use crate::runners::probe::{is_probed, short_name};
use crate::runners::{Built, Prober};

/// The JVM that a build tool or a command will start. Classes then count as they lie on
/// disk, so it is only there where the project is built.
pub(crate) fn prober(
    built: Built,
    home: Option<&Path>,
    args: Vec<String>,
) -> Option<Box<dyn Prober>> {
    let compiled_since = match built {
        Built::No => return None,
        Built::Yes => None,
        Built::Since(since) => Some(since),
    };
    Some(Box::new(Jvm {
        compiled_since,
        runtime: home.map_or_else(String::new, runtime_in),
        args,
    }))
}

/// The JVM that Maven will start, as far as it can be told without.
#[derive(Clone, Debug)]
struct Jvm {
    /// When Maven began to compile, where packaging and more comes after the selection.
    compiled_since: Option<SystemTime>,
    /// The words that name the JDK; empty if none was found.
    runtime: String,
    /// The options that can alter outcomes.
    args: Vec<String>,
}

impl Prober for Jvm {
    fn ask(&self, units: &[Unit]) -> Result<Probe> {
        use std::os::unix::ffi::OsStrExt;
        let mut probe = Probe::default();
        for unit in units.iter().filter(|unit| is_probed(unit)) {
            let value = match &unit.what {
                What::Env(name) => {
                    std::env::var_os(&**name).map(|value| Fingerprint::of_value(value.as_bytes()))
                }
                What::Runtime(_) | What::StartUp => {
                    Some(Fingerprint::of_value(self.runtime.as_bytes()))
                }
                _ => None,
            };
            let value = value.unwrap_or(Fingerprint::MISSING);
            probe.values.insert(unit.clone(), value);
        }
        let lines: String = self.args.iter().map(|arg| format!("{arg}\n")).collect();
        let value = Fingerprint::of_value(lines.as_bytes());
        probe.values.insert(Unit::of(What::Options), value);
        Ok(probe)
    }

    fn environment(&self) -> Result<String> {
        Ok(short_name(&self.runtime).to_owned())
    }

    fn compiled_since(&self) -> Option<SystemTime> {
        self.compiled_since
    }
}
