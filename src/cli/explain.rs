//! `proofline explain`: the page of an error code.

use clap::Args;
use proofline::Error;

use super::exit::Fault;

/// Prints the page of an error code: the rule, a bad example with its error, the fix.
#[derive(Args)]
#[command(after_help = "Example:\n  proofline explain PL0107")]
pub struct Explain {
    /// The code, as an error of the build or of `check` shows it; without it, all codes are listed
    code: Option<String>,
}

impl Explain {
    pub fn run(&self) -> Result<(), Fault> {
        let Some(code) = &self.code else {
            for (code, name, rule) in pipeline_graph::explain::codes() {
                say!("{code}  {name}: {rule}");
            }
            return Ok(());
        };
        // `107` and `0107` are PL0107.
        let digits = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit());
        let full = if digits { format!("PL{code:0>4}") } else { code.to_uppercase() };
        let Some(page) = pipeline_graph::explain(&full) else {
            return Err(
                Error::BadText(format!("there is no error code `{code}`: `proofline explain` lists them")).into()
            );
        };
        say!("{page}");
        Ok(())
    }
}
