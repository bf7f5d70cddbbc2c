//! Writes a gallery of every kind of figure, with invented data, into the folder given as argument.

use std::error::Error;
use std::path::PathBuf;

mod figures;
mod state;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: gallery FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    for (name, figure) in figures::invented().into_iter().chain(state::simulated()?) {
        std::fs::write(folder.join(format!("{name}.svg")), figure.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), figure.png(2.0)?)?;
    }
    Ok(())
}
