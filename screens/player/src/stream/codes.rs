//! Generated from screens/stream.json by screens/generate.ts.
#![cfg_attr(rustfmt, rustfmt_skip)]

/// Version of the stream.
pub const VERSION: u32 = 1;

/// Easings, in the order of their numbers.
pub const EASINGS: [&str; 5] = ["linear", "ease", "ease-in", "ease-out", "ease-in-out"];

/// Commands: the low byte of a command's first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Command {
    /// A new widget, outside the tree.
    Create = 1,
    /// The widget becomes a child of `parent` (0: the root), before the child `before` (0: at the end). A widget that is already in the tree moves.
    Place = 2,
    /// Removes the widget and all its descendants. Their numbers may be used again from the next batch on.
    Remove = 3,
    /// Own value of a property: pixels or a plain number.
    Number = 4,
    /// Own value in percent of the parent (50 is one half).
    Percent = 5,
    /// Own value of a colour (0xRRGGBBAA), a choice (its index in the list, from 0) or a flag (0 or 1).
    Integer = 6,
    /// Own value of a text: its index in the batch's strings, from 0.
    String = 7,
    /// Removes the widget's own value of this property.
    Reset = 8,
    /// Shared style of the widget (0: none).
    Style = 9,
    /// Shared style that applies while the widget has the focus (0: none).
    FocusStyle = 10,
    /// Defines a shared style. `length` words follow: entries like `number`, `percent`, `integer`, `string` and `transition`, without their `id`. A style is defined once and never changes.
    Define = 11,
    /// Moves the focus to the widget (0: to none).
    Focus = 12,
    /// Changes of the property take `duration` milliseconds after `delay` (0: immediately). The transition applies from the second frame in which the widget is in the tree and not hidden.
    Transition = 13,
    /// Animates the property from `from` (NaN: the current value) to `to`. `repeat` is the number of further runs, 0 to 65535; 65535 means infinite. If bit 16 is set, every second run is reversed. The final value stays.
    Animate = 14,
    /// Ends an animation of this property. The property returns to the value of its styles.
    Stop = 15,
}

impl Command {
    /// The one with this code.
    pub const fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Create,
            2 => Self::Place,
            3 => Self::Remove,
            4 => Self::Number,
            5 => Self::Percent,
            6 => Self::Integer,
            7 => Self::String,
            8 => Self::Reset,
            9 => Self::Style,
            10 => Self::FocusStyle,
            11 => Self::Define,
            12 => Self::Focus,
            13 => Self::Transition,
            14 => Self::Animate,
            15 => Self::Stop,
            _ => return None,
        })
    }
}

/// Events: the low byte of an event's first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Event {
    /// A key, named as in the DOM's `KeyboardEvent.key`. `phase`: 0 pressed, 1 repeated by the device, 2 released. `sequence` grows by one. `time` is in milliseconds of the surface's clock.
    Key = 1,
    /// New position and size of a widget with `reports`, in pixels of the surface, without `x`, `y`, `scale` and `rotate`.
    Layout = 2,
    /// A transition or animation of a widget with `reports` has ended.
    AnimationEnd = 3,
    /// The image of a widget with `reports` is loaded (1) or has failed to load (2).
    Image = 4,
    /// Memory of the device: 0 enough, 1 low, 2 almost none.
    Memory = 5,
    /// New size of the surface in pixels.
    Resize = 6,
    /// The screen shows the batches with this cause: `time`, and the `duration` of layout and drawing in milliseconds. A frame reports each cause of its batches once, including 0, and including batches that changed nothing. If there are more than 64 causes, it reports the last 64.
    Frame = 7,
}

impl Event {
    /// The one with this code.
    pub const fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Key,
            2 => Self::Layout,
            3 => Self::AnimationEnd,
            4 => Self::Image,
            5 => Self::Memory,
            6 => Self::Resize,
            7 => Self::Frame,
            _ => return None,
        })
    }
}

/// Properties of widgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Property {
    /// Whether the widget takes part in layout and is drawn.
    Display = 1,
    /// Position in the flow, or only by `left`, `top`, `right` and `bottom`.
    Position = 2,
    /// Main axis of the children.
    FlexDirection = 3,
    /// Whether children that do not fit start a new line.
    FlexWrap = 4,
    /// Alignment of children along the main axis.
    JustifyContent = 5,
    /// Alignment of children across the main axis.
    AlignItems = 6,
    /// Alignment of this child across the main axis.
    AlignSelf = 7,
    /// Alignment of the lines of wrapped children.
    AlignContent = 8,
    /// Share of free space that the widget takes.
    FlexGrow = 9,
    /// Share of missing space by which the widget shrinks.
    FlexShrink = 10,
    /// Size along the main axis before growing and shrinking.
    FlexBasis = 11,
    /// Width with padding and border.
    Width = 12,
    /// Height with padding and border.
    Height = 13,
    /// Smallest width.
    MinWidth = 14,
    /// Smallest height.
    MinHeight = 15,
    /// Largest width.
    MaxWidth = 16,
    /// Largest height.
    MaxHeight = 17,
    /// Width divided by height.
    AspectRatio = 18,
    /// Space between rows.
    RowGap = 19,
    /// Space between columns.
    ColumnGap = 20,
    /// Distance from the parent's left edge.
    Left = 21,
    /// Distance from the parent's top edge.
    Top = 22,
    /// Distance from the parent's right edge.
    Right = 23,
    /// Distance from the parent's bottom edge.
    Bottom = 24,
    /// Space inside the left edge.
    PaddingLeft = 25,
    /// Space inside the top edge.
    PaddingTop = 26,
    /// Space inside the right edge.
    PaddingRight = 27,
    /// Space inside the bottom edge.
    PaddingBottom = 28,
    /// Space outside the left edge.
    MarginLeft = 29,
    /// Space outside the top edge.
    MarginTop = 30,
    /// Space outside the right edge.
    MarginRight = 31,
    /// Space outside the bottom edge.
    MarginBottom = 32,
    /// 0 is invisible, 1 opaque. The widget and its descendants blend as one picture.
    Opacity = 40,
    /// Shift to the right after layout.
    X = 41,
    /// Shift down after layout.
    Y = 42,
    /// Scale factor around the centre of the widget.
    Scale = 43,
    /// Rotation in degrees, clockwise around the centre of the widget.
    Rotate = 44,
    /// Whether descendants are clipped at the widget's edges, including rounded corners.
    Clip = 45,
    /// Order among siblings: a higher one is drawn later.
    ZIndex = 46,
    /// Colour of the area.
    Background = 47,
    /// `ANGLE COLOR AT, COLOR AT…` over the background: degrees as in CSS (0 up, 90 right), `#rrggbbaa`, position from 0 to 1.
    Gradient = 48,
    /// Radius of the corners.
    BorderRadius = 49,
    /// Width of the border, inside the edges; takes space like padding.
    BorderWidth = 50,
    /// Colour of the border.
    BorderColor = 51,
    /// URL of a picture (PNG or JPEG), drawn over background and gradient.
    Image = 52,
    /// Way to fit the picture into the widget.
    Fit = 53,
    /// Text of the widget, with its line breaks. While a widget has children, its text is not shown and has no size.
    Text = 60,
    /// Colour of the text.
    Color = 61,
    /// Size of the text.
    FontSize = 62,
    /// Weight of the font, 100 to 900; bold from 600 on.
    FontWeight = 63,
    /// Name of a font that the surface has.
    FontFamily = 64,
    /// Height of a line in units of `fontSize`.
    LineHeight = 65,
    /// Alignment of the lines in the widget.
    TextAlign = 66,
    /// Maximum number of lines; then an ellipsis ends the text (0: no limit).
    MaxLines = 67,
    /// Whether events report the widget's position, image and animations.
    Reports = 80,
}

impl Property {
    /// The one with this code.
    pub const fn of(code: u8) -> Option<Self> {
        Some(match code {
            1 => Self::Display,
            2 => Self::Position,
            3 => Self::FlexDirection,
            4 => Self::FlexWrap,
            5 => Self::JustifyContent,
            6 => Self::AlignItems,
            7 => Self::AlignSelf,
            8 => Self::AlignContent,
            9 => Self::FlexGrow,
            10 => Self::FlexShrink,
            11 => Self::FlexBasis,
            12 => Self::Width,
            13 => Self::Height,
            14 => Self::MinWidth,
            15 => Self::MinHeight,
            16 => Self::MaxWidth,
            17 => Self::MaxHeight,
            18 => Self::AspectRatio,
            19 => Self::RowGap,
            20 => Self::ColumnGap,
            21 => Self::Left,
            22 => Self::Top,
            23 => Self::Right,
            24 => Self::Bottom,
            25 => Self::PaddingLeft,
            26 => Self::PaddingTop,
            27 => Self::PaddingRight,
            28 => Self::PaddingBottom,
            29 => Self::MarginLeft,
            30 => Self::MarginTop,
            31 => Self::MarginRight,
            32 => Self::MarginBottom,
            40 => Self::Opacity,
            41 => Self::X,
            42 => Self::Y,
            43 => Self::Scale,
            44 => Self::Rotate,
            45 => Self::Clip,
            46 => Self::ZIndex,
            47 => Self::Background,
            48 => Self::Gradient,
            49 => Self::BorderRadius,
            50 => Self::BorderWidth,
            51 => Self::BorderColor,
            52 => Self::Image,
            53 => Self::Fit,
            60 => Self::Text,
            61 => Self::Color,
            62 => Self::FontSize,
            63 => Self::FontWeight,
            64 => Self::FontFamily,
            65 => Self::LineHeight,
            66 => Self::TextAlign,
            67 => Self::MaxLines,
            80 => Self::Reports,
            _ => return None,
        })
    }
}

/// Value of a property that no style sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// Pixels or a plain number.
    Number(f32),
    /// Choice, flag, colour or whole number.
    Integer(i32),
    /// Text.
    Text(&'static str),
    /// By layout.
    Auto,
}

impl Property {
    /// Name in styles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Display => "display",
            Self::Position => "position",
            Self::FlexDirection => "flexDirection",
            Self::FlexWrap => "flexWrap",
            Self::JustifyContent => "justifyContent",
            Self::AlignItems => "alignItems",
            Self::AlignSelf => "alignSelf",
            Self::AlignContent => "alignContent",
            Self::FlexGrow => "flexGrow",
            Self::FlexShrink => "flexShrink",
            Self::FlexBasis => "flexBasis",
            Self::Width => "width",
            Self::Height => "height",
            Self::MinWidth => "minWidth",
            Self::MinHeight => "minHeight",
            Self::MaxWidth => "maxWidth",
            Self::MaxHeight => "maxHeight",
            Self::AspectRatio => "aspectRatio",
            Self::RowGap => "rowGap",
            Self::ColumnGap => "columnGap",
            Self::Left => "left",
            Self::Top => "top",
            Self::Right => "right",
            Self::Bottom => "bottom",
            Self::PaddingLeft => "paddingLeft",
            Self::PaddingTop => "paddingTop",
            Self::PaddingRight => "paddingRight",
            Self::PaddingBottom => "paddingBottom",
            Self::MarginLeft => "marginLeft",
            Self::MarginTop => "marginTop",
            Self::MarginRight => "marginRight",
            Self::MarginBottom => "marginBottom",
            Self::Opacity => "opacity",
            Self::X => "x",
            Self::Y => "y",
            Self::Scale => "scale",
            Self::Rotate => "rotate",
            Self::Clip => "clip",
            Self::ZIndex => "zIndex",
            Self::Background => "background",
            Self::Gradient => "gradient",
            Self::BorderRadius => "borderRadius",
            Self::BorderWidth => "borderWidth",
            Self::BorderColor => "borderColor",
            Self::Image => "image",
            Self::Fit => "fit",
            Self::Text => "text",
            Self::Color => "color",
            Self::FontSize => "fontSize",
            Self::FontWeight => "fontWeight",
            Self::FontFamily => "fontFamily",
            Self::LineHeight => "lineHeight",
            Self::TextAlign => "textAlign",
            Self::MaxLines => "maxLines",
            Self::Reports => "reports",
        }
    }

    /// Value where no style sets one.
    pub const fn default(self) -> Default {
        match self {
            Self::Display => Default::Integer(0),
            Self::Position => Default::Integer(0),
            Self::FlexDirection => Default::Integer(0),
            Self::FlexWrap => Default::Integer(0),
            Self::JustifyContent => Default::Integer(0),
            Self::AlignItems => Default::Integer(0),
            Self::AlignSelf => Default::Integer(0),
            Self::AlignContent => Default::Integer(0),
            Self::FlexGrow => Default::Number(0.0),
            Self::FlexShrink => Default::Number(0.0),
            Self::FlexBasis => Default::Auto,
            Self::Width => Default::Auto,
            Self::Height => Default::Auto,
            Self::MinWidth => Default::Number(0.0),
            Self::MinHeight => Default::Number(0.0),
            Self::MaxWidth => Default::Auto,
            Self::MaxHeight => Default::Auto,
            Self::AspectRatio => Default::Auto,
            Self::RowGap => Default::Number(0.0),
            Self::ColumnGap => Default::Number(0.0),
            Self::Left => Default::Auto,
            Self::Top => Default::Auto,
            Self::Right => Default::Auto,
            Self::Bottom => Default::Auto,
            Self::PaddingLeft => Default::Number(0.0),
            Self::PaddingTop => Default::Number(0.0),
            Self::PaddingRight => Default::Number(0.0),
            Self::PaddingBottom => Default::Number(0.0),
            Self::MarginLeft => Default::Number(0.0),
            Self::MarginTop => Default::Number(0.0),
            Self::MarginRight => Default::Number(0.0),
            Self::MarginBottom => Default::Number(0.0),
            Self::Opacity => Default::Number(1.0),
            Self::X => Default::Number(0.0),
            Self::Y => Default::Number(0.0),
            Self::Scale => Default::Number(1.0),
            Self::Rotate => Default::Number(0.0),
            Self::Clip => Default::Integer(0),
            Self::ZIndex => Default::Integer(0),
            Self::Background => Default::Integer(0x00000000_u32.cast_signed()),
            Self::Gradient => Default::Text(""),
            Self::BorderRadius => Default::Number(0.0),
            Self::BorderWidth => Default::Number(0.0),
            Self::BorderColor => Default::Integer(0x00000000_u32.cast_signed()),
            Self::Image => Default::Text(""),
            Self::Fit => Default::Integer(0),
            Self::Text => Default::Text(""),
            Self::Color => Default::Integer(0xffffffff_u32.cast_signed()),
            Self::FontSize => Default::Number(24.0),
            Self::FontWeight => Default::Integer(400),
            Self::FontFamily => Default::Text("sans-serif"),
            Self::LineHeight => Default::Number(1.25),
            Self::TextAlign => Default::Integer(0),
            Self::MaxLines => Default::Integer(0),
            Self::Reports => Default::Integer(0),
        }
    }

    /// Values of a choice, in the order of their numbers.
    pub const fn values(self) -> &'static [&'static str] {
        match self {
            Self::Display => &["flex", "none"],
            Self::Position => &["relative", "absolute"],
            Self::FlexDirection => &["column", "row", "column-reverse", "row-reverse"],
            Self::FlexWrap => &["nowrap", "wrap"],
            Self::JustifyContent => &["flex-start", "center", "flex-end", "space-between", "space-around", "space-evenly"],
            Self::AlignItems => &["stretch", "flex-start", "center", "flex-end"],
            Self::AlignSelf => &["auto", "stretch", "flex-start", "center", "flex-end"],
            Self::AlignContent => &["flex-start", "center", "flex-end", "stretch", "space-between", "space-around"],
            Self::Fit => &["cover", "contain", "fill"],
            Self::TextAlign => &["left", "center", "right"],
            _ => &[],
        }
    }

    /// Whether a change needs layout.
    pub const fn is_layout(self) -> bool {
        matches!(self, Self::Display | Self::Position | Self::FlexDirection | Self::FlexWrap | Self::JustifyContent | Self::AlignItems | Self::AlignSelf | Self::AlignContent | Self::FlexGrow | Self::FlexShrink | Self::FlexBasis | Self::Width | Self::Height | Self::MinWidth | Self::MinHeight | Self::MaxWidth | Self::MaxHeight | Self::AspectRatio | Self::RowGap | Self::ColumnGap | Self::Left | Self::Top | Self::Right | Self::Bottom | Self::PaddingLeft | Self::PaddingTop | Self::PaddingRight | Self::PaddingBottom | Self::MarginLeft | Self::MarginTop | Self::MarginRight | Self::MarginBottom | Self::BorderWidth | Self::Text | Self::FontSize | Self::FontWeight | Self::FontFamily | Self::LineHeight | Self::MaxLines)
    }

    /// Whether it can change by steps.
    pub const fn animates(self) -> bool {
        matches!(self, Self::Opacity | Self::X | Self::Y | Self::Scale | Self::Rotate | Self::Background | Self::BorderRadius | Self::BorderColor | Self::Color)
    }

    /// Whether its values are colours.
    pub const fn is_color(self) -> bool {
        matches!(self, Self::Background | Self::BorderColor | Self::Color)
    }
}
