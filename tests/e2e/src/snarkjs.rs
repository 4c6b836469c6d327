//! circom and snarkjs as programs, from npm.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed. circom and snarkjs are under the GPL: tests start them, nothing is linked to them.
const PACKAGES: [&str; 2] = ["circom2@0.2.22", "snarkjs@0.7.6"];

/// circom and snarkjs, installed.
pub struct Tools {
    modules: PathBuf,
}

impl Tools {
    /// Finds the tools in `folder`, or installs them there; nothing if that cannot be done, which is said on standard error
    /// even where a test's output is not shown.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Option<Self> {
        let modules = folder.join("node_modules");
        let there = || modules.join("snarkjs/build/cli.cjs").exists() && modules.join("circom2/cli.js").exists();
        if !there() {
            std::fs::create_dir_all(folder).unwrap();
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder).args(PACKAGES);
            let why = match npm.output() {
                Ok(output) if output.status.success() => None,
                Ok(output) => {
                    Some(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned())
                }
                Err(error) => Some(error.to_string()),
            };
            if let Some(why) = why.or_else(|| (!there()).then(|| "npm installed something else".to_owned())) {
                // Past the capture of a test's output: a test that looks at nothing must not look like one that passed.
                let _ = writeln!(std::io::stderr(), "NOT TESTED: snarkjs could not be installed with npm: {why}");
                return None;
            }
        }
        Some(Self { modules })
    }

    /// Runs snarkjs; what it printed, or what it printed when it failed.
    ///
    /// # Errors
    /// Its exit code is not zero.
    pub fn snarkjs(&self, arguments: &[&str], folder: &Path) -> Result<String, String> {
        self.node("snarkjs/build/cli.cjs", arguments, folder)
    }

    /// Compiles a circuit over bls12381 to `NAME.r1cs` and `NAME_js/NAME.wasm` in its folder.
    pub fn circom(&self, name: &str, source: &str, folder: &Path, options: &[&str]) {
        std::fs::write(folder.join(format!("{name}.circom")), source).unwrap();
        let file = format!("{name}.circom");
        let arguments = [&[&*file, "--prime", "bls12381", "--r1cs", "--wasm"], options].concat();
        self.node("circom2/cli.js", &arguments, folder).unwrap();
    }

    fn node(&self, script: &str, arguments: &[&str], folder: &Path) -> Result<String, String> {
        let output = Command::new("node").arg(self.modules.join(script)).args(arguments).current_dir(folder).output();
        let output = output.map_err(|error| error.to_string())?;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        if output.status.success() { Ok(text) } else { Err(text) }
    }
}
