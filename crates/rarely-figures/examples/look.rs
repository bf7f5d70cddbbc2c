//! Temporary.
#[allow(dead_code)]
#[path = "../tests/it/review.rs"]
mod review;
fn main() {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    for case in review::cases() {
        let (ground, found) = case.reviewed();
        eprintln!("{} {:?} {:?}", case.name, found.verdict, found.reasons);
        for picture in rarely_figures::review::pictures(&ground, &found) {
            std::fs::write(
                folder.join(format!("{}-{}.png", case.name, picture.name)),
                picture.figure.png(1.5).unwrap(),
            )
            .unwrap();
        }
    }
}
