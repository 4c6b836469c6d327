//! How work that runs at once shares a machine.
//!
//! Every piece of work would go at its own full speed if it were alone. Together they slow each other down, each by the
//! product of what it feels of
//!
//! - **cores**: a core gives one thread all of itself, two hardware threads `1 + smt_gain` between them, more threads
//!   than that turns. Threads without a placement spread evenly over the machine. The more cores are busy, the lower
//!   is the clock of all of them (`boost_loss`);
//! - **memory**: when the bytes that are asked for exceed what the memory moves, everybody waits longer for it by the
//!   same factor, and feels of that the part of its time in which it waits for memory (`stall`);
//! - **L3**: working sets that do not fit together turn into memory traffic;
//! - **PCIe and devices**: pieces on one device share it evenly;
//! - **unmapping**: while memory is given back, every thread stands still for a part of the time.
//!
//! Between two events all speeds are constant, so the next event is where the first piece ends.

use super::cost::Host;
use super::machine::MachineSpec;

/// Where a piece of work runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// Wherever there is room.
    Anywhere,
    /// On one CCD.
    Ccd(usize),
    /// On all CCDs of a group, by its position in the plan.
    Group(usize),
}

/// What a piece of work asks for at full speed.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Demand {
    /// How long it takes alone on the machine, in seconds.
    pub alone_s: f64,
    /// Its threads; 0: none of its own.
    pub threads: f64,
    /// What each of its threads gets of a core while it is alone.
    pub alone_share: f64,
    /// Memory traffic, in bytes a second.
    pub dram_rate: f64,
    /// The part of its time in which it waits for memory.
    pub stall: f64,
    /// What it keeps in the L3 of each of its CCDs, in bytes.
    pub l3_bytes: f64,
    /// What the L3 serves of it, in bytes a second.
    pub l3_rate: f64,
    /// What it moves over PCIe, in bytes a second.
    pub pcie_rate: f64,
    /// Its device, if it uses one.
    pub device: Option<usize>,
    /// Whether it computes on the device.
    pub computes: bool,
    /// The part of its time for which it stops every other thread.
    pub stops: f64,
}

/// A piece of work that runs.
#[derive(Clone, Copy, Debug)]
pub struct Active {
    /// Who it belongs to.
    pub owner: usize,
    /// Which of the owner's pieces it is.
    pub piece: usize,
    demand: Demand,
    domain: Domain,
    /// Seconds at full speed that are left.
    left_s: f64,
    /// By what its time is stretched now; at least 1.
    slowdown: f64,
}

/// The machine and what runs on it.
pub struct Fluid {
    host: Host,
    dram_bytes_per_s: f64,
    smt: f64,
    cores: f64,
    ccd_cores: Vec<f64>,
    l3_bytes: Vec<f64>,
    groups: Vec<Vec<usize>>,
    active: Vec<Active>,
    /// Threads that are placed, by CCD.
    load: Vec<f64>,
    share: Vec<f64>,
    group_share: Vec<f64>,
    cached: Vec<f64>,
    miss: Vec<f64>,
    computing: Vec<f64>,
    copying: Vec<f64>,
    /// Seconds in which each device computed.
    pub(super) device_busy_s: Vec<f64>,
}

/// Less than this part of a piece's own time is rounding.
const ROUNDING: f64 = 1e-9;

/// What one of `x` threads on a core gets of it.
#[must_use]
pub fn core_share(threads: f64, smt: f64, smt_gain: f64) -> f64 {
    if threads <= 1.0 {
        return 1.0;
    }
    let doubled = threads.min(smt) - 1.0;
    let whole = if smt > 1.0 { 1.0 + smt_gain * doubled / (smt - 1.0) } else { 1.0 };
    whole / threads
}

impl Fluid {
    /// An empty machine; `groups` are the CCDs of the plan's groups.
    #[must_use]
    pub fn new(machine: &MachineSpec, host: Host, groups: Vec<Vec<usize>>) -> Self {
        let (ccds, devices) = (machine.ccds.len(), machine.devices.len());
        Self {
            host,
            dram_bytes_per_s: machine.dram_bytes_per_s * host.dram_efficiency,
            smt: f64::from(machine.threads_per_core.max(1)),
            cores: f64::from(machine.cores().max(1)),
            ccd_cores: machine.ccds.iter().map(|ccd| f64::from(ccd.cores.max(1))).collect(),
            l3_bytes: machine.ccds.iter().map(|ccd| ccd.l3_bytes).collect(),
            group_share: vec![1.0; groups.len()],
            groups,
            active: Vec::new(),
            load: vec![0.0; ccds],
            share: vec![1.0; ccds],
            cached: vec![0.0; ccds],
            miss: vec![0.0; ccds],
            computing: vec![0.0; devices],
            copying: vec![0.0; devices],
            device_busy_s: vec![0.0; devices],
        }
    }

    /// Cores of a domain.
    #[must_use]
    pub fn cores_of(&self, domain: Domain) -> f64 {
        match domain {
            Domain::Anywhere => self.cores,
            Domain::Ccd(ccd) => self.ccd_cores[ccd],
            Domain::Group(group) => self.groups[group].iter().map(|ccd| self.ccd_cores[*ccd]).sum(),
        }
    }

    /// What each of `threads` threads gets in `domain` while they are alone.
    #[must_use]
    pub fn alone_share(&self, domain: Domain, threads: f64) -> f64 {
        core_share(threads / self.cores_of(domain).max(1.0), self.smt, self.host.smt_gain) / self.clock_loss(threads)
    }

    /// By how much every core is slower while so many threads run: the more cores are busy, the lower their clock.
    fn clock_loss(&self, threads: f64) -> f64 {
        1.0 + self.host.boost_loss * (threads / self.cores).min(1.0)
    }

    /// Bytes a second that the memory moves.
    #[must_use]
    pub fn dram_bytes_per_s(&self) -> f64 {
        self.dram_bytes_per_s
    }

    /// Starts a piece.
    pub fn start(&mut self, owner: usize, piece: usize, demand: Demand, domain: Domain) {
        let left_s = demand.alone_s.max(0.0);
        self.active.push(Active { owner, piece, demand, domain, left_s, slowdown: 1.0 });
    }

    /// Whether nothing runs.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.active.is_empty()
    }

    /// Goes on to where the first piece ends: the time until then, in seconds. The pieces that end there are put into
    /// `done`, in the order in which they were started.
    pub fn advance(&mut self, done: &mut Vec<(usize, usize)>) -> f64 {
        self.share_out();
        let until = |active: &Active| active.left_s * active.slowdown;
        let step_s = self.active.iter().map(until).fold(f64::INFINITY, f64::min);
        for (device, busy) in self.device_busy_s.iter_mut().enumerate() {
            *busy += if self.computing[device] > 0.0 { step_s } else { 0.0 };
        }
        self.active.retain_mut(|active| {
            active.left_s -= step_s / active.slowdown;
            let goes_on = active.left_s > active.demand.alone_s * ROUNDING;
            if !goes_on {
                done.push((active.owner, active.piece));
            }
            goes_on
        });
        step_s
    }

    fn share_out(&mut self) {
        let (floating, stops) = self.add_up();
        self.share_cores(floating);
        let standstill = 1.0 / (1.0 - stops.min(0.99));
        let spills = self.cached.iter().any(|bytes| *bytes > 0.0);
        if spills {
            for (ccd, miss) in self.miss.iter_mut().enumerate() {
                *miss = (1.0 - self.l3_bytes[ccd] / self.cached[ccd].max(1.0)).max(0.0);
            }
        }
        let total = self.total_load(floating);
        let anywhere = core_share(total / self.cores, self.smt, self.host.smt_gain) / self.clock_loss(total);
        let mut traffic = 0.0;
        for at in 0..self.active.len() {
            let Active { demand, domain, .. } = self.active[at];
            let mut slowdown: f64 = 1.0;
            if demand.threads > 0.0 {
                let share = match domain {
                    Domain::Anywhere => anywhere,
                    Domain::Ccd(ccd) => self.share[ccd],
                    Domain::Group(group) => self.group_share[group],
                };
                let others = if demand.stops > 0.0 { 1.0 } else { standstill };
                slowdown = (demand.alone_share / share).max(1.0) * others;
            }
            if let Some(device) = demand.device {
                let copies = self.copying[device] / self.host.pcie_bytes_per_s;
                let copies = if demand.pcie_rate > 0.0 { copies } else { 1.0 };
                let computes = if demand.computes { self.computing[device] } else { 1.0 };
                slowdown = slowdown.max(copies).max(computes);
            }
            let active = &mut self.active[at];
            active.slowdown = slowdown;
            traffic += demand.dram_rate / slowdown;
        }
        if spills {
            traffic += self.spilled();
        }
        if traffic > self.dram_bytes_per_s {
            self.saturate(traffic);
        }
    }

    /// Threads, caches and devices, piece by piece: the threads that float, and for which part of the time all stand.
    fn add_up(&mut self) -> (f64, f64) {
        self.load.fill(0.0);
        self.cached.fill(0.0);
        self.computing.fill(0.0);
        self.copying.fill(0.0);
        let (mut floating, mut stops) = (0.0, 0.0);
        for Active { demand, domain, .. } in &self.active {
            stops += demand.stops;
            if let Some(device) = demand.device {
                self.computing[device] += f64::from(u8::from(demand.computes));
                self.copying[device] += demand.pcie_rate;
            }
            match *domain {
                Domain::Anywhere => {
                    floating += demand.threads;
                    if demand.l3_bytes > 0.0 {
                        // On as many CCDs as it has threads, no one knows which: everywhere a little.
                        let everywhere = demand.l3_bytes * (demand.threads / self.load.len() as f64).min(1.0);
                        self.cached.iter_mut().for_each(|bytes| *bytes += everywhere);
                    }
                }
                Domain::Ccd(ccd) => {
                    self.load[ccd] += demand.threads;
                    self.cached[ccd] += demand.l3_bytes;
                }
                Domain::Group(group) => {
                    let each = demand.threads / self.groups[group].len().max(1) as f64;
                    for ccd in &self.groups[group] {
                        self.load[*ccd] += each;
                        self.cached[*ccd] += demand.l3_bytes;
                    }
                }
            }
        }
        (floating, stops)
    }

    fn total_load(&self, floating: f64) -> f64 {
        floating + self.load.iter().sum::<f64>()
    }

    fn share_cores(&mut self, floating: f64) {
        let (each, loss) = (floating / self.cores, self.clock_loss(self.total_load(floating)));
        for (ccd, share) in self.share.iter_mut().enumerate() {
            let threads = self.load[ccd] / self.ccd_cores[ccd] + each;
            *share = core_share(threads, self.smt, self.host.smt_gain) / loss;
        }
        for (group, share) in self.groups.iter().zip(&mut self.group_share) {
            *share = group.iter().map(|ccd| self.share[*ccd]).sum::<f64>() / group.len().max(1) as f64;
        }
    }

    /// What the caches do not serve, in bytes a second; becomes part of each piece's traffic.
    fn spilled(&mut self) -> f64 {
        let mean = self.miss.iter().sum::<f64>() / self.miss.len().max(1) as f64;
        let mut sum = 0.0;
        for active in &self.active {
            let miss = match active.domain {
                Domain::Anywhere => mean,
                Domain::Ccd(ccd) => self.miss[ccd],
                Domain::Group(group) => {
                    let ccds = &self.groups[group];
                    ccds.iter().map(|ccd| self.miss[*ccd]).sum::<f64>() / ccds.len().max(1) as f64
                }
            };
            sum += active.demand.l3_rate * miss / active.slowdown;
        }
        sum
    }

    /// The memory is asked for more than it moves: finds the factor `s` by which waiting for it grows, such that what
    /// is still asked for is what it moves, Σ traffic / (1 − stall + stall · s) = bandwidth. Newton's method: the sum
    /// is convex and falls with `s`, so it converges from the left.
    fn saturate(&mut self, traffic: f64) {
        const STEPS: u32 = 6;
        let cached = traffic - self.active.iter().map(|active| active.demand.dram_rate / active.slowdown).sum::<f64>();
        let room = (self.dram_bytes_per_s - cached.max(0.0)).max(self.dram_bytes_per_s / 16.0);
        let mut longer = 1.0;
        for _ in 0..STEPS {
            let (mut moved, mut slope) = (0.0, 0.0);
            for Active { demand, slowdown, .. } in &self.active {
                let stretch = 1.0 - demand.stall + demand.stall * longer;
                let rate = demand.dram_rate / (slowdown * stretch);
                moved += rate;
                slope += rate * demand.stall / stretch;
            }
            if slope <= 0.0 || moved <= room {
                break;
            }
            longer += (moved - room) / slope;
        }
        for active in &mut self.active {
            active.slowdown *= 1.0 - active.demand.stall + active.demand.stall * longer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::machine::{CcdSpec, DeviceSpec};

    /// Two CCDs of four cores and two threads, memory of 100 B/s, one device with a link of 10 B/s.
    fn machine() -> Fluid {
        let machine = MachineSpec {
            ccds: vec![CcdSpec { cores: 4, l3_bytes: 10.0 }; 2],
            threads_per_core: 2,
            dram_bytes_per_s: 100.0,
            ram_bytes: 0,
            devices: vec![DeviceSpec { vram_bytes: 0 }],
        };
        let host = Host { smt_gain: 0.5, dram_efficiency: 1.0, pcie_bytes_per_s: 10.0, ..Host::default() };
        Fluid::new(&machine, host, vec![vec![0], vec![0, 1]])
    }

    fn threads(threads: f64) -> Demand {
        Demand { alone_s: 1.0, threads, alone_share: 1.0, ..Demand::default() }
    }

    /// How long the first of these pieces takes, all started at once.
    fn first_ends(pieces: &[(Demand, Domain)]) -> f64 {
        let mut fluid = machine();
        pieces.iter().enumerate().for_each(|(owner, (demand, domain))| fluid.start(owner, 0, *demand, *domain));
        fluid.advance(&mut Vec::new())
    }

    #[test]
    fn a_core_gives_two_threads_one_and_a_half() {
        assert_eq!(core_share(0.5, 2.0, 0.5), 1.0);
        assert_eq!(core_share(2.0, 2.0, 0.5), 0.75);
        assert_eq!(core_share(4.0, 2.0, 0.5), 0.375, "four threads take turns on what two get");
        assert_eq!(core_share(2.0, 1.0, 0.5), 0.5, "without hardware threads there is nothing to gain");
    }

    #[test]
    fn pinned_work_slows_only_its_own_ccd() {
        let crowded = (threads(4.0), Domain::Ccd(0));
        assert_eq!(first_ends(&[crowded, (threads(4.0), Domain::Ccd(1))]), 1.0);
        assert_eq!(first_ends(&[crowded, crowded]), 1.0 / 0.75);
        assert_eq!(first_ends(&[(threads(4.0), Domain::Anywhere); 2]), 1.0, "eight cores for eight threads");
    }

    #[test]
    fn memory_is_shared_when_it_is_full_and_felt_by_the_part_that_waits_for_it() {
        let heavy = |stall| (Demand { dram_rate: 80.0, stall, ..threads(1.0) }, Domain::Anywhere);
        assert_eq!(first_ends(&[heavy(1.0)]), 1.0);
        assert!((first_ends(&[heavy(1.0), heavy(1.0)]) - 1.6).abs() < 1e-6, "160 bytes over a memory of 100");
        let light = (Demand { dram_rate: 0.0, stall: 0.5, ..threads(1.0) }, Domain::Anywhere);
        assert!((first_ends(&[light, heavy(1.0), heavy(1.0)]) - 1.3).abs() < 1e-6, "half of it is 1.6 times as long");
    }

    #[test]
    fn working_sets_that_do_not_fit_become_traffic() {
        let cached = |ccd| {
            let demand = Demand { l3_bytes: 10.0, l3_rate: 100.0, dram_rate: 40.0, stall: 1.0, ..threads(1.0) };
            (demand, Domain::Ccd(ccd))
        };
        assert_eq!(first_ends(&[cached(0), cached(1)]), 1.0, "each has an L3");
        assert!(first_ends(&[cached(0), cached(0)]) > 1.5, "half of 200 and twice 40 is more than 100");
    }

    #[test]
    fn a_device_and_its_link_are_shared_evenly() {
        let kernel = (Demand { alone_s: 1.0, device: Some(0), computes: true, ..Demand::default() }, Domain::Anywhere);
        let copy = (Demand { pcie_rate: 8.0, computes: false, ..kernel.0 }, Domain::Anywhere);
        assert_eq!(first_ends(&[kernel, kernel]), 2.0);
        assert_eq!(first_ends(&[copy, copy]), 1.6);
        assert_eq!(first_ends(&[kernel, copy]), 1.0, "a copy overlaps a kernel");
    }

    #[test]
    fn unmapping_stops_the_others() {
        let unmap = (Demand { stops: 0.2, alone_s: 10.0, ..threads(1.0) }, Domain::Anywhere);
        assert_eq!(first_ends(&[unmap, (threads(1.0), Domain::Anywhere)]), 1.25);
    }
}
