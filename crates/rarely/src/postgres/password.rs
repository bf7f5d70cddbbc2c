//! The password of a database, where libpq looks for it: `PGPASSWORD`, then the file of passwords.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rarely_store::PostgresAddress;

/// The password for an address, if there is one.
pub(super) fn find(address: &PostgresAddress) -> Option<String> {
    if let Some(password) = env::var("PGPASSWORD").ok().filter(|password| !password.is_empty()) {
        return Some(password);
    }
    let file = env::var_os("PGPASSFILE").map(PathBuf::from);
    let file = file.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".pgpass")))?;
    // As libpq does: a file that others can read is not used.
    let others = fs::metadata(&file).ok()?.permissions().mode() & 0o077;
    if others != 0 {
        crate::output::say(&format!("{}: is not used, because others can read it (chmod 600 it)", file.display()));
        return None;
    }
    in_lines(&fs::read_to_string(&file).ok()?, &address.login())
}

/// The password of the first line `host:port:database:user:password` that fits; `*` fits everything.
fn in_lines(text: &str, wanted: &[String; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let fits =
            fields.len() == 5 && fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        fits.then(|| fields[4].clone())
    })
}

/// The fields of a line, in which a backslash keeps a colon or a backslash.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut letters) = (vec![String::new()], line.chars());
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().expect("there is one").extend(letters.next()),
            letter => fields.last_mut().expect("there is one").push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let wanted = ["db.example", "5432", "logs", "reader"].map(str::to_owned);
        let text = "# passwords\nother:5432:logs:reader:no\ndb.example:*:logs:reader:se\\:cr\\\\et\n*:*:*:*:last\n";
        assert_eq!(in_lines(text, &wanted).as_deref(), Some("se:cr\\et"));
        let other = ["elsewhere", "1", "x", "y"].map(str::to_owned);
        assert_eq!(in_lines(text, &other).as_deref(), Some("last"));
        assert_eq!(in_lines("a:b:c\n", &wanted), None);
    }
}
