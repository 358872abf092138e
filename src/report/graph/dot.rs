//! The graph in the language of Graphviz.

use super::GraphJson;

impl GraphJson {
    /// Dashed: data dependences; bold: manifest ones. An arrow leads to what a test depends on.
    pub(crate) fn dot(&self) -> String {
        let mut text =
            "digraph dependences {\n  rankdir=RL;\n  node [shape=box, fontname=\"sans-serif\"];\n"
                .to_owned();
        for node in &self.nodes {
            let is_dependent = self.manifest.iter().any(|one| one.id == *node);
            let style = match is_dependent {
                true => " [penwidth=2, color=\"#d55e00\"]",
                false => "",
            };
            text.push_str(&format!("  {}{style};\n", quoted(node)));
        }
        for edge in &self.data {
            let label = quoted(&edge.cells.join("\\n"));
            let (later, earlier) = (quoted(&edge.later), quoted(&edge.earlier));
            text.push_str(&format!(
                "  {later} -> {earlier} [style=dashed, color=\"#999999\", tooltip={label}];\n"
            ));
        }
        for one in &self.manifest {
            let id = quoted(&one.id);
            for before in one.before() {
                let kind = quoted(one.kind());
                text.push_str(&format!(
                    "  {id} -> {} [penwidth=2, color=\"#d55e00\", label={kind}];\n",
                    quoted(before)
                ));
            }
        }
        text.push_str("}\n");
        text
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\"").replace('\n', " "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_quoted() {
        let text = super::super::sample().dot();
        assert!(text.contains("\"test_a.py::test_<b>\\\"x\\\"\";"), "{text}");
        assert!(
            text.contains("\"test_a.py::test_needs\" -> \"test_a.py::test_sets\" [penwidth=2"),
            "{text}"
        );
        assert_eq!(text.matches("->").count(), 3);
    }
}
