//! `rarely serve`.

use std::fs;

use crate::program::{Place, talk};
use crate::server::{Server, used};

#[test]
fn the_first_token_is_shown_once() {
    let place = Place::new();
    let server = Server::start(&place, "");
    assert!(server.heard.iter().any(|line| line.contains("rarely_")), "{:?}", server.heard);
    server.stop();
    let server = Server::start(&place, "--durability relaxed");
    assert!(!server.heard.iter().any(|line| line.contains("rarely_")), "{:?}", server.heard);
    assert!(server.heard.iter().any(|line| line.contains("RELAXED")), "{:?}", server.heard);
}

/// Passkeys belong to the address in the browser, so a wrong one is refused before people register any.
#[test]
fn a_public_address_without_passkeys_is_refused() {
    let place = Place::new();
    for (url, words) in [
        ("http://rules.example.org", "only by https"),
        ("https://127.0.0.1", "not to an IP address"),
        ("rules.example.org", "not a web address"),
        ("https://rules.example.org/keys", "has a path"),
    ] {
        let refused =
            place.rarely(&format!("serve --store s.db --listen 127.0.0.1:0 --public-url {url}")).output().unwrap();
        assert!(refused.status.code() == Some(2) && talk(&refused).contains(words), "{url}: {}", talk(&refused));
        assert!(talk(&refused).contains("help: give the address that people type"), "{}", talk(&refused));
    }
}

#[test]
fn tls_is_served_and_trusted() {
    use ureq::tls::{Certificate, RootCerts, TlsConfig};
    let place = Place::new();
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    place.write("cert.pem", made.cert.pem());
    place.write("key.pem", made.signing_key.serialize_pem());
    let server = Server::start(&place, "--cert cert.pem --key key.pem");
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let root = Certificate::from_pem(made.cert.pem().as_bytes()).expect("a certificate");
    let trusting = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[root])).build();
    let agent: ureq::Agent = ureq::Agent::config_builder().tls_config(trusting).build().into();
    let mut response = agent.get(format!("{}/healthz", server.url)).call().expect("an answer by TLS");
    assert!(response.body_mut().read_to_string().expect("text").contains("\"ok\""));
    assert!(ureq::get(format!("{}/healthz", server.url)).call().is_err(), "a stranger's certificate is not trusted");
    let plain = server.url.replace("https://", "http://");
    assert!(ureq::get(format!("{plain}/healthz")).call().is_err(), "plain HTTP is refused");
    server.stop();
}

/// A client that never finishes its request loses its connection, and others do not wait for it.
#[test]
fn a_slow_client_is_disconnected() {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;
    let place = Place::new();
    let server = Server::start(&place, "");
    let address = server.url.strip_prefix("http://").expect("an address");
    let mut slow: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(address).expect("a connection")).collect();
    for stream in &mut slow {
        stream.write_all(b"POST /v1/policies HTTP/1.1\r\nHost: x").expect("sent");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a socket");
    }
    assert_eq!(server.post("", "/v1/policies", "application/toml", "").0, 401, "others are answered meanwhile");
    for mut stream in slow {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("disconnected within half a minute");
    }
    server.stop();
}

/// Connections on which nothing comes take half of the seats if they are from one address, and are ended soon if they are from many.
#[cfg(unix)]
#[test]
fn silent_connections_block_nobody() {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};
    let place = Place::new();
    let server = Server::start_with_files(&place, 512);
    assert!(server.heard.iter().any(|line| line.contains("512 open files")), "{:?}", server.heard);
    let address: SocketAddr = server.url.strip_prefix("http://").expect("an address").parse().expect("an address");
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let connect = |from: u8| -> TcpStream {
        let connected = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from(([127, 0, 0, from], 0)))?;
            socket.connect(address).await?.into_std()
        });
        let stream = connected.expect("a connection");
        stream.set_nonblocking(false).expect("a socket");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a socket");
        stream
    };
    let healthy = || ureq::get(format!("{}/healthz", server.url)).call().is_ok();
    let mut silent: Vec<TcpStream> = (0..600).map(|_| connect(2)).collect();
    assert!(healthy(), "another address is answered");
    silent.extend((0..200).map(|_| connect(3)));
    // The first byte of the preface of HTTP/2, of which no more comes.
    for stream in &mut silent {
        // Those that were refused are gone.
        let _ = stream.write_all(b"P");
    }
    for mut stream in silent {
        // Whether it was refused or waited for: it ends.
        let timed_out =
            stream.read_to_end(&mut Vec::new()).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!timed_out, "it ends");
    }
    assert!(healthy(), "all seats are free again");
    server.stop();
}

#[cfg(unix)]
#[test]
fn the_token_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("admin.token", "something else");
    let output =
        place.rarely("serve --store s.db --listen 127.0.0.1:0 --admin-token-file admin.token").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(place.text("admin.token"), "something else");
    Server::start(&place, "--admin-token-file new.token").stop();
    assert_eq!(fs::metadata(place.path("new.token")).unwrap().permissions().mode() & 0o777, 0o600);
    // A store that has tokens leaves the file alone.
    Server::start(&place, "--admin-token-file admin.token").stop();
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let place = Place::new();
    let output = place.rarely("serve --store s.db --listen 0.0.0.0:0").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("--insecure"), "{}", talk(&output));
    assert!(!place.path("s.db").exists(), "no store was created");
    let server = Server::start(&place, "");
    let second = place.rarely("serve --store s.db --listen 127.0.0.1:0").output().unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(talk(&second).contains("uses this store"), "{}", talk(&second));
    let address = server.url.strip_prefix("http://").unwrap();
    let taken = place.rarely(&format!("serve --store other.db --listen {address}")).output().unwrap();
    assert_eq!(taken.status.code(), Some(2));
    assert!(talk(&taken).contains("--listen"), "{}", talk(&taken));
    let token = place.rarely("token list --store s.db").output().unwrap();
    assert!(token.status.code() == Some(2) && talk(&token).contains("--url"), "{}", talk(&token));
}

/// A witness of the C2SP protocol: it answers with its signature of the checkpoint, first after a conflict.
#[test]
fn witnesses_get_checkpoints_and_their_signatures_are_kept() {
    use rarely_store::{EventLog as _, NoteSigner, NoteVerdict, SqliteLog};
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let place = Place::new();
    let witness = NoteSigner::generate("witness.example");
    let key = witness.key().clone();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, bodies) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for (at, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line.trim() != "" {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body = String::from_utf8(body).unwrap();
            let (_, note) = body.split_once("\n\n").unwrap();
            let text = format!("{}\n", note.split("\n\n").next().unwrap());
            let (status, answer) = match at {
                0 => ("409 Conflict", "1\n".to_owned()),
                _ => ("200 OK", format!("{}\n", witness.sign_note(&text).lines().last().unwrap())),
            };
            write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            )
            .unwrap();
            drop(send.send(body));
        }
    });
    used(&place);
    let options = format!("--witness http://127.0.0.1:{port}/add-checkpoint --witness-key {key} --checkpoint-every 1");
    let server = Server::start(&place, &options);
    let token = place.text("admin.token").trim().to_owned();
    server.post(&token, "/v1/tokens", "application/json", "{\"name\": \"ann\", \"roles\": [\"read\"]}");
    let patience = std::time::Duration::from_secs(60);
    let first = bodies.recv_timeout(patience).expect("a request");
    assert!(first.starts_with("old 0\n\n"), "{first}");
    let second = bodies.recv_timeout(patience).expect("a second attempt");
    assert!(second.starts_with("old 1\n") && !second.starts_with("old 1\n\n"), "with a proof: {second}");
    let until = std::time::Instant::now() + patience;
    let signed = || {
        let log = SqliteLog::open_read_only(&place.path("s.db")).unwrap();
        log.checkpoints(None).unwrap().iter().any(|kept| kept.verdict(&key) == NoteVerdict::Signed)
    };
    while !signed() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(signed(), "the cosignature is kept");
    server.stop();
    place.done("audit verify --store s.db");
    let refused = place.rarely("serve --store s.db --witness http://example.org/x").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(talk(&refused).contains("file:PATH"), "{}", talk(&refused));
}
