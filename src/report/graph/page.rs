//! One self-contained page: the tests in their default order, an arc for each dependence,
//! and tables. No script, nothing to load.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{GraphJson, kind_words};
use crate::count::counted;

/// Height of a test's line, and of a letter's width in it, in pixels.
const LINE: f64 = 20.0;
const LETTER: f64 = 6.8;
/// Room for arcs on each side.
const SIDE: f64 = 240.0;
/// More arcs than that nobody can follow: then only manifest dependences are drawn.
const MOST_ARCS: usize = 600;
/// Rows of a table.
const MOST_ROWS: usize = 2000;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1200px;margin:2em auto;\
padding:0 1em;color:#222;background:#fff}table{border-collapse:collapse;font-size:13px}\
td,th{padding:3px 10px;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}\
code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}.wide{overflow-x:auto}\
svg text{font:12px ui-monospace,monospace;fill:#222}svg path{fill:none;stroke-width:1.2}\
.data{stroke:#888}.manifest{stroke:#d55e00;stroke-width:2.2}svg path:hover{stroke-width:4}\
text.dependent{fill:#b34a00;font-weight:bold}.key span{display:inline-block;width:26px;\
border-top:3px solid;margin:0 6px 4px 16px}";

impl GraphJson {
    pub(crate) fn page(&self) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <title>tamis order graph</title><style>{STYLE}</style></head><body>\n\
             <h1>Dependences between tests</h1>\n"
        );
        let _ = writeln!(
            page,
            "<p>{} at <code>{}</code>: {} between {}; {} on order.</p>",
            counted(self.tests, "test"),
            text(&self.commit[..self.commit.len().min(10)]),
            counted(self.data.len(), "data dependence"),
            counted(self.nodes.len(), "test"),
            match self.manifest.len() {
                1 => "1 test depends".to_owned(),
                many => format!("{many} tests depend"),
            },
        );
        if self.nodes.is_empty() {
            page.push_str("<p>No test reads or overwrites what another one left.</p>\n");
        } else {
            page.push_str(
                "<p class=\"key\"><span style=\"color:#888\"></span>left: a test reads or \
                 overwrites what an earlier one left<span style=\"color:#d55e00\"></span>right: \
                 the other test changes how it ends. Arrows lead to what a test depends on; \
                 point at an arc to see the state.</p>\n<div class=\"wide\">\n",
            );
            page.push_str(&self.arcs());
            page.push_str("</div>\n");
        }
        self.manifest_table(&mut page);
        self.data_table(&mut page);
        page.push_str("</body></html>\n");
        page
    }

    fn arcs(&self) -> String {
        let longest = self.nodes.iter().map(|id| id.chars().count()).max();
        let labels = longest.unwrap_or_default() as f64 * LETTER + 20.0;
        let (width, height) = (2.0 * SIDE + labels, (self.nodes.len() + 1) as f64 * LINE);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"dependences\">\n\
             <defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
             <path d=\"M0 0L8 4L0 8z\" style=\"fill:context-stroke;stroke:none\"/></marker></defs>\n"
        );
        let mut places: BTreeMap<&str, f64> = BTreeMap::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let y = (at + 1) as f64 * LINE;
            places.insert(node, y);
            let class = match self.manifest.iter().any(|one| one.id == *node) {
                true => " class=\"dependent\"",
                false => "",
            };
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{:.0}\"{class}>{}</text>",
                SIDE + 10.0,
                y + 4.0,
                text(node)
            );
        }
        let reach = self.nodes.len().max(2) as f64 * LINE;
        let mut arc = |from: &str, to: &str, is_left: bool, class: &str, title: &str| {
            let (Some(from), Some(to)) = (places.get(from), places.get(to)) else {
                return;
            };
            let bulge = 30.0 + (SIDE - 40.0) * ((from - to).abs() / reach).sqrt();
            let (edge, control) = match is_left {
                true => (SIDE + 4.0, SIDE - bulge),
                false => (SIDE + labels - 4.0, SIDE + labels + bulge),
            };
            let _ = writeln!(
                svg,
                "<path class=\"{class}\" marker-end=\"url(#to)\" d=\"M{edge:.0} {from:.0}C{control:.0} {from:.0} {control:.0} {to:.0} {edge:.0} {to:.0}\"><title>{}</title></path>",
                text(title)
            );
        };
        if self.data.len() <= MOST_ARCS {
            for edge in &self.data {
                let title = format!(
                    "{} after {}: {}",
                    edge.later,
                    edge.earlier,
                    edge.cells.join(", ")
                );
                arc(&edge.later, &edge.earlier, true, "data", &title);
            }
        }
        for one in &self.manifest {
            for before in one.before() {
                let title = format!("{} ({}) after {before}", one.id, one.kind());
                arc(&one.id, before, false, "manifest", &title);
            }
        }
        svg.push_str("</svg>\n");
        if self.data.len() > MOST_ARCS {
            let _ = writeln!(
                svg,
                "<p>The {} are not drawn: there are too many to follow.</p>",
                counted(self.data.len(), "data dependence")
            );
        }
        svg
    }

    fn manifest_table(&self, page: &mut String) {
        if self.manifest.is_empty() {
            return;
        }
        page.push_str(
            "<h2>Tests that depend on order</h2>\n<div class=\"wide\"><table>\
             <tr><th>test</th><th></th><th>shortest orders that show it</th>\
             <th>not if in between runs</th><th>by way of</th></tr>\n",
        );
        for one in &self.manifest {
            let orders: Vec<String> = one
                .witnesses
                .iter()
                .map(|order| order.join(" → "))
                .collect();
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                codes(std::slice::from_ref(&one.id)),
                one.kind(),
                codes(&orders),
                codes(&one.cleaners),
                codes(&one.cells)
            );
        }
        page.push_str("</table></div>\n");
    }

    fn data_table(&self, page: &mut String) {
        if self.data.is_empty() {
            return;
        }
        page.push_str(
            "<h2>Data dependences</h2>\n<div class=\"wide\"><table>\
             <tr><th>test</th><th>earlier test</th><th>state</th><th>the test</th></tr>\n",
        );
        for edge in self.data.iter().take(MOST_ROWS) {
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                codes(std::slice::from_ref(&edge.later)),
                codes(std::slice::from_ref(&edge.earlier)),
                codes(&edge.cells),
                kind_words(&edge.kinds)
            );
        }
        page.push_str("</table></div>\n");
        if self.data.len() > MOST_ROWS {
            let _ = writeln!(
                page,
                "<p>{} more are in the JSON.</p>",
                self.data.len() - MOST_ROWS
            );
        }
    }
}

fn codes(texts: &[String]) -> String {
    let code = |one: &String| format!("<code>{}</code>", text(one));
    texts.iter().map(code).collect::<Vec<_>>().join("<br>")
}

/// As text of a page.
fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_is_whole_and_safe() {
        let page = super::super::sample().page();
        assert!(!page.contains("test_<b>"), "{page}");
        assert!(page.contains("test_&lt;b&gt;&quot;x&quot;"), "{page}");
        assert!(page.contains("a&amp;b.txt"), "{page}");
        assert_eq!(page.matches("class=\"data\"").count(), 2);
        assert_eq!(page.matches("class=\"manifest\"").count(), 1);
        for foreign in ["<script", "http:", "https:", "src="] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        insta::assert_snapshot!(page);
    }
}
