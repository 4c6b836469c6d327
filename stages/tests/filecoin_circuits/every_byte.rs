//! Each byte of the files that are read, changed, and each place to cut them: a clear error, or what was there all the same.
//! Never a panic.

use rayon::prelude::*;

use super::*;

/// What a changed file is taken for.
type Outcome<T> = Result<T, Error>;

/// Reads a file with each of its bytes changed in several ways, and cut at each. Errors must be of files; what is read all the
/// same is shown to `check`, with the place.
fn every_change<T>(
    bytes: &[u8],
    step: usize,
    read: impl Fn(&[u8]) -> Outcome<T> + Sync,
    check: impl Fn(usize, T) + Sync,
) {
    let expect = |at: usize, outcome: Outcome<T>| match outcome {
        Ok(read) => check(at, read),
        Err(error) => {
            assert!(matches!(error.class(), Class::BadInput | Class::Mismatch), "at {at}: {error}");
            assert!(!error.to_string().contains("panicked"), "at {at}: {error}");
        }
    };
    assert!(read(bytes).is_ok(), "the file is none before it is changed");
    (0..bytes.len()).into_par_iter().step_by(step).for_each(|at| {
        for value in [bytes[at] ^ 1, bytes[at] ^ 0x80, 0, b' '] {
            if value != bytes[at] {
                let mut changed = bytes.to_vec();
                changed[at] = value;
                expect(at, read(&changed));
            }
        }
        let cut = read(&bytes[..at]);
        assert!(cut.is_err(), "{at} bytes are enough");
        expect(at, cut);
    });
}

/// What a proof of a task would be about.
fn publics(task: &Task) -> Vec<Vec<Scalar>> {
    (0..task.partitions()).map(|partition| task.public_inputs(partition).to_vec()).collect()
}

/// A statement that was changed is refused, is the same, or does not go with the vanilla proofs, unless what is proved is the
/// same.
#[test]
fn of_statements() {
    let vanilla = |kind: Kind, statement: Statement| -> Result<Task, Error> {
        match statement {
            Statement::Post(mut post) if kind == Kind::Winning => read(&mut post, &[(WINNING, bytes(WINNING))]),
            Statement::Post(mut post) => read(&mut post, &WINDOW.map(|name| (name, bytes(name)))),
            Statement::Update(update) => {
                let name = "update-2k-sector1.vanilla0.bincode";
                update.read_vanilla(&[(&file(name), &bytes(name))])
            }
            Statement::Seal(seal) => {
                let (read, task) = read_c1(&file(C1), &bytes(C1), (seal.prover, seal.sector))?;
                // What the command does with a statement beside a C1 output.
                if read == seal { Ok(task) } else { Err(Error::Mismatch("another statement".to_owned())) }
            }
        }
    };
    for (kind, name) in [
        (Kind::Porep, "porep-2k-sector1.meta.json"),
        (Kind::Winning, "winning-2k.meta.json"),
        (Kind::Window, "window-2k.meta.json"),
        (Kind::Update, "update-2k-sector1.meta.json"),
    ] {
        let good = statement(kind, name);
        let wanted = publics(&vanilla(kind, good.clone()).unwrap());
        let read = |bytes: &[u8]| {
            let malformed = |_| Error::BadText("no JSON".to_owned());
            let fields: Value = serde_json::from_slice(bytes).map_err(malformed)?;
            let fields = fields.as_object().ok_or(Error::BadText("no object".to_owned()))?;
            let read = Statement::from_json(kind, fields)?;
            if read == good { Ok(None) } else { vanilla(kind, read).map(Some) }
        };
        every_change(&bytes(name), 1, read, |at, task| {
            if let Some(task) = task {
                assert!(publics(&task) == wanted, "{name}: byte {at} makes another statement of the same proofs");
            }
        });
    }
}

#[test]
fn of_vanilla_proofs_of_spacetime() {
    let window = |bytes: &[u8]| {
        let mut statement = post(Kind::Window, "window-2k.meta.json");
        statement.sectors.truncate(1);
        read(&mut statement, &[(WINDOW[0], bytes.to_vec())])
    };
    every_change(&bytes(WINDOW[0]), 1, window, |at, _| panic!("byte {at} can be changed"));
    let winning = |bytes: &[u8]| {
        let mut statement = post(Kind::Winning, "winning-2k.meta.json");
        read(&mut statement, &[(WINNING, bytes.to_vec())])
    };
    every_change(&bytes(WINNING), 31, winning, |at, _| panic!("byte {at} can be changed"));
}

#[test]
fn of_vanilla_proofs_of_updates() {
    let name = "update-2k-sector1.vanilla0.bincode";
    let path = file(name);
    let read = |bytes: &[u8]| update().read_vanilla(&[(&path, bytes)]);
    every_change(&bytes(name), 7, read, |at, _| panic!("byte {at} can be changed"));
}

#[test]
fn of_c1_outputs_and_their_wrapper() {
    use base64::Engine;
    let (good, miner) = (bytes(C1), prover_id("f01000").unwrap());
    let read = |json: &[u8]| read_c1(Path::new("c1.json"), json, (miner, 1));
    let (statement, task) = read(&good).unwrap();
    let wanted = publics(&task);
    let same = |at: usize, (read, task): (SealStatement, Task)| {
        assert!(read == statement && publics(&task) == wanted, "byte {at} makes another statement");
    };
    every_change(&good, 53, read, same);
    let inner = base64::engine::general_purpose::STANDARD.encode(&good);
    let wrapper = serde_json::json!({"SectorNum": 1, "Phase1Out": inner, "SectorSize": 2048});
    let wrapper = serde_json::to_vec(&wrapper).unwrap();
    every_change(&wrapper, 211, read, same);
    // All of what is around the inner text.
    let at = wrapper.windows(8).position(|bytes| bytes == &inner.as_bytes()[..8]).unwrap();
    for at in (0..at + 2).chain(at + inner.len() - 2..wrapper.len()) {
        for value in 0..128 {
            let mut changed = wrapper.clone();
            changed[at] = value;
            match read(&changed) {
                Ok(read) => same(at, read),
                Err(error) => assert!(matches!(error.class(), Class::BadInput | Class::Mismatch), "at {at}: {error}"),
            }
        }
    }
}
