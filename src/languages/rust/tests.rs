use super::*;

fn parse(text: &str) -> RustSource {
    let source = RustSource::parse(text.as_bytes());
    assert_eq!(source.whole, None);
    source
}
