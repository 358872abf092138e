//! One self-contained page: plots as SVG, no script, nothing to load.

use crate::count::counted;
use std::collections::BTreeMap;
use std::fmt::Write;

use super::{ReplayJson, RevisionJson};

/// Colours of lines and bars that people with red-green blindness can distinguish (after Okabe
/// and Ito; the last ones after Tol).
const COLOURS: [&str; 13] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999",
    "#882255", "#44aa99", "#ddcc77", "#332288", "#aa4499",
];
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 60.0;
const BELOW: f64 = 24.0;
const ABOVE: f64 = 12.0;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2em auto;\
padding:0 1em;color:#222;background:#fff}table{border-collapse:collapse;font-size:13px}\
td,th{padding:2px 8px;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}\
svg{width:100%;height:auto}text{font:11px system-ui,sans-serif;fill:#333}\
.key span{display:inline-block;width:12px;height:12px;margin:0 4px 0 14px}\
.wide{overflow-x:auto}.bad{color:#b00;font-weight:bold}";

impl ReplayJson {
    pub(crate) fn page(&self) -> String {
        let rows: Vec<&RevisionJson> = self.revisions.iter().collect();
        let there: Vec<&RevisionJson> = rows
            .iter()
            .copied()
            .filter(|row| row.missing.is_none())
            .collect();
        let merges: Vec<&RevisionJson> = there
            .iter()
            .copied()
            .filter(|row| row.parents > 1)
            .collect();
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <title>tamis replay</title><style>{STYLE}</style></head><body>\n\
             <h1>tamis replay</h1>\n"
        );
        let _ = writeln!(
            page,
            "<p>{} revisions, {} with results, {} merges, {} automerges. {}</p>",
            rows.len(),
            self.totals.revisions,
            self.merges.revisions,
            self.automerges.revisions,
            self.misses_in_words(),
        );
        self.section(
            &mut page,
            "Share of the tests that each strategy selects, by merge",
            &self.shares(&merges),
        );
        self.section(
            &mut page,
            "Seconds, added up; dashed: everything",
            &self.times(&there),
        );
        self.push_causes(&mut page, &there);
        page.push_str("<h2>Kinds over time</h2>\n");
        page.push_str(&kinds(&rows));
        page.push_str("<h2>Sums</h2>\n");
        page.push_str(&self.sums());
        page.push_str("<h2>Revisions</h2>\n");
        page.push_str(&self.every_revision());
        page.push_str("</body></html>\n");
        page
    }

    /// The strategies that every merge can have. The other ones are only in the tables.
    fn plotted(&self) -> impl Iterator<Item = &String> {
        let others = ["rebase-", "cherry-", "revert-"];
        let all = self.strategies.iter();
        all.filter(move |name| !others.iter().any(|other| name.starts_with(other)))
    }

    fn misses_in_words(&self) -> String {
        match self.misses {
            0 => "No test was left out that ended differently.".to_owned(),
            1 => "<span class=\"bad\">1 test was left out and ended differently.</span>".to_owned(),
            many => format!(
                "<span class=\"bad\">{many} tests were left out and ended differently.</span>"
            ),
        }
    }

    fn section(&self, page: &mut String, title: &str, plot: &str) {
        let _ = writeln!(page, "<h2>{title}</h2>\n{plot}\n<p class=\"key\">");
        for (at, name) in self.plotted().enumerate() {
            let _ = write!(
                page,
                "<span style=\"background:{}\"></span>{name}",
                colour(at)
            );
        }
        page.push_str("</p>\n");
    }

    /// A group of bars for each merge, as in figure 4.8 of the thesis.
    fn shares(&self, merges: &[&RevisionJson]) -> String {
        let mut plot = Plot::new("share of tests, by merge", 100.0, "%");
        let group = plot.step(merges.len());
        let bar = group * 0.8 / self.plotted().count().max(1) as f64;
        for (at, merge) in merges.iter().enumerate() {
            for (which, name) in self.plotted().enumerate() {
                let Some(chosen) = merge.strategies.get(name) else {
                    continue;
                };
                let share = chosen.share * 100.0;
                let title = format!(
                    "{} {}: {name} {} of {}",
                    short(merge),
                    merge.kind,
                    chosen.selected,
                    counted(merge.tests, "test")
                );
                let left = LEFT + at as f64 * group + which as f64 * bar;
                plot.bar(left, bar, share, colour(which), &title);
            }
            plot.label(LEFT + at as f64 * group, short(merge), merges.len());
        }
        plot.end()
    }

    /// One line for running everything, and one for each strategy.
    fn times(&self, rows: &[&RevisionJson]) -> String {
        let most = rows.iter().fold(0.0, |sum, row| sum + row.seconds);
        let mut plot = Plot::new("seconds, added up, by revision", most, " s");
        let step = plot.step(rows.len());
        let mut line =
            |colour: &str, dashes: &str, title: &str, of: &dyn Fn(&RevisionJson) -> f64| {
                let mut sum = 0.0;
                let points = rows.iter().enumerate().map(|(at, row)| {
                    sum += of(row);
                    (LEFT + (at as f64 + 0.5) * step, sum)
                });
                let points: Vec<(f64, f64)> = points.collect();
                plot.line(&points, colour, dashes, &format!("{title}: {sum:.1} s"));
            };
        line("#222", "6 3", "everything", &|row| row.seconds);
        for (at, name) in self.plotted().enumerate() {
            line(colour(at), "", name, &|row| {
                row.strategies
                    .get(name)
                    .map_or(0.0, |chosen| chosen.seconds)
            });
        }
        for (at, row) in rows.iter().enumerate() {
            plot.label(LEFT + at as f64 * step, short(row), rows.len());
        }
        plot.end()
    }

    /// A stacked bar of causes for each revision, and the same as numbers.
    fn push_causes(&self, page: &mut String, rows: &[&RevisionJson]) {
        let Some((name, words)) = self.causes() else {
            return;
        };
        let _ = writeln!(page, "<h2>Why {name} runs tests, by revision</h2>");
        let chosen = |row: &RevisionJson| row.strategies.get(name).cloned().unwrap_or_default();
        let most = rows.iter().map(|row| chosen(row).selected).max();
        let title = format!("tests that {name} selects, by revision and cause");
        let mut plot = Plot::new(&title, most.unwrap_or(0) as f64, "");
        let step = plot.step(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let causes = chosen(row).causes;
            let left = LEFT + at as f64 * step;
            let mut below = 0.0;
            for (which, word) in words.iter().enumerate() {
                let Some(count) = causes.get(word) else {
                    continue;
                };
                let title = format!("{} {}: {count} because of {word}", short(row), row.kind);
                plot.part(
                    left,
                    step * 0.85,
                    below,
                    *count as f64,
                    colour(which),
                    &title,
                );
                below += *count as f64;
            }
            plot.label(left, short(row), rows.len());
        }
        let _ = writeln!(page, "{}\n<p class=\"key\">", plot.end());
        for (which, word) in words.iter().enumerate() {
            let total = self.totals.strategies.get(name);
            let total = total.and_then(|total| total.causes.get(word));
            let _ = write!(
                page,
                "<span style=\"background:{}\"></span>{word} ({})",
                colour(which),
                total.unwrap_or(&0)
            );
        }
        page.push_str("</p>\n<details><summary>As a table</summary><div class=\"wide\"><table>");
        page.push_str("<tr><th scope=\"col\">revision</th><th scope=\"col\">selected</th>");
        for word in &words {
            let _ = write!(page, "<th scope=\"col\">{word}</th>");
        }
        page.push_str("</tr>\n");
        for row in rows {
            let chosen = chosen(row);
            let _ = write!(
                page,
                "<tr><th scope=\"row\">{}</th><td>{}</td>",
                short(row),
                chosen.selected
            );
            for word in &words {
                let count = chosen.causes.get(word).unwrap_or(&0);
                let _ = write!(page, "<td>{count}</td>");
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</table></div></details>\n");
    }

    fn sums(&self) -> String {
        let mut text = String::from(
            "<div class=\"wide\"><table><tr><th>strategy</th><th>selected</th>\
             <th>share</th><th>at merges</th><th>at automerges</th><th>seconds</th><th>saved</th>\
             <th>misses</th></tr>\n",
        );
        for name in &self.strategies {
            let share = |totals: &super::TotalsJson| {
                let share = totals.strategies.get(name).map_or(0.0, |total| total.share);
                format!("{:.1} %", share * 100.0)
            };
            let Some(total) = self.totals.strategies.get(name) else {
                continue;
            };
            let _ = writeln!(
                text,
                "<tr><td>{name}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{:.1}</td><td>{:.1}</td><td>{}</td></tr>",
                total.selected,
                share(&self.totals),
                share(&self.merges),
                share(&self.automerges),
                total.seconds,
                self.totals.seconds - total.seconds,
                total.misses,
            );
        }
        text.push_str("</table></div>\n");
        text
    }

    fn every_revision(&self) -> String {
        let mut text = String::from(
            "<div class=\"wide\"><table><tr><th>revision</th><th>kind</th><th>tests</th>\
             <th>seconds</th>",
        );
        for name in &self.strategies {
            let _ = write!(text, "<th>{name}</th>");
        }
        text.push_str("</tr>\n");
        for row in &self.revisions {
            let _ = write!(
                text,
                "<tr><td title=\"{}\">{}</td><td>{}</td><td>{}</td><td>{:.1}</td>",
                escaped(row.missing.as_deref().unwrap_or(&row.subject)),
                short(row),
                row.kind,
                row.tests,
                row.seconds,
            );
            for name in &self.strategies {
                let chosen = row.strategies.get(name).filter(|_| row.missing.is_none());
                match chosen {
                    Some(chosen) => {
                        let why = escaped(&chosen.fallbacks.join("; "));
                        let _ = write!(text, "<td title=\"{why}\">{}</td>", chosen.selected);
                    }
                    None => text.push_str("<td>-</td>"),
                }
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</table></div>\n");
        text
    }
}

/// A box for each revision, a row for each kind.
fn kinds(rows: &[&RevisionJson]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.kind).or_default() += 1;
    }
    const LINE: f64 = 22.0;
    const NAMES: f64 = 130.0;
    let height = LINE * counts.len() as f64 + 8.0;
    let step = (WIDTH - NAMES) / rows.len().max(1) as f64;
    let mut text = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"kinds over time\">\n"
    );
    for (line, (kind, count)) in counts.iter().enumerate() {
        let top = line as f64 * LINE + 4.0;
        let _ = writeln!(
            text,
            "<text x=\"0\" y=\"{:.1}\">{kind} ({count})</text>",
            top + 13.0
        );
        for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == *kind) {
            let _ = writeln!(
                text,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"16\" fill=\"{}\">\
                 <title>{} {}</title></rect>",
                NAMES + at as f64 * step,
                (step * 0.85).max(1.0),
                colour(line),
                short(row),
                escaped(&row.subject),
            );
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Axes with marks, in an image of fixed size.
struct Plot {
    text: String,
    most: f64,
}

impl Plot {
    fn new(title: &str, most: f64, unit: &str) -> Plot {
        let most = if most > 0.0 { most } else { 1.0 };
        let total = HEIGHT + BELOW;
        let mut plot = Plot {
            text: format!(
                "<svg viewBox=\"0 0 {WIDTH} {total}\" role=\"img\" aria-label=\"{title}\">\n"
            ),
            most,
        };
        for part in 0..=4 {
            let value = most * f64::from(part) / 4.0;
            let y = plot.y(value);
            let shown = match most >= 10.0 {
                true => format!("{value:.0}{unit}"),
                false => format!("{value:.1}{unit}"),
            };
            let _ = writeln!(
                plot.text,
                "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{shown}</text>",
                LEFT - 6.0,
                y + 4.0,
            );
        }
        plot
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - (HEIGHT - ABOVE) * value / self.most
    }

    fn step(&self, count: usize) -> f64 {
        (WIDTH - LEFT) / count.max(1) as f64
    }

    fn bar(&mut self, left: f64, width: f64, value: f64, colour: &str, title: &str) {
        let y = self.y(value);
        // A bar with the value 0 must also be visible.
        let height = (HEIGHT - y).max(1.0);
        let _ = writeln!(
            self.text,
            "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.2}\" height=\"{height:.1}\" \
             fill=\"{colour}\"><title>{}</title></rect>",
            HEIGHT - height,
            escaped(title),
        );
    }

    /// A part of a bar on top of `below`.
    fn part(&mut self, left: f64, width: f64, below: f64, value: f64, colour: &str, title: &str) {
        let (top, foot) = (self.y(below + value), self.y(below));
        let _ = writeln!(
            self.text,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.2}\" height=\"{:.2}\" \
             fill=\"{colour}\"><title>{}</title></rect>",
            width.max(1.0),
            foot - top,
            escaped(title),
        );
    }

    fn line(&mut self, points: &[(f64, f64)], colour: &str, dashes: &str, title: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|(x, value)| format!("{x:.1},{:.1}", self.y(*value)))
            .collect();
        let _ = writeln!(
            self.text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dashes}\"><title>{}</title></polyline>",
            points.join(" "),
            escaped(title),
        );
    }

    /// The name of a revision, if there is room for it.
    fn label(&mut self, left: f64, name: &str, count: usize) {
        if count <= 14 {
            let y = HEIGHT + 16.0;
            let _ = writeln!(self.text, "<text x=\"{left:.1}\" y=\"{y}\">{name}</text>");
        }
    }

    fn end(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }
}

fn colour(at: usize) -> &'static str {
    COLOURS[at % COLOURS.len()]
}

fn short(row: &RevisionJson) -> &str {
    row.commit.get(..8).unwrap_or_default()
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}
