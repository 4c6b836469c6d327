//! A plan's stages with their costs, made ready for the loop.

use crate::key::JobId;
use crate::placement::WorkerPlace;
use crate::plan::{Ccds, Plan, Share, StagePlan};
use crate::sim::cost::{StageCost, Work};
use crate::sim::fluid::{Demand, Domain, Fluid};
use crate::sim::run::{Setup, SimError};
use crate::topology::Cpus;

const GIB: f64 = (1_u64 << 30) as f64;

/// A stage with its costs.
pub(super) struct Shape {
    pub(super) pieces: Vec<Piece>,
    /// The pieces that wait for nothing.
    pub(super) first: Vec<usize>,
    /// Pieces that hold the device's lock.
    pub(super) locked: usize,
    pub(super) device: Option<usize>,
    pub(super) spread: f64,
    per_job: Vec<f64>,
    /// Bytes of the device's memory while it runs.
    pub(super) vram_bytes: f64,
    /// How long a firing takes alone on the machine, in seconds.
    pub(super) alone_s: f64,
    /// Where each worker runs.
    pub(super) domains: Vec<Domain>,
    /// GiB of a dead slot that `dealloc` unmaps, for each byte of it.
    pub(super) unmaps_slot: f64,
    /// Bytes of the output that are taken when a firing starts.
    pub(super) output_bytes: f64,
}

/// A piece of work.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) demand: Demand,
    pub(super) waits_for: u32,
    pub(super) before: Vec<usize>,
    pub(super) lock: bool,
    /// Bytes of the output that it takes.
    pub(super) output_bytes: f64,
}

/// The CCDs of each group.
pub(super) fn groups(setup: &Setup<'_>) -> Result<Vec<Vec<usize>>, SimError> {
    let has = setup.machine.ccds.len();
    let group = |group: &crate::plan::Group| match &group.ccds {
        Ccds::All => Ok((0..has).collect()),
        Ccds::List(list) => match list.iter().find(|ccd| **ccd as usize >= has) {
            Some(wanted) => Err(SimError::NoSuchCcd { group: group.name.clone(), wanted: *wanted, has }),
            None => Ok(list.iter().map(|ccd| *ccd as usize).collect()),
        },
    };
    setup.plan.groups.iter().map(group).collect()
}

/// Where the workers are, for the policies.
pub(super) fn places(plan: &Plan, groups: &[Vec<usize>]) -> Vec<WorkerPlace> {
    let number = |ccd: usize| u32::try_from(ccd).unwrap_or(u32::MAX);
    let mut places = Vec::new();
    for (position, stage) in plan.stages.iter().enumerate() {
        for worker in 0..stage.workers {
            let ccds = match domain_of(plan, stage, groups, worker) {
                Domain::Anywhere => Vec::new(),
                Domain::Ccd(ccd) => vec![number(ccd)],
                Domain::Group(group) => groups[group].iter().map(|ccd| number(*ccd)).collect(),
            };
            places.push(WorkerPlace { stage: position, worker, ccds, cpus: Cpus::default(), pool: None });
        }
    }
    places
}

/// As [`crate::placement::place`]: worker `i` of a `Spread` group has its CCD number `i` modulo their count.
fn domain_of(plan: &Plan, stage: &StagePlan, groups: &[Vec<usize>], worker: u32) -> Domain {
    let Some(group) = stage.group.filter(|group| !groups[*group].is_empty()) else {
        return Domain::Anywhere;
    };
    match plan.groups[group].share {
        Share::Spread => Domain::Ccd(groups[group][worker as usize % groups[group].len()]),
        Share::Pack => Domain::Group(group),
    }
}

impl Shape {
    pub(super) fn new(
        setup: &Setup<'_>,
        fluid: &Fluid,
        groups: &[Vec<usize>],
        position: usize,
        scale: f64,
    ) -> Result<Self, SimError> {
        let stage = &setup.plan.stages[position];
        let nothing = StageCost::default();
        let cost = setup.costs.stages.get(&stage.name).unwrap_or(&nothing);
        let device = stage.device.map(|device| device as usize);
        if let Some(device) = device.filter(|device| *device >= setup.machine.devices.len()) {
            let why = format!("the machine has no device {device}");
            return Err(SimError::NoDevice { stage: stage.name.clone(), why });
        }
        let sound = |number: &f64| number.is_finite() && *number >= 0.0;
        if let Some(number) = cost.per_job.iter().chain([&cost.vram_bytes]).find(|number| !sound(number)) {
            let (stage, piece) = (stage.name.clone(), "per_job or vram_bytes".to_owned());
            return Err(SimError::BadDemand { stage, piece, says: number.to_string(), why: NO_DEMAND.to_owned() });
        }
        if cost.vram_bytes > 0.0 && device.is_none() {
            let why = "the graph gives it no device".to_owned();
            return Err(SimError::NoDevice { stage: stage.name.clone(), why });
        }
        let domains: Vec<Domain> =
            (0..stage.workers).map(|worker| domain_of(setup.plan, stage, groups, worker)).collect();
        // The CCDs of a group have equal numbers of cores on every machine that we know.
        let domain = domains.first().copied().unwrap_or(Domain::Anywhere);
        let mut pieces = Vec::new();
        let output_bytes = setup.token_bytes.get(position).copied().unwrap_or(0.0);
        for work in &cost.work {
            let demand = demand_of(setup, fluid, stage, work, domain, scale)?;
            let after = u32::try_from(work.after.len()).unwrap_or(u32::MAX);
            pieces.push(Piece {
                demand,
                waits_for: after,
                before: Vec::new(),
                lock: work.lock,
                output_bytes: output_bytes * work.output_part.clamp(0.0, 1.0),
            });
        }
        order(stage, cost, &mut pieces)?;
        let alone_s = longest_way(stage, cost, &pieces)?;
        let locked = pieces.iter().filter(|piece| piece.lock).count();
        if locked > 0 && device.is_none() {
            let why = "the graph gives it no device".to_owned();
            return Err(SimError::NoDevice { stage: stage.name.clone(), why });
        }
        Ok(Self {
            first: (0..pieces.len()).filter(|piece| pieces[*piece].waits_for == 0).collect(),
            locked,
            device,
            spread: cost.spread.clamp(0.0, 1.0),
            per_job: cost.per_job.clone(),
            vram_bytes: cost.vram_bytes,
            alone_s,
            domains,
            unmaps_slot: cost.work.iter().map(|work| work.unmaps_slot).sum::<f64>() / GIB,
            output_bytes: (output_bytes - pieces.iter().map(|piece| piece.output_bytes).sum::<f64>()).max(0.0),
            pieces,
        })
    }
}

impl Shape {
    /// How many times as long a job takes.
    pub(super) fn of_job(&self, job: JobId) -> f64 {
        match self.per_job.len() as u64 {
            0 => 1.0,
            count => self.per_job[(job.0 % count) as usize],
        }
    }
}

const NO_DEMAND: &str = "write a number from 0";

fn demand_of(
    setup: &Setup<'_>,
    fluid: &Fluid,
    stage: &StagePlan,
    work: &Work,
    domain: Domain,
    scale: f64,
) -> Result<Demand, SimError> {
    let host = &setup.costs.host;
    let most = stage.threads.map_or_else(|| fluid.cores_of(domain), f64::from);
    let threads = match work.threads {
        0 => most,
        threads => f64::from(threads).min(stage.threads.map_or(f64::INFINITY, f64::from)),
    };
    let threads = if work.core_s > 0.0 { threads.max(1.0) } else { 0.0 };
    let alone_share = fluid.alone_share(domain, threads);
    let of_cores = if threads > 0.0 { work.core_s * scale / (threads * alone_share) } else { 0.0 };
    let unmaps = work.unmap_bytes / GIB * host.shootdown_s_per_gib;
    let times = [
        work.wait_s * scale,
        of_cores,
        (work.dram_bytes * scale / fluid.dram_bytes_per_s()).max(0.0),
        work.pcie_bytes * scale / host.pcie_bytes_per_s,
        work.gpu_s * scale,
        unmaps,
    ];
    let alone_s = times.into_iter().fold(0.0, f64::max);
    let written = [
        ("wait_s", work.wait_s),
        ("core_s", work.core_s),
        ("dram_bytes", work.dram_bytes),
        ("pcie_bytes", work.pcie_bytes),
        ("gpu_s", work.gpu_s),
        ("unmap_bytes", work.unmap_bytes),
    ];
    let bad = |(name, number): (&str, f64), why: String| SimError::BadDemand {
        stage: stage.name.clone(),
        piece: work.name.clone(),
        says: format!("{name}: {number}"),
        why,
    };
    if let Some(demand) = written.into_iter().find(|(_, number)| !number.is_finite() || *number < 0.0) {
        return Err(bad(demand, NO_DEMAND.to_owned()));
    }
    // Thirty years, and no number at all: what comes of a cost model for a far smaller circuit.
    const MOST_S: f64 = 1e9;
    let long = times.into_iter().zip(written).find(|(time, _)| !(0.0..=MOST_S).contains(time));
    if let Some((time, demand)) = long {
        let scaled = if scale == 1.0 { String::new() } else { format!(" for a circuit {scale} times as large") };
        return Err(bad(demand, format!("alone that takes {time:.0} s{scaled}, and a piece takes 1e9 s at most")));
    }
    let device = stage.device.map(|device| device as usize);
    if (work.gpu_s > 0.0 || work.pcie_bytes > 0.0) && device.is_none() {
        let why = "the graph gives it no device".to_owned();
        return Err(SimError::NoDevice { stage: stage.name.clone(), why });
    }
    let rate = |amount: f64| if alone_s > 0.0 { amount * scale / alone_s } else { 0.0 };
    Ok(Demand {
        alone_s,
        threads,
        alone_share,
        dram_rate: rate(work.dram_bytes),
        stall: work.stall.clamp(0.0, 1.0),
        l3_bytes: work.l3_bytes,
        l3_rate: rate(work.l3_traffic_bytes),
        pcie_rate: rate(work.pcie_bytes),
        device: device.filter(|_| work.gpu_s > 0.0 || work.pcie_bytes > 0.0),
        computes: work.gpu_s > 0.0,
        stops: if alone_s > 0.0 { (unmaps / alone_s).min(0.9) } else { 0.0 },
    })
}

/// Turns `after` around.
fn order(stage: &StagePlan, cost: &StageCost, pieces: &mut [Piece]) -> Result<(), SimError> {
    for (position, work) in cost.work.iter().enumerate() {
        for after in &work.after {
            let Some(earlier) = cost.work.iter().position(|other| other.name == *after) else {
                return Err(bad_order(stage, work, after, "is no piece of this stage"));
            };
            pieces[earlier].before.push(position);
        }
    }
    Ok(())
}

fn bad_order(stage: &StagePlan, work: &Work, after: &str, why: &str) -> SimError {
    let (stage, piece) = (stage.name.clone(), work.name.clone());
    SimError::BadOrder { stage, piece, after: after.to_owned(), why: why.to_owned() }
}

/// How long the pieces take when each goes at full speed.
fn longest_way(stage: &StagePlan, cost: &StageCost, pieces: &[Piece]) -> Result<f64, SimError> {
    let mut ends = vec![0.0_f64; pieces.len()];
    let mut waits: Vec<u32> = pieces.iter().map(|piece| piece.waits_for).collect();
    let mut next: Vec<usize> = (0..pieces.len()).filter(|piece| waits[*piece] == 0).collect();
    let (mut longest, mut seen) = (0.0_f64, 0);
    while let Some(piece) = next.pop() {
        seen += 1;
        ends[piece] += pieces[piece].demand.alone_s;
        longest = longest.max(ends[piece]);
        for behind in &pieces[piece].before {
            ends[*behind] = ends[*behind].max(ends[piece]);
            waits[*behind] -= 1;
            if waits[*behind] == 0 {
                next.push(*behind);
            }
        }
    }
    if seen == pieces.len() {
        return Ok(longest);
    }
    let circle = cost.work.iter().zip(&waits).find(|(_, waits)| **waits > 0).map(|(work, _)| work);
    let work = circle.cloned().unwrap_or_default();
    let after = work.after.first().cloned().unwrap_or_default();
    Err(bad_order(stage, &work, &after, "waits for it in turn"))
}
