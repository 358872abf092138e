//! The command line of this process, and its paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::runtime::{home_of, runtime_in};

/// Program names and arguments of JVMs that run tests.
const RUNNERS: [&str; 5] = [
    "org.apache.maven.surefire.booter.ForkedBooter",
    "org.gradle.process.internal.worker.GradleWorkerMain",
    "worker.org.gradle.process.internal.worker.GradleWorkerMain",
    "org.junit.platform.console.ConsoleLauncher",
    "org.junit.runner.JUnitCore",
];

/// The words of a command line that matter for this.
pub fn runs_tests(words: &[String]) -> bool {
    words.iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        RUNNERS.contains(&word.as_str())
            || (name.starts_with("surefirebooter") && name.ends_with(".jar"))
            || (name.starts_with("junit-platform-console") && name.ends_with(".jar"))
    })
}

/// Whether a path is in Surefire's own folder, or is its folder of reports itself, which
/// exists after the first run.
pub fn is_of_surefire(folder: &Path, path: &Path) -> bool {
    let reports = ["surefire-reports", "failsafe-reports"];
    path.starts_with(folder)
        || reports
            .iter()
            .any(|name| folder.with_file_name(name) == path)
}

/// The folder of the files by which Surefire talks to this process.
pub fn surefire_folder(words: &[String]) -> Option<PathBuf> {
    let booter = words.iter().map(Path::new).find(|word| {
        let name = word.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("surefirebooter")
    });
    booter.and_then(Path::parent).map(Path::to_owned)
}

/// Whether the jar is of a Surefire before 3.0.0-M6, where methods in the exclusion list are
/// an error.
pub fn is_old_surefire(jar: &str) -> bool {
    let name = jar.rsplit('/').next().unwrap_or(jar);
    let Some(version) = name.strip_prefix("surefire-api-") else {
        return false;
    };
    let milestones = 1..6;
    version.starts_with("1.")
        || version.starts_with("2.")
        || milestones
            .into_iter()
            .any(|number| version == format!("3.0.0-M{number}.jar"))
}

/// Whether a command belongs to a tool that serves this JVM.
pub fn is_of_tools(words: &str) -> bool {
    is_surefires_own(words) || is_attacher(words)
}

/// Byte Buddy's helper, which loads its agent into this JVM for Mockito's inline mocks:
/// `[…/bin/java, …, net.bytebuddy.agent.Attacher, …]`. This process opened its jar, so the jar
/// counts.
fn is_attacher(words: &str) -> bool {
    let program = words.trim_start_matches('[').split(", ").next();
    let is_java = program.is_some_and(|program| program.ends_with("/bin/java"));
    is_java && words.contains(", net.bytebuddy.agent.Attacher, ")
}

/// Whether Surefire, in its own thread, checks that Maven is still alive: `[/bin/sh, -c,
/// /bin/ps -o etime= -p 123]`, from Surefire 3 on `ps -o etime,pid …`. The output does not
/// depend on the project.
fn is_surefires_own(words: &str) -> bool {
    let script = words.strip_prefix("[/bin/sh, -c, ");
    let script = script.and_then(|script| script.strip_suffix(']'));
    let asked = script.and_then(|script| {
        let programs = ["/usr/bin/ps", "/bin/ps", "ps"].iter();
        let mut after = programs.filter_map(|program| script.strip_prefix(program));
        after.next()?.strip_prefix(" -o etime")
    });
    asked.is_some_and(|rest| {
        rest.chars()
            .all(|letter| "=,pid- 0123456789".contains(letter))
    })
}

pub fn command_line() -> Vec<String> {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The words that name the JVM of this process.
pub fn runtime() -> String {
    runtime_in(&home())
}

/// The folder of the JDK of this process.
pub fn home() -> PathBuf {
    let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    home_of(&program).to_owned()
}

/// The absolute form of `path`.
pub fn whole(path: &str) -> String {
    let mut whole = String::new();
    if !path.starts_with('/') {
        let here = std::env::current_dir().unwrap_or_default();
        whole = here.to_string_lossy().into_owned();
        whole.push('/');
    }
    whole.push_str(path);
    whole
}

/// The same without `.` and `..`, without looking at the disk.
pub fn absolute(path: &str) -> String {
    let whole = whole(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The path of a `file:` address; `None` for other addresses.
pub fn path_of_url(url: &str) -> Option<String> {
    let path = url.strip_prefix("file:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok();
                digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The fingerprint of a variable's value as in `docs/formats/trace.md`; `None` if it is not
/// set.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| fingerprint(OsStr::as_bytes(&value)))
}

/// 15 bytes of git's id of this content, and the mode of a regular file.
pub fn fingerprint(content: &[u8]) -> String {
    let mut blob = format!("blob {}\0", content.len()).into_bytes();
    blob.extend_from_slice(content);
    let words = sha1(&blob);
    let hex: String = words.iter().map(|word| format!("{word:08x}")).collect();
    format!("{}72", &hex[..30])
}

/// SHA-1 (FIPS 180-4), as git uses it.
fn sha1(content: &[u8]) -> [u32; 5] {
    let mut padded = content.to_owned();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(content.len() as u64 * 8).to_be_bytes());
    let mut state = [
        0x6745_2301u32,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 80];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for at in 16..80 {
            let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
            words[at] = mixed.rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (at, word) in words.iter().enumerate() {
            let (f, k) = match at {
                0..20 => ((b & c) | (!b & d), 0x5a82_7999u32),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a
                .rotate_left(5)
                .wrapping_add(f)
                .wrapping_add(e)
                .wrapping_add(k)
                .wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (sum, value) in state.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(value);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jvms_of_tests_are_watched() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(runs_tests(&words(
            "java -jar /p/target/surefire/surefirebooter-3.jar /p"
        )));
        assert!(!runs_tests(&words(
            "java org.codehaus.plexus.classworlds.launcher.Launcher test -Dsurefire.x=y"
        )));
    }

    #[test]
    fn reports_are_surefires_but_not_what_is_in_them() {
        let is = |path: &str| is_of_surefire(Path::new("/p/target/surefire"), Path::new(path));
        assert!(is("/p/target/surefire/x.tmp") && is("/p/target/surefire-reports"));
        assert!(!is("/p/target/surefire-reports/a.txt") && !is("/p/target"));
    }

    #[test]
    fn what_surefire_starts_itself_is_known() {
        assert!(is_surefires_own("[/bin/sh, -c, /bin/ps -o etime= -p 123]"));
        assert!(is_surefires_own(
            "[/bin/sh, -c, /usr/bin/ps -o etime,pid -p 123]"
        ));
        assert!(!is_surefires_own("[/bin/sh, -c, ps -o etime= -p 1; x]"));
        assert!(is_of_tools(
            "[/jdk/bin/java, -cp, /b.jar, net.bytebuddy.agent.Attacher, x, 12]"
        ));
        assert!(!is_of_tools("[git, status]") && !is_of_tools("[/jdk/bin/java, a.Main]"));
    }

    #[test]
    fn surefires_that_leave_out_no_methods_are_known() {
        let is_old = |version: &str| is_old_surefire(&format!("/m/surefire-api-{version}.jar"));
        assert!(is_old("2.22.2") && is_old("2.12.4") && is_old("3.0.0-M5"));
        assert!(!is_old("3.0.0-M6") && !is_old("3.0.0") && !is_old("3.2.5"));
        assert!(!is_old_surefire("/m/surefire-junit4-2.22.2.jar"));
    }

    #[test]
    fn fingerprints_are_names_of_blobs() {
        // As printed by git hash-object for an empty file.
        assert_eq!(fingerprint(b""), "e69de29bb2d1d6434b8b29ae775ad872");
    }

    #[test]
    fn addresses_and_paths() {
        let path = path_of_url("file:/a%20b/c/").unwrap();
        assert_eq!(path, "/a b/c/");
        assert_eq!(absolute("/a/./b/../c/"), "/a/c");
        assert_eq!(path_of_url("jrt:/java.base"), None);
    }
}
