//! What a command will be given: it inherits the environment of this process.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

use anyhow::Result;

use crate::languages::Probe;
use crate::matrix::{Fingerprint, Unit, What};
use crate::runners::Prober;
use crate::runners::probe::is_probed;
use crate::tracer::{of_all, runtime};

#[derive(Debug)]
pub(in crate::runners) struct OfThisProcess {
    /// The names and values of what the commands are.
    definitions: BTreeMap<String, Fingerprint>,
    /// All tests that there are, if that is known.
    tests: Option<Vec<String>>,
}

impl OfThisProcess {
    pub(in crate::runners) fn of(
        definitions: impl IntoIterator<Item = (String, Fingerprint)>,
    ) -> OfThisProcess {
        OfThisProcess {
            definitions: definitions.into_iter().collect(),
            tests: None,
        }
    }

    /// The same where it is known which tests there are.
    pub(in crate::runners) fn with_tests(self, tests: Vec<String>) -> OfThisProcess {
        OfThisProcess {
            tests: Some(tests),
            ..self
        }
    }
}

impl Prober for OfThisProcess {
    fn ask(&self, units: &[Unit]) -> Result<Probe> {
        let mut probe = Probe::default();
        for unit in units.iter().filter(|unit| is_probed(unit)) {
            let value = match &unit.what {
                What::AllEnv => Some(of_all(std::env::vars_os())),
                What::Env(name) => {
                    let value = std::env::var_os(&**name);
                    value.map(|value| Fingerprint::of_value(value.as_bytes()))
                }
                What::Runtime(name) => self.definitions.get(&**name).copied(),
                _ => None,
            };
            let value = value.unwrap_or(Fingerprint::MISSING);
            probe.values.insert(unit.clone(), value);
        }
        Ok(probe)
    }

    fn environment(&self) -> Result<String> {
        Ok(runtime())
    }

    fn tests(&self) -> Option<&[String]> {
        self.tests.as_deref()
    }
}
