//! Files that tests read with any class of the JDK, and through symbolic links.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::harness::*;

/// For each test class: what it does with `data/NAME`, called `p` as a path and `f` as a file.
/// Each file gets new content.
const READ: [(&str, &str); 38] = [
    ("AttributesByName", "Files.readAttributes(p, \"size\");"),
    ("AllAttributes", "Files.readAttributes(p, \"posix:*\");"),
    ("OneAttribute", "Files.getAttribute(p, \"unix:size\");"),
    (
        "View",
        "Files.getFileAttributeView(p, java.nio.file.attribute.PosixFileAttributeView.class).readAttributes();",
    ),
    ("Modified", "Files.getLastModifiedTime(p);"),
    ("Size", "Files.size(p);"),
    ("Owner", "Files.getOwner(p);"),
    ("Same", "Files.isSameFile(p, Path.of(\"pom.xml\"));"),
    ("Mismatch", "Files.mismatch(p, Path.of(\"pom.xml\"));"),
    ("Text", "Files.readString(p);"),
    (
        "Lines",
        "try (var lines = Files.lines(p)) { lines.count(); }",
    ),
    ("Copy", "Files.copy(p, new ByteArrayOutputStream());"),
    ("Bytes", "Files.newByteChannel(p).close();"),
    (
        "Channel",
        "FileChannel.open(p, StandardOpenOption.READ).close();",
    ),
    (
        "Mapped",
        "try (var c = FileChannel.open(p)) { c.map(FileChannel.MapMode.READ_ONLY, 0, c.size()); }",
    ),
    ("Asynchronous", "AsynchronousFileChannel.open(p).close();"),
    ("RandomAccess", "new RandomAccessFile(f, \"r\").close();"),
    ("Stream", "new FileInputStream(f).close();"),
    ("Reader", "new FileReader(f).close();"),
    ("Scan", "new Scanner(f).close();"),
    ("FileModified", "f.lastModified();"),
    ("FileLength", "f.length();"),
    ("Address", "f.toURI().toURL().openStream().close();"),
    (
        "Loader",
        "new URLClassLoader(new URL[] {new URL(\"file:data/\")}).getResourceAsStream(\"Loader\").close();",
    ),
    (
        "Walk",
        "try (var all = Files.walk(Path.of(\"data\"))) { all.filter(p::equals).forEach(one -> { }); }",
    ),
    (
        "Secure",
        "try (var all = (SecureDirectoryStream<Path>) Files.newDirectoryStream(Path.of(\"data\"))) { all.newByteChannel(Path.of(\"Secure\"), Set.of(StandardOpenOption.READ)).close(); }",
    ),
    (
        "SecureView",
        "try (var all = (SecureDirectoryStream<Path>) Files.newDirectoryStream(Path.of(\"data\"))) { all.getFileAttributeView(Path.of(\"SecureView\"), java.nio.file.attribute.BasicFileAttributeView.class).readAttributes(); }",
    ),
    ("Loaded", "new Properties().load(new FileReader(f));"),
    ("Image", "javax.imageio.ImageIO.read(f);"),
    ("Linked", "Files.createLink(Path.of(\"target/linked\"), p);"),
    (
        "Moved",
        "Files.copy(p, Path.of(\"target/moved\")); new File(\"target/moved\").renameTo(new File(\"target/other\"));",
    ),
    (
        "OpenToAppend",
        "FileChannel.open(p, StandardOpenOption.READ, StandardOpenOption.WRITE).close();",
    ),
    // The second reader of each gets what the JDK has cached.
    (
        "Bundle1",
        "assertNotNull(ResourceBundle.getBundle(\"texts.words\"));",
    ),
    (
        "Bundle2",
        "assertNotNull(ResourceBundle.getBundle(\"texts.words\"));",
    ),
    (
        "Archive1",
        "new URL(\"jar:file:data/packed.zip!/one\").openStream().close();",
    ),
    (
        "Archive2",
        "new URL(\"jar:file:data/packed.zip!/one\").openStream().close();",
    ),
    (
        "Zip",
        "new java.util.zip.ZipFile(\"data/packed.zip\").close();",
    ),
    (
        "ZipSystem",
        "FileSystems.newFileSystem(Path.of(\"data/packed.zip\")).close();",
    ),
];

/// The same for files that are only searched for or listed: each file is removed, each missing
/// one is created, and each folder gets one more file.
const LOOKED_FOR: [(&str, &str); 20] = [
    ("IsThere", "Files.exists(p);"),
    ("IsNotThere", "Files.notExists(p);"),
    ("IsFile", "Files.isRegularFile(p);"),
    ("IsReadable", "Files.isReadable(p);"),
    ("FileIsThere", "f.exists();"),
    ("FileIsFile", "f.isFile();"),
    ("FileIsReadable", "f.canRead();"),
    ("FileIsWritable", "f.canWrite();"),
    ("FileIsHidden", "f.isHidden();"),
    ("Real", "p.toRealPath();"),
    ("MissingFile", "assertFalse(f.exists());"),
    (
        "MissingPath",
        "assertThrows(NoSuchFileException.class, () -> Files.size(p));",
    ),
    (
        "MissingFolder",
        "assertThrows(IOException.class, () -> new FileWriter(new File(f, \"x\")).close());",
    ),
    ("FolderListed", "f.list();"),
    (
        "FolderStream",
        "try (var all = Files.newDirectoryStream(p)) { for (var one : all) { } }",
    ),
    (
        "FolderFound",
        "try (var all = Files.find(p, 2, (one, is) -> true)) { all.count(); }",
    ),
    (
        "FolderWalked",
        "Files.walkFileTree(p, new SimpleFileVisitor<>() { });",
    ),
    (
        "FolderSecure",
        "try (var all = (SecureDirectoryStream<Path>) Files.newDirectoryStream(Path.of(\"data\"))) { all.newDirectoryStream(Path.of(\"FolderSecure\")).close(); }",
    ),
    (
        "FolderWatched",
        "try (var service = FileSystems.getDefault().newWatchService()) { p.register(service, StandardWatchEventKinds.ENTRY_CREATE); }",
    ),
    ("FolderAddress", "f.toURI().toURL().openStream().close();"),
];

/// The same through links. Each link then has another target, or its target changes.
const LINKS: [(&str, &str); 14] = [
    ("LinkReader", "new FileReader(\"links/plain\").close();"),
    (
        "LinkScanner",
        "new Scanner(new File(\"links/plain\")).close();",
    ),
    ("LinkText", "Files.readString(Path.of(\"links/plain\"));"),
    ("LinkOfLink", "Files.readString(Path.of(\"links/second\"));"),
    (
        "LinkAbove",
        "Files.readString(Path.of(\"links/folder/below\"));",
    ),
    ("LinkAboveListed", "new File(\"links/folder\").list();"),
    (
        "LinkBack",
        "new FileReader(\"links/folder/../beside\").close();",
    ),
    (
        "LinkDangling",
        "assertFalse(new File(\"links/dangling\").exists());",
    ),
    ("LinkReal", "Path.of(\"links/turned\").toRealPath();"),
    (
        "LinkCanonical",
        "new File(\"links/turned\").getCanonicalPath();",
    ),
    (
        "LinkItself",
        "Files.readSymbolicLink(Path.of(\"links/turned\"));",
    ),
    (
        "LinkIsLink",
        "assertTrue(Files.isSymbolicLink(Path.of(\"links/turned\")));",
    ),
    (
        "LinkOutside",
        "Files.readString(Path.of(\"links/outside/text\"));",
    ),
    ("LinkOutsideListed", "new File(\"links/outside\").list();"),
];

/// Files that stay the same among all those changes.
const STILL: [(&str, &str); 4] = [
    ("StillRead", "Files.readString(p);"),
    ("StillThere", "assertTrue(f.exists());"),
    (
        "StillFolder",
        "assertTrue(new File(\"data\").isDirectory());",
    ),
    ("StillLinked", "Files.readString(Path.of(\"links/still\"));"),
];

fn class(name: &str, statement: &str) -> String {
    format!(
        "-- src/test/java/demo/{name}Test.java --
package demo;

import static org.junit.jupiter.api.Assertions.*;
import java.io.*;
import java.net.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.*;
import org.junit.jupiter.api.Test;

class {name}Test {{
    @Test
    void works() throws Exception {{
        Path p = Path.of(\"data/{name}\");
        File f = new File(\"data/{name}\");
        {statement}
    }}
}}
"
    )
}

/// Packs `one` with this content.
fn pack(project: &Maven, text: &str) {
    project.write("../one", text);
    let done = Command::new("jar")
        .args(["--create", "--no-manifest", "--file", "data/packed.zip"])
        .args(["-C", "..", "one"])
        .current_dir(project.root())
        .status();
    assert!(done.unwrap().success());
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn every_form_of_reading_a_file_is_seen() {
    if !has_maven() {
        return;
    }
    let all = || READ.iter().chain(&LOOKED_FOR).chain(&LINKS).chain(&STILL);
    let classes: String = all().map(|(name, does)| class(name, does)).collect();
    let project = Maven::new(&(pom(JUPITER, "3.2.5", "") + &classes));
    let outside = project.root().join("../outside");
    fs_err::create_dir(&outside).unwrap();
    for (name, _) in READ.iter().chain(&LOOKED_FOR).chain(&STILL) {
        match name.strip_prefix("Folder") {
            Some(_) => project.write(&format!("data/{name}/first"), "one"),
            None if name.starts_with("Missing") => {}
            None => project.write(&format!("data/{name}"), "one"),
        }
    }
    pack(&project, "one");
    project.write("src/test/resources/texts/words.properties", "a=one");
    for path in [
        "targets/plain",
        "targets/below/below",
        "targets/beside",
        "targets/still",
    ] {
        project.write(path, "one");
    }
    project.write("../outside/text", "one");
    let link = |from: &str, to: &str| {
        let from = project.root().join("links").join(from);
        fs_err::create_dir_all(from.parent().unwrap()).unwrap();
        let _ = fs_err::remove_file(&from);
        symlink(to, from).unwrap();
    };
    link("plain", "../targets/plain");
    link("second", "plain");
    link("folder", "../targets/below");
    link("dangling", "../targets/nothing");
    link("turned", "../targets/plain");
    link("outside", "../../outside");
    link("still", "../targets/still");
    project.commit("files");

    let first = project.run();
    assert_eq!(first.code, 0, "{}", first.told);
    assert!(first.told.contains("\"incomplete\":0"), "{}", first.told);
    let names: BTreeSet<String> = all().map(|(name, _)| format!("demo.{name}Test")).collect();
    assert_eq!(first.tests, names, "{}", first.told);
    project.run().are(&[]);

    for (name, _) in READ {
        project.write(&format!("data/{name}"), "another one");
    }
    for (name, _) in LOOKED_FOR {
        match name {
            name if name.starts_with("Folder") => {
                project.write(&format!("data/{name}/second"), "two");
            }
            "MissingFolder" => project.write("data/MissingFolder/other", "one"),
            name if name.starts_with("Missing") => project.write(&format!("data/{name}"), "one"),
            name => project.remove(&format!("data/{name}")),
        }
    }
    pack(&project, "another one");
    project.write("src/test/resources/texts/words.properties", "a=another one");
    for path in [
        "targets/plain",
        "targets/below/below",
        "targets/beside",
        "targets/nothing",
    ] {
        project.write(path, "another one");
    }
    project.write("targets/below/more", "one");
    project.write("../outside/text", "another one");
    project.write("../outside/more", "one");
    link("turned", "../targets/beside");
    project.commit("other files");
    let second = project.run();
    let still = |name: &String| name.starts_with("demo.Still");
    let changed: BTreeSet<String> = names.into_iter().filter(|name| !still(name)).collect();
    let lacking: Vec<&String> = changed.difference(&second.tests).collect();
    assert!(lacking.is_empty(), "{lacking:?} {}", second.told);
    assert_eq!(second.tests, changed, "{}", second.told);
}
