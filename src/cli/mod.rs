//! The command line: one file for each subcommand.

/// `println!` for a reader who may have left; see [`say`].
macro_rules! say {
    ($($text:tt)*) => {
        $crate::cli::say::line(format_args!($($text)*))
    };
}

/// `eprintln!` for a reader who may have left; see [`say::aside`].
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::cli::say::aside(format_args!($($text)*))
    };
}

mod calibrate;
mod check;
mod exit;
mod explain;
mod export_vk;
mod fil;
mod filecoin;
mod files;
mod line;
mod machine;
mod params;
mod plan;
mod plan_sizes;
mod prove;
mod room;
mod say;
mod setup;
mod sim;
mod sku;
mod stored;
mod sweep;
mod sweep_plot;
mod tune;
mod verify;
mod watch;
mod waterfall;
mod zkey;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Proves Groth16 over BLS12-381, in a pipeline compiled from a stage graph.
#[derive(Parser)]
#[command(name = "proofline", version = plan::version(), max_term_width = 110, after_help = exit::CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Setup(setup::Setup),
    Prove(Box<prove::Prove>),
    Verify(Box<verify::Verify>),
    ExportVk(export_vk::ExportVk),
    Params(params::ParamsCommand),
    Fil(fil::FilCommand),
    Plan(plan::PlanCommand),
    Check(check::Check),
    Explain(explain::Explain),
    Sku(sku::SkuCommand),
    Sim(sim::Sim),
    Calibrate(calibrate::Calibrate),
    Sweep(sweep::Sweep),
    Tune(tune::Tune),
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(said) => return exit::said_by_clap(&said),
    };
    let done = match cli.command {
        Command::Setup(command) => command.run(),
        Command::Prove(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::ExportVk(command) => command.run(),
        Command::Params(command) => command.run(),
        Command::Fil(command) => command.run(),
        Command::Plan(command) => command.run(),
        Command::Check(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Sku(command) => command.run(),
        Command::Sim(command) => command.run(),
        Command::Calibrate(command) => command.run(),
        Command::Sweep(command) => command.run(),
        Command::Tune(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}
