//! A Maven project for one test, in a folder with a space in its path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::harness::has_programs;

/// Whether there are a JDK and Maven; CI must have them.
pub fn has_maven() -> bool {
    has_programs(&["mvn", "javac"])
}

/// Maven's own JVM ends before the second compiler would pay off, and takes a seventh less
/// with an archive of its classes.
fn short_lived() -> &'static str {
    static OPTIONS: OnceLock<String> = OnceLock::new();
    OPTIONS.get_or_init(|| match archive() {
        Some(archive) => format!("{SHORT_LIVED} -XX:SharedArchiveFile={}", archive.display()),
        None => SHORT_LIVED.to_owned(),
    })
}

const SHORT_LIVED: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/// The classes that Maven has loaded when it has tested a project, for this very JVM.
fn archive() -> Option<PathBuf> {
    let version = Command::new("mvn").arg("-version").output().ok()?;
    let digest = blake3::hash(&version.stdout).to_hex();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let archive = folder.join(format!("maven-{}.jsa", &digest[..16]));
    // It stands among other options, which spaces divide.
    if archive.exists() || archive.to_str()?.contains(' ') {
        return Some(archive).filter(|archive| archive.exists());
    }
    let text = [
        pom(JUPITER, "3.2.5", ""),
        main("Calc", "class Calc {}"),
        test("CalcTest", "new Calc();"),
    ];
    let project = Maven::new(&text.concat());
    let new = tempfile::NamedTempFile::new_in(folder)
        .ok()?
        .into_temp_path();
    std::fs::remove_file(&new).ok()?;
    let done = Command::new("mvn")
        .args(["--quiet", "test"])
        .env(
            "MAVEN_OPTS",
            format!("{SHORT_LIVED} -XX:ArchiveClassesAtExit={}", new.display()),
        )
        .current_dir(project.root())
        .output();
    let is_made = done.is_ok_and(|done| done.status.success()) && new.exists();
    is_made.then_some(())?;
    std::fs::rename(&new, &archive).ok()?;
    Some(archive)
}

pub struct Maven {
    world: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// The result of one `tamis run`.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    /// The test classes that ran.
    pub tests: BTreeSet<String>,
    pub told: String,
}

impl Ran {
    #[track_caller]
    pub fn are(&self, tests: &[&str]) {
        let wanted: BTreeSet<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        assert_eq!(self.tests, wanted, "{}", self.told);
    }
}

/// The result of one `tamis select`.
#[derive(Debug)]
pub struct Selected {
    pub mode: String,
    pub tests: BTreeSet<String>,
    pub excluded: BTreeSet<String>,
    pub told: String,
}

impl Selected {
    #[track_caller]
    pub fn are(&self, tests: &[&str]) {
        let wanted: BTreeSet<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        assert_eq!(self.tests, wanted, "{}", self.told);
    }
}

impl Maven {
    /// A committed project of these files, given as `-- path --` and content.
    pub fn new(text: &str) -> Maven {
        let project = Maven {
            world: tempfile::tempdir().unwrap(),
            env: Vec::new(),
        };
        fs_err::create_dir_all(project.root()).unwrap();
        let mut path = None;
        for line in text.lines() {
            match line
                .strip_prefix("-- ")
                .and_then(|rest| rest.strip_suffix(" --"))
            {
                Some(new) => {
                    path = Some(new.to_owned());
                    project.write(new, "");
                }
                None => {
                    if let Some(path) = &path {
                        let known = project.read(path);
                        project.write(path, &format!("{known}{line}\n"));
                    }
                }
            }
        }
        project.write(".gitignore", "target/\nbuild/\n.gradle/\n");
        project.git(&["init", "--quiet"]);
        project.commit("first");
        project
    }

    pub fn root(&self) -> PathBuf {
        self.world.path().join("a project")
    }

    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    pub fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.root().join(path)).unwrap()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// Replaces a text, which must be there, and commits.
    pub fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from:?}");
        self.write(path, &text.replace(from, to));
        self.commit("edit");
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    pub fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(self.root())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", all_of(&done));
    }

    pub fn tamis(&self, arguments: &[&str]) -> Output {
        let mut tamis = Command::new(env!("CARGO_BIN_EXE_tamis"));
        if self.exists("pom.xml") {
            tamis.env("MAVEN_OPTS", short_lived());
        }
        tamis
            .args(arguments)
            .current_dir(self.root())
            .env(
                "XDG_CACHE_HOME",
                concat!(env!("CARGO_TARGET_TMPDIR"), "/the cache"),
            )
            .env_remove("JAVA_TOOL_OPTIONS")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap()
    }

    pub fn run(&self) -> Ran {
        self.run_with(&[])
    }

    pub fn run_with(&self, arguments: &[&str]) -> Ran {
        self.ran(&[&["run", "--json"], arguments].concat())
    }

    /// The result of a command that runs tests.
    pub fn ran(&self, arguments: &[&str]) -> Ran {
        let done = self.tamis(arguments);
        let document: serde_json::Value = serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", all_of(&done)));
        let outcomes = document["outcomes"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        Ran {
            code: done.status.code().unwrap_or(-1),
            tests: outcomes.keys().cloned().collect(),
            told: all_of(&done),
        }
    }

    pub fn select(&self, arguments: &[&str]) -> Selected {
        let all = [&["select", "--json"], arguments].concat();
        let done = self.tamis(&all);
        let document: serde_json::Value = serde_json::from_slice(&done.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}", all_of(&done)));
        let ids = |key: &str| {
            let list = document[key].as_array().cloned().unwrap_or_default();
            let ids = list
                .iter()
                .map(|one| one["id"].as_str().unwrap().to_owned());
            ids.collect()
        };
        Selected {
            mode: document["mode"].as_str().unwrap_or_default().to_owned(),
            tests: ids("selected"),
            excluded: ids("excluded"),
            told: all_of(&done),
        }
    }

    /// Removes Maven's output, as in a clean checkout.
    pub fn forget_build(&self) {
        let mut entries = walkdir::WalkDir::new(self.root()).into_iter();
        while let Some(entry) = entries.next() {
            let entry = entry.unwrap();
            if entry.file_name() == "target" {
                entries.skip_current_dir();
                fs_err::remove_dir_all(entry.path()).unwrap();
            }
        }
    }

    pub fn remove(&self, path: &str) {
        fs_err::remove_file(self.root().join(path)).unwrap();
    }

    pub fn reset(&self, to: &str) {
        self.git(&["reset", "--quiet", "--hard", to]);
    }

    /// Runs Maven without tamis.
    pub fn mvn(&self, arguments: &[&str]) {
        let done = Command::new("mvn")
            .arg("--quiet")
            .args(arguments)
            .env("MAVEN_OPTS", short_lived())
            .current_dir(self.root())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", all_of(&done));
    }

    /// Puts a `mvn` in front of the real one that notes each start.
    pub fn count_starts(&mut self) {
        let folder = self.world.path().join("bin");
        fs_err::create_dir_all(&folder).unwrap();
        let path = std::env::var("PATH").unwrap();
        let starts = self.starts_file().display().to_string();
        let script =
            format!("#!/bin/sh\necho \"$*\" >> '{starts}'\nPATH='{path}' exec mvn \"$@\"\n");
        let program = folder.join("mvn");
        fs_err::write(&program, script).unwrap();
        use std::os::unix::fs::PermissionsExt;
        fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.set_env("PATH", &format!("{}:{path}", folder.display()));
    }

    /// How often Maven was started since the last call.
    pub fn starts(&self) -> usize {
        let file = self.starts_file();
        let starts = fs_err::read_to_string(&file).unwrap_or_default();
        let _ = fs_err::remove_file(file);
        starts.lines().count()
    }

    fn starts_file(&self) -> PathBuf {
        self.world.path().join("starts")
    }

    pub fn exists(&self, path: &str) -> bool {
        Path::new(&self.root()).join(path).exists()
    }
}

fn all_of(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}", text(&output.stdout), text(&output.stderr))
}

/// A `pom.xml` with this dependency and version of Surefire.
pub fn pom(dependency: &str, surefire: &str, more: &str) -> String {
    let (group, rest) = dependency.split_once(':').unwrap();
    let (artifact, version) = rest.split_once(':').unwrap();
    format!(
        "-- pom.xml --
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId>
  <artifactId>demo</artifactId>
  <version>1</version>
  {more}
  <properties>
    <maven.compiler.source>17</maven.compiler.source>
    <maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <version>{surefire}</version>
      </plugin>
    </plugins>
  </build>
</project>
"
    )
}

pub const JUPITER: &str = "org.junit.jupiter:junit-jupiter:5.10.2";

/// A main class of the package `demo`.
pub fn main(name: &str, body: &str) -> String {
    format!("-- src/main/java/demo/{name}.java --\npackage demo;\n\n{body}\n")
}

/// A test class with one test.
pub fn test(name: &str, statements: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import org.junit.jupiter.api.Test;

class {name} {{
    @Test
    void works() throws Exception {{
        {statements}
    }}
}}
"
    )
}
