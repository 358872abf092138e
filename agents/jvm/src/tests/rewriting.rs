//! Rewrites every available class, and lets a real JVM verify it.
//!
//! `TAMIS_JVM_ALL=1` verifies all modules of the JDK and the jars in `TAMIS_JVM_JARS`,
//! separated by colons; otherwise only a few modules.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::classfile::{ClassFile, helper_class};
use crate::hooks::{Argument, Hook};
use crate::plan::hooked;

/// The shared object, compiled as in `build.rs`.
fn agent(folder: &Path) -> PathBuf {
    let file = folder.join("libtamis_jvm.so");
    let done = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--crate-name", "tamis_jvm", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "-C", "opt-level=2", "-o"])
        .arg(&file)
        .arg("agents/jvm/src/lib.rs")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    file
}

/// What a JVM says about the classes of these modules and jars: those that do not verify, and
/// how many are linked.
fn linked(folder: &Path, agent: Option<&Path>, what: &[String]) -> String {
    let mut java = Command::new("java");
    java.current_dir(folder).args(["-Xverify:all", "-cp", "."]);
    if let Some(agent) = agent {
        let mut option = std::ffi::OsString::from("-agentpath:");
        option.push(agent);
        java.arg(option);
        java.env("TAMIS_TRACE_DIR", folder)
            .env("TAMIS_JVM_ALL", "1");
    }
    let output = java.arg("LinkAll").args(what).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn rewritten_classes_verify_as_well_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new("agents/jvm/tests/LinkAll.java");
    let compiled = Command::new("javac")
        .arg("-d")
        .arg(folder.path())
        .arg(source)
        .status();
    let Ok(compiled) = compiled else {
        assert!(std::env::var_os("CI").is_none(), "there is no javac");
        return;
    };
    assert!(compiled.success());
    let mut what: Vec<String> = vec!["java.logging".into(), "java.xml".into(), "java.sql".into()];
    if std::env::var_os("TAMIS_JVM_ALL").is_some() {
        let modules = Command::new("java").arg("--list-modules").output().unwrap();
        let modules = String::from_utf8_lossy(&modules.stdout).into_owned();
        let names = modules.lines().filter_map(|line| line.split('@').next());
        what = names.map(str::to_owned).collect();
        let jars = std::env::var("TAMIS_JVM_JARS").unwrap_or_default();
        what.extend(
            jars.split(':')
                .filter(|jar| !jar.is_empty())
                .map(str::to_owned),
        );
    }
    let plain = linked(folder.path(), None, &what);
    let rewritten = linked(folder.path(), Some(&agent(folder.path())), &what);
    assert_eq!(plain, rewritten);
    let count: u32 = plain.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(count > 1000, "{count} classes are too few to tell");
    let trace = std::fs::read_dir(folder.path()).unwrap().flatten();
    let trace = trace.map(|entry| entry.path());
    let mut trace = trace.filter(|path| path.extension().is_some_and(|end| end == "trace"));
    let trace = std::fs::read_to_string(trace.next().unwrap()).unwrap();
    assert!(trace.ends_with("[\"close\",0]\n"));
    assert!(!trace.contains("\n[\"i\","), "the agent gave up");
}

/// Every version of a class must have all the methods that need a hook.
#[test]
fn a_method_that_tells_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("T.java");
    std::fs::write(&source, "class T { void a() {} void b(String x) {} }").unwrap();
    let Ok(compiled) = Command::new("javac").arg(&source).status() else {
        assert!(std::env::var_os("CI").is_none(), "there is no javac");
        return;
    };
    assert!(compiled.success());
    let bytes = std::fs::read(folder.path().join("T.class")).unwrap();
    let file = ClassFile::parse(&bytes).unwrap();
    let hook = |method, parameters| Hook {
        method,
        parameters,
        arguments: &[Argument::This],
        native: "read",
        is_optional: false,
    };
    let has = |hooks: &[Hook], all| hooked(&file, hooks, all).is_ok_and(|one| one.is_some());
    let known = [hook("a", "()"), hook("b", "(Ljava/lang/String;")];
    assert!(has(&known, true));
    let changed = [hook("a", "()"), hook("b", "(I")];
    assert!(has(&changed, false));
    assert!(!has(&changed, true));
    assert!(!has(&[hook("c", "()")], false));
}

#[test]
fn the_helper_is_understood() {
    let bytes = helper_class();
    assert!(ClassFile::parse(&bytes).unwrap().fields.len() == 1);
    for len in 0..bytes.len() {
        assert!(ClassFile::parse(&bytes[..len]).is_err());
    }
}
