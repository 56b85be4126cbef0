//! The command `shard-opt`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
