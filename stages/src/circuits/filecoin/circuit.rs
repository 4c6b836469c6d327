//! The three circuits of Filecoin over the four shapes of its trees, as one type.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub2, SectorShapeSub8, SectorShapeTop2};
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_porep::stacked::StackedCircuit;
use storage_proofs_post::fallback::FallbackPoStCircuit;
use storage_proofs_update::EmptySectorUpdateCircuit;
use storage_proofs_update::circuit::PrivateInputs;

use crate::circuits::WitnessCs;

/// A circuit of Filecoin's with its witness, or without one.
#[derive(Clone)]
pub struct FilecoinCircuit(Shaped);

/// The shape of the trees is a type. Two sizes of sectors with the same shape differ in depth alone.
#[derive(Clone)]
enum Shaped {
    Base(OfShape<SectorShapeBase>),
    Sub2(OfShape<SectorShapeSub2>),
    Sub8(OfShape<SectorShapeSub8>),
    Top2(OfShape<SectorShapeTop2>),
}

/// A circuit over one shape of trees.
pub(super) enum OfShape<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> {
    Porep(StackedCircuit<Tree, Sha256Hasher>),
    Post(FallbackPoStCircuit<Tree>),
    Update(EmptySectorUpdateCircuit<Tree>),
}

/// A shape of trees.
pub(super) trait Shape: 'static + Sized + MerkleTreeTrait<Hasher = PoseidonHasher> {
    fn erase(circuit: OfShape<Self>) -> FilecoinCircuit;
}

macro_rules! shapes {
    ($($variant:ident: $tree:ty,)*) => {$(
        impl Shape for $tree {
            fn erase(circuit: OfShape<Self>) -> FilecoinCircuit {
                FilecoinCircuit(Shaped::$variant(circuit))
            }
        }
    )*};
}

shapes! {
    Base: SectorShapeBase,
    Sub2: SectorShapeSub2,
    Sub8: SectorShapeSub8,
    Top2: SectorShapeTop2,
}

impl<Tree: Shape> From<StackedCircuit<Tree, Sha256Hasher>> for FilecoinCircuit {
    fn from(circuit: StackedCircuit<Tree, Sha256Hasher>) -> Self {
        Tree::erase(OfShape::Porep(circuit))
    }
}

impl<Tree: Shape> From<FallbackPoStCircuit<Tree>> for FilecoinCircuit {
    fn from(circuit: FallbackPoStCircuit<Tree>) -> Self {
        Tree::erase(OfShape::Post(circuit))
    }
}

impl<Tree: Shape> From<EmptySectorUpdateCircuit<Tree>> for FilecoinCircuit {
    fn from(circuit: EmptySectorUpdateCircuit<Tree>) -> Self {
        Tree::erase(OfShape::Update(circuit))
    }
}

impl<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> Clone for OfShape<Tree> {
    fn clone(&self) -> Self {
        match self {
            Self::Porep(circuit) => Self::Porep(circuit.clone()),
            Self::Post(circuit) => Self::Post(circuit.clone()),
            // The type itself and its private part have no `Clone` for trees that have none.
            Self::Update(EmptySectorUpdateCircuit { pub_params, pub_inputs, priv_inputs }) => {
                let PrivateInputs { comm_c, root_r_old, root_r_new, apex_leafs, challenge_proofs } = priv_inputs;
                Self::Update(EmptySectorUpdateCircuit {
                    pub_params: pub_params.clone(),
                    pub_inputs: pub_inputs.clone(),
                    priv_inputs: PrivateInputs {
                        comm_c: *comm_c,
                        root_r_old: *root_r_old,
                        root_r_new: *root_r_new,
                        apex_leafs: apex_leafs.clone(),
                        challenge_proofs: challenge_proofs.clone(),
                    },
                })
            }
        }
    }
}

impl<Tree: Shape> Circuit<Scalar> for OfShape<Tree> {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Self::Porep(circuit) => Circuit::synthesize(circuit, cs),
            Self::Post(circuit) => circuit.synthesize(cs),
            Self::Update(circuit) => circuit.synthesize(cs),
        }
    }
}

impl<Tree: Shape> OfShape<Tree> {
    fn write_witness(&self, cs: &mut WitnessCs<'_>) -> Result<(), SynthesisError> {
        match self {
            // Each sector by itself: the circuit's own way to do that wants systems that can be joined, with a ONE in each.
            Self::Post(circuit) => cs.in_parts(circuit.sectors.iter().collect()),
            Self::Porep(_) | Self::Update(_) => cs.synthesize(self.clone()),
        }
    }
}

impl FilecoinCircuit {
    /// Computes the witness, in parallel where the circuit allows it; it is the one that synthesis gives.
    ///
    /// # Errors
    /// The circuit's own.
    pub fn write_witness(&self, cs: &mut WitnessCs<'_>) -> Result<(), SynthesisError> {
        match &self.0 {
            Shaped::Base(circuit) => circuit.write_witness(cs),
            Shaped::Sub2(circuit) => circuit.write_witness(cs),
            Shaped::Sub8(circuit) => circuit.write_witness(cs),
            Shaped::Top2(circuit) => circuit.write_witness(cs),
        }
    }
}

impl Circuit<Scalar> for FilecoinCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self.0 {
            Shaped::Base(circuit) => circuit.synthesize(cs),
            Shaped::Sub2(circuit) => circuit.synthesize(cs),
            Shaped::Sub8(circuit) => circuit.synthesize(cs),
            Shaped::Top2(circuit) => circuit.synthesize(cs),
        }
    }
}
