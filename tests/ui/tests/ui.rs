//! Illegal stages and graphs, compiled for real. `TRYBUILD=overwrite cargo test -p proofline-ui-tests` accepts what
//! rustc prints now.

#![allow(missing_docs)]

#[test]
fn what_rustc_prints() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/graph/good.rs");
    cases.compile_fail("tests/stage/*.rs");
    cases.compile_fail("tests/graph/fail_*.rs");
}
