//! Texts of inputs, good and bad.

use super::*;

fn names(text: &str) -> Vec<(String, Vec<u64>)> {
    let input = Input::parse(text).expect("the text is good");
    input.signals().map(|(name, values)| (name.to_owned(), values.iter().map(|value| value[0]).collect())).collect()
}

fn refusal(text: &str) -> String {
    Input::parse(text).expect_err("the text is bad").to_string()
}

#[test]
fn much_more_than_a_circuit_takes_is_not_read_into_memory() {
    let text = |count: usize| format!("{{\"a\": [0{}]}}", ", 0".repeat(count - 1));
    let parse = |text: &str| Input::parse_named(text, None, 10).map_err(|error| error.to_string());
    // A little more is for the circuit to refuse, which knows the signal.
    assert!(parse(&text(MOST_SPARE)).is_ok());
    assert!(parse(&text(MOST_SPARE + 20)).unwrap_err().contains("takes 10 values in all"));
    let names: Vec<_> = (0..MOST_SPARE + 21).map(|name| format!("\"{name}\":[]")).collect();
    assert!(parse(&format!("{{{}}}", names.join(","))).unwrap_err().contains("takes 10 values in all"));
}

#[test]
fn arrays_are_flattened_in_order() {
    assert_eq!(
        names(r#"{"m": [[1, "2"], [[3], "0x4"], []], "e": []}"#),
        [("m".into(), vec![1, 2, 3, 4]), ("e".into(), vec![])]
    );
}

#[test]
fn buses_have_their_names_with_dots_and_indices() {
    let text = r#"{"o": {"x": 1, "y": [2, 3]}, "p": [[{"a": {"b": 4}}], [{"a.b": 5}]], "q.r": 6, "none": {}}"#;
    let expected =
        [("o.x", vec![1]), ("o.y", vec![2, 3]), ("p[0][0].a.b", vec![4]), ("p[1][0].a.b", vec![5]), ("q.r", vec![6])];
    assert_eq!(names(text), expected.map(|(name, values)| (name.to_owned(), values)));
}

#[test]
fn numbers_are_exact_and_negative_ones_mod_r() {
    let input = Input::parse(r#"{"a": [9007199254740993, -1, " 12 ", true, false, -0]}"#).expect("the text is good");
    let (_, values) = input.signals().next().expect("one signal");
    assert_eq!(values[0], [9_007_199_254_740_993, 0, 0, 0]);
    assert_eq!(values[1][0], field::MODULUS[0] - 1);
    assert_eq!(values[2..].iter().map(|value| value[0]).collect::<Vec<_>>(), [12, 1, 0, 0]);
}

#[test]
fn refusals_say_where_and_what() {
    for (text, said) in [
        ("[1]", "1:1: an input is one object"),
        ("{\n \"a\": 1,\n \"a\": 2}", "3:2: `a` is given twice"),
        (r#"{"a": {"b": 1}, "a.b": 2}"#, "1:17: `a.b` is given a second time, first at 1:8"),
        (r#"{"a": 1.5}"#, "1:7: `1.5` of signal `a` is not an integer written out"),
        (r#"{"a": 1e21}"#, "1:7: `1e21` of signal `a` is not an integer written out"),
        (r#"{"a": "one"}"#, "1:7: `one` of signal `a` is not an integer: write"),
        (r#"{"a": ""}"#, "1:7: `` of signal `a` is not an integer: write"),
        (r#"{"a": null}"#, "1:7: `a` is null"),
        (r#"{"a": [1, [2, null]]}"#, "1:15: element 1: `a[1]` is null"),
        (r#"{"a": [1, {"b": 2}]}"#, "1:11: the array `a` holds values and buses"),
        (r#"{"a": [{"b": 2}, 1]}"#, "1:18: the array `a` holds values and buses"),
        (r#"{"": 1}"#, "1:2: a signal without a name"),
    ] {
        let refused = refusal(text);
        assert!(refused.contains(said), "{text} → {refused}");
    }
    let refused = refusal(&format!(r#"{{"a": ["{MODULUS_TEXT}"]}}"#));
    assert!(refused.contains("1:8: element 0: `524358751751261904794477…` of signal `a` is not below r"), "{refused}");
}

#[test]
fn names_cannot_multiply() {
    let text = format!(r#"{{"{}": {{"b": 1}}}}"#, "a".repeat(MAX_NAME));
    assert!(refusal(&text).contains("a name of 1002 bytes"));
}

#[test]
fn files_are_bounded_and_named() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("input.json");
    std::fs::write(&file, b"{\"a\": 1}").expect("a file can be written");
    assert_eq!(Input::open(&file, 8).expect("eight bytes").signals.len(), 1);
    assert!(matches!(Input::open(&file, 7), Err(WasmError::TooLarge { limit: 7, .. })));
    assert!(matches!(Input::open(Path::new("/dev/zero"), 1000), Err(WasmError::Io { .. })));
    std::fs::write(&file, b"{\n \"\xff\": 1}").expect("a file can be written");
    let refused = Input::open(&file, 100).expect_err("not UTF-8").to_string();
    assert!(refused.contains("input.json:2:3: the text is not UTF-8"), "{refused}");
    assert!(matches!(Input::open(&folder.path().join("none"), 100), Err(WasmError::Io { .. })));
}
