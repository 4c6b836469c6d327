//! What a file of Proofline's is: so that one given in the place of another is told in a sentence.

use crate::diagnostic::Report;
use crate::ron::{self, Node, Value};
use crate::source::{Source, Sources};

/// A kind of RON file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `Graph( … )`.
    Graph,
    /// `Sku( … )`.
    Sku,
    /// `Catalogue( … )`.
    Catalogue,
    /// `Costs( … )`.
    Costs,
    /// `Fit( … )`.
    Fit,
}

impl Kind {
    const NAMED: [(&'static str, Kind); 5] = [
        ("Graph", Kind::Graph),
        ("Sku", Kind::Sku),
        ("Catalogue", Kind::Catalogue),
        ("Costs", Kind::Costs),
        ("Fit", Kind::Fit),
    ];

    /// Fields that this kind of file has and no other.
    const TOLD_BY: [(&'static str, Kind); 9] = [
        ("edges", Kind::Graph),
        ("ccds", Kind::Sku),
        ("cores_per_ccd", Kind::Sku),
        ("tokens", Kind::Catalogue),
        ("calibration", Kind::Costs),
        ("host", Kind::Costs),
        ("retained", Kind::Costs),
        ("rows", Kind::Fit),
        ("free", Kind::Fit),
    ];

    /// What a sentence calls it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Graph => "a graph",
            Self::Sku => "a SKU",
            Self::Catalogue => "a catalogue",
            Self::Costs => "a cost model",
            Self::Fit => "a table of measurements to fit to",
        }
    }

    /// What takes such a file.
    #[must_use]
    pub const fn used_by(self) -> &'static str {
        match self {
            Self::Graph => "`proofline check`, `plan --graph` and `sim` take it",
            Self::Sku => "a graph names it, `sku: \"NAME\"`, and `proofline sku synthetic` takes it",
            Self::Catalogue => "a graph names it, `catalogue: \"FILE\"`",
            Self::Costs => "`proofline sim`, `sweep` and `tune` take it with --costs",
            Self::Fit => "`proofline calibrate` takes it",
        }
    }

    /// The kind of a tree, by its name, else by fields that no other kind has.
    #[must_use]
    pub fn of(node: &Node) -> Option<Self> {
        let Value::Call(call) = &node.value else { return None };
        if let Some(name) = &call.name {
            return Self::NAMED.iter().find(|(word, _)| *word == name.value).map(|(_, kind)| *kind);
        }
        let has = |word: &str| {
            call.arguments.iter().any(|argument| argument.field.as_ref().is_some_and(|field| field.value == word))
        };
        Self::TOLD_BY.iter().find(|(word, _)| has(word)).map(|(_, kind)| *kind)
    }
}

/// The kind of a text.
#[must_use]
pub fn kind_of(text: &str) -> Option<Kind> {
    let mut sources = Sources::default();
    let file = sources.add(Source::inline("file", text));
    Kind::of(&ron::read(file, &sources, &mut Report::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_field_tells() {
        assert_eq!(kind_of("// x\nGraph(version: 1)"), Some(Kind::Graph));
        assert_eq!(kind_of("#![enable(implicit_some)]\n(version: 1, host: (), stages: {})"), Some(Kind::Costs));
        assert_eq!(kind_of("(version: 1, stages: [], edges: [])"), Some(Kind::Graph));
        assert_eq!(kind_of("Sku(ccds: 1)"), Some(Kind::Sku));
        for none in ["", "[1, 2]", "{\"pi_a\": 1}", "Witness(rows: 1)", "(version: 1)"] {
            assert_eq!(kind_of(none), None, "{none}");
        }
    }
}
