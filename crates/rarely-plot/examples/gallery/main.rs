//! Writes a gallery of every kind of figure, with invented data, into the directory given as argument.

use std::error::Error;
use std::path::PathBuf;

mod figures;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: gallery DIRECTORY")?);
    std::fs::create_dir_all(&directory)?;
    for (name, figure) in figures::invented() {
        for (file, contents) in figure.files(name)? {
            std::fs::write(directory.join(file), contents)?;
        }
    }
    Ok(())
}
