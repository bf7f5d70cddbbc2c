//! Geometry in pixels: rectangles, and the part of a line or polygon that lies in one.

/// A place on the drawing, in pixels from its top left corner.
pub(crate) type Pixel = (f64, f64);

/// A rectangle of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rectangle {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn contains(&self, inner: &Self) -> bool {
        inner.left >= self.left
            && inner.right() <= self.right()
            && inner.top >= self.top
            && inner.bottom() <= self.bottom()
    }

    /// The area that two rectangles share.
    pub(crate) fn overlap(&self, other: &Self) -> f64 {
        let width = self.right().min(other.right()) - self.left.max(other.left);
        let height = self.bottom().min(other.bottom()) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    /// The same, larger on every side.
    pub(crate) fn grown(&self, by: f64) -> Self {
        Self { left: self.left - by, top: self.top - by, width: self.width + 2.0 * by, height: self.height + 2.0 * by }
    }
}

/// The parts of a line that lie in a rectangle.
pub(crate) fn line(points: &[Pixel], area: &Rectangle) -> Vec<Vec<Pixel>> {
    let mut parts: Vec<Vec<Pixel>> = Vec::new();
    let mut open = false;
    for pair in points.windows(2) {
        let Some((from, to)) = segment(pair[0], pair[1], area) else {
            open = false;
            continue;
        };
        match parts.last_mut() {
            Some(part) if open => part.push(to),
            _ => parts.push(vec![from, to]),
        }
        open = to == pair[1];
    }
    parts
}

/// The part of a segment in a rectangle (Liang and Barsky).
fn segment(from: Pixel, to: Pixel, area: &Rectangle) -> Option<(Pixel, Pixel)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    let edges = [
        (-dx, from.0 - area.left),
        (dx, area.right() - from.0),
        (-dy, from.1 - area.top),
        (dy, area.bottom() - from.1),
    ];
    for (slope, distance) in edges {
        if slope == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if slope < 0.0 {
            start = start.max(distance / slope);
        } else {
            end = end.min(distance / slope);
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    (start <= end).then(|| (if start > 0.0 { at(start) } else { from }, if end < 1.0 { at(end) } else { to }))
}

/// The part of a polygon in a rectangle (Sutherland and Hodgman).
pub(crate) fn polygon(points: &[Pixel], area: &Rectangle) -> Vec<Pixel> {
    let mut corners = points.to_vec();
    for side in 0..4 {
        let depth = |point: Pixel| match side {
            0 => point.0 - area.left,
            1 => area.right() - point.0,
            2 => point.1 - area.top,
            _ => area.bottom() - point.1,
        };
        let mut kept = Vec::with_capacity(corners.len() + 2);
        for (at, &corner) in corners.iter().enumerate() {
            let before = corners[(at + corners.len() - 1) % corners.len()];
            let (d0, d1) = (depth(before), depth(corner));
            if (d0 >= 0.0) != (d1 >= 0.0) {
                let share = d0 / (d0 - d1);
                kept.push((before.0 + share * (corner.0 - before.0), before.1 + share * (corner.1 - before.1)));
            }
            if d1 >= 0.0 {
                kept.push(corner);
            }
        }
        corners = kept;
    }
    corners
}

/// Leaves out points of a line that lie within `tolerance` pixels of it without them (Ramer, Douglas and Peucker).
pub(crate) fn simplify(points: &[Pixel], tolerance: f64) -> Vec<Pixel> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut spans = vec![(0, points.len() - 1)];
    while let Some((first, last)) = spans.pop() {
        let farthest = (first + 1..last)
            .map(|at| (at, distance(points[at], points[first], points[last])))
            .fold((first, tolerance), |most, next| if next.1 > most.1 { next } else { most });
        if farthest.0 > first {
            keep[farthest.0] = true;
            spans.push((first, farthest.0));
            spans.push((farthest.0, last));
        }
    }
    points.iter().zip(keep).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// From a point to a segment.
fn distance(point: Pixel, from: Pixel, to: Pixel) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length_squared = dx * dx + dy * dy;
    let along = if length_squared > 0.0 {
        (((point.0 - from.0) * dx + (point.1 - from.1) * dy) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - from.0 - along * dx).hypot(point.1 - from.1 - along * dy)
}
