//! How often each stage fires in one period, and one period played through.
//!
//! A port that takes `batch` tokens for a firing makes the stage behind it fire less often. Over each edge what is put in
//! and what is taken out must balance; the smallest whole numbers of firings that balance every edge are the repetition
//! vector (Lee and Messerschmitt, Synchronous data flow, 1987), and firing each stage that often is one period: it brings
//! every edge back to where it was. One period decides: if it runs to its end, so does every later one.

use super::{Plan, Role};

/// Firings of each stage in a period, or why there are none.
///
/// # Errors
/// The edge over which what comes does not balance what goes, with the two rates of its reader: the one over this edge, and the
/// one over the ways seen before. Rates are firings for one firing of the source, as fractions. Or a period of more than
/// [`MOST_FIRINGS`].
pub fn repetitions(plan: &Plan) -> Result<Vec<u64>, NoPeriod> {
    let mut rates: Vec<Option<(Fraction, usize)>> = vec![None; plan.stages.len()];
    // Stages are in topological order: whoever an edge leaves has its rate when the edge is looked at.
    for stage in 0..plan.stages.len() {
        let own = match (&rates[stage], plan.stages[stage].inputs.is_empty()) {
            (Some((rate, _)), _) => *rate,
            (None, true) => Fraction::ONE,
            (None, false) => continue,
        };
        if rates[stage].is_none() {
            rates[stage] = Some((own, usize::MAX));
        }
        for edge in &plan.stages[stage].outputs {
            let (to, batch) = (plan.edges[*edge].to, plan.edges[*edge].batch);
            let over = own.over(u64::from(batch)).ok_or(NoPeriod::TooLong(None))?;
            match rates[to] {
                None => rates[to] = Some((over, *edge)),
                Some((known, _)) if known == over => {}
                Some((known, first)) => {
                    return Err(NoPeriod::Unbalanced(Unbalanced { edge: *edge, over, first, known }));
                }
            }
        }
    }
    let rates: Vec<Fraction> = rates.iter().map(|rate| rate.map_or(Fraction::ONE, |(rate, _)| rate)).collect();
    // With the source at 1 every rate is 1/n: their least common multiple makes all of them whole.
    let whole = rates.iter().try_fold(1_u64, |least, rate| (least / gcd(least, rate.below)).checked_mul(rate.below));
    let times = |whole: u64| rates.iter().map(|rate| (whole / rate.below).checked_mul(rate.above)).collect();
    let fires: Vec<u64> = whole.and_then(times).ok_or(NoPeriod::TooLong(None))?;
    let live = plan.stages.iter().zip(&fires).filter(|(stage, _)| stage.role != Role::Dealloc);
    match live.map(|(_, fires)| *fires).try_fold(0_u64, u64::checked_add) {
        Some(all) if all <= MOST_FIRINGS => Ok(fires),
        _ => Err(NoPeriod::TooLong(Some(fires))),
    }
}

/// The most firings of all stages in one period: each of them is played.
pub const MOST_FIRINGS: u64 = 1 << 20;

/// Why there is no period to play.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoPeriod {
    /// Two ways to one stage disagree.
    Unbalanced(Unbalanced),
    /// It has more than [`MOST_FIRINGS`]: those of each stage, `None` where one number has more than 64 bits.
    TooLong(Option<Vec<u64>>),
}

/// Two ways to one stage that disagree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unbalanced {
    /// The edge that does not balance.
    pub edge: usize,
    /// The rate of its reader over this edge.
    pub over: Fraction,
    /// The edge by which the reader was reached first.
    pub first: usize,
    /// The rate of its reader over that one.
    pub known: Fraction,
}

/// A fraction in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fraction {
    /// The numerator.
    pub above: u64,
    /// The denominator.
    pub below: u64,
}

impl Fraction {
    const ONE: Fraction = Fraction { above: 1, below: 1 };

    /// `None` where the denominator has more than 64 bits.
    fn over(self, by: u64) -> Option<Self> {
        let common = gcd(self.above, by).max(1);
        Some(Self { above: self.above / common, below: self.below.checked_mul(by / common)? })
    }
}

impl std::fmt::Display for Fraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.below == 1 { write!(f, "{}", self.above) } else { write!(f, "{}/{}", self.above, self.below) }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What stands where when nothing can go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stall {
    /// Tokens on each edge.
    pub marking: Vec<u64>,
    /// Places of each edge that are reserved for tokens on their way.
    pub reserved: Vec<u64>,
    /// The smallest capacities with which the period ends: none of them can be lowered alone.
    pub enough: Vec<u32>,
}

/// Plays one period; `fires` are the firings of each stage in it.
///
/// # Errors
/// The stall, if it does not come to its end.
pub fn play(plan: &Plan, fires: &[u64]) -> Result<(), Stall> {
    let fires: Vec<u64> = plan
        .stages
        .iter()
        .zip(fires)
        .map(|(stage, fires)| if stage.role == Role::Dealloc { 0 } else { *fires })
        .collect();
    let fires = fires.as_slice();
    let mut capacities: Vec<u32> = plan.edges.iter().map(|edge| edge.capacity).collect();
    let first = match run(plan, fires, &capacities) {
        None => return Ok(()),
        Some(stuck) => stuck,
    };
    // Raise what blocks until the period ends, twofold each time, then lower again what was raised too far. More room
    // never stops a period, so halving finds the least that does.
    let mut stuck = Some(first.clone());
    while let Some(state) = stuck {
        let mut raised = false;
        for (edge, missing) in state.missing.iter().enumerate().filter(|(_, missing)| **missing > 0) {
            let twice = capacities[edge].saturating_mul(2);
            capacities[edge] = capacities[edge].saturating_add(u32::try_from(*missing).unwrap_or(u32::MAX)).max(twice);
            raised = true;
        }
        if !raised {
            break;
        }
        stuck = run(plan, fires, &capacities);
    }
    for edge in 0..capacities.len() {
        let (mut least, mut enough) = (plan.edges[edge].capacity, capacities[edge]);
        while least < enough {
            let middle = least + (enough - least) / 2;
            capacities[edge] = middle;
            match run(plan, fires, &capacities) {
                None => enough = middle,
                Some(_) => least = middle + 1,
            }
        }
        capacities[edge] = enough;
    }
    Err(Stall { marking: first.tokens, reserved: first.reserved, enough: capacities })
}

#[derive(Clone)]
struct Stuck {
    tokens: Vec<u64>,
    reserved: Vec<u64>,
    /// Places that a stage with all its tokens lacks, or tokens that a batch lacks and finds no place for.
    missing: Vec<u64>,
}

/// Fires whatever can fire, in the order of the stages, until the period is over (`None`) or nothing can.
fn run(plan: &Plan, fires: &[u64], capacities: &[u32]) -> Option<Stuck> {
    let mut tokens = vec![0_u64; plan.edges.len()];
    let mut reserved = vec![0_u64; plan.edges.len()];
    let mut left = fires.to_vec();
    let mut by: Vec<Vec<usize>> = vec![Vec::new(); plan.stages.len()];
    for edge in 0..plan.edges.len() {
        by[plan.reserver(edge).unwrap_or(plan.edges[edge].from)].push(edge);
    }
    // What one firing of the stage that reserves puts on the edge: tokens of its producer for one firing of its own.
    let amount = |edge: usize, stage: usize| -> u64 {
        let (producer, reserver) = (fires[plan.edges[edge].from], fires[stage].max(1));
        producer.div_ceil(reserver)
    };
    loop {
        let mut fired = false;
        for stage in 0..plan.stages.len() {
            let own = &plan.stages[stage];
            // As many firings in a row as have tokens and room: each takes and gives the same.
            let has = own.inputs.iter().map(|edge| tokens[*edge] / u64::from(plan.edges[*edge].batch).max(1));
            let room = by[stage].iter().map(|edge| {
                let free = u64::from(capacities[*edge]).saturating_sub(tokens[*edge] + reserved[*edge]);
                free / amount(*edge, stage).max(1)
            });
            let times = has.chain(room).fold(left[stage], u64::min);
            if times > 0 {
                own.inputs.iter().for_each(|edge| tokens[*edge] -= times * u64::from(plan.edges[*edge].batch));
                by[stage].iter().for_each(|edge| reserved[*edge] += times * amount(*edge, stage));
                for edge in &own.outputs {
                    reserved[*edge] = reserved[*edge].saturating_sub(times);
                    tokens[*edge] += times;
                }
                left[stage] -= times;
                fired = true;
            }
        }
        if left.iter().all(|left| *left == 0) {
            return None;
        }
        if !fired {
            break;
        }
    }
    let mut missing = vec![0; plan.edges.len()];
    for stage in (0..plan.stages.len()).filter(|stage| left[*stage] > 0) {
        let inputs = &plan.stages[stage].inputs;
        if inputs.iter().all(|edge| tokens[*edge] >= u64::from(plan.edges[*edge].batch)) {
            for edge in &by[stage] {
                let wanted = tokens[*edge] + reserved[*edge] + amount(*edge, stage);
                missing[*edge] = wanted.saturating_sub(u64::from(capacities[*edge]));
            }
        }
    }
    Some(Stuck { tokens, reserved, missing })
}
