//! The waterfall: what each worker did when, as an SVG picture.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use proofline::runtime::key::TokenKey;
use proofline::runtime::plan::{Plan, Role};

/// One firing in time.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub stage: usize,
    pub worker: u32,
    pub key: TokenKey,
    pub begin: Duration,
    pub end: Duration,
}

const LABELS: f64 = 150.0;
const CHART: f64 = 900.0;
const RIGHT: f64 = 16.0;
const ROW: f64 = 22.0;
const TOP: f64 = 44.0;
const AXIS: f64 = 34.0;
/// A firing shorter than this many pixels has no room for its number.
const ROOM_FOR_NUMBER: f64 = 16.0;
/// Colours that stay apart for people who see few; one proof has one colour, and the next has the next.
const COLOURS: [&str; 8] = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#777777"];

/// Draws `spans` of `plan`: a row for each worker that worked, time to the right, a colour for each token.
pub fn svg(plan: &Plan, spans: &[Span]) -> String {
    let mut rows: Vec<(usize, u32)> = spans.iter().map(|span| (span.stage, span.worker)).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut tokens: Vec<TokenKey> = spans.iter().map(|span| span.key).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let number: HashMap<TokenKey, usize> = tokens.iter().enumerate().map(|(number, key)| (*key, number)).collect();
    let first = spans.iter().map(|span| span.begin).min().unwrap_or_default();
    let last = spans.iter().map(|span| span.end).max().unwrap_or_default();
    let seconds = (last - first).as_secs_f64().max(1e-6);
    let x = |at: Duration| LABELS + CHART * (at - first).as_secs_f64() / seconds;

    let rows_height = ROW * rows.len() as f64;
    let (width, height) = (LABELS + CHART + RIGHT, TOP + rows_height + AXIS);
    let mut svg = String::new();
    // Writing to a String does not fail.
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"15\" font-weight=\"600\">{} proofs through {}, {seconds:.2} s</text>",
        tokens.len(),
        escape(&plan.file),
    );
    for (second, label) in ticks(seconds) {
        let x = LABELS + CHART * second / seconds;
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{x:.1}\" y=\"{text:.1}\" text-anchor=\"middle\" fill=\"#555555\">{label}</text>",
            bottom = TOP + rows_height,
            text = TOP + rows_height + 20.0,
        );
    }
    for (row, (stage, worker)) in rows.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        let plan = &plan.stages[*stage];
        let name = if plan.workers > 1 { format!("{} {worker}", plan.name) } else { plan.name.clone() };
        let _ = writeln!(svg, "<text x=\"12\" y=\"{:.1}\">{}</text>", y + 15.0, escape(&name));
        for span in spans.iter().filter(|span| (span.stage, span.worker) == (*stage, *worker)) {
            let token = number[&span.key];
            let (left, right) = (x(span.begin), x(span.end));
            let wide = (right - left).max(1.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}: {}, {:.1} \
                 ms</title></rect>",
                y + 3.0,
                ROW - 6.0,
                COLOURS[token % COLOURS.len()],
                escape(&name),
                span.key,
                1e3 * (span.end - span.begin).as_secs_f64(),
            );
            if wide >= ROOM_FOR_NUMBER && plan.role != Role::Dealloc {
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#ffffff\" font-size=\"11\" \
                     text-anchor=\"middle\">{token}</text>",
                    left + wide / 2.0,
                    y + 15.0,
                );
            }
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Round times along the axis, five to ten of them.
fn ticks(seconds: f64) -> Vec<(f64, String)> {
    let raw = seconds / 8.0;
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * magnitude).find(|step| *step >= raw).unwrap_or(raw);
    let decimals = if step < 1.0 { (-step.log10()).ceil().max(0.0) as usize } else { 0 };
    let count = (seconds / step).floor() as usize;
    (0..=count).map(|tick| tick as f64 * step).map(|at| (at, format!("{at:.decimals$} s"))).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofline::runtime::key::JobId;

    #[test]
    fn ticks_are_round_and_few() {
        for seconds in [0.001, 0.37, 1.0, 8.0, 99.0, 4321.0] {
            let ticks = ticks(seconds);
            assert!((4..=10).contains(&ticks.len()), "{seconds}: {ticks:?}");
        }
        assert_eq!(ticks(8.0)[1].1, "1 s");
        assert_eq!(ticks(0.37)[1].1, "0.05 s");
    }

    #[test]
    fn the_picture_has_a_row_for_each_worker_and_a_box_for_each_firing() {
        use proofline::runtime::export::Graph;
        let plan = proofline::Pipeline::plan();
        let key = |job| TokenKey { job: JobId(job), partition: 0 };
        let span = |stage, job, begin: u64| Span {
            stage,
            worker: 0,
            key: key(job),
            begin: Duration::from_millis(begin),
            end: Duration::from_millis(begin + 500),
        };
        let picture = svg(&plan, &[span(0, 4, 0), span(1, 4, 500), span(0, 9, 500)]);
        assert_eq!(picture.matches("<title>").count(), 3);
        assert!(picture.contains(&format!(">{}", plan.stages[0].name)), "{picture}");
        assert!(picture.contains("2 proofs through"), "{picture}");
    }
}
