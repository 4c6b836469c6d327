//! The picture of a sweep.

use std::fmt::Write as _;

use proofline::runtime::sim::Report;
use proofline::study::{Axis, Point};

const WIDTH: f64 = 900.0;
const PANEL: f64 = 300.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const BELOW: f64 = 46.0;
/// Told apart by people who see few colours.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 4] = ["none", "9 4", "3 4", "12 4 2 4"];

/// One figure over the first axis.
pub struct Panel<'a> {
    name: String,
    of: Box<dyn Fn(&Report) -> f64 + 'a>,
}

impl<'a> Panel<'a> {
    /// A panel of that name.
    pub fn new(name: String, of: impl Fn(&Report) -> f64 + 'a) -> Self {
        Self { name, of: Box::new(of) }
    }
}

/// A line: the other settings, and what ran at which value of the first.
struct Line<'a> {
    name: String,
    points: Vec<(usize, &'a Report)>,
}

/// Lines over the first axis. Its values are spread evenly, so words do as well as numbers.
pub fn svg(graph: &str, axes: &[Axis], points: &[Point], panels: &[Panel<'_>]) -> String {
    let lines = lines(axes, points);
    let legend = if lines.len() > 1 { 20.0 * lines.len().div_ceil(3) as f64 } else { 0.0 };
    let height = TOP + legend + panels.len() as f64 * (PANEL + BELOW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\" \
         fill=\"#333\">\n<desc>Made by `{}`.</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{} over {}</text>\n",
        escaped(&super::line::whole()),
        escaped(graph),
        escaped(&axes[0].path)
    );
    if lines.len() > 1 {
        for (number, line) in lines.iter().enumerate() {
            let (x, y) = (LEFT + 280.0 * (number % 3) as f64, 50.0 + 20.0 * (number / 3) as f64);
            let _ = writeln!(
                svg,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" {}/><text x=\"{}\" y=\"{}\">{}</text>",
                x + 28.0,
                stroke(number),
                x + 34.0,
                y + 4.0,
                escaped(&line.name)
            );
        }
    }
    for (number, panel) in panels.iter().enumerate() {
        draw(&mut svg, panel, &axes[0], &lines, TOP + legend + number as f64 * (PANEL + BELOW));
    }
    svg.push_str("</svg>\n");
    svg
}

fn lines<'a>(axes: &[Axis], points: &'a [Point]) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    for point in points {
        let Ok(report) = &point.outcome else { continue };
        let others: Vec<String> =
            axes.iter().zip(&point.values).skip(1).map(|(axis, value)| format!("{} {value}", axis.path)).collect();
        let at = axes[0].values.iter().position(|value| *value == point.values[0]).unwrap_or(0);
        let name = others.join(", ");
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push((at, report)),
            None => lines.push(Line { name, points: vec![(at, report)] }),
        }
    }
    lines
}

fn draw(svg: &mut String, panel: &Panel<'_>, axis: &Axis, lines: &[Line<'_>], top: f64) {
    let values = || lines.iter().flat_map(|line| &line.points).map(|(at, report)| (*at, (panel.of)(report)));
    let step = nice_step(values().map(|(_, value)| value).fold(0.0, f64::max));
    let ticks = (values().map(|(_, value)| value).fold(0.0, f64::max) / step).ceil().max(1.0);
    let steps = axis.values.len().saturating_sub(1).max(1) as f64;
    let x = |at: usize| LEFT + 10.0 + (WIDTH - LEFT - RIGHT - 20.0) * at as f64 / steps;
    let (bottom, room) = (top + PANEL, PANEL - 24.0);
    let y = |value: f64| bottom - room * value / (ticks * step);
    // Writing to a string cannot fail, so what it returns is not looked at.
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
        top + 12.0,
        escaped(&panel.name)
    );
    for tick in 0..=ticks as u32 {
        let value = f64::from(tick) * step;
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"{}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            if tick == 0 { "#888" } else { "#e4e4e4" },
            LEFT - 8.0,
            y(value) + 4.0,
            rounded(value, step),
            at = y(value),
        );
    }
    // Not so many labels that they touch.
    let every = axis.values.len().div_ceil(20);
    for (at, value) in axis.values.iter().enumerate().filter(|(at, _)| at.is_multiple_of(every)) {
        let (x, y) = (x(at), bottom + 18.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", escaped(value));
    }
    for (number, line) in lines.iter().enumerate() {
        let place = |(at, report): &(usize, &Report)| format!("{:.1},{:.1}", x(*at), y((panel.of)(report)));
        let path: Vec<String> = line.points.iter().map(place).collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" {}/>", path.join(" "), stroke(number));
    }
    if let Some((at, least)) = values().min_by(|one, other| one.1.total_cmp(&other.1)) {
        let (cx, cy) = (x(at), y(least));
        let anchor = if at == 0 { "start" } else { "middle" };
        let _ = writeln!(
            svg,
            "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"white\" stroke=\"#333\" stroke-width=\"1.5\"/>\
             <text x=\"{cx:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">least: {}</text>",
            cy - 10.0,
            rounded(least, least / 100.0)
        );
    }
}

fn stroke(number: usize) -> String {
    let (colour, dash) = (COLOURS[number % COLOURS.len()], DASHES[number % DASHES.len()]);
    format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\"")
}

/// 1, 2 or 5 times a power of ten, such that there are four to eight of them up to `most`.
fn nice_step(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|nice| nice * power >= rough).unwrap_or(10.0);
    nice * power
}

/// With as many decimals as `step` has.
fn rounded(value: f64, step: f64) -> String {
    let decimals = (-step.max(1e-6).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
