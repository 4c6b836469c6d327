//! Files that are damaged in one way each: every one gets an error that says where and what.

use std::path::{Path, PathBuf};

use blstrs::Scalar;
use ff::{Field, PrimeField};

use super::*;
use crate::error::{Class, Error};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/circom").join(name)).unwrap()
}

fn name() -> PathBuf {
    PathBuf::from("x.file")
}

fn r1cs(bytes: &[u8]) -> Result<R1cs, Error> {
    R1cs::parse(&name(), bytes)
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.class(), Class::BadInput, "{error}");
    let text = error.to_string();
    assert!(text.contains(says) && text.starts_with("x.file "), "{text:?} should say {says:?}");
}

/// r, little-endian.
fn prime() -> [u8; 32] {
    let mut prime = (-Scalar::ONE).to_repr();
    prime[0] += 1;
    prime
}

/// A container of these sections.
fn container(magic: &str, version: u32, sections: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = magic.as_bytes().to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    for (id, content) in sections {
        bytes.extend(id.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
    }
    bytes
}

/// The header of an `.r1cs`: wires, outputs, public and private inputs, constraints.
fn header(prime: [u8; 32], [wires, outputs, public, private, constraints]: [u32; 5]) -> Vec<u8> {
    let mut bytes = 32u32.to_le_bytes().to_vec();
    bytes.extend(prime);
    [wires, outputs, public, private].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    bytes.extend(u64::from(wires).to_le_bytes());
    bytes.extend(constraints.to_le_bytes());
    bytes
}

fn sum(terms: &[(u32, Scalar)]) -> Vec<u8> {
    let mut bytes = (terms.len() as u32).to_le_bytes().to_vec();
    for (wire, coefficient) in terms {
        bytes.extend(wire.to_le_bytes());
        bytes.extend(coefficient.to_repr());
    }
    bytes
}

/// wire 2 · wire 3 = wire 1, with wire 1 an output.
fn product(prime: [u8; 32]) -> [(u32, Vec<u8>); 3] {
    let one = Scalar::ONE;
    let row = [sum(&[(2, one)]), sum(&[(3, one)]), sum(&[(1, one)])].concat();
    [(1, header(prime, [4, 1, 0, 2, 1])), (2, row), (3, vec![0; 4 * 8])]
}

fn product_file() -> Vec<u8> {
    container("r1cs", 1, &product(prime()))
}

#[test]
fn sections_come_in_any_order_and_unknown_ones_are_skipped() {
    let [first, second, third] = product(prime());
    let unknown = (77, b"custom gates".to_vec());
    for order in [[&first, &second, &third, &unknown], [&unknown, &third, &second, &first]] {
        let read = r1cs(&container("r1cs", 1, &order.map(Clone::clone))).unwrap();
        assert_eq!((read.wires(), read.inputs(), read.constraints()), (4, 2, 1));
        assert_eq!(read.row(0).map(|sum| sum[0].0), [2, 3, 1]);
    }
}

#[test]
fn a_real_circuit_and_its_witness() {
    let read = r1cs(&data("poseidon_m7.r1cs")).unwrap();
    assert_eq!((read.inputs(), read.constraints()), (2, 3640));
    let values = parse_wtns(&name(), &data("poseidon_m7.wtns")).unwrap();
    assert_eq!(values.len(), read.wires());
}

#[test]
fn every_truncation_is_refused() {
    let file = product_file();
    for length in 0..file.len() {
        assert_eq!(r1cs(&file[..length]).unwrap_err().class(), Class::BadInput, "{length} bytes");
    }
    let file = data("poseidon_m7.wtns");
    for length in (0..file.len()).step_by(997).chain(0..200) {
        let error = parse_wtns(&name(), &file[..length]).unwrap_err();
        assert_eq!(error.class(), Class::BadInput, "{length} bytes");
    }
    refused(r1cs(&product_file()[..100]), "ends too early: section 2 at offset");
}

/// Every byte is changed to several values: whatever comes out, it is no panic and no large allocation.
#[test]
fn no_change_of_a_byte_is_a_panic() {
    let witness = container("wtns", 2, &[(1, wtns_header(prime(), 2)), (2, [[1; 32], [0; 32]].concat())]);
    let mut refusals = 0;
    for (file, parse) in [
        (product_file(), (|bytes| r1cs(bytes).is_err()) as fn(&[u8]) -> bool),
        (witness, |bytes| parse_wtns(&name(), bytes).is_err()),
    ] {
        for at in 0..file.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = file.clone();
                bytes[at] = value;
                refusals += usize::from(parse(&bytes));
            }
        }
    }
    assert!(refusals > 500, "most changes are found: {refusals}");
}

#[test]
fn private_inputs_without_a_wire_are_counted_all_the_same() {
    let [_, second, third] = product(prime());
    let file = container("r1cs", 1, &[(1, header(prime(), [4, 1, 0, 5, 1])), second, third]);
    let read = r1cs(&file).unwrap();
    assert_eq!((read.wires(), read.inputs(), read.constraints()), (4, 2, 1));
}

#[test]
fn counts_that_the_file_cannot_hold_are_refused_before_memory_is_taken() {
    let most = u32::MAX;
    for (position, says) in [(0, "the number of wires is 4294967295"), (4, "the number of constraints is 4294967295")] {
        let mut numbers = [4, 1, 0, 2, 1];
        numbers[position] = most;
        let [_, second, third] = product(prime());
        refused(r1cs(&container("r1cs", 1, &[(1, header(prime(), numbers)), second, third])), says);
    }
    for position in 1..3 {
        let mut numbers = [4, 1, 0, 2, 1];
        numbers[position] = most;
        let [_, second, third] = product(prime());
        let file = container("r1cs", 1, &[(1, header(prime(), numbers)), second, third]);
        refused(r1cs(&file), "4 wires cannot hold ONE");
    }
    let [first, _, third] = product(prime());
    let row = most.to_le_bytes().repeat(3);
    refused(
        r1cs(&container("r1cs", 1, &[first, (2, row), third])),
        "the number of terms of A in constraint 0 is 4294967295",
    );
    let mut file = product_file();
    file[8..12].copy_from_slice(&most.to_le_bytes());
    refused(r1cs(&file), "the number of sections is 4294967295");
    let file = container("wtns", 2, &[(1, wtns_header(prime(), most)), (2, vec![1; 32])]);
    refused(parse_wtns(&name(), &file), "the number of values is 4294967295");
}

fn wtns_header(prime: [u8; 32], count: u32) -> Vec<u8> {
    [&32u32.to_le_bytes()[..], &prime, &count.to_le_bytes()].concat()
}

#[test]
fn another_field_is_named() {
    // 21888242871839275222246405745257275088548364400416034343698204186575808495617, BN254's.
    let bn254: [u8; 32] = {
        let hex = "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001";
        let mut bytes: Vec<u8> = (0..32).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        bytes.reverse();
        bytes.try_into().unwrap()
    };
    refused(r1cs(&container("r1cs", 1, &product(bn254))), "its prime is BN254's, circom's default");
    let mut seven = [0; 32];
    seven[0] = 7;
    refused(r1cs(&container("r1cs", 1, &product(seven))), "its prime is 0x00000000");
    let file = container("wtns", 2, &[(1, wtns_header(bn254, 1)), (2, vec![1; 32])]);
    refused(parse_wtns(&name(), &file), "BN254");
    let [mut first, second, third] = product(prime());
    first.1[0] = 8;
    refused(r1cs(&container("r1cs", 1, &[first, second, third])), "its elements have 8 bytes");
}

#[test]
fn values_from_r_on_are_refused() {
    let [first, _, third] = product(prime());
    let mut row = [sum(&[(2, Scalar::ONE)]), sum(&[]), sum(&[])].concat();
    row[8..40].copy_from_slice(&prime());
    refused(r1cs(&container("r1cs", 1, &[first, (2, row), third])), "a coefficient is not below the field's prime");
    let one = [&[1u8][..], &[0; 31]].concat();
    let file = container("wtns", 2, &[(1, wtns_header(prime(), 2)), (2, [one, prime().to_vec()].concat())]);
    refused(parse_wtns(&name(), &file), "a wire's value is not below the field's prime");
}

#[test]
fn what_does_not_belong_there_is_refused() {
    let [first, second, third] = product(prime());
    let with = |sections: &[(u32, Vec<u8>)]| container("r1cs", 1, sections);
    refused(r1cs(&data("poseidon_m7.wtns")), "it begins with \"wtns\", not with \"r1cs\"");
    refused(r1cs(&container("r1cs", 9, &product(prime()))), "the version is 9");
    refused(r1cs(&with(&[first.clone(), third.clone()])), "without section 2, the constraints");
    refused(r1cs(&with(&[first.clone(), first.clone(), second.clone(), third.clone()])), "section 1 is there twice");
    refused(r1cs(&[product_file(), vec![0]].concat()), "1 bytes follow the last section");
    let longer = (2, [second.1.clone(), vec![0; 3]].concat());
    refused(r1cs(&with(&[first.clone(), longer, third.clone()])), "3 bytes too many in the constraints");
    let stray = (2, [sum(&[(4, Scalar::ONE)]), sum(&[]), sum(&[])].concat());
    refused(r1cs(&with(&[first, stray, third])), "A of constraint 0 names wire 4, and the circuit has 4 wires");
    let file = container("wtns", 2, &[(1, wtns_header(prime(), 1)), (2, vec![0; 32])]);
    refused(parse_wtns(&name(), &file), "the value of wire 0 must be 1");
    let file = container("wtns", 2, &[(1, wtns_header(prime(), 0)), (2, vec![])]);
    refused(parse_wtns(&name(), &file), "the value of wire 0 must be 1");
}

#[test]
fn what_is_no_regular_file_is_not_read() {
    let r1cs = R1cs::read(Path::new("/dev/zero")).err().unwrap().to_string();
    assert_eq!(r1cs, "/dev/zero is not a regular file: give a `.r1cs` file");
    let wtns = read_wtns(Path::new("/dev/null")).err().unwrap().to_string();
    assert_eq!(wtns, "/dev/null is not a regular file: give a `.wtns` file");
}

/// A sparse file of 64 GiB, of which four bytes are read.
#[test]
fn a_large_file_of_another_kind_is_refused_by_its_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.r1cs");
    std::fs::File::create(&path).unwrap().set_len(1 << 36).unwrap();
    let error = R1cs::read(&path).err().unwrap().to_string();
    assert!(error.contains("another kind of file"), "{error}");
}

#[test]
fn more_sections_than_any_file_has_are_refused() {
    let mut bytes = b"r1cs".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(100_000u32.to_le_bytes());
    for section in 0..100_000u32 {
        bytes.extend((10 + section).to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
    }
    let error = R1cs::parse(Path::new("many.r1cs"), &bytes).err().unwrap().to_string();
    assert!(error.contains("100000 sections"), "{error}");
}
