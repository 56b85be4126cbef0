//! Arguments of the program from `.npy` files: `--input=NUMBER:FILE`.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use shard_ir::Module;
use shard_opt::run::{self, Input};

use super::Failure;
use super::io::Source;

/// An argument's number and the file that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputFile {
    index: usize,
    file: PathBuf,
}

impl FromStr for InputFile {
    type Err = String;

    fn from_str(text: &str) -> Result<InputFile, String> {
        let (index, file) = text.split_once(':').ok_or("expected a number, ':' and a file")?;
        let index = index.parse().map_err(|_| format!("'{index}' is no number of an argument"))?;
        Ok(InputFile { index, file: PathBuf::from(file) })
    }
}

/// Reads the files, each as elements of its argument's type.
pub(crate) fn read(
    files: &[InputFile],
    source: &Source,
    module: &Module,
) -> Result<Vec<Input>, Failure> {
    let read = |InputFile { index, file }: &InputFile| {
        let element = run::element_of(module, *index).map_err(|error| source.fail(&error))?;
        let bytes =
            std::fs::read(file).with_context(|| format!("can't read '{}'", file.display()))?;
        let array = run::read_npy(&bytes, element)
            .with_context(|| format!("--input={index}:{}", file.display()))?;
        Ok(Input { index: *index, array })
    };
    files.iter().map(read).collect()
}
