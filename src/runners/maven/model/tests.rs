//! What poms make of a project, and what they keep from being known.

use std::collections::BTreeMap;

use super::*;

fn model_with(files: &[(&str, &str)], repository: Option<&Path>) -> Result<Model, String> {
    let project = |text: &str| format!("<project>{text}</project>").into_bytes();
    let files = files
        .iter()
        .map(|(path, text)| (BString::from(*path), project(text)));
    let files: BTreeMap<BString, Vec<u8>> = files.collect();
    Model::of(BStr::new(""), &|path| files.get(path).cloned(), repository)
}

fn model(files: &[(&str, &str)]) -> Result<Model, String> {
    model_with(files, None)
}

fn one(text: &str) -> Result<Model, String> {
    model(&[("pom.xml", text)])
}

fn plugin(artifact: &str, more: &str) -> String {
    format!(
        "<build><plugins><plugin><artifactId>{artifact}</artifactId>{more}</plugin></plugins></build>"
    )
}

fn compiler(set: &str) -> String {
    let set = format!("<configuration>{set}</configuration>");
    plugin("maven-compiler-plugin", &set)
}

fn managed(dependency: &str) -> String {
    format!(
        "<dependencyManagement><dependencies><dependency>{dependency}</dependency></dependencies></dependencyManagement>"
    )
}

#[test]
#[rustfmt::skip]
fn plain_poms_are_understood() {
    let plain = one("").unwrap();
    assert!(!plain.has_encoding && plain.artifacts.len() == 1);
    assert_eq!(plain.modules[0].main, "src/main/java");
    assert_eq!(plain.modules[0].output(true), "target/test-classes");
    assert!(plain.modules[0].has_plain_resources && !plain.is_without_processors);
    let set = "<release>17</release><compilerArgs><arg>-Xlint:all</arg></compilerArgs><proc>none</proc>";
    assert!(one(&compiler(set)).unwrap().is_without_processors);
    let moved = one("<build><sourceDirectory>src/java</sourceDirectory></build>").unwrap();
    assert_eq!(moved.modules[0].main, "src/java");
    let filtering = "<build><resources><resource><filtering>true</filtering></resource></resources></build>";
    assert!(one(filtering).unwrap().modules[0].filters);
    // Reports are nobody's classes, and what is only managed is not used.
    let plugins = "<plugins><plugin><artifactId>maven-x</artifactId></plugin></plugins>";
    assert!(one(&format!("<reporting>{plugins}</reporting>")).is_ok());
    assert!(one(&format!("<build><pluginManagement>{plugins}</pluginManagement></build>")).is_ok());
    assert!(one(&format!("<build>{plugins}</build>")).is_err());
}

const NAMED: &str = "<groupId>g</groupId><artifactId>top</artifactId><version>1</version>";

#[test]
fn modules_and_parents_are_followed() {
    let top = format!("{NAMED}<modules><module>core</module></modules>");
    let core = format!("<parent>{NAMED}</parent>");
    let other = plugin("kotlin-maven-plugin", "");
    let files = [
        ("pom.xml", &top),
        ("core/pom.xml", &core),
        ("other/pom.xml", &other),
    ];
    let files = files.map(|(path, text)| (path, text.as_str()));
    let found = model(&files).unwrap();
    let dirs: Vec<&BString> = found.modules.iter().map(|module| &module.dir).collect();
    assert_eq!(dirs, ["", "core"]);
    // Nothing from elsewhere is missing, and something is.
    let nothing = Some(Path::new("/no/such"));
    assert!(model_with(&files, nothing).is_ok());
    let elsewhere = format!("<parent>{NAMED}<relativePath/></parent>");
    assert!(one(&elsewhere).is_ok());
    assert!(model_with(&[("pom.xml", &elsewhere)], nothing).is_err());
    // Changes of a pom with another name would not be noticed.
    let named = "<modules><module>core/other.xml</module></modules>";
    assert!(model(&[("pom.xml", named), ("core/other.xml", "")]).is_err());
    assert!(one("<modules><module>gone</module></modules>").is_err());
    assert!(one("<modules><module>../x</module></modules>").is_err());
}

#[test]
fn what_a_parent_says_of_sources_holds_below() {
    let of_both = |top: &str, core: &str| {
        let modules = "<artifactId>top</artifactId><modules><module>core</module></modules>";
        model(&[
            ("pom.xml", &format!("{modules}<build>{top}</build>")),
            ("core/pom.xml", core),
        ])
    };
    let of_top = |build: &str| of_both(build, "<parent><artifactId>top</artifactId></parent>");
    let resources = |more: &str| format!("<resources><resource>{more}</resource></resources>");
    assert!(of_top("").unwrap().modules[1].has_plain_resources);
    let found = of_top(&resources("<directory>conf</directory>")).unwrap();
    assert!(!found.modules[1].has_plain_resources && !found.modules[1].filters);
    let found = of_top(&resources("<filtering>true</filtering>")).unwrap();
    assert!(found.modules[1].filters);
    assert!(of_top("<sourceDirectory>src</sourceDirectory>").is_err());
    // A source is of one module and one side.
    assert!(one("<build><sourceDirectory>src</sourceDirectory></build>").is_err());
    let shared = "<build><sourceDirectory>../src/main/java</sourceDirectory></build>";
    assert!(of_both("", shared).is_err());
}

#[test]
#[rustfmt::skip]
fn what_may_make_classes_is_a_reason() {
    let profile = |text: &str| format!("<profiles><profile>{text}</profile></profiles>");
    let dependency = |text: &str| format!("<dependencies><dependency>{text}</dependency></dependencies>");
    let property = |name: &str, value: &str| format!("<properties><{name}>{value}</{name}></properties>");
    let import = |version: &str| managed(&format!("<artifactId>b</artifactId><version>{version}</version><scope>import</scope>"));
    let goal = "<executions><execution><goals><goal>unpack</goal></goals></execution></executions>";
    for text in [
        plugin("kotlin-maven-plugin", ""),
        plugin("maven-dependency-plugin", goal),
        plugin("maven-jar-plugin", "<extensions>true</extensions>"),
        plugin("maven-jar-plugin", "<extensions>${x}</extensions>"),
        plugin("maven-jar-plugin", "<groupId>org.x</groupId>"),
        plugin("maven-jar-plugin", "<groupId>${group}</groupId>"),
        compiler("<annotationProcessorPaths/>"),
        compiler("<compilerArgs><arg>-Xplugin:ErrorProne</arg></compilerArgs>"),
        compiler("<proc>only</proc><compilerId>eclipse</compilerId>"),
        "<packaging>bundle</packaging>".to_owned(),
        "<build><outputDirectory>out</outputDirectory></build>".to_owned(),
        "<build><sourceDirectory>${x}/src</sourceDirectory></build>".to_owned(),
        property("maven.compiler.release", "${env.RELEASE}"),
        property("project.build.sourceEncoding", "UTF-16"),
        dependency("<artifactId>lombok</artifactId>"),
        dependency("<version>[1,2)</version>"),
        import("1-SNAPSHOT"),
        property("b", "1-SNAPSHOT") + &import("${b}"),
        profile("<activation><file><exists>x</exists></file></activation>"),
        compiler("<annotationProcessors/>").replace("<plugins>", "<pluginManagement><plugins>").replace("</plugins>", "</plugins></pluginManagement>"),
        profile(&plugin("exec-maven-plugin", "")),
    ] {
        assert!(one(&text).is_err(), "{text}");
    }
    for more in ["<groupId>org.apache.maven.plugins</groupId>", "<extensions>false</extensions>"] {
        assert!(one(&plugin("maven-jar-plugin", more)).is_ok(), "{more}");
    }
    assert!(model(&[("pom.xml", ""), (".mvn/extensions.xml", "")]).is_err());
    let files = ["java/pom.xml", ".mvn/extensions.xml"];
    let read = |path: &BStr| files.iter().any(|it| path == it).then(|| b"<project/>".to_vec());
    assert!(Model::of(BStr::new("java"), &read, None).is_err());
    assert!(Model::of(BStr::new(""), &|_: &BStr| None, None).is_err());
}

#[test]
fn parents_from_elsewhere_are_looked_at() {
    let repository = tempfile::tempdir().unwrap();
    let of_parent = |version: &str, above: &str| {
        let name = ("g".to_owned(), "top".to_owned(), version.to_owned());
        let file = crate::runners::maven::pom::pom_in(repository.path(), &name);
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, format!("<project>{above}</project>")).unwrap();
        let named = NAMED.replace('1', version);
        let parent = format!("<parent>{named}<relativePath/></parent>");
        model_with(&[("pom.xml", &parent)], Some(repository.path()))
    };
    let needed = "<dependencies><dependency><artifactId>x</artifactId></dependency></dependencies>";
    let found = of_parent("1", needed).unwrap();
    assert_eq!((found.modules.len(), found.dependencies.len()), (1, 1));
    let above = format!("<parent>{}</parent>", NAMED.replace("top", "q"));
    assert!(of_parent("1", &above).unwrap_err().contains("g:q:1"));
    assert!(of_parent("1", &plugin("kotlin-maven-plugin", "")).is_err());
    for build in ["<sourceDirectory>x</sourceDirectory>", "<resources/>"] {
        assert!(of_parent("1", &format!("<build>{build}</build>")).is_err());
    }
    assert!(of_parent("1-SNAPSHOT", "").is_err());
}

#[test]
fn processors_are_off_where_all_say_so() {
    let is_off = |procs: &[&str]| {
        let of_profile = |said: &&str| {
            format!(
                "<profile>{}</profile>",
                compiler(&format!("<proc>{said}</proc>"))
            )
        };
        let profiles: String = procs.iter().map(of_profile).collect();
        let found = one(&format!("<profiles>{profiles}</profiles>"));
        found.unwrap().is_without_processors
    };
    assert!(is_off(&["none"]) && !is_off(&[]) && !is_off(&["none", "full"]));
}
