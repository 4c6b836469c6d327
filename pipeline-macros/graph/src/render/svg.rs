//! A plan as a picture: stages in columns from the source to the sink, one lane for each group and device, permits in the
//! boxes, tokens and places on the edges.

use std::fmt::Write;

use crate::model::{Share, Unit};
use crate::plan::{Plan, Role, StagePlan};
use crate::words::amount;

/// Sizes of the drawing, in pixels.
const BOX_WIDTH: usize = 180;
const LINE: usize = 15;
const COLUMN: usize = 330;
const GAP: usize = 26;
const LANE_HEAD: usize = 26;
const MARGIN: usize = 20;

/// The picture, as an SVG document.
#[must_use]
pub fn svg(plan: &Plan) -> String {
    let places = Places::of(plan);
    let (width, height) = (places.width, places.height);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"DejaVu Sans, Arial, sans-serif\" font-size=\"11\">\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let sku = plan.sku.as_ref().map_or("any machine", |sku| sku.name.as_str());
    let title = format!("{} on {sku}, policy {}", plan.graph, plan.policy);
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>",
        escaped(&title)
    );
    let pools = plan.pools.iter().map(|pool| {
        let size = if pool.unit == Unit::Bytes { amount(pool.size) } else { pool.size.to_string() };
        format!("{} {size}", pool.name)
    });
    let pools = format!("pools: {}", pools.collect::<Vec<_>>().join("  ·  "));
    let _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"44\" fill=\"#444\">{}</text>", escaped(&pools));
    for (lane, (top, height)) in places.lanes.iter().enumerate() {
        let fill = ["#eef4fb", "#f3f8ee", "#fbf3ea", "#f6eef8", "#eef8f7"][lane % 5];
        let _ = writeln!(
            text,
            "<rect x=\"{MARGIN}\" y=\"{top}\" width=\"{}\" height=\"{height}\" rx=\"6\" fill=\"{fill}\" stroke=\"#ccd\"/>\n\
             <text x=\"{}\" y=\"{}\" font-weight=\"bold\" fill=\"#335\">{}</text>",
            width - 2 * MARGIN,
            MARGIN + 10,
            top + 17,
            escaped(&places.names[lane])
        );
    }
    for (number, edge) in plan.edges.iter().enumerate() {
        let (x1, y1) = places.right(edge.from);
        let (x2, y2) =
            places.left(edge.to, plan.stages[edge.to].inputs.iter().position(|input| *input == number).unwrap_or(0));
        let bend = (x2.saturating_sub(x1)) / 2;
        let _ = writeln!(
            text,
            "<path d=\"M{x1} {y1}C{} {y1} {} {y2} {x2} {y2}\" fill=\"none\" stroke=\"#555\" marker-end=\"url(#tip)\"/>",
            x1 + bend.max(40),
            x2.saturating_sub(bend.max(40))
        );
        // Beside the tip, where edges that part have parted.
        let mut label = format!("{} × {}", edge.token, edge.capacity);
        match plan.reserver(number) {
            None => label.push_str(" (taken when sent)"),
            Some(by) if by != edge.from => {
                let _ = write!(label, " ⚑ {}", plan.stages[by].name);
            }
            Some(_) => {}
        }
        if edge.batch > 1 {
            let _ = write!(label, ", {} at once", edge.batch);
        }
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#333\" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
            x2 - 10,
            y2 - 4,
            escaped(&label)
        );
    }
    for (position, stage) in plan.stages.iter().enumerate() {
        let (x, y, height) = places.boxes[position];
        let stroke = if stage.opt_outs.none() { "#346" } else { "#b22" };
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"4\" fill=\"white\" stroke=\"{stroke}\"/>"
        );
        for (line, words) in describe(plan, stage).iter().enumerate() {
            let weight = if line == 0 { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{}\"{weight}>{}</text>",
                x + 8,
                y + 16 + line * LINE,
                escaped(words)
            );
        }
    }
    let _ = writeln!(
        text,
        "<text x=\"{MARGIN}\" y=\"{}\" fill=\"#666\">token × places on its edge; ⚑ the stage that reserves the place, where it is not the \
         edge's own</text>\n</svg>",
        height - 8
    );
    text
}

/// Where everything is.
struct Places {
    width: usize,
    height: usize,
    /// Top and height of each lane.
    lanes: Vec<(usize, usize)>,
    names: Vec<String>,
    /// Left, top and height of each stage's box.
    boxes: Vec<(usize, usize, usize)>,
}

impl Places {
    fn of(plan: &Plan) -> Self {
        let mut names: Vec<String> = Vec::new();
        let lane_of: Vec<usize> = plan
            .stages
            .iter()
            .map(|stage| {
                let name = lane(plan, stage);
                names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })
            })
            .collect();
        // A stage stands one column behind the last of those that it waits for.
        let mut columns = vec![0; plan.stages.len()];
        for stage in 0..plan.stages.len() {
            for edge in &plan.stages[stage].outputs {
                let to = plan.edges[*edge].to;
                columns[to] = columns[to].max(columns[stage] + 1);
            }
        }
        let mut boxes = vec![(0, 0, 0); plan.stages.len()];
        let mut lanes = Vec::new();
        let mut top = 60;
        for lane in 0..names.len() {
            let mut next: Vec<usize> = vec![top + LANE_HEAD; columns.iter().max().map_or(1, |last| last + 1)];
            for stage in (0..plan.stages.len()).filter(|stage| lane_of[*stage] == lane) {
                let height = (describe(plan, &plan.stages[stage]).len() * LINE + 10)
                    .max(plan.stages[stage].inputs.len() * 20 + 10);
                let column = columns[stage];
                boxes[stage] = (MARGIN + 14 + column * COLUMN, next[column], height);
                next[column] += height + GAP;
            }
            let bottom = next.iter().max().map_or(top, |bottom| bottom - GAP + 12).max(top + LANE_HEAD);
            lanes.push((top, bottom - top));
            top = bottom + 12;
        }
        let last = columns.iter().max().copied().unwrap_or(0);
        Self { width: 2 * MARGIN + 28 + last * COLUMN + BOX_WIDTH, height: top + 20, lanes, names, boxes }
    }

    fn right(&self, stage: usize) -> (usize, usize) {
        let (x, y, height) = self.boxes[stage];
        (x + BOX_WIDTH, y + height / 2)
    }

    fn left(&self, stage: usize, port: usize) -> (usize, usize) {
        let (x, y, _) = self.boxes[stage];
        (x, y + 15 + port * 20)
    }
}

fn lane(plan: &Plan, stage: &StagePlan) -> String {
    if let Some(device) = stage.device {
        let gpu = plan.sku.as_ref().and_then(|sku| sku.gpus.get(device as usize));
        return gpu.map_or_else(|| format!("device {device}"), |gpu| format!("device {device}: {}", gpu.name.value));
    }
    let Some(group) = stage.group.map(|group| &plan.groups[group]) else {
        return "anywhere".to_owned();
    };
    let ccds = match &group.ccds {
        crate::model::Ccds::All => "all CCDs".to_owned(),
        crate::model::Ccds::List(list) => crate::checks::placement::ccds(list),
    };
    let share = if group.share == Share::Pack { "one pool" } else { "a pool for each CCD" };
    format!("{}: {ccds}, {share}{}", group.name, if group.exclusive { ", exclusive" } else { "" })
}

fn describe(plan: &Plan, stage: &StagePlan) -> Vec<String> {
    let mut lines = vec![stage.name.clone()];
    let workers = if stage.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", stage.workers) };
    let threads = stage.threads.map(|threads| format!(" × {threads} threads")).unwrap_or_default();
    lines.push(format!("{workers}{threads}, {}", stage.backend));
    let pool = |pool: usize| plan.pools[pool].name.as_str();
    lines.extend(stage.needs.iter().map(|(of, weight)| format!("needs {weight} of {}", pool(*of))));
    lines.extend(stage.holds.iter().map(|(of, bytes)| format!("holds {}: {}", pool(*of), super::formula(bytes))));
    lines.extend(
        stage.workspace.iter().map(|(of, bytes)| format!("workspace {}: {}", pool(*of), super::formula(bytes))),
    );
    let ways = [
        (stage.opt_outs.in_order.is_some(), "acquires in order"),
        (stage.opt_outs.blocking, "blocks when it sends"),
        (stage.opt_outs.before_send, "releases before it sends"),
    ];
    lines.extend(ways.iter().filter(|(does, _)| *does).map(|(_, what)| (*what).to_owned()));
    if stage.role == Role::Dealloc {
        lines.push("every dead slot".to_owned());
    }
    // What is longer than the box is cut: the table has it all.
    let cut =
        |line: String| if line.chars().count() > 29 { line.chars().take(28).chain(['…']).collect() } else { line };
    lines.into_iter().map(cut).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use crate::checks::{examples, testing};

    #[test]
    fn groups_permits_and_capacities_are_drawn() {
        let plan = testing::outcome(examples::FORK_AND_JOIN.text()).plan.expect("the example is good");
        let text = super::svg(&plan);
        for part in
            ["all: all CCDs, one pool", "needs 2 of mem_heavy", "Evaluated × 2 ⚑ synthesize", "pools: mem_heavy 2"]
        {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        assert_eq!(text.matches("<path d=\"M").count(), 4 + 1, "an arrow for each edge, and its tip");
    }
}
