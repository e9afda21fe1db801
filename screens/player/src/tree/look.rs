//! What a widget looks like: its values after precedence, one struct a widget.

use std::rc::Rc;

use taffy::{
    AlignContent, AlignItems, AlignSelf, Dimension, Display, FlexDirection, FlexWrap, JustifyContent, LengthPercentage,
    LengthPercentageAuto, Position, Rect, Size, Style,
};

use crate::paint::gradient::Gradient;
use crate::stream::Value;
use crate::stream::codes::Property;

/// Properties that change by steps.
pub const ANIMATED: [Property; 9] = [
    Property::Opacity,
    Property::X,
    Property::Y,
    Property::Scale,
    Property::Rotate,
    Property::Background,
    Property::BorderRadius,
    Property::BorderColor,
    Property::Color,
];

/// Place of a property among [`ANIMATED`].
pub fn animated(property: Property) -> Option<usize> {
    ANIMATED.iter().position(|other| *other == property)
}

/// Bits of the values of [`ANIMATED`]: floats, or colours `0xRRGGBBAA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps(pub [u32; 9]);

impl Default for Steps {
    fn default() -> Self {
        let one = 1.0_f32.to_bits();
        Self([one, 0, 0, one, 0, 0, 0, 0, 0xffff_ffff])
    }
}

impl Steps {
    fn number(&self, index: usize) -> f32 {
        f32::from_bits(self.0[index])
    }

    /// 0 to 1.
    pub fn opacity(&self) -> f32 {
        self.number(0).clamp(0.0, 1.0)
    }

    /// Pixels to the right.
    pub fn x(&self) -> f32 {
        self.number(1)
    }

    /// Pixels down.
    pub fn y(&self) -> f32 {
        self.number(2)
    }

    /// Factor.
    pub fn scale(&self) -> f32 {
        self.number(3)
    }

    /// Degrees clockwise.
    pub fn rotate(&self) -> f32 {
        self.number(4)
    }

    /// `0xRRGGBBAA`.
    pub fn background(&self) -> u32 {
        self.0[5]
    }

    /// Pixels.
    pub fn radius(&self) -> f32 {
        self.number(6).max(0.0)
    }

    /// `0xRRGGBBAA`.
    pub fn border_color(&self) -> u32 {
        self.0[7]
    }

    /// `0xRRGGBBAA`.
    pub fn color(&self) -> u32 {
        self.0[8]
    }
}

/// What shapes a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextStyle {
    /// The text itself.
    pub text: Rc<str>,
    /// Pixels.
    pub size: f32,
    /// 100 to 900.
    pub weight: i32,
    /// Name of a font.
    pub family: Rc<str>,
    /// In units of the size.
    pub line_height: f32,
    /// 0 left, 1 centre, 2 right.
    pub align: i32,
    /// 0: no limit.
    pub max_lines: usize,
}

/// Values of a widget.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Values that change by steps, without animations.
    pub steps: Steps,
    /// Whether neither the widget nor what is below it is drawn.
    pub hidden: bool,
    /// Whether it clips what is below.
    pub clip: bool,
    /// Order among siblings.
    pub z: i32,
    /// Gradient over the background.
    pub gradient: Option<Rc<Gradient>>,
    /// Pixels.
    pub border_width: f32,
    /// Address of the image, empty for none.
    pub image: Option<Rc<str>>,
    /// 0 cover, 1 contain, 2 fill.
    pub fit: i32,
    /// Text with its font.
    pub text: Option<TextStyle>,
    /// Whether events tell of the widget.
    pub reports: bool,
}

/// Values on their way to a look and a layout style: sources are applied from the weakest to the strongest.
pub struct Resolver<'a> {
    /// For layout.
    pub flex: Style,
    /// For drawing.
    pub look: Look,
    gradient: Option<&'a Rc<str>>,
    text: Option<&'a Rc<str>>,
    size: f32,
    weight: i32,
    family: Option<&'a Rc<str>>,
    line_height: f32,
    align: i32,
    max_lines: i32,
}

const FONT_MAX: f32 = 2048.0;

const ALIGN_ITEMS: [AlignItems; 4] =
    [AlignItems::STRETCH, AlignItems::FLEX_START, AlignItems::CENTER, AlignItems::FLEX_END];
const ALIGN_CONTENT: [AlignContent; 6] = [
    AlignContent::FLEX_START,
    AlignContent::CENTER,
    AlignContent::FLEX_END,
    AlignContent::STRETCH,
    AlignContent::SPACE_BETWEEN,
    AlignContent::SPACE_AROUND,
];
const JUSTIFY: [JustifyContent; 6] = [
    JustifyContent::FLEX_START,
    JustifyContent::CENTER,
    JustifyContent::FLEX_END,
    JustifyContent::SPACE_BETWEEN,
    JustifyContent::SPACE_AROUND,
    JustifyContent::SPACE_EVENLY,
];
const DIRECTIONS: [FlexDirection; 4] =
    [FlexDirection::Column, FlexDirection::Row, FlexDirection::ColumnReverse, FlexDirection::RowReverse];

impl<'a> Resolver<'a> {
    /// All defaults of the stream.
    #[expect(clippy::new_without_default, reason = "a resolver is never a default of something")]
    pub fn new() -> Self {
        let zero = LengthPercentageAuto::length(0.0);
        Self {
            flex: Style {
                display: Display::Flex,
                position: Position::Relative,
                flex_direction: FlexDirection::Column,
                flex_shrink: 0.0,
                min_size: Size { width: zero, height: zero },
                align_items: AlignItems::STRETCH,
                align_content: AlignContent::FLEX_START,
                justify_content: JustifyContent::FLEX_START,
                ..Style::default()
            },
            look: Look::default(),
            gradient: None,
            text: None,
            size: 24.0,
            weight: 400,
            family: None,
            line_height: 1.25,
            align: 0,
            max_lines: 0,
        }
    }

    /// Takes a value that [`Value::of`] has passed.
    pub fn set(&mut self, property: Property, value: &'a Value) {
        match value {
            Value::Number(value) => {
                self.number(property, *value);
                self.length(property, LengthPercentage::length(*value));
            }
            Value::Percent(value) => self.length(property, LengthPercentage::percent(*value / 100.0)),
            Value::Integer(value) => self.integer(property, *value),
            Value::Text(value) => self.string(property, value),
        }
    }

    fn number(&mut self, property: Property, value: f32) {
        if let Some(index) = animated(property).filter(|_| !property.is_color()) {
            self.look.steps.0[index] = value.to_bits();
            return;
        }
        let space = LengthPercentage::length(value.max(0.0));
        let margin = LengthPercentageAuto::length(value);
        let flex = &mut self.flex;
        match property {
            Property::FlexGrow => flex.flex_grow = value.max(0.0),
            Property::FlexShrink => flex.flex_shrink = value.max(0.0),
            Property::AspectRatio => flex.aspect_ratio = (value > 0.0).then_some(value),
            Property::RowGap => flex.gap.height = space,
            Property::ColumnGap => flex.gap.width = space,
            Property::PaddingLeft => flex.padding.left = space,
            Property::PaddingTop => flex.padding.top = space,
            Property::PaddingRight => flex.padding.right = space,
            Property::PaddingBottom => flex.padding.bottom = space,
            Property::MarginLeft => flex.margin.left = margin,
            Property::MarginTop => flex.margin.top = margin,
            Property::MarginRight => flex.margin.right = margin,
            Property::MarginBottom => flex.margin.bottom = margin,
            Property::BorderWidth => {
                flex.border = Rect { left: space, right: space, top: space, bottom: space };
                self.look.border_width = value.max(0.0);
            }
            Property::FontSize => self.size = value.clamp(0.0, FONT_MAX),
            Property::LineHeight => self.line_height = value.clamp(0.0, 100.0),
            // Whole numbers come as either.
            Property::ZIndex | Property::FontWeight | Property::MaxLines => self.integer(property, value as i32),
            _ => {}
        }
    }

    fn length(&mut self, property: Property, value: LengthPercentage) {
        let (auto, size) = (LengthPercentageAuto::from(value), Dimension::from(value));
        let flex = &mut self.flex;
        match property {
            Property::FlexBasis => flex.flex_basis = size,
            Property::Width => flex.size.width = size,
            Property::Height => flex.size.height = size,
            Property::MinWidth => flex.min_size.width = auto,
            Property::MinHeight => flex.min_size.height = auto,
            Property::MaxWidth => flex.max_size.width = auto,
            Property::MaxHeight => flex.max_size.height = auto,
            Property::Left => flex.inset.left = auto,
            Property::Top => flex.inset.top = auto,
            Property::Right => flex.inset.right = auto,
            Property::Bottom => flex.inset.bottom = auto,
            _ => {}
        }
    }

    fn integer(&mut self, property: Property, value: i32) {
        let choice = usize::try_from(value).unwrap_or_default();
        let flex = &mut self.flex;
        match property {
            Property::Background | Property::BorderColor | Property::Color => {
                if let Some(index) = animated(property) {
                    self.look.steps.0[index] = value.cast_unsigned();
                }
            }
            Property::Display => {
                flex.display = if value == 1 { Display::None } else { Display::Flex };
                self.look.hidden = value == 1;
            }
            Property::Position => {
                flex.position = if value == 1 { Position::Absolute } else { Position::Relative };
            }
            Property::FlexDirection => flex.flex_direction = DIRECTIONS[choice],
            Property::FlexWrap => flex.flex_wrap = if value == 1 { FlexWrap::Wrap } else { FlexWrap::NoWrap },
            Property::JustifyContent => flex.justify_content = JUSTIFY[choice],
            Property::AlignItems => flex.align_items = ALIGN_ITEMS[choice],
            Property::AlignSelf => {
                flex.align_self = choice.checked_sub(1).map(|index| AlignSelf::from(ALIGN_ITEMS[index]));
            }
            Property::AlignContent => flex.align_content = ALIGN_CONTENT[choice],
            Property::Clip => self.look.clip = value != 0,
            Property::ZIndex => self.look.z = value,
            Property::Fit => self.look.fit = value,
            Property::FontWeight => self.weight = value.clamp(1, 1000),
            Property::TextAlign => self.align = value,
            Property::MaxLines => self.max_lines = value.max(0),
            Property::Reports => self.look.reports = value != 0,
            _ => {}
        }
    }

    fn string(&mut self, property: Property, value: &'a Rc<str>) {
        match property {
            Property::Gradient => self.gradient = Some(value),
            Property::Image => self.look.image = Some(value.clone()),
            Property::Text => self.text = Some(value),
            Property::FontFamily => self.family = Some(value),
            _ => {}
        }
    }

    /// The layout style and the look; `before` is the look so far, whose gradient may serve again.
    pub fn finish(mut self, before: &Look) -> (Style, Look) {
        self.look.image = self.look.image.filter(|address| !address.is_empty());
        self.look.gradient = self.gradient.filter(|source| !source.is_empty()).and_then(|source| {
            let same = before.gradient.clone().filter(|gradient| gradient.source == *source);
            same.or_else(|| Gradient::parse(source).map(Rc::new))
        });
        self.look.text = self.text.filter(|text| !text.is_empty()).map(|text| TextStyle {
            text: text.clone(),
            size: self.size,
            weight: self.weight,
            family: self.family.map_or_else(|| "sans-serif".into(), Rc::clone),
            line_height: self.line_height,
            align: self.align,
            max_lines: self.max_lines as usize,
        });
        (self.flex, self.look)
    }
}
