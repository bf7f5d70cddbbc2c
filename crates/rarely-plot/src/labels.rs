//! Places labels so that they neither overlap nor hide anything.

use crate::clip::{Pixel, Rectangle};

/// Moves places along a line as little as possible so that they are at least `gap` apart and stay between `low` and
/// `high`. The order is kept. If there is no room for all, they begin at `low` and pass `high`.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    struct Block {
        members: Vec<usize>,
        start: f64,
    }
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    // A block of labels that touch stands where the mean of their displacements is 0, inside the limits.
    let settle = |members: &[usize]| {
        let sum: f64 = members.iter().enumerate().map(|(at, &member)| wanted[member] - at as f64 * gap).sum();
        let length = (members.len() - 1) as f64 * gap;
        (sum / members.len() as f64).min(high - length).max(low)
    };
    let mut blocks: Vec<Block> = Vec::new();
    for member in order {
        let mut members = vec![member];
        let mut start = settle(&members);
        while let Some(before) = blocks.pop_if(|before| before.start + before.members.len() as f64 * gap > start) {
            members = [before.members, members].concat();
            start = settle(&members);
        }
        blocks.push(Block { members, start });
    }
    let mut places = vec![0.0; wanted.len()];
    for block in blocks {
        for (at, member) in block.members.into_iter().enumerate() {
            places[member] = block.start + at as f64 * gap;
        }
    }
    places
}

/// A label that wants to be near a place.
pub(crate) struct Wish {
    pub(crate) near: Pixel,
    /// Pixels that the thing labelled takes around the place.
    pub(crate) clearance: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Rectangles for labels beside their places, inside `area`, clear of `obstacles` and of one another if that is
/// possible.
pub(crate) fn beside(wishes: &[Wish], obstacles: &[Rectangle], area: &Rectangle) -> Vec<Rectangle> {
    let mut taken: Vec<Rectangle> = Vec::new();
    for wish in wishes {
        let mut best = (f64::INFINITY, Rectangle::default());
        for (rank, place) in candidates(wish).into_iter().enumerate() {
            let hidden: f64 = obstacles.iter().chain(&taken).map(|other| other.overlap(&place.grown(1.0))).sum();
            let outside = place.width * place.height - place.overlap(area);
            // A place that is clear but farther is better than one that hides something.
            let cost = 1000.0 * hidden + 1000.0 * outside + rank as f64;
            if cost < best.0 {
                best = (cost, place);
            }
        }
        taken.push(best.1);
    }
    taken
}

/// Right, left, above, below, the corners; then farther away.
fn candidates(wish: &Wish) -> Vec<Rectangle> {
    let (x, y) = wish.near;
    let mut places = Vec::new();
    for far in [0.0, 10.0, 20.0, 32.0, 46.0] {
        let away = wish.clearance + far;
        let slant = 0.7 * away;
        let (right, left) = (x + away, x - away - wish.width);
        let (above, below) = (y - away - wish.height, y + away);
        let (centre, middle) = (x - 0.5 * wish.width, y - 0.5 * wish.height);
        let corners = [
            (right, middle),
            (left, middle),
            (centre, above),
            (centre, below),
            (x + slant, y - slant - wish.height),
            (x - slant - wish.width, y - slant - wish.height),
            (x + slant, y + slant),
            (x - slant - wish.width, y + slant),
        ];
        places.extend(corners.map(|(left, top)| Rectangle { left, top, width: wish.width, height: wish.height }));
    }
    places
}
