//! Drills: when one fails, what it says then, and what is refused. The host is that of
//! docs/own-host.md, which answers each datagram and sends again after a second.

#[path = "../../../examples/own_host.rs"]
mod own;

use tidegate_core::drill::{self, PathEnd, Subject};
use tidegate_core::host::{Ends, Host, Mark, Order, Report};
use tidegate_core::units::Time;

/// Plays a situation of an upload of two datagrams over 50 ms.
fn play(lines: &str) -> Result<usize, String> {
    let script = format!("About.\n\n== One\nstacks: simple\ntransfer: upload 2000\n{lines}\n");
    drill::play(&script, &mut |name| {
        let words = |_: PathEnd, datagram: &[u8]| {
            format!("{}:{}:{}", char::from(datagram[0]), datagram[4], datagram[3])
        };
        let stack = Box::new(own::connect);
        (name == "simple").then(|| Subject { stack, words: Box::new(words) })
    })
}

fn complaint(lines: &str) -> String {
    play(lines).expect_err("it is wrong")
}

/// By hand: a hello and its answer take 100 ms, then both datagrams and the end leave at once. The
/// hello has the bytes 5, a datagram 1200 at most.
#[test]
fn a_situation_holds_when_all_its_lines_hold() {
    let lines = "path: 50\n0 client -> h:@5:not-ect opening\n50 server -> a:0\n\
                 100 client -> d:0:@1200 d:1 e:2\n101..300 client -> nothing over complete\n\
                 150..200 server -> a*3 delivered 2000 lost 0";
    assert_eq!(play(lines), Ok(1));
    assert_eq!(play("path: 50\n100 client -> d ...\n0..100 client -> h any*3"), Ok(1));
}

/// Each of these is wrong in one thing: a time, a kind, a part, a count, a number, a state.
#[test]
fn a_situation_fails_with_its_line_and_what_was_sent() {
    for line in [
        "99 client -> d d e",
        "100 client -> d e e",
        "100 client -> d:1 d:1 e",
        "100 client -> d e",
        "100 client -> d d e e",
        "100..300 server -> nothing",
        "300 server -> delivered 1999",
        "300 server -> delivered none",
        "100 client -> over",
    ] {
        let told = complaint(&format!("path: 50\n{line}\n400 client -> over"));
        assert!(told.contains(&format!("One (simple)\n    {line}: ")), "{told}");
        assert!(told.contains("100 client 1 d:0:0:@1200"), "{told}");
    }
}

/// What becomes of a datagram on its way, by the times at which the server answers: a datagram that
/// is lost goes again a second after the last answer; one that is held, and its copy, come later.
#[test]
fn the_path_does_what_the_script_says() {
    let cases = [
        ("client 0 lost", "1050 server -> a:0"),
        ("client at 0..1 lost", "1050 server -> a:0"),
        ("client 0..2 lost", "2050 server -> a:0"),
        ("client 0 held 7", "57 server -> a:0"),
        ("client 0 twice 7", "57 server -> a:0"),
        ("server 0 lost", "1050 server -> a:0"),
        ("client 1.. lost", "51..2000 server -> nothing"),
        ("client 0 unmarked, client 0 marked", "50 server -> a:0"),
    ];
    for (path, line) in cases {
        assert_eq!(play(&format!("path: 50, {path}\n{line}")), Ok(1), "{path}");
    }
}

/// A line `here` holds where the host differs in that way, and fails where it does what is asked for.
#[test]
fn what_differs_has_to_differ_as_it_says() {
    let lines = |asked: &str, here: &str, verdict: &str| {
        format!("path: 50, client 2 lost\nverdict: {verdict}\n{asked}\n    here {here}")
    };
    let asked = "200 client -> d:1";
    assert_eq!(play(&lines(asked, "1200 -> d:1 e", "differs")), Ok(1));
    assert_eq!(play(&lines(asked, "simple 1200 -> d:1 e", "simple differs")), Ok(1));
    let otherwise = complaint(&lines(asked, "1200 -> d:1", "differs"));
    assert!(otherwise.contains("differs in another way than `here`: 1200 d:1:0"), "{otherwise}");
    let same = complaint(&lines("1200 client -> d:1 e", "-> nothing", "differs"));
    assert!(same.contains("does now what is asked for"), "{same}");
    let unsaid = complaint(&lines(asked, "1200 -> d:1 e", "same"));
    assert!(unsaid.contains("the verdict does not fit: a line `here` differs"), "{unsaid}");
    let nothing = complaint("path: 50\nverdict: differs\n0 client -> h");
    assert!(nothing.contains("the verdict does not fit: no line `here` says how"), "{nothing}");
}

/// A host that sends without end is found, and not waited for.
#[test]
fn a_host_that_never_rests_is_named() {
    struct Restless;
    impl Host for Restless {
        fn receive(&mut self, _: Time, _: &[u8], _: Mark) {}

        fn transmit(&mut self, _: Time, datagram: &mut Vec<u8>) -> Option<Mark> {
            datagram.push(0);
            Some(Mark::None)
        }

        fn wake(&mut self) -> Time {
            Time::NEVER
        }

        fn poll(&mut self, _: Time, _: Order) -> Report {
            Report::default()
        }
    }
    let script = "\n== One\nstacks: any\npath: 50\n0 client -> nothing";
    let told = drill::play(script, &mut |_| {
        let ends = |_: &_| Ends { client: Box::new(Restless), server: Box::new(Restless) };
        Some(Subject { stack: Box::new(ends), words: Box::new(|_, _| "x".to_owned()) })
    });
    assert_eq!(told, Err("One: there is no end to what the hosts do at 0 ms".to_owned()));
}

/// A script that plays nothing would hold whatever a host does.
#[test]
fn a_script_without_a_situation_is_refused() {
    for script in ["", "About.\n", "About.\n\n= One\npath: 50\n0 client -> h"] {
        let told = drill::play(script, &mut |_| None).expect_err(script);
        assert_eq!(told, "the script has no situation: begin one by a line `== NAME`");
    }
}

/// What cannot be read is refused with its line and what it should be.
#[test]
fn a_script_that_cannot_be_read_names_the_line() {
    let cases = [
        ("0 client -> h", "it has no path: add a line `path: MS`"),
        ("path: 50", "it says nothing of what leaves"),
        ("path: soon\n0 client -> h", "`soon` is no time in milliseconds"),
        ("path: 50, client 0 eaten\n0 client -> h", "otherwise than with lost, held MS"),
        ("path: 50, router 0 lost\n0 client -> h", "`router` is no end"),
        ("path: 50, client\n0 client -> h", "does not say which datagrams"),
        ("path: 50\n0 peer -> h", "`peer` is no end: it is `client` or `server`"),
        ("path: 50\n0 client dance", "`dance` is no event: there are stop, abort"),
        ("path: 50\n0 client stop -> h", "an event has a line of its own"),
        ("path: 50\nhere -> h", "it stands below no line with an arrow"),
        ("path: 50\n0 client -> cwnd", "no number stands behind `cwnd`"),
        ("path: 50\n0 client -> h*many", "`many` is no whole number"),
        ("path: 50\n0 client -> h\nhere other -> h", "`other` is none of its stacks"),
        ("path: 50\nverdict: good\n0 client -> h", "a verdict is `same`, `differs`"),
        ("path: 50\nhosts: two\n0 client -> h", "no line begins with `hosts:`"),
        ("path: 50\ntransfer: up\n0 client -> h", "a transfer is `upload` or `download`"),
    ];
    for (lines, what) in cases {
        let told = complaint(lines);
        assert!(told.starts_with("One: `") && told.contains(what), "{lines}: {told}");
    }
    let other = complaint("path: 50\nstacks: other\n0 client -> h");
    assert!(other.contains("no stack has the name other"), "{other}");
}
