//! What the words of each command are.

use super::codes::{Command, Property};

/// Kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Number of a widget.
    Widget,
    /// Number of a widget, or 0.
    WidgetOrNone,
    /// Number of a shared style, or 0.
    Style,
    /// Number without a meaning of its own.
    Count,
    /// 32-bit float.
    Float,
    /// Colour, choice, flag or integer.
    Value,
    /// Place among the batch's strings.
    String,
    /// Place in the list of easings.
    Easing,
}

/// Name of a command in the text form.
pub const fn name(command: Command) -> &'static str {
    match command {
        Command::Create => "create",
        Command::Place => "place",
        Command::Remove => "remove",
        Command::Number => "number",
        Command::Percent => "percent",
        Command::Integer => "integer",
        Command::String => "string",
        Command::Reset => "reset",
        Command::Style => "style",
        Command::FocusStyle => "focus-style",
        Command::Define => "define",
        Command::Focus => "focus",
        Command::Transition => "transition",
        Command::Animate => "animate",
        Command::Stop => "stop",
    }
}

/// Words after the first.
pub const fn words(command: Command) -> &'static [Word] {
    use Word::{Count, Easing, Float, String, Style, Value, Widget, WidgetOrNone};
    match command {
        Command::Create | Command::Remove | Command::Reset | Command::Stop => &[Widget],
        Command::Place => &[WidgetOrNone, Widget, WidgetOrNone],
        Command::Number | Command::Percent => &[Widget, Float],
        Command::Integer => &[Widget, Value],
        Command::String => &[Widget, String],
        Command::Style | Command::FocusStyle => &[Widget, Style],
        Command::Define => &[Style, Count],
        Command::Focus => &[WidgetOrNone],
        Command::Transition => &[Widget, Float, Float, Easing],
        Command::Animate => &[Widget, Float, Float, Float, Float, Easing, Count],
    }
}

/// Whether bits 8 to 15 of the first word have a property.
pub const fn has_property(command: Command) -> bool {
    matches!(
        command,
        Command::Number
            | Command::Percent
            | Command::Integer
            | Command::String
            | Command::Reset
            | Command::Transition
            | Command::Animate
            | Command::Stop
    )
}

/// Whether a shared style may have it, there without the widget.
pub const fn in_styles(command: Command) -> bool {
    matches!(command, Command::Number | Command::Percent | Command::Integer | Command::String | Command::Transition)
}

/// Whether its values are 0 and 1.
pub const fn is_flag(property: Property) -> bool {
    matches!(property, Property::Clip | Property::Reports)
}

/// Whether its values are lengths: pixels, or percent of the parent.
pub const fn is_length(property: Property) -> bool {
    use Property::{Bottom, FlexBasis, Height, Left, MaxHeight, MaxWidth, MinHeight, MinWidth, Right, Top, Width};
    matches!(
        property,
        FlexBasis | Width | Height | MinWidth | MinHeight | MaxWidth | MaxHeight | Left | Top | Right | Bottom
    )
}

/// Whether its values are texts.
pub const fn is_text(property: Property) -> bool {
    matches!(property, Property::Gradient | Property::Image | Property::Text | Property::FontFamily)
}

/// Whether its values are numbers: whole ones, any, or lengths.
pub const fn is_number(property: Property) -> bool {
    !property.is_color() && !is_flag(property) && !is_text(property) && property.values().is_empty()
}

/// Commands in the order of their codes.
pub fn commands() -> impl Iterator<Item = Command> {
    (1..=255).filter_map(Command::of)
}

/// Property of this name.
pub fn property(name: &str) -> Option<Property> {
    (1..=255).filter_map(Property::of).find(|property| property.name() == name)
}
