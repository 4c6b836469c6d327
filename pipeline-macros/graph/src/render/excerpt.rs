//! The lines of a file that a diagnostic shows: the drawing library looks at the whole text that it is given, once per
//! diagnostic, and draws lines whole however long they are.

use std::ops::Range;

/// How many letters of a line are shown about the place.
const WIDTH: usize = 200;

/// A place that spans more lines than this is shown by its first one.
const TALL: usize = 12;

/// Places further apart than this stand in excerpts of their own.
const APART: usize = 100;

/// Lines of a file that follow each other.
#[derive(Debug)]
pub struct Excerpt {
    /// The lines, long ones cut.
    pub text: String,
    /// The number of the first one, counted from 1.
    pub first_line: usize,
    /// The places in `text`, each with its position in the list that was asked for.
    pub places: Vec<(usize, Range<usize>)>,
    /// Lines that were cut on the left, with the letter at which the place begins, both counted from 1.
    pub cut: Vec<(usize, usize)>,
}

/// The excerpts of `text` that show `places`, the first place's first.
pub fn excerpts(text: &str, places: &[Range<usize>]) -> Vec<Excerpt> {
    let placed: Vec<Placed> = places.iter().map(|place| Placed::new(text, place)).collect();
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|index| placed[*index].line);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in order {
        match groups.last_mut() {
            Some(group) if group.iter().all(|last| placed[*last].last_line + APART < placed[index].line) => {
                groups.push(vec![index]);
            }
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    // The place to change is looked at first.
    groups.sort_by_key(|group| group.iter().min().copied());
    groups.iter().map(|group| excerpt(text, &placed, group)).collect()
}

/// A place with its lines.
struct Placed {
    range: Range<usize>,
    line: usize,
    last_line: usize,
    /// Where its first line begins.
    line_start: usize,
}

impl Placed {
    fn new(text: &str, place: &Range<usize>) -> Self {
        // Behind the last line break there is no line to show.
        let length = text.strip_suffix('\n').map_or(text.len(), str::len);
        let start = text.floor_char_boundary(place.start.min(length));
        let end = text.ceil_char_boundary(place.end.clamp(start, text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = 1 + newlines(&text[..start]);
        let tall = newlines(&text[start..end]);
        if tall > TALL {
            let end = text[start..end].find('\n').map_or(end, |length| start + length);
            return Self { range: start..end, line, last_line: line, line_start };
        }
        Self { range: start..end, line, last_line: line + tall, line_start }
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

fn excerpt(text: &str, placed: &[Placed], group: &[usize]) -> Excerpt {
    let of_group = || group.iter().map(|index| &placed[*index]);
    let first_line = of_group().map(|place| place.line).min().unwrap_or(1);
    let last_line = of_group().map(|place| place.last_line).max().unwrap_or(1);
    let start = of_group().map(|place| place.line_start).min().unwrap_or(0);
    let mut cuts = Cuts::default();
    let mut made = Excerpt { text: String::new(), first_line, places: Vec::new(), cut: Vec::new() };
    let mut at = start;
    for (line, content) in (first_line..=last_line).zip(text[start..].split_inclusive('\n')) {
        let (from, to) = (at, at + content.len());
        at = to;
        // The first place that begins on this line decides which part of it is shown.
        let shown = of_group().filter(|place| place.line == line).map(|place| place.range.start).min();
        if content.len() <= WIDTH {
            cuts.keep(from..to, made.text.len());
            made.text.push_str(content);
            continue;
        }
        let low = shown.unwrap_or(from);
        let left = if low - from > WIDTH / 2 { text.floor_char_boundary(low - WIDTH / 4).max(from) } else { from };
        let right = text.floor_char_boundary((left + WIDTH).min(to)).max(left);
        if left > from {
            made.text.push('…');
            made.cut.push((line, text[from..low].chars().count() + 1));
        }
        cuts.keep(left..right, made.text.len());
        made.text.push_str(text[left..right].trim_end_matches('\n'));
        if right < to {
            made.text.push('…');
        }
        made.text.push('\n');
    }
    made.places = group
        .iter()
        .map(|index| {
            let range = &placed[*index].range;
            let (start, end) = (cuts.moved(range.start), cuts.moved(range.end));
            (*index, start.min(end)..end.max(start))
        })
        .collect();
    made
}

/// What was kept of the text, and where it went.
#[derive(Default)]
struct Cuts(Vec<(Range<usize>, usize)>);

impl Cuts {
    fn keep(&mut self, from: Range<usize>, to: usize) {
        self.0.push((from, to));
    }

    /// Where an offset of the whole text is in the excerpt: a letter that was cut off is where the cut is.
    fn moved(&self, offset: usize) -> usize {
        let mut last = 0;
        for (from, to) in &self.0 {
            if offset < from.start {
                // In what was cut between the piece before and this one.
                return last;
            }
            if offset <= from.end && (offset < from.end || self.0.last().is_some_and(|(end, _)| end == from)) {
                return to + (offset - from.start);
            }
            last = to + (from.end - from.start);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_files_are_shown_as_they_are() {
        let made = excerpts("a\nbc\nd\n", &[2..4, 5..6]);
        assert_eq!(made.len(), 1);
        assert_eq!((made[0].text.as_str(), made[0].first_line), ("bc\nd\n", 2));
        assert_eq!(made[0].places, [(0, 0..2), (1, 3..4)]);
    }

    #[test]
    fn long_lines_are_cut_about_the_place() {
        let text = format!("first\n{}X{}\nlast", "é".repeat(5_000), "y".repeat(5_000));
        let at = 6 + 10_000;
        let made = excerpts(&text, std::slice::from_ref(&(at..at + 1)));
        assert!(made[0].text.len() < 300, "{}", made[0].text.len());
        let (_, place) = &made[0].places[0];
        assert_eq!(&made[0].text[place.clone()], "X");
        assert_eq!(made[0].cut, [(2, 5_001)]);
    }

    #[test]
    fn far_places_and_tall_ones_do_not_bring_all_that_lies_between() {
        let text = "line\n".repeat(10_000);
        let made = excerpts(&text, &[49_990..49_994, 0..4]);
        assert_eq!(made.iter().map(|one| one.first_line).collect::<Vec<_>>(), [9_999, 1]);
        let made = excerpts(&text, std::slice::from_ref(&(0..40_000)));
        assert_eq!(made[0].text, "line\n");
    }
}
