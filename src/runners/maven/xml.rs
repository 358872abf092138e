//! A `pom.xml` as a tree of elements, without namespaces.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements in elements in a file that somebody wrote.
const MAX_DEPTH: usize = 200;

/// Attributes of one element. The reader compares each with all before it.
const MAX_ATTRIBUTES: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub name: String,
    /// Without white space at its ends; references as they are written.
    pub text: String,
    /// As they are written; the name's own prefix is that of the name `:`.
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
}

impl Element {
    /// A text that is in no document.
    pub(crate) fn of_text(text: &str) -> Element {
        Element {
            text: text.to_owned(),
            ..Element::default()
        }
    }

    fn of_tag(tag: &BytesStart<'_>) -> Result<Element, String> {
        let mut element = Element::of_text("");
        element.name = lossy(tag.local_name().as_ref());
        let prefix = tag.name().prefix();
        let prefix = prefix.map(|prefix| (":".to_owned(), lossy(prefix.as_ref())));
        element.attributes.extend(prefix);
        for attribute in tag.attributes() {
            if element.attributes.len() == MAX_ATTRIBUTES {
                return Err("attributes without end".to_owned());
            }
            let attribute = attribute.map_err(|error| error.to_string())?;
            let (name, value) = (attribute.key.as_ref(), &attribute.value);
            element.attributes.push((lossy(name), lossy(value)));
        }
        Ok(element)
    }

    /// An attribute as it is written.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut all = self.attributes.iter();
        all.find(|(one, _)| one == name)
            .map(|(_, value)| value.as_str())
    }

    /// The outermost element of a document.
    ///
    /// # Errors
    /// If it is not well-formed, defines what names stand for, or is in an encoding that
    /// writes names otherwise than ASCII. Other letters do not matter.
    pub(crate) fn read(document: &[u8]) -> Result<Element, String> {
        let mut reader = Reader::from_reader(document);
        let mut open = vec![Element::default()];
        loop {
            let event = reader.read_event().map_err(|error| error.to_string())?;
            let text = match &event {
                Event::Start(tag) | Event::Empty(tag) => {
                    open.push(Element::of_tag(tag)?);
                    if open.len() > MAX_DEPTH {
                        return Err("elements in elements without end".to_owned());
                    }
                    String::new()
                }
                Event::Text(text) => lossy(text),
                // As it would be written elsewhere.
                Event::CData(text) => lossy(text).replace('&', "&amp;").replace('<', "&lt;"),
                Event::GeneralRef(name) => format!("&{};", lossy(name)),
                Event::Decl(head) => match head.encoding() {
                    Some(Ok(name)) if !is_like_ascii(&lossy(&name)) => {
                        return Err("its encoding is not understood".to_owned());
                    }
                    _ => String::new(),
                },
                Event::DocType(_) => return Err("it has a document type".to_owned()),
                Event::Eof => break,
                _ => String::new(),
            };
            if let Some(element) = open.last_mut() {
                element.text.push_str(&text);
            }
            if matches!(event, Event::End(_) | Event::Empty(_))
                && let [.., above, done] = open.as_mut_slice()
            {
                // What Java takes for white space.
                done.text = done.text.trim_matches(|sign| sign <= ' ').to_owned();
                above.children.push(std::mem::take(done));
                open.pop();
            }
        }
        let is_closed = open.len() == 1;
        let outermost = open.pop().and_then(|mut top| top.children.pop());
        let outermost = outermost.filter(|_| is_closed);
        outermost.ok_or_else(|| "an element does not end".to_owned())
    }

    /// The first child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The text of the first child of that name; empty if there is none.
    pub(crate) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| &child.text)
    }

    /// The elements at a path of names beneath this one: `build/plugins/plugin`.
    pub(crate) fn at<'a>(&'a self, path: &str) -> Vec<&'a Element> {
        path.split('/').fold(vec![self], |found, name| {
            let below = found.into_iter().flat_map(|one| &one.children);
            below.filter(|child| child.name == name).collect()
        })
    }

    /// The same, and in each profile of a pom.
    pub(crate) fn of_profiles(&self, path: &str) -> Vec<&Element> {
        let profiles = self.at("profiles/profile");
        let mut found = self.at(path);
        found.extend(profiles.into_iter().flat_map(|profile| profile.at(path)));
        found
    }

    /// Itself and all beneath.
    pub(crate) fn every(&self) -> Vec<&Element> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(element) = all.get(at).copied() {
            all.extend(&element.children);
            at += 1;
        }
        all
    }

    /// Itself and those beneath that have this name.
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.every().into_iter().filter(move |one| one.name == name)
    }

    /// Whether a name, a text or the value of an attribute contains that, here or beneath.
    pub(crate) fn mentions(&self, part: &str) -> bool {
        self.every().into_iter().any(|one| {
            let values = one.attributes.iter().map(|(_, value)| value);
            let mut all = values.chain([&one.name, &one.text]);
            all.any(|text| text.contains(part))
        })
    }
}

/// Encodings in which every sign that matters is one byte, as in ASCII.
const ENCODINGS: &str = "utf-8 utf8 iso-8859- us-ascii windows-125 cp125";

pub(super) fn is_like_ascii(encoding: &str) -> bool {
    let encoding = encoding.to_ascii_lowercase();
    let mut known = ENCODINGS.split(' ');
    known.any(|known| encoding.starts_with(known))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
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
        let attribute = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read.attributes, [attribute(":", "p"), attribute("a", "b")]);
        assert_eq!(read.at("c/i")[0].text, "j");
        assert_eq!(read.every().len(), 5);
        assert_eq!((read.named("c").count(), read.text_of("none")), (2, ""));
        let mentioned = ["proj", "f&amp;", "b"].map(|part| read.mentions(part));
        assert_eq!((mentioned, read.mentions("x")), ([true; 3], false));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in [
            "",
            "x",
            "<a>",
            "<a></b>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<?xml version='1.0' encoding='UTF-16'?><a/>",
        ] {
            assert!(Element::read(text.as_bytes()).is_err(), "{text}");
        }
        let latin = b"\xef\xbb\xbf<?xml version='1.0' encoding='ISO-8859-1'?><a><b>\xe9</b></a>";
        assert_eq!(Element::read(latin).unwrap().at("b").len(), 1);
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
