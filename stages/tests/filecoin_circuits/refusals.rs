//! Inputs that are refused, each with its class and a sentence that says why.

use super::*;

#[test]
fn another_sectors_c1_output_is_refused() {
    let json = bytes(C1);
    let miner = prover_id("f01000").unwrap();
    let read = |json: &[u8], miner, sector| read_c1(Path::new("c1.json"), json, (miner, sector)).map(drop);
    read(&json, miner, 1).unwrap();
    assert!(refused(read(&json, miner, 2), Class::Mismatch).contains("is not of sector 2 of this miner"));
    let other = prover_id("f01001").unwrap();
    assert!(refused(read(&json, other, 1), Class::Mismatch).contains("--miner"));
    // Another ticket, commitment or identity gives another replica; another seed other challenges.
    let changed = |field: &str, change: fn(&mut Value)| {
        let mut value: Value = serde_json::from_slice(&json).unwrap();
        change(&mut value[field]);
        serde_json::to_vec(&value).unwrap()
    };
    let first_byte = |value: &mut Value| value[0] = Value::from(value[0].as_u64().unwrap() ^ 1);
    for field in ["ticket", "comm_d", "replica_id"] {
        let error = refused(read(&changed(field, first_byte), miner, 1), Class::Mismatch);
        assert!(error.contains("the replica's identity"), "{field}: {error}");
    }
    for field in ["seed", "comm_r"] {
        let error = refused(read(&changed(field, first_byte), miner, 1), Class::Mismatch);
        assert!(error.contains("do not answer the challenges"), "{field}: {error}");
    }
    let zero = |value: &mut Value| *value = Value::from(vec![0; 32]);
    assert!(refused(read(&changed("seed", zero), miner, 1), Class::BadInput).contains("the seed is zero"));
    let above = |value: &mut Value| *value = Value::from(vec![255; 32]);
    assert!(refused(read(&changed("comm_r", above), miner, 1), Class::BadInput).contains("below the field's prime"));
    // Another version of the rules has another number, which the replica depends on.
    let name = |value: &mut Value| *value = Value::from("StackedDrg2KiBV1");
    refused(read(&changed("registered_proof", name), miner, 1), Class::Mismatch);
    let name = |value: &mut Value| *value = Value::from("StackedDrg8MiBV1_1");
    assert!(
        refused(read(&changed("registered_proof", name), miner, 1), Class::BadInput).contains("`StackedDrg2KiBV1`")
    );
    let name = |value: &mut Value| *value = Value::from("StackedDrg2KiBV9");
    assert!(
        refused(read(&changed("registered_proof", name), miner, 1), Class::BadInput).contains("`StackedDrg2KiBV9`")
    );
    let twice = |value: &mut Value| {
        let partitions = value["StackedDrg2KiBV1"].as_array_mut().unwrap();
        partitions.push(partitions[0].clone());
    };
    let error = refused(read(&changed("vanilla_proofs", twice), miner, 1), Class::BadInput);
    assert!(error.contains("has 2 partitions") && error.contains("has 1"), "{error}");
    for none in [
        |value: &mut Value| value["StackedDrg2KiBV1"] = Value::Array(Vec::new()),
        |value: &mut Value| value["StackedDrg2KiBV1"][0] = Value::Array(Vec::new()),
        |value: &mut Value| *value = Value::Object(serde_json::Map::new()),
    ] {
        refused(read(&changed("vanilla_proofs", none), miner, 1), Class::BadInput);
    }
    let fewer = |value: &mut Value| drop(value["StackedDrg2KiBV1"][0].as_array_mut().unwrap().pop());
    refused(read(&changed("vanilla_proofs", fewer), miner, 1), Class::Mismatch);
    // Cut off anywhere: the place is named.
    for length in [0, 1, json.len() / 3, json.len() - 1] {
        assert!(refused(read(&json[..length], miner, 1), Class::BadInput).contains("cut off"), "{length}");
    }
}

#[test]
fn the_wrapper_of_curio_and_lotus_is_unwrapped_and_held_against_its_contents() {
    use base64::Engine;
    let miner = prover_id("f01000").unwrap();
    let inner = base64::engine::general_purpose::STANDARD.encode(bytes(C1));
    let wrapped = |sector: u64, inner: &str, size: u64| {
        let value = serde_json::json!({"SectorNum": sector, "Phase1Out": inner, "SectorSize": size});
        let json = serde_json::to_vec(&value).unwrap();
        read_c1(Path::new("c1.json"), &json, (miner, 1)).map(|(statement, task)| (statement.sector, task.partitions()))
    };
    assert_eq!(wrapped(1, &inner, 2048).unwrap(), (1, 1));
    assert!(refused(wrapped(2, &inner, 2048), Class::Mismatch).contains("is of sector 2 (`SectorNum`)"));
    assert!(refused(wrapped(1, &inner, 4096), Class::BadInput).contains("`SectorSize` is 4096"));
    assert!(refused(wrapped(1, &inner[..inner.len() - 1], 2048), Class::BadInput).contains("no Base64"));
    assert!(refused(wrapped(1, &inner[..4000], 2048), Class::BadInput).contains("cut off"));
    assert!(refused(wrapped(1, "", 2048), Class::BadInput).contains("cut off"));
}

#[test]
fn other_vanilla_proofs_of_spacetime_are_refused() {
    let window = || post(Kind::Window, "window-2k.meta.json");
    let [one, two] = WINDOW.map(|name| (name, bytes(name)));
    // The order of the files is nobody's business.
    read(&mut window(), &[two.clone(), one.clone()]).unwrap();
    let try_window = |files: &[_]| read(&mut window(), files).map(drop);
    assert!(refused(try_window(&[]), Class::Mismatch).contains("no vanilla proof is given"));
    assert!(refused(try_window(std::slice::from_ref(&one)), Class::Mismatch).contains("of the sectors 1, and"));
    refused(try_window(&[one.clone(), one.clone()]), Class::Mismatch);
    refused(try_window(&[one.clone(), two.clone(), two.clone()]), Class::Mismatch);
    let mut statement = window();
    statement.sectors.clear();
    let error = refused(read(&mut statement, &[one.clone(), one.clone()]).map(drop), Class::Mismatch);
    assert!(error.contains("sector 1 is given twice"), "{error}");
    // What is claimed is another thing than what the files prove.
    let changed = |change: fn(&mut PostStatement)| {
        let mut statement = window();
        change(&mut statement);
        read(&mut statement, &[one.clone(), two.clone()]).map(drop)
    };
    let error = refused(changed(|statement| statement.randomness[0] ^= 1), Class::Mismatch);
    assert!(error.contains("challenges of this randomness"), "{error}");
    let error = refused(changed(|statement| statement.randomness[31] = 0xff), Class::BadInput);
    assert!(error.contains("the randomness") && error.contains("below the field's prime"), "{error}");
    let error = refused(changed(|statement| statement.sectors[1].1[0] ^= 1), Class::Mismatch);
    assert!(error.contains("sector 2 is of another comm_r"), "{error}");
    refused(changed(|statement| statement.sectors[1].0 = 3), Class::Mismatch);
    // The older rules draw the second sector's challenges otherwise; sectors of another size are another circuit.
    let older = |statement: &mut PostStatement| {
        statement.proof = RegisteredProof::named(Kind::Window, "StackedDrgWindow2KiBV1").unwrap();
    };
    refused(changed(older), Class::Mismatch);
    for name in ["StackedDrgWindow8MiBV1_2", "StackedDrgWindow4KiBV1_2", "StackedDrgWindow32KiBV1_2"] {
        let mut statement = window();
        statement.proof = RegisteredProof::named(Kind::Window, name).unwrap();
        assert!(read(&mut statement, &[one.clone(), two.clone()]).is_err(), "{name}");
    }
    let winning = |files: &[(&str, Vec<u8>)]| read(&mut post(Kind::Winning, "winning-2k.meta.json"), files).map(drop);
    winning(&[(WINNING, bytes(WINNING))]).unwrap();
    refused(winning(std::slice::from_ref(&one)), Class::Mismatch);
    refused(winning(&[(WINNING, bytes(WINNING)), two]), Class::Mismatch);
    let mut statement = post(Kind::Winning, "winning-2k.meta.json");
    statement.sectors.push((2, [1; 32]));
    refused(read(&mut statement, &[(WINNING, bytes(WINNING)), one]).map(drop), Class::Mismatch);
}

#[test]
fn other_vanilla_proofs_of_an_update_are_refused() {
    let name = "update-2k-sector1.vanilla0.bincode";
    let (path, good) = (file(name), bytes(name));
    let read = |statement: &UpdateStatement, files: &[&[u8]]| {
        let files: Vec<(&Path, &[u8])> = files.iter().map(|bytes| (&*path, *bytes)).collect();
        statement.read_vanilla(&files).map(drop)
    };
    read(&update(), &[&good]).unwrap();
    assert!(refused(read(&update(), &[]), Class::Mismatch).contains("0 vanilla proofs are given"));
    assert!(refused(read(&update(), &[&good, &good]), Class::Mismatch).contains("has 1 partitions"));
    for change in [
        |statement: &mut UpdateStatement| statement.comm_r_old[0] ^= 1,
        |statement: &mut UpdateStatement| statement.comm_r_new[0] ^= 1,
        |statement: &mut UpdateStatement| statement.comm_d_new[0] ^= 1,
    ] {
        let mut statement = update();
        change(&mut statement);
        assert!(refused(read(&statement, &[&good]), Class::Mismatch).contains("not of an update from this comm_r_old"));
    }
    let mut statement = update();
    statement.comm_r_new = [0; 32];
    assert!(refused(read(&statement, &[&good]), Class::BadInput).contains("comm_r_new is zero"));
}

/// Files that were cut, lengthened or changed are refused with their names; nothing panics, and nothing is reserved that the
/// file does not hold.
#[test]
fn damaged_vanilla_proofs_are_refused() {
    let window = |bytes: &[u8]| {
        let mut statement = post(Kind::Window, "window-2k.meta.json");
        statement.sectors.truncate(1);
        read(&mut statement, &[(WINDOW[0], bytes.to_vec())]).map(drop)
    };
    let good = bytes(WINDOW[0]);
    window(&good).unwrap();
    let longer = [&good[..], &[0]].concat();
    assert!(refused(window(&longer), Class::BadInput).contains("1 bytes follow the end"));
    for length in (0..good.len()).step_by(97).chain([good.len() - 1]) {
        let error = refused(window(&good[..length]), Class::BadInput);
        assert!(error.contains(WINDOW[0]) && error.contains("ends too early"), "{error}");
    }
    // A few hundred bytes of all places; each is part of the proof.
    for at in (0..good.len()).step_by(13) {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        assert!(window(&changed).is_err(), "byte {at} can be changed");
    }
    let name = "update-2k-sector1.vanilla0.bincode";
    let (path, good) = (file(name), bytes(name));
    for at in (0..good.len()).step_by(61) {
        let mut changed = good.clone();
        changed[at] ^= 0x40;
        assert!(update().read_vanilla(&[(&path, &changed)]).is_err(), "byte {at} can be changed");
        assert!(update().read_vanilla(&[(&path, &good[..at])]).is_err(), "{at} bytes are enough");
    }
}

#[test]
fn statements_are_read_back_and_refused_with_the_field() {
    for (kind, name) in [
        (Kind::Porep, "porep-2k-sector1.meta.json"),
        (Kind::Winning, "winning-2k.meta.json"),
        (Kind::Window, "window-2k.meta.json"),
        (Kind::Update, "update-2k-sector1.meta.json"),
    ] {
        let statement = statement(kind, name);
        let json = statement.to_json();
        let fields = json.as_object().unwrap();
        assert_eq!(Statement::from_json(kind, fields).unwrap(), statement);
        for field in fields.keys().filter(|field| *field != "sectors") {
            let mut fewer = fields.clone();
            fewer.remove(field);
            assert!(refused(Statement::from_json(kind, &fewer), Class::BadInput).contains(&format!("`{field}`")));
            let mut wrong = fields.clone();
            wrong.insert(field.clone(), Value::Bool(true));
            assert!(refused(Statement::from_json(kind, &wrong), Class::BadInput).contains(&format!("`{field}`")));
        }
        let mut more = fields.clone();
        more.insert("comm_x".to_owned(), Value::from(1));
        assert!(refused(Statement::from_json(kind, &more), Class::BadInput).contains("`comm_x`"));
    }
}

#[test]
fn a_statement_says_each_thing_once_and_nothing_else() {
    let file = Path::new("s.json");
    let good = String::from_utf8(bytes("winning-2k.meta.json")).unwrap();
    let read = |text: &str| read_fields(Kind::Winning, file, text.as_bytes()).map(drop);
    read(&good).unwrap();
    let with = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        let error = refused(read(&changed), Class::BadInput);
        assert!(error.contains("s.json"), "{error}");
        error
    };
    let twice = with("{", "{\"randomness\": \"00\",");
    assert!(twice.contains("`randomness` is there twice"), "{twice}");
    let twice = with("\"sector_id\": 1", "\"sector_id\": 2, \"sector_id\": 1");
    assert!(twice.contains("`sector_id` is there twice"), "{twice}");
    assert!(with("{", "{\"ticket\": \"00\",").contains("`ticket` is no field of a statement of the kind winning"));
    assert!(with("\"sector_id\"", "\"miner\": 1, \"sector_id\"").contains("`miner` is no field of a sector"));
    assert!(with("\"sector_id\": 1", "\"sector_id\": 1.0").contains("`sector_id` must be a whole number"));
    assert!(with("\"sector_id\": 1", "\"sector_id\": 18446744073709551616").contains("below 2^64"));
    assert!(with("e807", "e8").contains("`prover_id`: 62 hexadecimal digits"));
    for (text, said) in [("[]", "must be a JSON object"), ("", "cut off"), ("\u{feff}{}", "expected value")] {
        let error = refused(read(text), Class::BadInput);
        assert!(error.contains(said) && error.contains("s.json"), "{error}");
    }
    let nested = "[".repeat(100_000);
    assert!(refused(read(&nested), Class::BadInput).contains("recursion limit"));
}

#[test]
fn fields_have_one_form_in_which_they_are_compared() {
    let same = |kind, name: &str, given: Value, form: Value| {
        assert_eq!(field(kind, name, &given).unwrap(), form, "{name}");
        assert_eq!(field(kind, name, &form).unwrap(), form, "{name}");
    };
    let (upper, lower) = ("AB".repeat(32), "ab".repeat(32));
    same(Kind::Porep, "ticket", format!("0x{upper}").into(), lower.clone().into());
    same(Kind::Update, "comm_r_old", upper.clone().into(), lower.clone().into());
    same(Kind::Update, "registered_proof", "Update StackedDrg2KiBV1".into(), "StackedDrg2KiBV1".into());
    let sector = |number: u64, comm_r: &str| serde_json::json!({"sector_id": number, "comm_r": comm_r});
    let given = Value::from(vec![sector(7, &lower), sector(3, &upper)]);
    same(Kind::Window, "sectors", given, Value::from(vec![sector(3, &lower), sector(7, &lower)]));
}

#[test]
fn of_many_sectors_the_first_that_differ_are_named() {
    let mut statement = post(Kind::Window, "window-2k.meta.json");
    statement.sectors.extend((3..100_000).map(|number| (number, [1; 32])));
    let error = refused(read(&mut statement, &WINDOW.map(|name| (name, bytes(name)))).map(drop), Class::Mismatch);
    assert!(error.contains("of the sectors 1, 2, and") && error.contains("(99999 in all)"), "{error}");
    assert!(error.len() < 300, "{error}");
}

#[test]
fn sealing_that_fails_leaves_no_sectors_behind() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("window-1.vanilla.bincode")).unwrap();
    let size = "2KiB".parse().unwrap();
    let sealing = Sealing { size, proof: None, prover: [0; 32], sectors: 1, seed: "tests" };
    assert!(refused(sealing.write(folder.path(), &|_| ()).map(drop), Class::Io).contains("window-1"));
    assert!(!folder.path().join("sectors.partial").exists());
}

#[test]
fn sectors_that_are_too_large_are_not_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let sealing = Sealing { size: "32GiB".parse().unwrap(), proof: None, prover: [0; 32], sectors: 1, seed: "tests" };
    let error = refused(sealing.write(folder.path(), &|_| ()).map(drop), Class::BadInput);
    assert!(error.contains("512MiB is the largest"), "{error}");
}
