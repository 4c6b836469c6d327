//! `Graph(…)`.

use super::VERSION;
use super::fields::{Decoder, Fields};
use crate::checks::bytes::Wanted;
use crate::checks::{contradiction, values, version};
use crate::diagnostic::Report;
use crate::kind::Kind;
use crate::model::{
    Backend, Ccds, Dealloc, Edge, Expression, GiveBack, Graph, Group, Insist, Listed, Load, Pool, SIZES, Share, Sizes,
    SkuChoice, Stage, Unit,
};
use crate::ron::{Argument, Node, Value};
use crate::source::At;

/// More of anything than this is a slip of the finger.
const MANY: u32 = 65_536;

/// Decodes a graph file.
pub fn graph(node: &Node, report: &mut Report) -> Option<Graph> {
    const FIELDS: &[&str] = &[
        "version",
        "catalogue",
        "sku",
        "sizes",
        "load",
        "resident",
        "pools",
        "groups",
        "stages",
        "edges",
        "policy",
        "priorities",
        "dealloc",
        "give_back",
    ];
    if let Some(kind) = Kind::of(node).filter(|kind| *kind != Kind::Graph) {
        report.add(values::other_kind(node.head(), kind, "a graph"));
        return None;
    }
    let mut decoder = Decoder::new(report);
    let d = &mut decoder;
    let fields = d.fields(node, "Graph", FIELDS, 0)?;
    d.version(&fields);
    let sku = fields.required(d, "sku").and_then(|node| d.sku_choice(node));
    let sizes = fields.optional("sizes").map(|node| d.map(node, Decoder::sizes));
    let pools = fields.optional("pools").map(|node| d.map(node, Decoder::pool));
    let groups = fields.optional("groups").map(|node| d.map(node, Decoder::group));
    let stages = fields.required(d, "stages").map(|node| d.list(node, Decoder::stage));
    let edges = fields.required(d, "edges").map(|node| d.list(node, Decoder::edge));
    let policy = fields.optional("policy").and_then(|node| d.text(node));
    let catalogue = fields.optional("catalogue").and_then(|node| d.text(node));
    let resident = d.formulas(&fields, "resident");
    let priorities = fields.optional("priorities");
    let priorities = priorities.filter(|node| d.truth(node) == Some(true)).map(|node| node.span);
    let load = fields.optional("load").and_then(|node| d.load(node));
    let dealloc = fields.optional("dealloc").and_then(|node| {
        let value = d.choice(node, &Dealloc::WORDS)?;
        Some(At { value, span: node.span })
    });
    let give_back = fields.optional("give_back").and_then(|node| {
        let value = d.choice(node, &GiveBack::WORDS)?;
        Some(At { value, span: node.span })
    });
    // An optional list that is absent is whole, unless a fault may have swallowed it.
    let whole = !node.damaged;
    Some(Graph {
        span: fields.head,
        sku,
        sizes: sizes.unwrap_or_default(),
        pools: pools.unwrap_or(Listed { items: Vec::new(), whole }),
        groups: groups.unwrap_or(Listed { items: Vec::new(), whole }),
        stages: stages.unwrap_or_else(lost),
        edges: edges.unwrap_or_else(lost),
        policy,
        catalogue,
        priorities,
        resident,
        load,
        dealloc,
        give_back,
    })
}

impl Decoder<'_> {
    /// Every file states the version of the language that it is written in.
    pub fn version(&mut self, fields: &Fields<'_>) {
        let Some(node) = fields.required(self, "version") else {
            return;
        };
        if let Some(found) = self.integer(node, 0..=u64::MAX)
            && found.value != VERSION
        {
            self.report.add(version::other(found, VERSION));
        }
    }

    fn sku_choice(&mut self, node: &Node) -> Option<At<SkuChoice>> {
        let value = match &node.value {
            Value::Word(word) if word == "any" => SkuChoice::Any,
            Value::Text(name) => SkuChoice::Named(name.clone()),
            _ => {
                self.wanted(node, "`any`, or a SKU's name as a string");
                return None;
            }
        };
        Some(At { value, span: node.span })
    }

    fn sizes(&mut self, name: At<String>, node: &Node) -> Option<Sizes> {
        let fields = self.fields(node, "", &SIZES, 0)?;
        let mut counts = [0; 6];
        for (position, size) in SIZES.into_iter().enumerate() {
            let stated = fields.optional(size).and_then(|node| self.integer(node, 0..=1 << 40));
            // A density that is not stated is the worst that can be: every variable occurs.
            let worst = if size.ends_with("_density") { counts[1] + counts[2] } else { 0 };
            counts[position] = stated.map_or(worst, |at| at.value);
        }
        contradiction::judge_sizes(&name, node.span, &counts, self.report);
        Some(Sizes { name, counts })
    }

    fn load(&mut self, node: &Node) -> Option<At<Load>> {
        let fields = self.fields(node, "", &["jobs", "partitions"], 0)?;
        let jobs = fields.required(self, "jobs").and_then(|node| self.small(node, 1..=MANY));
        let partitions = fields.required(self, "partitions").and_then(|node| self.small(node, 1..=MANY));
        Some(At { value: Load { jobs: jobs?.value, partitions: partitions?.value }, span: node.span })
    }

    fn pool(&mut self, name: At<String>, node: &Node) -> Option<Pool> {
        let (size, unit) = match &node.value {
            Value::Text(_) => (self.bytes_within(node, Wanted::Pool, ["1 B", "1024 TiB"]), Unit::Bytes),
            Value::Broken => (None, Unit::Count),
            Value::Number(_) => (self.integer(node, 1..=u64::from(MANY)), Unit::Count),
            _ => {
                let wanted = "a number of permits, or a number of bytes as a string (\"400 GiB\")";
                self.wanted(node, wanted);
                (None, Unit::Count)
            }
        };
        Some(Pool { name, size, unit })
    }

    fn group(&mut self, name: At<String>, node: &Node) -> Option<Group> {
        let fields = self.fields(node, "Ccds", &["ccds", "share", "exclusive", "insist", "smt"], 1)?;
        let ccds = fields.required(self, "ccds").and_then(|node| self.ccds(node));
        let share = fields.required(self, "share");
        let share = share.and_then(|node| self.choice(node, &[("Spread", Share::Spread), ("Pack", Share::Pack)]));
        let exclusive = fields.optional("exclusive").and_then(|node| self.truth(node)).unwrap_or(false);
        let insist = fields.optional("insist");
        let insist =
            insist.and_then(|node| self.choice(node, &[("Demand", Insist::Demand), ("Prefer", Insist::Prefer)]));
        let smt = fields.optional("smt").and_then(|node| self.truth(node)).unwrap_or(false);
        Some(Group { name, ccds, share, exclusive, insist: insist.unwrap_or(Insist::Demand), smt })
    }

    /// `"*"`, `"0-9"`, `"0,2,4-7"`.
    fn ccds(&mut self, node: &Node) -> Option<At<Ccds>> {
        let text = self.text(node)?;
        let value = if text.value.trim() == "*" { Some(Ccds::All) } else { ccd_list(&text.value).map(Ccds::List) };
        if value.is_none() {
            self.report.add(values::not_ccds(text.span, &text.value));
        }
        value.map(|value| At { value, span: text.span })
    }

    fn stage(&mut self, node: &Node) -> Option<Stage> {
        const FIELDS: &[&str] = &[
            "name",
            "backend",
            "on",
            "device",
            "workers",
            "threads",
            "in_flight",
            "needs",
            "holds",
            "workspace",
            "tags",
            "acquire",
            "send",
            "release",
        ];
        let faults_before = self.report.count();
        let fields = self.fields(node, "Stage", FIELDS, 1)?;
        let name = fields.required(self, "name").and_then(|node| self.text(node));
        let backend = fields.optional("backend").and_then(|node| self.backend(node));
        let on = fields.optional("on").and_then(|node| self.text(node));
        let device = fields.optional("device").and_then(|node| self.small(node, 0..=MANY));
        let workers = fields.optional("workers").and_then(|node| self.small(node, 1..=MANY));
        let threads = fields.optional("threads").and_then(|node| self.small(node, 1..=MANY));
        let in_flight = fields.optional("in_flight").and_then(|node| self.small(node, 1..=MANY));
        let weight = |d: &mut Self, pool, node: &Node| Some((pool, d.integer(node, 1..=u64::from(MANY))?));
        let needs = fields.optional("needs").map(|node| self.map(node, weight)).unwrap_or_default();
        let holds = self.formulas(&fields, "holds");
        let workspace = self.formulas(&fields, "workspace");
        let tags = fields.optional("tags").map(|node| At { value: self.list(node, Decoder::text), span: node.span });
        let in_order = fields.optional("acquire").and_then(|node| self.acquire(node));
        let mut opt_out = |field, usual, other| {
            let node: &Node = fields.optional(field)?;
            self.choice(node, &[(usual, false), (other, true)])?.then_some(node.span)
        };
        let blocking = opt_out("send", "Reserved", "Blocking");
        let before_send = opt_out("release", "AfterSend", "BeforeSend");
        let name = name?;
        let span = fields.head;
        let whole = !node.damaged && self.report.count() == faults_before;
        Some(Stage {
            span,
            whole,
            name,
            backend,
            on,
            device,
            workers,
            threads,
            in_flight,
            needs,
            holds,
            workspace,
            tags,
            in_order,
            blocking,
            before_send,
        })
    }

    /// `AtOnce`, or `InOrder(["a", "b"])`.
    fn acquire(&mut self, node: &Node) -> Option<At<Listed<At<String>>>> {
        match &node.value {
            Value::Word(word) if word == "AtOnce" => None,
            Value::Call(call) if call.name.as_ref().is_some_and(|name| name.value == "InOrder") => {
                let [only] = call.arguments.as_slice() else {
                    self.wanted(node, "`InOrder([\"first\", \"second\"])`");
                    return None;
                };
                Some(At { value: self.list(&only.value, Decoder::text), span: node.span })
            }
            _ => {
                self.wanted(node, "`AtOnce`, or `InOrder([\"first\", \"second\"])`");
                None
            }
        }
    }

    fn formulas(&mut self, fields: &Fields<'_>, field: &str) -> Listed<(At<String>, At<Expression>)> {
        let formula = |d: &mut Self, pool, node: &Node| Some((pool, d.expression(node)?));
        fields.optional(field).map(|node| self.map(node, formula)).unwrap_or_default()
    }

    /// `"host"` or `Prefer("cuda", "host")`.
    fn backend(&mut self, node: &Node) -> Option<Backend> {
        match &node.value {
            Value::Text(_) => self.text(node).map(Backend::Only),
            Value::Call(call) if call.arguments.iter().all(|argument| argument.field.is_none()) => {
                if let Some(name) = &call.name
                    && name.value != "Prefer"
                {
                    self.report.add(values::other_word(name.span, None, &name.value, &["Prefer"]));
                }
                let is_call = |argument: &&Argument| matches!(argument.value.value, Value::Call(_));
                if let Some(inner) = call.arguments.iter().find(is_call) {
                    self.report.add(values::nested_prefer(inner.value.span));
                    return None;
                }
                let names: Vec<At<String>> =
                    call.arguments.iter().filter_map(|argument| self.text(&argument.value)).collect();
                if names.len() < 2 && !node.damaged {
                    let wanted = "at least two backends in `Prefer(…)`";
                    self.wanted(node, wanted);
                }
                (!names.is_empty()).then_some(Backend::Prefer(names))
            }
            _ => {
                let wanted = "a backend's name, or `Prefer(\"cuda\", \"host\")`";
                self.wanted(node, wanted);
                None
            }
        }
    }

    fn edge(&mut self, node: &Node) -> Option<Edge> {
        let fields = self.fields(node, "Edge", &["from", "to", "capacity", "batch"], 2)?;
        let from = fields.required(self, "from").and_then(|node| self.text(node));
        let to = fields.required(self, "to").and_then(|node| self.text(node));
        let capacity = fields.optional("capacity").and_then(|node| self.small(node, 1..=MANY));
        let batch = fields.optional("batch").and_then(|node| self.small(node, 1..=MANY));
        let (from, to) = (from?, to?);
        let (to, port) = match to.value.split_once('.') {
            Some((stage, port)) => {
                (At { value: stage.to_owned(), span: to.span }, Some(At { value: port.to_owned(), span: to.span }))
            }
            None => (to, None),
        };
        Some(Edge { span: fields.head, from, to, port, capacity, batch })
    }
}

/// A list that is not there, and should be.
fn lost<T>() -> Listed<T> {
    Listed { items: Vec::new(), whole: false }
}

/// Ascending numbers of `"0-9"`, `"0,2,4-7"`; `None` if the text is not that, or says a number twice.
fn ccd_list(text: &str) -> Option<Vec<u32>> {
    let mut list = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= MANY {
            return None;
        }
        list.extend(first..=last);
    }
    list.sort_unstable();
    list.windows(2).all(|pair| pair[0] != pair[1]).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::ccd_list;

    #[test]
    fn ccd_lists() {
        assert_eq!(ccd_list("0-2, 5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(ccd_list("5,0-1"), Some(vec![0, 1, 5]));
        for wrong in ["", "a", "3-1", "1,1", "0-4,2", "-1", "1-", "0-70000"] {
            assert_eq!(ccd_list(wrong), None, "{wrong}");
        }
    }
}
