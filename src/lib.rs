//! A Groth16 (BLS12-381) proving engine whose pipeline is compiled from a declarative stage graph
