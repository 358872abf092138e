//! What of a `pom.xml` can have a part in a test. That is not what it tells people, nor
//! the settings of tools that look at a project and leave it as it is.
//!
//! What a build makes is compared as files. So a pom reaches tests otherwise only by what
//! Surefire and Failsafe tell their JVMs, by the dependencies, and by what these refer to.
//! All that stays, and so does everything that something which stays refers to.

use std::collections::BTreeSet;

use super::plugins::{has_word, is_no_part, is_of_looking, packing_early, runs_scripts};
use super::xml::Element;
use crate::matrix::Fingerprint;

/// What a project says of itself, for people and for publishing.
const DESCRIPTION: &str = "ciManagement contributors description developers \
    distributionManagement inceptionYear issueManagement licenses mailingLists name \
    organization reporting scm url";

/// What else a project has that may be referred to, in small letters.
const OTHER: &str = "artifact artifactid basedir build groupid modelversion packaging version";

/// The names of parts that have no part in tests by themselves, but that something refers
/// to. `said` is all that can refer to them: the poms of a project with all that they
/// inherit from, settings, and the words of commands as texts. `None` if something is not
/// understood.
pub(super) fn kept(said: &[&Element]) -> Option<BTreeSet<String>> {
    if said.iter().any(|one| runs_scripts(one)) {
        return None;
    }
    let mut kept = packing_early(said);
    loop {
        let mut found = BTreeSet::new();
        for document in said {
            for element in relevant(document, &[], &kept).every() {
                found.extend(references(element)?);
            }
        }
        if found.is_subset(&kept) {
            return Some(kept);
        }
        kept.extend(found);
    }
}

/// The fingerprint of a pom that keeps these parts; `pom` is `None` if there is no file.
pub(crate) fn pom_fingerprint(pom: Option<Vec<u8>>, kept: &[String]) -> Fingerprint {
    let Some(pom) = pom else {
        return Fingerprint::MISSING;
    };
    match meaning(&pom, &kept.iter().cloned().collect()) {
        Some(form) => Fingerprint::of_digest("tamis pom 1", &form),
        None => Fingerprint::of_digest("tamis pom 1 raw", &pom),
    }
}

/// A pom without what has no part, in a form in which layout and comments do not count.
/// `None` if the pom is not understood.
fn meaning(pom: &[u8], kept: &BTreeSet<String>) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(pom).ok()?;
    let head = text.split("?>").next().unwrap_or_default();
    let is_declared = head.contains("<?xml") && head.contains("encoding");
    if is_declared && !head.to_lowercase().contains("utf-8") {
        return None;
    }
    let pom = Element::read(pom).ok()?;
    let rest = relevant(&pom, &[], kept);
    let is_plain = |one: &Element| {
        // With this attribute, white space counts.
        let mut names = one.attributes.iter().map(|(name, _)| name);
        // What is new may refer to something, too.
        references(one).is_some() && !names.any(|name| name == "xml:space")
    };
    let is_known = rest.name == "project" && rest.every().into_iter().all(is_plain);
    is_known.then(|| {
        let mut form = Vec::new();
        write(&rest, &mut form);
        form
    })
}

/// Lengths are before texts and an element without a name is behind the last child, so
/// that different trees have different forms.
fn write(element: &Element, form: &mut Vec<u8>) {
    let attributes = element.attributes.iter();
    let attributes = attributes.flat_map(|(name, value)| [name, value]);
    for text in [&element.name, &element.text].into_iter().chain(attributes) {
        form.extend((text.len() as u64).to_be_bytes());
        form.extend(text.as_bytes());
    }
    form.push(b'(');
    for child in &element.children {
        write(child, form);
    }
    form.extend([0; 16]);
    form.push(b'(');
}

/// A copy of an element beneath these names, without what has no part.
fn relevant(element: &Element, above: &[&str], kept: &BTreeSet<String>) -> Element {
    let path = [above, &[element.name.as_str()]].concat();
    let is_schema = |name: &str| name.starts_with("xmlns") || name.starts_with("xsi:");
    let attributes = element.attributes.iter();
    let attributes = attributes.filter(|(name, _)| !above.is_empty() || !is_schema(name));
    let children = element.children.iter();
    let children = children.filter(|child| !is_dropped(child, &path, kept));
    Element {
        name: element.name.clone(),
        text: element.text.clone(),
        attributes: attributes.cloned().collect(),
        children: children.map(|child| relevant(child, &path, kept)).collect(),
    }
}

/// Whether what stands at this path has no part.
fn is_dropped(element: &Element, path: &[&str], kept: &BTreeSet<String>) -> bool {
    let name = element.name.as_str();
    // A profile has the same parts as the project.
    let place = match path {
        ["project", "profiles", "profile", rest @ ..] => rest,
        ["project", rest @ ..] => rest,
        _ => return false,
    };
    match place {
        [] if path.len() == 1 || name == "reporting" => {
            has_word(DESCRIPTION, name) && !kept.contains(name)
        }
        ["properties"] => is_of_looking(name) && !kept.contains(name),
        ["build", "plugins"] | ["build", "pluginManagement", "plugins"] => {
            is_no_part(element, kept)
        }
        _ => false,
    }
}

/// What an element refers to: `${project.name}`, `${name}`, and whatever looks like the
/// name of a property of tools that only look, wherever it stands. `None` if it is not
/// understood.
fn references(element: &Element) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let values = element.attributes.iter().map(|(_, value)| value.as_str());
    for text in values.chain([element.text.as_str()]) {
        // A sign may be written by its number.
        if text.contains("&#") {
            return None;
        }
        let mut parts = text.split('{').peekable();
        while let (Some(before), Some(part)) = (parts.next(), parts.peek()) {
            // A name may be made of others: `${${tool}.version}`.
            if before.ends_with(['$', '@']) && !part.contains('}') {
                return None;
            }
            let name = part.split('}').next().unwrap_or_default();
            found.extend(described(name).map(str::to_owned));
        }
        let is_sign = |sign: char| sign.is_alphanumeric() || ".-_".contains(sign);
        let names = text.split(|sign| !is_sign(sign));
        let names = names.map(|name| name.strip_prefix("-D").unwrap_or(name));
        found.extend(names.filter(|name| is_of_looking(name)).map(str::to_owned));
    }
    Some(found)
}

/// The parts of a description that a reference may lead to.
fn described(name: &str) -> impl Iterator<Item = &'static str> {
    let small = name.to_lowercase();
    let words = small.split(|sign: char| !sign.is_alphanumeric());
    let words: Vec<String> = words.map(str::to_owned).collect();
    let of_project = match words.split_first() {
        Some((first, rest)) if ["project", "pom"].contains(&first.as_str()) => {
            rest.iter().find(|word| *word != "parent")
        }
        _ => None,
    };
    // Maven asks its own objects, which may have more names for the same.
    let is_known = of_project
        .is_none_or(|first| has_word(OTHER, first) || has_word(&DESCRIPTION.to_lowercase(), first));
    let parts = DESCRIPTION.split_whitespace();
    parts.filter(move |part| !is_known || words.contains(&part.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of poms and words.
    fn kept_of_all(texts: &[&str]) -> Option<BTreeSet<String>> {
        let read = texts.iter().map(|text| match text.starts_with('<') {
            true => Element::read(text.as_bytes()).unwrap(),
            false => Element::of_text(text),
        });
        let read: Vec<Element> = read.collect();
        kept(&read.iter().collect::<Vec<_>>())
    }

    fn same(one: &str, other: &str) -> bool {
        let of = |text: &str| {
            let text = format!("<project>{text}</project>");
            let kept = kept_of_all(&[&text]).unwrap();
            meaning(text.as_bytes(), &kept).unwrap()
        };
        of(one) == of(other)
    }

    /// Whether it is the same with `1` and with `2` in the place of `@`.
    fn same_with(text: &str) -> bool {
        same(&text.replace('@', "1"), &text.replace('@', "2"))
    }

    fn plugin(artifact: &str, more: &str) -> String {
        format!(
            "<build><plugins><plugin><artifactId>{artifact}</artifactId>{more}</plugin></plugins></build>"
        )
    }

    fn surefire(part: &str) -> String {
        let set = format!("<configuration><argLine>-Dx=${{{part}}}</argLine></configuration>");
        plugin("maven-surefire-plugin", &set)
    }

    #[test]
    #[rustfmt::skip]
    fn what_people_read_has_no_part() {
        for (one, other, is_same) in [
            ("", "<!-- x -->", true),
            ("", "\n  ", true),
            ("", "<name>x</name><url>y</url>", true),
            ("", "<developers><developer><id>a</id></developer></developers>", true),
            ("", "<reporting><plugins><plugin/></plugins></reporting>", true),
            ("", "<profiles/>", false),
            ("<artifactId>a</artifactId>", "<artifactId>b</artifactId>", false),
            ("<a>x</a><b/>", "<a>x<b/></a>", false),
            ("<a>xy</a>", "<a>x y</a>", false),
            ("<a>x</a>", "<a> x\n</a>", true),
            ("<build/>", "<build combine.children='append'/>", false),
            // A dependency's own address is another matter.
            ("<dependencies><url>a</url></dependencies>", "<dependencies><url>b</url></dependencies>", false),
            ("<a>b&amp;c</a>", "<a><![CDATA[b&amp;c]]></a>", false),
            ("<a>b</a>", "<a>b\u{a0}</a>", false),
            ("<p:a>b</p:a>", "<a>b</a>", false),
        ] {
            assert_eq!(same(one, other), is_same, "{one} {other}");
        }
        let of = |text: &str| meaning(text.as_bytes(), &BTreeSet::new());
        assert_ne!(of("<project a='b'/>"), of("<project/>"));
        assert_eq!(of("<project xmlns='x'/>"), of("<project/>"));
    }

    #[test]
    #[rustfmt::skip]
    fn tools_that_look_have_no_part() {
        let version = "<version>@</version>";
        let content = "<configuration><content>${project.reporting.outputDirectory}</content></configuration>";
        let reports = format!("<reporting><plugins>{version}</plugins></reporting>");
        let late = format!("<executions><execution><phase>package</phase></execution></executions>{version}");
        let early = late.replace("package", "process-classes");
        let profile = plugin("maven-checkstyle-plugin", version);
        for (text, is_same) in [
            (plugin("maven-checkstyle-plugin", version), true),
            (format!("<profiles><profile>{profile}</profile></profiles>"), true),
            (plugin("maven-checkstyle-plugin", &format!("<groupId>org.x</groupId>{version}")), false),
            (plugin("maven-site-plugin", &format!("<extensions>true</extensions>{version}")), false),
            (plugin("maven-javadoc-plugin", &format!("<to>${{project.build.outputDirectory}}</to>{version}")), false),
            (plugin("jacoco-maven-plugin", version), false),
            (plugin("maven-assembly-plugin", &late), true),
            (plugin("maven-assembly-plugin", &early), false),
            (plugin("maven-assembly-plugin", &late) + "<modules><module>a</module></modules>", false),
            // Who publishes reports makes them no part of tests.
            (plugin("maven-scm-publish-plugin", content) + &reports, true),
            (plugin("maven-surefire-plugin", content) + &reports, false),
        ] {
            assert_eq!(same_with(&text), is_same, "{text}");
        }
        let assembly = |more: &str| plugin("maven-assembly-plugin", more);
        assert!(same(&assembly(version), &assembly(&late)));
        assert!(!same(&assembly(version), &assembly(&early)));
        for (name, is_same) in [
            ("checkstyle.version", true),
            ("commons.japicmp.version", true),
            ("spotbugsVersion", true),
            ("maven.compiler.release", false),
            ("jacoco.skip", false),
            ("rating", false),
        ] {
            let text = format!("<properties><{name}>@</{name}></properties>");
            assert_eq!(same_with(&text), is_same, "{name}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn what_something_refers_to_stays() {
        for (part, more) in [
            ("project.name", "<name>@</name>"),
            ("pom.scm.url", "<scm><url>@</url></scm>"),
            ("name", "<name>@</name>"),
            ("project.Name", "<name>@</name>"),
            ("project.parent.name", "<name>@</name>"),
            ("project.reporting.x", "<reporting>@</reporting>"),
            // Another name for the same.
            ("project.siteRepository.x", "<scm>@</scm>"),
            ("project.developers[0].id", "<developers>@</developers>"),
            ("pmd.version", "<properties><pmd.version>@</pmd.version></properties>"),
            // By way of another property.
            (
                "own",
                "<properties><own>${pmd.x}</own><pmd.x>${project.url}</pmd.x></properties><url>@</url>",
            ),
        ] {
            assert!(!same_with(&(surefire(part) + more)), "{part}");
        }
        assert!(same_with(&(surefire("project.build.directory") + "<name>@</name>")));
        // The only reference to it is dropped itself.
        let looks = plugin("maven-pmd-plugin", "<version>${pmd.version}</version>");
        let property = "<properties><pmd.version>@</pmd.version></properties>";
        assert!(same_with(&(looks + property)));
    }

    #[test]
    fn a_parent_can_refer_to_it() {
        let parent = format!("<project>{}</project>", surefire("project.name"));
        let words = [
            "<project/>",
            &parent,
            "-DargLine=-Dy=${pmd.version}",
            "test",
        ];
        let kept = kept_of_all(&words).unwrap();
        assert!(kept.iter().eq(["name", "pmd.version"]));
        let of = |name: &str| {
            let pom = format!("<project><name>{name}</name></project>");
            meaning(pom.as_bytes(), &kept)
        };
        assert_ne!(of("a"), of("b"));
    }

    #[test]
    fn what_is_not_understood_has_no_meaning() {
        let none = BTreeSet::new();
        let nested = "<project><a>${${tool}.version}</a></project>";
        for text in [
            "",
            "<project>",
            "<settings/>",
            "<project><a xml:space='preserve'> </a></project>",
            "<project><a>&#36;{project.name}</a></project>",
            "<?xml version='1.0' encoding='ISO-8859-1'?><project/>",
            nested,
        ] {
            assert_eq!(meaning(text.as_bytes(), &none), None, "{text}");
        }
        assert_eq!(meaning(b"<project><a>\xe9</a></project>", &none), None);
        assert_eq!(kept_of_all(&[nested]), None);
        for (task, is_plain) in [
            ("<echo message='x'/>", true),
            ("<fileset><include name='x'/></fileset>", true),
            ("<script/>", false),
            ("<property file='x'/>", false),
            ("<include file='x'/>", false),
        ] {
            let run = format!("<configuration><target>{task}</target></configuration>");
            let pom = format!("<project>{}</project>", plugin("maven-antrun-plugin", &run));
            assert_eq!(kept_of_all(&[&pom]).is_some(), is_plain, "{task}");
        }
    }
}
