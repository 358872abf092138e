use oxc_sourcemap::SourceMapBuilder;

use super::*;
use crate::languages::parsed_js;

/// The words of a text, with their lines and columns.
fn words(text: &str) -> Vec<(&str, u32, u32)> {
    let mut found = Vec::new();
    for (number, line) in (0..).zip(text.split('\n')) {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_word = |one: char| one.is_alphanumeric() || one == '_';
            let length = match rest.find(|one| !is_word(one)) {
                Some(0) => first.len_utf8(),
                Some(length) => length,
                None => rest.len(),
            };
            let column = line[..line.len() - rest.len()].encode_utf16().count();
            if is_word(first) {
                found.push((&rest[..length], number, u32::try_from(column).unwrap()));
            }
            rest = &rest[length..];
        }
    }
    found
}

/// A script with the map in which the nth time of a word comes from the nth time in the source. The
/// first line of `code` is what vitest puts before it.
fn script(code: &str, text: &str, content: &str) -> String {
    let mut builder = SourceMapBuilder::default();
    let source = builder.add_source_and_content("a.ts", content);
    let words_of_text = words(text);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (word, line, column) in words(code) {
        let count = seen.entry(word).or_insert(0);
        let mut same = words_of_text.iter().filter(|(one, ..)| *one == word);
        if let Some((_, there, at)) = same.nth(*count) {
            builder.add_token(line, column, *there, *at, Some(source), None);
        }
        *count += 1;
    }
    let map = builder.into_sourcemap().to_json_string();
    let map = base64_simd::STANDARD.encode_to_string(map);
    format!(
        "'use strict';async (a,b)=>{{{{{code}\n//{}base64,{map}\n}}}}",
        &MAP[2..]
    )
}

/// The functions that ran, if these texts of the script did.
fn ran(code: &str, text: &str, ran: &[&str]) -> Option<Vec<String>> {
    let script = script(code, text, text);
    let source = parsed_js(text.as_bytes(), b"a.ts").unwrap();
    assert_eq!(source.whole, None);
    let of = Script::of(&script, text, &source)?;
    let utf16 = |at: usize| u32::try_from(script[..at].encode_utf16().count()).unwrap();
    let range = |start: usize, end: usize| Range {
        start: utf16(start),
        end: utf16(end),
        is_of_fields: false,
    };
    let mut ranges = vec![range(0, script.len()), range(13, script.len())];
    for text in ran {
        let at = script.find(text).unwrap_or_else(|| panic!("{text}"));
        ranges.push(range(at, at + text.len()));
    }
    let names = of.ran(&ranges)?;
    let name = |one: usize| source.functions[one].name.clone();
    Some(names.into_iter().map(name).collect())
}

const SOURCE: &str = "export const f = (a: number): number => a + 1\n\
    class C { #x = () => 'ü'; m(b: string) { return b }\n get g() { return 2 } }\n\
    export function h() { return [3].map((c) => c) }";
const CODE: &str = "const f = (a) => a + 1;\n\
    class C { #x = () => 'ü'; m(b) { return b }\n get g() { return 2 } }\n\
    function h() { return [3].map((c) => c) }";

#[test]
fn functions_are_found_by_the_map() {
    let of = |texts: &[&str]| ran(CODE, SOURCE, texts).unwrap();
    assert_eq!(of(&[]), [""; 0]);
    assert_eq!(of(&["(a) => a + 1"]), ["f"]);
    assert_eq!(
        of(&["m(b) { return b }", "get g() { return 2 }"]),
        ["C.m", "C.g"]
    );
    assert_eq!(of(&["(c) => c"]), ["h.()"]);
    assert_eq!(of(&["function h() { return [3].map((c) => c) }"]), ["h"]);
}

#[test]
fn what_v8_makes_for_a_class_is_no_function() {
    let class = &CODE[CODE.find("class").unwrap()..CODE.find("\nfunction").unwrap()];
    assert_eq!(ran(CODE, SOURCE, &[class]).unwrap(), [""; 0]);
}

#[test]
fn a_range_that_nobody_knows_says_nothing() {
    assert_eq!(ran(CODE, SOURCE, &["return b"]), None);
}

#[test]
fn a_function_that_was_made_in_addition_runs_what_it_has_of_others() {
    let code = CODE.replace("{ return b }", "{ return (() => b)() }");
    assert_eq!(ran(&code, SOURCE, &["() => b"]).unwrap(), ["C.m"]);
    let code = format!("const get = () => f;\n{CODE}");
    assert_eq!(
        ran(&code, SOURCE, &["() => f"]).unwrap_or_default(),
        [""; 0]
    );
}

#[test]
fn a_function_that_is_nowhere_says_nothing() {
    let code = CODE.replace(".map((c) => c)", "");
    assert_eq!(ran(&code, SOURCE, &[]), None);
}

#[test]
fn another_name_says_nothing() {
    let code = CODE.replace("m(b)", "b(b)");
    assert_eq!(ran(&code, SOURCE, &[]), None);
}

#[test]
fn a_map_of_another_text_says_nothing() {
    let source = parsed_js(SOURCE.as_bytes(), b"a.ts").unwrap();
    let other = script(CODE, SOURCE, &SOURCE.replace("+ 1", "+ 2"));
    assert!(Script::of(&other, SOURCE, &source).is_none());
    assert!(Script::of(CODE, SOURCE, &source).is_none());
    let same = script(CODE, SOURCE, SOURCE);
    assert!(Script::of(&same, SOURCE, &source).is_some());
}
