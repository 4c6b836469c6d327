//! The verifier of Filecoin's nodes: its own program, since it takes the folder of keys from the environment, once.
//!
//! `network-verifier KIND STATEMENT PROOF`, with FIL_PROOFS_PARAMETER_CACHE, prints `true`, `false`, or why it will not say.

use std::collections::BTreeMap;

use filecoin_proofs_api::post::{verify_window_post, verify_winning_post};
use filecoin_proofs_api::seal::verify_seal;
use filecoin_proofs_api::update::verify_empty_sector_update_proof;
use filecoin_proofs_api::{PublicReplicaInfo, RegisteredPoStProof, SectorId};
use proofline_stages::circuits::filecoin::{Kind, PostStatement, Statement, UpdateStatement};
use serde::de::DeserializeOwned;

/// A registered proof of the network's crates, by its name.
fn named<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(name.into()).unwrap()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let [kind, statement, proof] = [(); 3].map(|()| arguments.next().expect("KIND STATEMENT PROOF"));
    let kind: Kind = kind.parse().unwrap();
    let fields: serde_json::Value = serde_json::from_slice(&std::fs::read(statement).unwrap()).unwrap();
    let statement = Statement::from_json(kind, fields.as_object().unwrap()).unwrap();
    let bytes = std::fs::read(proof).unwrap();
    let judged = match &statement {
        Statement::Seal(seal) => verify_seal(
            named(&seal.proof.to_string()),
            seal.comm_r,
            seal.comm_d,
            seal.prover,
            seal.sector.into(),
            seal.ticket,
            seal.seed,
            &bytes,
        ),
        Statement::Post(PostStatement { proof, prover, randomness, sectors }) => {
            let proof: RegisteredPoStProof = named(&proof.to_string());
            let replicas: BTreeMap<SectorId, PublicReplicaInfo> = sectors
                .iter()
                .map(|(number, comm_r)| (SectorId::from(*number), PublicReplicaInfo::new(proof, *comm_r)))
                .collect();
            if kind == Kind::Winning {
                verify_winning_post(randomness, &bytes, &replicas, *prover)
            } else {
                verify_window_post(randomness, &[(proof, &bytes)], &replicas, *prover)
            }
        }
        Statement::Update(UpdateStatement { proof, comm_r_old, comm_r_new, comm_d_new }) => {
            let proof = named(&proof.to_string());
            verify_empty_sector_update_proof(proof, &bytes, *comm_r_old, *comm_r_new, *comm_d_new)
        }
    };
    match judged {
        Ok(valid) => println!("{valid}"),
        Err(fault) => println!("{fault:#}"),
    }
}
