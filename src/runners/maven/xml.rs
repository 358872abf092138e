//! A `pom.xml` as a tree of elements, without namespaces.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements in elements in a file that somebody wrote.
const MAX_DEPTH: usize = 200;

/// Attributes of one element. The reader compares each with all before it.
const MAX_ATTRIBUTES: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    pub name: String,
    /// Without white space at its ends; references as they are written.
    pub text: String,
    /// As they are written; the name's own prefix is that of the name `:`.
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
}

impl Element {
    /// The outermost element of a document.
    ///
    /// # Errors
    /// If it is not well-formed, or defines what names stand for.
    pub fn read(document: &[u8]) -> Result<Element, String> {
        let mut reader = Reader::from_reader(document);
        let mut open = vec![Element::default()];
        loop {
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let text = match &event {
                Event::Start(tag) | Event::Empty(tag) => {
                    let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                    let attributes = attributes(tag)?;
                    open.push(Element {
                        name,
                        attributes,
                        ..Element::default()
                    });
                    if open.len() > MAX_DEPTH {
                        return Err("elements in elements without end".to_owned());
                    }
                    String::new()
                }
                Event::Text(text) => String::from_utf8_lossy(text).into_owned(),
                // As it would be written elsewhere.
                Event::CData(text) => {
                    let text = String::from_utf8_lossy(text);
                    text.replace('&', "&amp;").replace('<', "&lt;")
                }
                Event::GeneralRef(name) => format!("&{};", String::from_utf8_lossy(name)),
                Event::DocType(_) => return Err("it has a document type".to_owned()),
                Event::Eof => break,
                _ => String::new(),
            };
            if let Some(element) = open.last_mut() {
                element.text.push_str(&text);
            }
            if matches!(event, Event::End(_) | Event::Empty(_))
                && open.len() > 1
                && let Some(mut done) = open.pop()
                && let Some(above) = open.last_mut()
            {
                // What Java takes for white space.
                done.text = done.text.trim_matches(|sign| sign <= ' ').to_owned();
                above.children.push(done);
            }
        }
        match (
            open.len(),
            open.pop().and_then(|mut top| top.children.pop()),
        ) {
            (1, Some(outermost)) => Ok(outermost),
            _ => Err("an element does not end".to_owned()),
        }
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The elements at a path of names beneath this one: `build/plugins/plugin`.
    pub fn at<'a>(&'a self, path: &str) -> Vec<&'a Element> {
        let mut found = vec![self];
        for name in path.split('/') {
            let below = found.into_iter().flat_map(|one| one.children.iter());
            found = below.filter(|child| child.name == name).collect();
        }
        found
    }

    /// The same, and in each profile of a pom.
    pub fn of_profiles(&self, path: &str) -> Vec<&Element> {
        let profiles = self.at("profiles/profile");
        let mut found = self.at(path);
        found.extend(profiles.into_iter().flat_map(|profile| profile.at(path)));
        found
    }

    /// The text of the first child of that name; empty if there is none.
    pub fn text_of(&self, name: &str) -> &str {
        let child = self.children.iter().find(|child| child.name == name);
        child.map_or("", |child| &child.text)
    }

    /// Itself and all beneath.
    pub fn every(&self) -> Vec<&Element> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(element) = all.get(at).copied() {
            all.extend(&element.children);
            at += 1;
        }
        all
    }
}

fn attributes(tag: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut attributes = Vec::new();
    if let Some(prefix) = tag.name().prefix() {
        attributes.push((":".to_owned(), text(prefix.as_ref())));
    }
    for attribute in tag.attributes() {
        if attributes.len() == MAX_ATTRIBUTES {
            return Err("attributes without end".to_owned());
        }
        let attribute = attribute.map_err(|error| error.to_string())?;
        attributes.push((text(attribute.key.as_ref()), text(&attribute.value)));
    }
    Ok(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_a_tree() {
        let text = "<?xml version='1.0'?><!-- x --><p:project a='b'><c> d <!-- e -->f&amp;g</c><h/><c><i>j</i></c></p:project>";
        let read = Element::read(text.as_bytes()).unwrap();
        assert_eq!((read.name.as_str(), read.children.len()), ("project", 3));
        assert_eq!(read.text_of("c"), "d f&amp;g");
        assert_eq!(
            read.attributes,
            [
                (":".to_owned(), "p".to_owned()),
                ("a".to_owned(), "b".to_owned())
            ]
        );
        assert_eq!(read.at("c/i")[0].text, "j");
        assert_eq!(read.every().len(), 5);
        assert_eq!((read.all("c").count(), read.text_of("none")), (2, ""));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in [
            "",
            "x",
            "<a>",
            "<a></b>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        ] {
            assert!(Element::read(text.as_bytes()).is_err(), "{text}");
        }
        let deep = "<a>".repeat(1000);
        assert!(Element::read(deep.as_bytes()).is_err());
        let wide = |count| {
            let attributes = (0..count).map(|at| format!(" a{at}=''"));
            format!("<a{}/>", attributes.collect::<String>())
        };
        assert!(Element::read(wide(MAX_ATTRIBUTES).as_bytes()).is_ok());
        let error = Element::read(wide(300_000).as_bytes()).unwrap_err();
        assert_eq!(error, "attributes without end");
    }
}
