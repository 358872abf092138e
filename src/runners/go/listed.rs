//! What the `go` command says of packages: `go list -deps -test -json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A package, as far as it matters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Package {
    pub import_path: String,
    pub dir: PathBuf,
    pub standard: bool,
    /// It was not asked for, only needed.
    pub dep_only: bool,
    pub for_test: String,
    pub module: Option<Module>,
    pub go_files: Vec<String>,
    pub cgo_files: Vec<String>,
    pub test_go_files: Vec<String>,
    #[serde(rename = "XTestGoFiles")]
    pub x_test_go_files: Vec<String>,
    pub c_files: Vec<String>,
    #[serde(rename = "CXXFiles")]
    pub cxx_files: Vec<String>,
    pub m_files: Vec<String>,
    pub h_files: Vec<String>,
    pub f_files: Vec<String>,
    pub s_files: Vec<String>,
    pub swig_files: Vec<String>,
    #[serde(rename = "SwigCXXFiles")]
    pub swig_cxx_files: Vec<String>,
    pub syso_files: Vec<String>,
    #[serde(rename = "CgoCFLAGS")]
    pub cgo_c_flags: Vec<String>,
    #[serde(rename = "CgoCPPFLAGS")]
    pub cgo_cpp_flags: Vec<String>,
    #[serde(rename = "CgoLDFLAGS")]
    pub cgo_ld_flags: Vec<String>,
    pub embed_patterns: Vec<String>,
    pub embed_files: Vec<String>,
    pub test_embed_patterns: Vec<String>,
    pub test_embed_files: Vec<String>,
    #[serde(rename = "XTestEmbedPatterns")]
    pub x_test_embed_patterns: Vec<String>,
    #[serde(rename = "XTestEmbedFiles")]
    pub x_test_embed_files: Vec<String>,
    pub deps: Vec<String>,
    pub incomplete: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Module {
    pub path: String,
    pub version: String,
    pub main: bool,
    pub dir: PathBuf,
    pub go_mod: PathBuf,
    pub replace: Option<Box<Module>>,
}

const FIELDS: &str = "ImportPath,Dir,Standard,DepOnly,ForTest,Module,GoFiles,CgoFiles,TestGoFiles,\
    XTestGoFiles,CFiles,CXXFiles,MFiles,HFiles,FFiles,SFiles,SwigFiles,SwigCXXFiles,SysoFiles,\
    CgoCFLAGS,CgoCPPFLAGS,CgoLDFLAGS,EmbedPatterns,EmbedFiles,TestEmbedPatterns,TestEmbedFiles,\
    XTestEmbedPatterns,XTestEmbedFiles,Deps,Incomplete";

impl Package {
    /// The files that are compiled besides Go, and those that are put into it.
    pub(super) fn other_files(&self) -> impl Iterator<Item = &String> {
        let lists = [
            &self.c_files,
            &self.cxx_files,
            &self.m_files,
            &self.h_files,
            &self.f_files,
            &self.s_files,
            &self.swig_files,
            &self.swig_cxx_files,
            &self.syso_files,
            &self.embed_files,
        ];
        lists.into_iter().flatten()
    }

    /// The sources, without tests.
    pub(super) fn sources(&self) -> impl Iterator<Item = &String> {
        self.go_files.iter().chain(&self.cgo_files)
    }

    /// The sources of tests.
    pub(super) fn tests(&self) -> impl Iterator<Item = &String> {
        self.test_go_files.iter().chain(&self.x_test_go_files)
    }
}

/// What `go list` says of the packages that `patterns` name, and of all that these need.
/// Its errors go to standard error.
///
/// # Errors
/// If it cannot be started, or its answer is not understood; if it fails itself, that is none.
pub(super) fn list(
    program: &str,
    cwd: &Path,
    flags: &[String],
    patterns: &[String],
) -> Result<Option<BTreeMap<String, Package>>> {
    let mut command = Command::new(program);
    command
        .args(["list", "-deps", "-test", &format!("-json={FIELDS}")])
        .args(flags)
        .arg("--")
        .args(patterns)
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = command.output();
    let output = output.with_context(|| format!("cannot start `{program} list`"))?;
    if !output.status.success() {
        return Ok(None);
    }
    let packages = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Package>();
    let mut found = BTreeMap::new();
    for package in packages {
        let package = package.context("`go list` answered something else than packages")?;
        found.insert(package.import_path.clone(), package);
    }
    Ok(Some(found))
}

/// The variables of `go env` by which results differ, as text.
///
/// # Errors
/// If it cannot be started, or fails.
pub(super) fn settings(program: &str, cwd: &Path) -> Result<Settings> {
    let output = Command::new(program)
        .args(["env", "-json"])
        .current_dir(cwd)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{program} env`"))?;
    anyhow::ensure!(
        output.status.success(),
        "`{program} env` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let all: BTreeMap<String, String> = serde_json::from_slice(&output.stdout)
        .context("`go env` answered something else than variables")?;
    Ok(Settings { all })
}

/// What `go env` says.
#[derive(Debug)]
pub(super) struct Settings {
    all: BTreeMap<String, String>,
}

/// Where things are, and how modules come here: what is in them go.sum says.
const PLACES: [&str; 23] = [
    "GOAUTH",
    "GOBIN",
    "GOCACHE",
    "GOCACHEPROG",
    "GOENV",
    "GOGCCFLAGS",
    "GOINSECURE",
    "GOMOD",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPATH",
    "GOPRIVATE",
    "GOPROXY",
    "GOSUMDB",
    "GOTELEMETRY",
    "GOTELEMETRYDIR",
    "GOTMPDIR",
    "GOTOOLDIR",
    "GOVCS",
    "GOWORK",
    "GOHOSTARCH",
    "GOHOSTOS",
];

impl Settings {
    pub(super) fn get(&self, name: &str) -> &str {
        self.all.get(name).map_or("", String::as_str)
    }

    /// Everything that decides what is built.
    pub(super) fn text(&self) -> String {
        let deciding = self.all.iter();
        let deciding = deciding.filter(|(name, _)| !PLACES.contains(&name.as_str()));
        deciding
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect()
    }

    /// The second number of the version: 21 of `go1.21.3`; `None` if it is not known.
    pub(super) fn minor(&self) -> Option<u32> {
        let version = self.get("GOVERSION");
        let rest = version.split("go1.").nth(1)?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(version: &str) -> Settings {
        let all = [
            ("GOVERSION", version),
            ("GOCACHE", "/x"),
            ("CGO_ENABLED", "1"),
        ];
        Settings {
            all: all
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        }
    }

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(settings("go1.21.3").minor(), Some(21));
        assert_eq!(settings("go1.26rc1").minor(), Some(26));
        assert_eq!(settings("devel go1.27-0123abc").minor(), Some(27));
        assert_eq!(settings("devel").minor(), None);
        let too_old = super::super::work::too_old;
        assert!(too_old(&settings("go1.21.3")).is_some());
        assert!(too_old(&settings("go1.22")).is_none() && too_old(&settings("devel")).is_none());
    }

    #[test]
    fn places_decide_nothing() {
        assert_eq!(
            settings("go1.22").text(),
            "CGO_ENABLED=1\nGOVERSION=go1.22\n"
        );
    }
}
