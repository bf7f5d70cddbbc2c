//! Prints the log of a worked example.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match rarely_data::Worked::named(&name) {
        Some(example) => print!("{}", example.log()),
        None => eprintln!("name a worked example: clinical or pricing"),
    }
}
