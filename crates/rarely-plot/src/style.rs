//! Colours, dashes and widths.

use std::fmt;

/// A colour, as three bytes. Displayed as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

impl Colour {
    /// The colours of Okabe and Ito's palette, which remain distinct in the common kinds of colour blindness.
    pub const BLACK: Self = Self::new(0x00, 0x00, 0x00);
    /// Okabe–Ito orange.
    pub const ORANGE: Self = Self::new(0xE6, 0x9F, 0x00);
    /// Okabe–Ito sky blue.
    pub const SKY: Self = Self::new(0x56, 0xB4, 0xE9);
    /// Okabe–Ito bluish green.
    pub const GREEN: Self = Self::new(0x00, 0x9E, 0x73);
    /// Okabe–Ito blue.
    pub const BLUE: Self = Self::new(0x00, 0x72, 0xB2);
    /// Okabe–Ito vermilion.
    pub const VERMILION: Self = Self::new(0xD5, 0x5E, 0x00);
    /// Okabe–Ito reddish purple.
    pub const PURPLE: Self = Self::new(0xCC, 0x79, 0xA7);
    /// Paul Tol's indigo.
    pub const INDIGO: Self = Self::new(0x33, 0x22, 0x88);
    /// Paul Tol's wine.
    pub const WINE: Self = Self::new(0x88, 0x22, 0x55);
    /// A dark brown.
    pub const BROWN: Self = Self::new(0x6B, 0x44, 0x0A);
    /// A middle grey.
    pub const GREY: Self = Self::new(0x8C, 0x8C, 0x8C);
    /// A light grey, for what is shaded.
    pub const SHADE: Self = Self::new(0xC8, 0xC8, 0xC8);

    /// A colour from its three bytes.
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// The colour itself if text in it can be read on white (contrast at least 4.5), otherwise a darker shade that can.
    #[must_use]
    pub fn for_text(self) -> Self {
        let mut shade = self;
        while contrast_on_white(shade) < 4.5 {
            shade = Self::new(darker(shade.red), darker(shade.green), darker(shade.blue));
        }
        shade
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

fn darker(channel: u8) -> u8 {
    channel - channel.div_ceil(20)
}

/// Contrast ratio of the web accessibility guidelines.
fn contrast_on_white(colour: Colour) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
    1.05 / (luminance + 0.05)
}

/// How a line is broken. Points show it as a shape: solid is a circle, dashed a square, dotted a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dash {
    /// Unbroken.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
}

/// How a mark looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Of lines, fills and labels.
    pub colour: Colour,
    /// Of lines.
    pub dash: Dash,
    /// Of lines, in pixels.
    pub width: f64,
    /// From 0, invisible, to 1.
    pub opacity: f64,
}

impl Style {
    /// A solid line of ordinary width.
    pub const fn solid(colour: Colour) -> Self {
        Self { colour, dash: Dash::Solid, width: 1.8, opacity: 1.0 }
    }

    /// A dashed line of ordinary width.
    pub const fn dashed(colour: Colour) -> Self {
        Self { dash: Dash::Dashed, ..Self::solid(colour) }
    }

    /// A dotted line of ordinary width.
    pub const fn dotted(colour: Colour) -> Self {
        Self { dash: Dash::Dotted, ..Self::solid(colour) }
    }

    /// The same with another width.
    #[must_use]
    pub const fn wide(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The same with another opacity.
    #[must_use]
    pub const fn faint(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

impl Default for Style {
    fn default() -> Self {
        Self::solid(Colour::BLACK)
    }
}

/// The look of an arm, by its number; repeats after seven.
pub fn style_of_arm(arm: usize) -> Style {
    const COLOURS: [Colour; 7] =
        [Colour::BLUE, Colour::VERMILION, Colour::GREEN, Colour::PURPLE, Colour::ORANGE, Colour::SKY, Colour::BROWN];
    Style::solid(COLOURS[arm % COLOURS.len()])
}
