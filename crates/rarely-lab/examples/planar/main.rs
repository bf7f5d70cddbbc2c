//! Writes pictures of what small simulated policies with two context variables know, into the directory given as argument.

use std::error::Error;
use std::path::PathBuf;

mod state;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: planar DIRECTORY")?);
    std::fs::create_dir_all(&directory)?;
    for (name, figure) in state::simulated()? {
        for (file, contents) in figure.files(name)? {
            std::fs::write(directory.join(file), contents)?;
        }
    }
    Ok(())
}
