//! The file of a gate: its settings are applied, and an error names the line.

use super::*;

fn parsed(text: &str) -> Result<Config, Failure> {
    Config::parse(text, "gate.toml").map(|mut all| all.remove(0))
}

fn refusal(text: &str) -> String {
    parsed(text).expect_err("it is wrong").to_string()
}

// The defaults suit a gate on real traffic: it only observes, admits by tokens (Linux retries in
// whole seconds) and has relief.
#[test]
fn the_defaults_are_those_of_real_traffic() {
    let config = parsed("interface = 'wan0'\nlaw = { law = 'close-probe' }").expect("it is right");
    assert_eq!(config.file.mode, Mode::Observe);
    assert_eq!(config.limiter(), Limiter::TokenBucket);
    let Some(GateLaw::CloseProbe(law)) = &config.law else { panic!("{:?}", config.law) };
    assert!(law.relief);
    assert_eq!(
        (config.file.opener, config.file.ends, config.file.quic),
        (Opens::Either, EndCounting::Cells, Quic::Count)
    );
    assert_eq!((config.tokens_keep, config.file.lease), (2.0, Time::from_secs(2)));
    assert_eq!(config.onset, Time::from_secs(2));
    assert_eq!(config.file.hook, None, "the better one that the kernel has");
    assert_eq!(config.metrics, Some("127.0.0.1:9477".parse().expect("an address")));
    assert!(config.metrics.is_some_and(|address| address.ip().is_loopback()));
    assert_eq!(config.socket, PathBuf::from("/run/tidegate/gate-wan0.sock"));
}

#[test]
fn what_is_said_is_taken() {
    let config = parsed(
        "interface = 'wan0'\nmode = 'enforce'\nlaw = { law = 'fixed-rate', rate = '50/s', limiter = 'counter' }\n\
         opener = 'syn-ack'\nshape = '9.5Mbit'\nmetrics = ''\n\
         never_refuse = { networks = ['192.0.2.0/24', '2001:db8::1'], ports = [22] }\n\
         dqm = { x_m = 10, x_M = 20, P_M = 0.5, buffer = 90 }\n",
    )
    .expect("it is right");
    assert_eq!(config.limiter(), Limiter::Counter);
    // 100 ms of 9.5 Mbit/s
    assert_eq!(config.shape, Some((Rate::from_bps(9_500_000), 118_750)));
    assert_eq!(config.capacity, Some(Rate::from_bps(9_500_000)));
    assert_eq!(config.metrics, None);
    assert_eq!(config.onset, Time::ZERO, "a fixed rate is fixed");
    assert_eq!(config.dqm.as_ref().map(|dqm| (dqm.law.x_m, dqm.buffer)), Some((10.0, 90)));
    // a prefix of 24 bits, then the four bytes of the address
    let mut key = 24u32.to_ne_bytes().to_vec();
    key.extend([192, 0, 2, 0]);
    assert_eq!(config.file.never_refuse.networks[0].key4(), Some(key));
    assert_eq!(config.file.never_refuse.networks[1].key6().map(|key| key.len()), Some(20));
}

// What tide asks of the program: a bucket that saves an epoch's tokens, and no other saving beside it.
#[test]
fn a_law_that_saves_tokens_says_for_how_long() {
    let config = parsed("interface = 'wan0'\nlaw = { law = 'tide' }\nshape = '9.5Mbit'\n");
    let config = config.expect("it is right");
    assert_eq!((config.limiter(), config.tokens_keep), (Limiter::SavingBucket, 0.0));
    assert!(config.rules().hashed && config.rules().young.is_some());
}

// The default of a gate is users; a file may ask for connections, or for no eligibility at all.
#[test]
fn tide_admits_visits_unless_the_file_says_otherwise() {
    let clients = |law: &str| {
        let text = format!("interface = 'wan0'\nlaw = {law}\nshape = '9.5Mbit'\n");
        parsed(&text).expect("it is right").rules().clients.is_some()
    };
    assert!(clients("{ law = 'tide' }") && clients("{ law = 'tide', gamma = 0.2 }"));
    assert!(clients("{ law = 'tide', admit = 'visits' }"), "whose shares are of clients");
    assert!(!clients("{ law = 'tide', admit = 'connections' }"));
    assert!(!clients("{ law = 'tide', admit = 'connections', eligibility = false }"));
    let unsaid = "interface = 'wan0'\nlaw = { law = 'tide', eligibility = false }\nshape = '1Mbit'";
    assert!(refusal(unsaid).contains("write `eligibility = true`, or `admit = \"connections\"`"));
    assert!(!clients("{ law = 'close-probe' }"));
    let admits = |law: &str| {
        let text = format!("interface = 'wan0'\nlaw = {law}\nshape = '9.5Mbit'\n");
        parsed(&text).expect("it is right").admits()
    };
    assert_eq!(admits("{ law = 'tide' }"), "visits");
    assert_eq!(admits("{ law = 'tide', admit = 'clients' }"), "clients");
    assert_eq!(admits("{ law = 'tide', admit = 'visits' }"), "visits");
    assert_eq!(admits("{ law = 'close-probe' }"), "connections");
    assert_eq!(admits("{ law = 'none' }"), "");
    let config = parsed("interface = 'wan0'\nlaw = { law = 'tide' }\nshape = '9.5Mbit'\n");
    let file = config.expect("it is right").file;
    assert_eq!((file.client_ipv4, file.client_ipv6), (32, 64));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let head = "interface = 'wan0'\nlaw = { law = 'close-probe' }\n";
    for (tail, expected) in [
        (
            "ceiling = 1.5\n",
            "gate.toml:3: `ceiling`: 1.5 is out of range: write a number from 0 to 1",
        ),
        ("celing = 0.5\n", "gate.toml:3: unknown key `celing`: did you mean `ceiling`?"),
        (
            "mode = 'obey'\n",
            "gate.toml:3: `mode`: unknown name `obey`: names here: observe, enforce",
        ),
        (
            "\nlease = '0.1s'\n",
            "gate.toml:4: `lease`: 100ms is out of range: write a time from 200ms to 60s",
        ),
        (
            "onset = '61s'\n",
            "gate.toml:3: `onset`: 61s is out of range: write a time from 0s to 60s",
        ),
        ("shape = '1kbit'\n", "gate.toml:3: `shape`: 1kbit is out of range"),
        ("shape = '31Gbit'\n", "write a rate from 8kbit to 30Gbit"),
        (
            "shape_buffer = '2999B'\n",
            "`shape_buffer`: 2.999kB is out of range: write a size from 3000B to 1GB",
        ),
        ("tokens_keep = 61\n", "gate.toml:3: `tokens_keep`: 61 is out of range"),
        ("client_ipv6 = 65\n", "`client_ipv6`: 65 is out of range: write a number from 16 to 64"),
        ("ends_size = 63\n", "`ends_size`: 63 is out of range: write a number from 64 to 16777216"),
        ("priority = 65536\n", "`priority`: 65536 is out of range"),
        ("hook = 'xdp'\n", "gate.toml:3: `hook`: unknown name `xdp`: names here: tcx, clsact"),
        ("flood = { factor = 0.5 }\n", "`flood.factor`: 0.5 is out of range"),
        ("metrics = 'everywhere'\n", "gate.toml:3: metrics: `everywhere` is no address"),
        ("never_refuse = { networks = ['10.0.0.0/33'] }\n", "`10.0.0.0/33` is no network"),
        // with such a network the gate would be said to enforce, and refuse nobody
        ("never_refuse = { networks = ['0.0.0.0/0'] }\n", "`0.0.0.0/0` is every address"),
        ("never_refuse = { networks = ['::1/0'] }\n", "`::1/0` is every address"),
        ("dqm = { x_m = 10, buffer = 90 }\n", "the link's rate is needed"),
        (
            "capacity = '10Mbit'\ndqm = { x_m = 10 }\n",
            "gate.toml:4: `dqm`: the key `buffer` is missing",
        ),
        ("capacity = '10Mbit'\ndqm = { queues = 1, buffer = 9 }\n", "dqm: queues"),
        ("capacity = '10Mbit'\ndqm = { order = 'data', buffer = 9 }\n", "dqm: order"),
    ] {
        let found = refusal(&format!("{head}{tail}"));
        assert!(found.contains(expected), "{tail}: {found}");
    }
    assert!(refusal("interface = 'wan0'\n").contains("the key `law` is missing"));
    assert!(refusal("law = { law = 'none' }\n").contains("the key `interface` is missing"));
    let wrong_law = refusal("interface = 'wan0'\nlaw = { law = 'close-probe', beta = 2 }\n");
    assert!(wrong_law.starts_with("gate.toml:2: law: `beta`: 2 is out of range"), "{wrong_law}");
    let name = refusal("interface = 'wan0'\nlaw = 'gss-ga'\n");
    let remedy = "gate.toml:2: `law`: this is no table: write law = { law = \"gss-ga\" }";
    assert!(name.starts_with(remedy), "{name}");
    let tide = refusal("interface = 'wan0'\nlaw = { law = 'tide' }\n");
    assert!(tide.contains("set `capacity` or `shape`"), "{tide}");
    let python = refusal("interface = 'wan0'\nlaw = { law = 'python', name = 'mine' }\n");
    assert!(python.contains("laboratory"), "{python}");
}

// Every text is taken or refused; none ends the program.
#[test]
fn any_text_is_answered() {
    let whole = "interface = 'wan0'\nlaw = { law = 'close-probe' }\nshape = '9.5Mbit'\ndqm = { x_m = 10, buffer = 90 }\nnever_refuse = { networks = ['10.0.0.0/8'] }\n";
    for cut in 0..whole.len() {
        let _ = parsed(&whole[..cut]);
        for with in ["'", "-", "9", "\u{fffd}", "{"] {
            let _ = parsed(&format!("{}{with}{}", &whole[..cut], &whole[cut + 1..]));
        }
    }
}

/// What keeps a running gate from taking over another file.
fn kept(running: &[Config], new: &[Config]) -> Option<String> {
    obstacle(running, new, "", "gate.toml").map(|it| it.what)
}

#[test]
fn only_some_keys_need_a_new_start() {
    let one = parsed("interface = 'a'\nlaw = { law = 'none' }").expect("it is right");
    let other = parsed("interface = 'b'\nlaw = { law = 'none' }").expect("it is right");
    let differs = |new: &Config| kept(std::slice::from_ref(&one), std::slice::from_ref(new));
    let needs = |key: &str| Some(format!("{key}: a running gate cannot change this"));
    assert_eq!(differs(&other), needs("interface"));
    let mode =
        parsed("interface = 'a'\nmode = 'enforce'\nlaw = { law = 'none' }").expect("it is right");
    assert_eq!(differs(&mode), None);
    let hook = "interface = 'a'\nhook = 'clsact'\nlaw = { law = 'none' }";
    assert_eq!(differs(&parsed(hook).expect("it is right")), needs("hook"));
}

// Of a router: what stands beside the two tables holds for both, and each says what is its own.
#[test]
fn a_file_may_name_both_directions() {
    let text = "mode = 'enforce'\nlaw = { law = 'tide' }\n\n[down]\ninterface = 'lan0'\n\
                capacity = '50Mbit'\n\n[up]\ninterface = 'wan0'\nshape = '9.5Mbit'\nmode = 'observe'\n";
    let all = Config::parse(text, "gate.toml").expect("it is right");
    let found: Vec<_> = all
        .iter()
        .map(|config| {
            let rate = config.capacity.map(|rate| rate.bps());
            (config.file.interface.as_str(), config.direction, config.file.mode, rate)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("lan0", Some(Direction::Down), Mode::Enforce, Some(50_000_000)),
            ("wan0", Some(Direction::Up), Mode::Observe, Some(9_500_000))
        ]
    );
    assert!(all[0].shape.is_none() && all[1].shape.is_some());
    let socket = PathBuf::from("/run/tidegate/gate-lan0+wan0.sock");
    assert!(all.iter().all(|config| config.socket == socket), "one order is for both");
    let one = Config::parse("law = { law = 'none' }\n[down]\ninterface = 'lan0'\n", "gate.toml");
    let one = one.expect("it is right");
    assert_eq!(one[0].socket, PathBuf::from("/run/tidegate/gate-lan0.sock"));
    assert_eq!((one.len(), one[0].direction), (1, Some(Direction::Down)));
    let other = Some("the file names other directions than the gate that runs".to_owned());
    assert_eq!((kept(&one, &all), kept(&all, &one)), (other.clone(), other));
}

#[test]
fn what_is_wrong_in_a_direction_is_named_with_its_line() {
    let law = "law = { law = 'none' }\n";
    for (tail, expected) in [
        ("[down]\n", "gate.toml:2: the key `interface` is missing"),
        (
            "interface = 'wan0'\n[up]\n",
            "gate.toml:2: `interface`: this stands beside [down] and [up], which each have their own",
        ),
        ("down = 'lan0'\n", "gate.toml:2: `down`: not a table: write [down]"),
        ("[up]\ninterface = 'wan0'\nsheip = '1Mbit'\n", "gate.toml:4: unknown key `sheip`"),
        (
            "[down]\ninterface = 'lan0'\n[up]\ninterface = 'wan0'\nlaw = { law = 'tide' }\n",
            "gate.toml:6: law: tide needs the link's rate",
        ),
        (
            "metrics = 'here'\n[down]\ninterface = 'lan0'\n",
            "gate.toml:2: metrics: `here` is no address",
        ),
        (
            "[down]\ninterface = 'wan0'\n[up]\ninterface = 'wan0'\n",
            "[down] and [up] are both at wan0",
        ),
        ("[left]\ninterface = 'wan0'\n", "unknown key `left`"),
    ] {
        let found = refusal(&format!("{law}{tail}"));
        assert!(found.contains(expected), "{tail}: {found}");
    }
}

// A page tells who is refused, and takes orders: others reach it only where the file says how.
#[test]
fn a_page_is_for_this_machine_unless_the_file_names_it() {
    let law = "interface = 'wan0'\nlaw = { law = 'none' }\n";
    let page = |more: &str| parsed(&format!("{law}{more}")).map(|config| config.page);
    assert_eq!(page("").expect("it is right"), None, "nobody who does not ask for one has one");
    let here = page("page = '127.0.0.1:9478'").expect("it is right").expect("a page");
    assert_eq!((here.address.to_string(), here.hosts.len()), ("127.0.0.1:9478".to_owned(), 0));
    let open = refusal(&format!("{law}page = '192.0.2.1:9478'"));
    assert!(open.starts_with("gate.toml:3: page: other machines reach 192.0.2.1:9478"), "{open}");
    let named = page("page = '192.0.2.1:9478'\npage_hosts = ['router.lan']").expect("it is right");
    assert_eq!(named.map(|place| place.hosts), Some(vec!["router.lan".to_owned()]));
    let one = parsed(&format!("{law}page = '127.0.0.1:9478'")).expect("it is right");
    let other = parsed(&format!("{law}page = '127.0.0.1:9479'")).expect("it is right");
    assert!(kept(&[one], &[other]).is_some_and(|what| what.starts_with("page: ")));
}

// Two spellings of one network have one key: the kernel compares the bits of the prefix alone, and a
// reload from one to the other would take the network away.
#[test]
fn a_network_has_one_key_however_it_is_written() {
    let keys = |text: &str| {
        let network: Network = text.parse().expect("a network");
        (network.key4(), network.key6())
    };
    assert_eq!(keys("10.9.1.77/24"), keys("10.9.1.0/24"));
    assert_eq!(keys("10.9.1.77/1"), keys("0.0.0.0/1"));
    assert_eq!(keys("fd09:1::77/64"), keys("fd09:1::/64"));
    assert_ne!(keys("10.9.1.77/32"), keys("10.9.1.0/32"));
    assert_ne!(keys("fd09:1::77"), keys("fd09:1::"));
}

const TIDE: &str = "interface = 'wan0'\nlaw = { law = 'tide' }\nshape = '9.5Mbit'\n";

#[test]
fn keys_that_do_not_fit_each_other_are_refused_with_their_line() {
    let long = format!("socket = '/run/{}'", "x".repeat(103));
    for (line, what) in [
        ("capacity = '95Mbit'", "gate.toml:4: capacity: no more than the 9.5Mbit of `shape`"),
        ("socket = ''", "gate.toml:4: socket: a path of 1 to 107 bytes"),
        (&*long, "gate.toml:4: socket: a path of 1 to 107 bytes"),
        ("page_hosts = ['router.lan']", "gate.toml:4: page_hosts: there is no page"),
        ("page = '127.0.0.1:9000'\nmetrics = '127.0.0.1:9000'", "gate.toml:4: page: `metrics`"),
    ] {
        let found = refusal(&format!("{TIDE}{line}\n"));
        assert!(found.starts_with(what), "{line}: {found}");
    }
    let buffer =
        "interface = 'wan0'\nlaw = { law = 'tide' }\ncapacity = '9Mbit'\nshape_buffer = '9kB'";
    assert!(refusal(buffer).starts_with("gate.toml:4: shape_buffer: there is no shaper"));
}

// The map of the kernel has 1024 places for each version of IP.
#[test]
fn as_many_networks_as_the_kernel_takes() {
    let with = |many: u32| {
        let four = (0..many).map(|n| format!("'10.{}.{}.0/24'", n / 256, n % 256));
        let all: Vec<_> = four.chain(["'fd09::/64'".to_owned()]).collect();
        parsed(&format!("{TIDE}never_refuse = {{ networks = [{}] }}", all.join(",")))
    };
    assert!(with(1024).is_ok());
    let beyond = with(1025).expect_err("one too many").to_string();
    assert!(beyond.starts_with("gate.toml:4: never_refuse: more than 1024"), "{beyond}");
}

// Who mends the law's settings is not told of the rate first, and of them afterwards.
#[test]
fn a_wrong_setting_of_the_law_is_said_before_a_rate_is_asked_for() {
    let wrong = refusal("interface = 'wan0'\nlaw = { law = 'tide', alpha_mim = 5 }\n");
    assert!(wrong.contains("alpha_mim"), "{wrong}");
    let none = refusal("interface = 'wan0'\nlaw = { law = 'tide' }\n");
    assert!(none.starts_with("gate.toml:2: law: tide needs the link's rate"), "{none}");
    // of two directions the line is that of both: which one lacks it is said
    let text = "law = { law = 'tide' }\n[down]\ninterface = 'lan0'\nshape = '1Mbit'\n[up]\ninterface = 'wan0'\n";
    let up = refusal(text);
    assert!(up.contains("gate.toml:1: law: tide") && up.contains("`shape` in [up]"), "{up}");
}

// A name with a port would be a link that nobody can open, `http://[10.9.1.1:9478]:9478`.
#[test]
fn a_host_of_a_page_is_a_name_or_an_address() {
    for (host, good) in [
        ("router.lan", true),
        ("10.9.1.1", true),
        ("fd09:1::1", true),
        ("10.9.1.1:9478", false),
        ("http://router.lan", false),
        ("router lan", false),
        ("", false),
    ] {
        let text = format!("{TIDE}page = '10.9.1.1:9478'\npage_hosts = ['{host}']\n");
        assert_eq!(parsed(&text).is_ok(), good, "{host}");
    }
}

// One of two directions must not change while the other refuses the file.
#[test]
fn both_directions_take_over_a_file_or_neither() {
    let text = |down: &str, up: &str| {
        format!(
            "hook = 'clsact'\nlaw = {{ law = 'tide' }}\n[down]\ninterface = 'lan0'\nshape = '{down}'\n[up]\ninterface = 'wan0'\nshape = '1Mbit'\npriority = {up}\n"
        )
    };
    let read = |text: &str| Config::parse(text, "gate.toml").expect("it is right");
    let running = read(&text("2Mbit", "7"));
    let found =
        |text: &str| obstacle(&running, &read(text), text, "gate.toml").map(|it| it.to_string());
    assert_eq!(found(&text("3Mbit", "7")), None);
    let priority = found(&text("3Mbit", "99")).expect("a gate that runs keeps its priority");
    assert!(priority.starts_with("gate.toml:9: [up] priority: a running gate"), "{priority}");
}

// `dqm` asks no law: a bound of what a law refuses would be said to protect, and would not.
#[test]
fn a_ceiling_without_a_law_is_refused() {
    let text = "interface = 'wan0'\nlaw = { law = 'none' }\nshape = '1Mbit'\nceiling = 0.5\n";
    assert!(parsed(text).is_ok(), "nothing is refused at all");
    let found = refusal(&format!("{text}dqm = {{ x_m = 1, x_M = 2, buffer = 5 }}\n"));
    assert!(found.starts_with("gate.toml:4: ceiling: it bounds a session law"), "{found}");
}

// Who protects a network in one direction goes on protecting the ports of both.
#[test]
fn what_is_never_refused_in_a_direction_is_added_to_what_is_for_both() {
    let text = "law = { law = 'none' }\nnever_refuse = { ports = [53], management = false }\n\
                [down]\ninterface = 'lan0'\nnever_refuse = { networks = ['10.1.0.7'], ports = [80] }\n\
                [up]\ninterface = 'wan0'\n";
    let all = Config::parse(text, "gate.toml").expect("it is right");
    let [down, up] = [0, 1].map(|at| all[at].file.never_refuse.clone());
    let ports = |list: &NeverRefuse| [22, 53, 80].map(|port| list.has_port(port));
    assert_eq!((ports(&down), down.networks.len()), ([false, true, true], 1));
    assert_eq!((ports(&up), up.networks.len()), ([false, true, false], 0));
    // all other keys of a direction are in the place of those above
    let mode =
        "mode = 'enforce'\nlaw = { law = 'none' }\n[up]\ninterface = 'wan0'\nmode = 'observe'\n";
    assert_eq!(Config::parse(mode, "gate.toml").expect("it is right")[0].file.mode, Mode::Observe);
}

// What stands above would not hold, and nobody would hear of it.
#[test]
fn what_cannot_be_added_is_refused_where_it_stands() {
    for (above, told) in [
        ("{ ports = 53 }", "`never_refuse.ports`: a number here, and a list in [up]"),
        ("5", "`never_refuse`: a number here, and a table in [up]"),
        ("{ management = 1 }", "`never_refuse.management`: a number here, and true or false in"),
    ] {
        let text = format!(
            "law = {{ law = 'none' }}\nnever_refuse = {above}\n\
             [up]\ninterface = 'wan0'\nnever_refuse = {{ ports = [80], management = true }}\n"
        );
        let found = refusal(&text);
        assert!(found.starts_with(&format!("gate.toml:2: {told}")), "{found}");
    }
}
