//! Figures of invented numbers: one of each kind, and the awkward cases.

use rarely_core::{Algorithm, Rng};
use rarely_plot::{
    Anchor, Axis, Bar, Colour, Figure, Legend, Mark, Panel, Point, Scale, Style, style_of_arm, value_text,
};

/// Every figure with its name.
pub(crate) fn invented() -> Vec<(&'static str, Figure)> {
    vec![
        ("line-ends", line_ends()),
        ("paper-three", paper_three()),
        ("grid", grid()),
        ("all-algorithms", all_algorithms()),
        ("lying-bars", lying_bars()),
        ("grouped-bars", grouped_bars()),
        ("scatter", scatter()),
        ("log-axes", log_axes()),
        ("marks", marks()),
        ("awkward", awkward()),
        ("mixed", mixed()),
        ("palette", palette()),
    ]
}

fn names() -> Vec<&'static str> {
    Algorithm::TABLE.iter().map(|row| row.name).collect()
}

/// No two names look the same.
fn look(name: &str) -> Style {
    let at = names().iter().position(|known| *known == name).unwrap_or_default();
    let colour = style_of_arm(at).colour;
    [Style::solid, Style::dashed, Style::dotted][at / 7 % 3](colour)
}

/// A curve that falls like a per-step regret.
fn falling(level: f64, seed: u64) -> Vec<(f64, f64, f64, f64)> {
    let mut rng = Rng::new(seed, 0);
    let mut noise = 0.0;
    let points = (1..=200).map(|step| {
        let t = f64::from(step * 50);
        noise += 0.01 * (rng.uniform() - 0.5);
        let value = level * (0.15 + (40.0 / (t + 40.0)).sqrt()) * (1.0 + noise);
        let spread = 0.12 * value;
        (t, value, value - spread, value + spread)
    });
    points.collect()
}

/// A staircase like a number of changes.
fn changes(last: f64) -> Vec<(f64, f64, f64, f64)> {
    (0..=200)
        .map(|step| {
            let t = f64::from(step * 50);
            let value = last * (t / 10_000.0).powf(0.4);
            (t, value, 0.93 * value, 1.07 * value)
        })
        .collect()
}

const COMPARED: [&str; 8] = [
    "rarely",
    "greedy",
    "rs-greedy",
    "rs-conservative",
    "feasible-greedy",
    "feasible-conservative",
    "linucb",
    "rs-linucb",
];

fn regret_lines(compared: &[&str]) -> Vec<Mark> {
    let line =
        |(at, name): (usize, &&str)| Mark::banded(*name, look(name), &falling(0.02 + 0.007 * at as f64, at as u64));
    compared.iter().enumerate().map(line).collect()
}

fn panel(title: &str, x: Axis, y: Axis, marks: Vec<Mark>) -> Panel {
    Panel { title: title.into(), x, y, marks, ..Panel::default() }
}

fn line_ends() -> Figure {
    let changed: Vec<Mark> = COMPARED
        .iter()
        .enumerate()
        .map(|(at, name)| {
            Mark::banded(*name, look(name), &changes([2.0, 9000.0, 12.0, 14.0, 60.0, 65.0, 9500.0, 240.0][at]))
        })
        .collect();
    let panels = vec![
        panel("a) Regret per round", Axis::linear("round"), Axis::linear("regret per round"), regret_lines(&COMPARED)),
        panel("b) Changes of policy", Axis::linear("round"), Axis::log("changes of policy"), changed),
    ];
    let note = "Mean of 50 draws of the arms, plus and minus one standard error; k = 4 arms, d = 5 context variables, noise σ = 0.1, δ = 1/T.";
    Figure {
        title: "Regret and changes, invented numbers".into(),
        columns: 2,
        panels,
        note: Some(note.into()),
        ..Figure::default()
    }
}

fn paper_three() -> Figure {
    let bars = |values: [f64; 8]| {
        let bar = |(name, value): (&&str, f64)| {
            Bar::new(*name, look(name), value).between((value - 4.0).max(0.0), (value + 5.0).min(100.0))
        };
        vec![Mark::Bars { bars: COMPARED.iter().zip(values).map(bar).collect() }]
    };
    let changed: Vec<Mark> = COMPARED
        .iter()
        .enumerate()
        .map(|(at, name)| Mark::banded(*name, look(name), &changes(3.0 + 30.0 * at as f64)))
        .collect();
    let panels = vec![
        panel("a) Regret per round", Axis::log("round"), Axis::log("regret per round"), regret_lines(&COMPARED)),
        panel("b) Changes of policy", Axis::linear("round"), Axis::linear("changes"), changed),
        panel(
            "c) Rounds below the baseline",
            Axis::default(),
            Axis::linear("% of rounds"),
            bars([1.5, 2.25, 4.0, 3.1, 0.0, 7.7, 21.0, 33.3]),
        ),
        panel(
            "d) Changes that lower regret",
            Axis::default(),
            Axis::linear("% of changes"),
            bars([100.0, 52.0, 88.0, 93.5, 61.0, 64.0, 50.2, 51.0]),
        ),
    ];
    Figure {
        title: "Simulation: four measures, all algorithms on equal luck".into(),
        columns: 2,
        panels,
        legend: Legend::Below,
        note: Some("Bands: one standard error. Whiskers: 95 % intervals.".into()),
    }
}

fn grid() -> Figure {
    let mut panels = Vec::new();
    for dimension in [2, 5, 20, 50, 200] {
        for arms in [2, 4, 6, 8] {
            let title = format!("k = {arms}, d = {dimension}");
            panels.push(panel(
                &title,
                Axis::linear("round"),
                Axis::log("regret per round"),
                regret_lines(&COMPARED[..6]),
            ));
        }
    }
    Figure {
        title: "Regret for other numbers of arms and variables".into(),
        columns: 4,
        panels,
        legend: Legend::Below,
        note: None,
    }
}

fn all_algorithms() -> Figure {
    let panels = vec![panel(
        "",
        Axis::linear("round"),
        Axis::log("regret per round (mean ± standard error over fifty draws)"),
        regret_lines(&names()),
    )];
    Figure { title: "All algorithms".into(), panels, ..Figure::default() }
}

fn lying_bars() -> Figure {
    let names = names();
    let bars = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let value = 0.0074 * (1.0 + at as f64).powf(1.3);
            Bar::new(*name, look(name), value).between(0.9 * value, 1.13 * value)
        })
        .collect();
    let categories = names.iter().map(|&name| name.into()).collect();
    let panels =
        vec![panel("", Axis::linear("regret per round"), Axis::names("", categories), vec![Mark::Bars { bars }])];
    Figure { title: "Regret after 10,000 rounds".into(), panels, ..Figure::default() }
}

fn grouped_bars() -> Figure {
    let set = |name: &str, colour, values: [f64; 3]| Mark::Bars {
        bars: values.map(|value| Bar::new(name, Style::solid(colour), value).between(value - 0.6, value + 0.6)).into(),
    };
    let marks = vec![
        set("before", Colour::SKY, [3.0, -2.0, 4.5]),
        set("after", Colour::BLUE, [5.25, 1.0, 6.0]),
        set("best possible", Colour::VERMILION, [6.0, 1.5, 6.5]),
    ];
    let categories = vec!["children".into(), "adults".into(), "elderly".into()];
    let panels = vec![panel("", Axis::names("group", categories), Axis::linear("gain, points"), marks)];
    Figure { title: "Gain by group".into(), panels, ..Figure::default() }
}

fn scatter() -> Figure {
    let mut rng = Rng::new(5, 0);
    let marks: Vec<Mark> = names()
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let changes = if at < 3 { 0.0 } else { 10.0_f64.powf(4.0 * rng.uniform()) };
            let regret = 0.005 * 10.0_f64.powf(1.6 * rng.uniform());
            let point = Point::new(changes, regret)
                .y_between(0.85 * regret, 1.2 * regret)
                .x_between(0.8 * changes, 1.3 * changes)
                .labelled(*name);
            let point = if at % 4 == 3 { point.outlined() } else { point };
            Mark::Points { name: (*name).into(), style: look(name), points: vec![point] }
        })
        .collect();
    let frontier = Mark::Step {
        name: "frontier".into(),
        style: Style::dashed(Colour::GREY),
        points: vec![(0.1, 0.1), (3.0, 0.03), (40.0, 0.012), (900.0, 0.006), (9000.0, 0.005)],
    };
    let marks = [vec![frontier], marks].concat();
    let panels = vec![panel("", Axis::log("changes of policy (0 at the edge)"), Axis::log("regret per round"), marks)];
    Figure { title: "Regret against changes".into(), panels, legend: Legend::LineEnds, ..Figure::default() }
}

fn log_axes() -> Figure {
    let spans = [
        (1.0, 1e6, "six decades"),
        (0.0013, 0.0061, "less than a decade"),
        (0.92, 1.11, "a tenth"),
        (20.0, 900.0, "two"),
        (1e-9, 1e9, "eighteen"),
        (3.0, 40.0, "over one"),
    ];
    let panels = spans
        .into_iter()
        .map(|(low, high, title): (f64, f64, &str)| {
            let points = (0..=20)
                .map(|step| {
                    let share = f64::from(step) / 20.0;
                    (low * (high / low).powf(share), low * (high / low).powf(share * share))
                })
                .collect();
            panel(title, Axis::log("x"), Axis::log("y"), vec![Mark::line("series", Style::solid(Colour::BLUE), points)])
        })
        .collect();
    Figure { title: "Logarithmic axes".into(), columns: 3, panels, legend: Legend::Below, note: None }
}

fn marks() -> Figure {
    let marks = vec![
        Mark::Area {
            name: "allowed".into(),
            style: Style::solid(Colour::GREEN).faint(0.2),
            outline: vec![(1.0, -2.0), (4.0, -3.0), (6.0, 1.0), (3.0, 4.0)],
        },
        Mark::line("a line", Style::solid(Colour::ORANGE), vec![(0.0, 0.0), (2.0, 3.0), (5.0, 1.0), (8.0, 5.0)]),
        Mark::Step {
            name: "stairs".into(),
            style: Style::dotted(Colour::INDIGO),
            points: vec![(0.0, -3.0), (3.0, -1.0), (8.0, 4.6)],
        },
        Mark::vertical("start", Style::dashed(Colour::BLACK).wide(1.2), 2.9),
        Mark::vertical("change", Style::dashed(Colour::INDIGO).wide(1.2), 3.1),
        Mark::vertical("second change", Style::dashed(Colour::WINE).wide(1.2), 3.4),
        Mark::horizontal("baseline", Style::solid(Colour::GREY).wide(1.2), 4.8),
        Mark::Arrow { from: (6.0, -2.0), to: (7.5, -2.5), style: Style::solid(Colour::VERMILION) },
        Mark::Text {
            at: (5.9, -2.0),
            text: "look <here> & there".into(),
            anchor: Anchor::End,
            colour: Colour::VERMILION,
        },
    ];
    let custom = Axis {
        ticks: Some(vec![(0.0, "Monday".into()), (4.0, "Friday".into()), (8.0, "Tuesday".into())]),
        ..Axis::linear("day")
    };
    Figure {
        title: "Every mark".into(),
        panels: vec![panel("", custom, Axis::linear("outcome"), marks)],
        ..Figure::default()
    }
}

fn awkward() -> Figure {
    let nan = f64::NAN;
    let line = |points: Vec<(f64, f64)>| vec![Mark::line("series", Style::solid(Colour::VERMILION).wide(3.2), points)];
    let gaps = vec![(0.0, 1.0), (1.0, nan), (2.0, 3.0), (3.0, 2.0), (4.0, f64::INFINITY), (5.0, 4.0), (6.0, 3.0)];
    let zeros = (0..50).map(|t| (f64::from(t), if t < 20 { 0.0 } else { f64::from(t) - 19.0 })).collect();
    let huge = vec![(0.0, -1e300), (1.0, 1e300), (2.0, 1e-300)];
    let bars = vec![Mark::Bars {
        bars: vec![
            Bar::new("known", Style::solid(Colour::VERMILION).wide(3.2), 3.0).between(nan, 4.0),
            Bar::new("unknown", Style::default(), nan),
            Bar::new("an option with a long name", Style::solid(Colour::ORANGE), 0.0),
        ],
    }];
    let wide = Axis { scale: Scale::Linear, range: Some((0.0, 1.0)), ..Axis::linear("clipped") };
    let clipped =
        vec![Mark::banded("series", Style::dashed(Colour::BLUE), &[(-1.0, -5.0, -9.0, 2.0), (2.0, 6.0, 3.0, 9.0)])];
    let panels = vec![
        panel("nothing", Axis::linear("x"), Axis::linear("y"), Vec::new()),
        panel("only NaN", Axis::linear("x"), Axis::log("y"), line(vec![(nan, nan), (1.0, nan)])),
        panel("gaps", Axis::linear("x"), Axis::linear("y"), line(gaps)),
        panel("zeros on a log axis", Axis::linear("x"), Axis::log("y"), line(zeros)),
        panel("one point", Axis::linear("x"), Axis::linear("y"), line(vec![(3.0, 7.0)])),
        panel("huge", Axis::linear("x"), Axis::linear("y"), line(huge)),
        panel("bars", Axis::default(), Axis::linear("y"), bars),
        panel("clipped", wide.clone(), wide, clipped),
        panel("constant", Axis::linear("x"), Axis::log("y"), line(vec![(1.0, 0.3), (9.0, 0.3)])),
    ];
    let note = format!("A missing value is written {}.", value_text(nan));
    Figure { title: "Awkward data <&> \"quotes\"".into(), columns: 3, panels, legend: Legend::Below, note: Some(note) }
}

fn palette() -> Figure {
    let count = names().len() as f64;
    let marks = names()
        .iter()
        .enumerate()
        .map(|(at, name)| Mark::line(*name, look(name), vec![(0.0, count - at as f64), (1.0, count - at as f64)]))
        .collect();
    let panels = vec![panel("", Axis::hidden(), Axis::hidden(), marks)];
    Figure { title: "The look of each series".into(), panels, ..Figure::default() }
}

/// Bars that lie, on an axis with fixed ends, under panels with lines.
fn mixed() -> Figure {
    let bars = |values: [f64; 8]| {
        let bar = |(name, value): (&&str, f64)| Bar::new(*name, look(name), value).between(value - 4.0, value + 5.0);
        vec![Mark::Bars { bars: COMPARED.iter().zip(values).map(bar).collect() }]
    };
    let names = || Axis::names("", COMPARED.map(String::from).into());
    let percent = |label: &str| Axis::linear(label).between(0.0, 100.0);
    let upright = Axis { range: Some((0.0, 100.0)), ..Axis::linear("%") };
    let panels = vec![
        panel("a) Regret per step", Axis::log("round"), Axis::log("regret per step"), regret_lines(&COMPARED)),
        panel("b) Regret of few", Axis::log("round"), Axis::log("regret per step"), regret_lines(&COMPARED[..3])),
        panel("c) Lying", percent("% of rounds"), names(), bars([1.5, 2.25, 4.0, 3.1, 0.0, 7.7, 98.0, 33.3])),
        panel("d) Upright", Axis::default(), upright, bars([100.0, 52.0, 88.0, 93.5, 61.0, 64.0, 50.2, 51.0])),
    ];
    Figure { title: "Lines above, bars below".into(), columns: 2, panels, ..Figure::default() }
}
