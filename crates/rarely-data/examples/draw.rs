//! Prints the log of an example.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match rarely_data::ExampleLog::named(&name) {
        Some(example) => print!("{}", example.csv()),
        None => eprintln!("name an example: clinical or pricing"),
    }
}
