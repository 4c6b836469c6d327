#![no_main]
//! What Filecoin's nodes hand over: outputs of commit phase 1, vanilla proofs, statements. The first byte says which.

use std::path::Path;
use std::sync::Once;

use libfuzzer_sys::fuzz_target;
use proofline_stages::circuits::filecoin::{Kind, Statement, prover_id, read_c1, read_fields};
use serde_json::{Map, Value};

static QUIET: Once = Once::new();

/// The statements of `tests/data/filecoin`.
const WINDOW: &str = include_str!("../../tests/data/filecoin/window-2k.meta.json");
const WINNING: &str = include_str!("../../tests/data/filecoin/winning-2k.meta.json");
const UPDATE: &str = include_str!("../../tests/data/filecoin/update-2k-sector1.meta.json");

fn fields(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        other => panic!("a statement of the tests: {other:?}"),
    }
}

fuzz_target!(|bytes: &[u8]| {
    // The reader catches panics of the network's crates, which the fuzzer's hook would take for its own.
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| ())));
    let Some((&which, bytes)) = bytes.split_first() else { return };
    let file = Path::new("x");
    match which % 5 {
        0 => {
            let Ok(prover) = prover_id("f01000") else { return };
            let _ = read_c1(file, bytes, (prover, 1));
        }
        1 | 2 => {
            let (kind, text) = if which % 5 == 1 { (Kind::Window, WINDOW) } else { (Kind::Winning, WINNING) };
            let Ok(Statement::Post(mut post)) = Statement::from_json(kind, &fields(text)) else {
                panic!("the tests' statement is one");
            };
            // Of whatever sectors the file names.
            post.sectors.clear();
            let _ = post.read_vanilla(&[(file, bytes)]);
        }
        3 => {
            let Ok(Statement::Update(update)) = Statement::from_json(Kind::Update, &fields(UPDATE)) else {
                panic!("the tests' statement is one");
            };
            let _ = update.read_vanilla(&[(file, bytes)]);
        }
        _ => {
            let Some((&kind, text)) = bytes.split_first() else { return };
            let kind = [Kind::Porep, Kind::Window, Kind::Winning, Kind::Update][usize::from(kind % 4)];
            let Ok(fields) = read_fields(kind, file, text) else { return };
            if let Ok(statement) = Statement::from_json(kind, &fields) {
                let Value::Object(again) = statement.to_json() else { panic!("a statement is an object") };
                assert_eq!(Statement::from_json(kind, &again).ok(), Some(statement));
            }
        }
    }
});
