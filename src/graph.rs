//! temporary hand wiring
use pipeline_runtime::export::*;
use proofline_stages::tokens::*;
use proofline_stages::{Job, host};
/// p
pub struct Pipeline;
impl Graph for Pipeline {
    type Job = Job;
    type Output = Proof;
    fn plan() -> Plan {
        let st = |n: &str, role, tags, i: Vec<usize>, o: Vec<usize>| StagePlan {
            name: n.into(),
            backend: "host".into(),
            tags,
            role,
            group: Some(0),
            device: None,
            workers: 1,
            threads: None,
            in_flight: 1,
            needs: vec![],
            holds: vec![],
            workspace: vec![],
            inputs: i,
            outputs: o,
        };
        let e = |from, to, port, t: &str| Edge {
            from,
            to,
            port,
            token: t.into(),
            capacity: 2,
            reserved_by: if from == 0 { 0 } else { 0 },
        };
        let m = Tags::MEM_HEAVY.with(Tags::CCD_PINNED);
        Plan {
            graph: "host".into(),
            file: "graphs/host.ron".into(),
            digest: "x".into(),
            sku: None,
            pools: vec![],
            groups: vec![Group {
                name: "all".into(),
                ccds: Ccds::All,
                share: Share::Pack,
                exclusive: false,
                insist: Insist::Prefer,
            }],
            stages: vec![
                st("synthesize", Role::Source, Tags::CCD_PINNED, vec![], vec![0, 1]),
                st("spmv", Role::Inner, m, vec![0], vec![2]),
                st("prep_msm", Role::Inner, m, vec![1], vec![3, 4]),
                st("b_g2_msm", Role::Inner, m, vec![4], vec![6]),
                st("gpu_ntt_msm", Role::Inner, m, vec![2, 3], vec![5]),
                st("assemble", Role::Sink, Tags::NONE, vec![5, 6], vec![]),
                st("dealloc", Role::Dealloc, Tags::UNMAPS, vec![], vec![]),
            ],
            edges: vec![
                e(0, 1, 0, "Witness"),
                e(0, 2, 0, "Witness"),
                e(1, 4, 0, "Evaluated"),
                e(2, 4, 1, "Classified"),
                e(2, 3, 0, "Classified"),
                e(4, 5, 0, "SumsG1"),
                e(3, 5, 1, "SumG2"),
            ],
            policy: "oldest_first".into(),
        }
    }
    fn wire(w: &mut Wiring<'_, Job, Proof>) {
        let (o0, i0) = w.edge::<Witness, Witness>(0);
        let (o1, i1) = w.edge::<Witness, Witness>(1);
        let (o2, i2) = w.edge::<Evaluated, Evaluated>(2);
        let (o3, i3) = w.edge::<Classified, Classified>(3);
        let (o4, i4) = w.edge::<Classified, Classified>(4);
        let (o5, i5) = w.edge::<SumsG1, SumsG1>(5);
        let (o6, i6) = w.edge::<SumG2, SumG2>(6);
        w.stage::<host::Synthesize>(0, (), vec![o0, o1]);
        w.stage::<host::Spmv>(1, (i0,), vec![o2]);
        w.stage::<host::PrepMsm>(2, (i1,), vec![o3, o4]);
        w.stage::<host::BG2Msm>(3, (i4,), vec![o6]);
        w.stage::<host::GpuNttMsm>(4, (i2, i3), vec![o5]);
        w.sink::<host::Assemble>(5, (i5, i6));
        w.dealloc::<host::Dealloc>(6);
    }
}
