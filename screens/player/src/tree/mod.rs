//! Widgets, shared styles, the focus, and values that change by time.

pub mod easing;
pub mod look;
mod motion;
mod siblings;
mod texts;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taffy::{Cache, ClearState};

use self::look::{ANIMATED, Look, Resolver, Steps, TextStyle, animated};
pub use self::motion::Motion;
use self::siblings::Links;
use self::texts::{KEPT_BYTES_MAX, Texts};
use crate::geometry::{Area, Place};
use crate::stream::codes::Property;
use crate::stream::{Animate, Batch, Known, OUTSIDE, Op, StreamError, Transition, Value, check, entries};
use crate::text::Shaped;

/// Place of a widget in the tree's memory. The root has 0.
pub type Slot = usize;

/// Slot of the root.
pub const ROOT: Slot = 0;

/// Levels of widgets that are laid out and drawn: both go down by calls.
pub const DEPTH_MAX: usize = 512;

/// A shared style.
#[derive(Debug, Default)]
pub struct Shared {
    values: Vec<(Property, Value)>,
    transitions: Vec<(Property, Transition)>,
}

/// What has to be looked at again.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// Values of its styles.
    pub style: bool,
    /// Its own drawing.
    pub paint: bool,
    /// Place, shape or order of it and all below it.
    pub moved: bool,
    /// Something below it.
    pub below: bool,
}

/// A widget.
#[derive(Debug)]
pub struct Widget {
    /// Number that the app gave.
    pub id: i32,
    /// Its parent, if it is in a tree.
    pub parent: Option<Slot>,
    /// In the order of the app; as the last batch has left them.
    pub children: Vec<Slot>,
    links: Links,
    own: Vec<(Property, Value)>,
    transitions: Vec<(Property, Transition)>,
    style: Option<Rc<Shared>>,
    focus_style: Option<Rc<Shared>>,
    motions: Vec<Motion>,
    /// Bits of properties whose animation the batch has stopped: no transition leads to the values of their styles.
    stopped: u32,
    /// Whether it is in the list of widgets with motions.
    moving: bool,
    /// Whether a frame had it in the tree and not hidden: before that no transition counts.
    pub seen: bool,
    /// Whether a child has an order of its own.
    pub ordered: bool,
    /// Values after precedence.
    pub look: Look,
    /// Values that are shown: those of the look, or of motions.
    pub shown: Steps,
    /// What has to be looked at again.
    pub changes: Changes,
    /// Style for layout.
    pub flex: taffy::Style,
    /// Results of layout.
    pub cache: Cache,
    /// Place in the parent, before rounding.
    pub local: Place,
    /// Where its text is in it: without padding and border.
    pub content: Place,
    /// Its shaped text.
    pub shaped: Option<Box<Shaped>>,
    /// Where it is on the screen.
    pub area: Area,
    /// Place that the last event told.
    pub told: Option<Place>,
    /// State of the image that the last event told: 1 there, 2 cannot be had.
    pub told_image: i32,
}

impl Widget {
    fn new(id: i32) -> Self {
        let (flex, look) = Resolver::new().finish(&Look::default());
        Self {
            id,
            parent: None,
            children: Vec::new(),
            links: Links::default(),
            own: Vec::new(),
            transitions: Vec::new(),
            style: None,
            focus_style: None,
            motions: Vec::new(),
            stopped: 0,
            moving: false,
            seen: false,
            ordered: false,
            look,
            shown: Steps::default(),
            changes: Changes::default(),
            flex,
            cache: Cache::new(),
            local: Place::default(),
            content: Place::default(),
            shaped: None,
            area: Area::default(),
            told: None,
            told_image: 0,
        }
    }

    /// Text with its font, if it shows one: a widget with children does not.
    pub fn text(&self) -> Option<&TextStyle> {
        self.look.text.as_ref().filter(|_| self.children.is_empty())
    }
}

/// End of a motion of a widget with `reports`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Number of the widget.
    pub id: i32,
    /// Code of the property.
    pub property: u8,
}

/// All widgets of a screen.
#[derive(Debug)]
pub struct Tree {
    slots: Vec<Option<Widget>>,
    free: Vec<Slot>,
    ids: FxHashMap<i32, Slot>,
    styles: FxHashMap<i32, Rc<Shared>>,
    focus: i32,
    /// Widgets with a change of style.
    restyle: Vec<Slot>,
    /// Widgets whose children are to be listed again.
    unlisted: Vec<Slot>,
    texts: Texts,
    /// Widgets with motions that have not ended.
    moving: Vec<Slot>,
    /// What widgets that are gone covered on the screen.
    pub uncovered: Vec<crate::geometry::Pixels>,
    /// Whether layout has to run.
    pub relayout: bool,
    /// Widgets whose text layout has measured, maybe in other widths than theirs.
    pub measured: Vec<Slot>,
}

impl Known for Tree {
    fn parent_of(&self, id: i32) -> Option<i32> {
        let slot = *self.ids.get(&id)?;
        Some(self.get(slot).parent.map_or(OUTSIDE, |parent| self.get(parent).id))
    }

    fn has_style(&self, style: i32) -> bool {
        self.styles.contains_key(&style)
    }
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree of the root alone.
    pub fn new() -> Self {
        Self {
            slots: vec![Some(Widget::new(0))],
            free: Vec::new(),
            ids: FxHashMap::default(),
            styles: FxHashMap::default(),
            focus: 0,
            restyle: Vec::new(),
            unlisted: Vec::new(),
            texts: Texts::default(),
            moving: Vec::new(),
            uncovered: Vec::new(),
            relayout: true,
            measured: Vec::new(),
        }
    }

    /// The widget in a slot.
    ///
    /// # Panics
    ///
    /// If the slot is empty: slots of widgets that are gone are kept nowhere.
    #[expect(clippy::expect_used, reason = "an empty slot is a bug of this crate")]
    pub fn get(&self, slot: Slot) -> &Widget {
        self.slots[slot].as_ref().expect("a slot with a widget")
    }

    /// The same, to change it.
    ///
    /// # Panics
    ///
    /// As [`Tree::get`].
    #[expect(clippy::expect_used, reason = "an empty slot is a bug of this crate")]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Widget {
        self.slots[slot].as_mut().expect("a slot with a widget")
    }

    /// Slot of a widget.
    pub fn slot(&self, id: i32) -> Option<Slot> {
        if id == 0 { Some(ROOT) } else { self.ids.get(&id).copied() }
    }

    /// Number of widgets without the root.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no widget but the root.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Number of the widget that has the focus, or 0.
    pub fn focus(&self) -> i32 {
        self.focus
    }

    /// Checks a batch and applies it.
    ///
    /// # Errors
    ///
    /// If it breaks a rule of the stream; then nothing of it is applied.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), StreamError> {
        check(batch, self)?;
        if !self.texts.has_room(&batch.strings) {
            let problem =
                format!("with the texts of the batch, widgets and styles keep more than {KEPT_BYTES_MAX} bytes");
            return Err(StreamError::new(0, problem));
        }
        for op in batch.ops() {
            self.apply(op, &batch.strings);
        }
        self.list_children();
        self.texts.add(&batch.strings);
        Ok(())
    }

    fn apply(&mut self, op: Op<'_>, strings: &[Rc<str>]) {
        match op {
            Op::Create(id) => {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.slots.push(None);
                    self.slots.len() - 1
                });
                self.slots[slot] = Some(Widget::new(id));
                self.ids.insert(id, slot);
                self.restyle(slot);
            }
            Op::Place { parent, id, before } => {
                if let (Some(parent), Some(slot)) = (self.slot(parent), self.slot(id)) {
                    self.place(parent, slot, self.slot(before).filter(|&slot| slot != ROOT));
                }
            }
            Op::Remove(id) => {
                if let Some(slot) = self.slot(id) {
                    self.detach(slot);
                    self.remove(slot);
                }
            }
            Op::Set(id, property, value) => {
                let value = property.and_then(|property| Some((property, value.of(property)?)));
                if let (Some(slot), Some((property, value))) = (self.slot(id), value) {
                    put(&mut self.get_mut(slot).own, property, value);
                    self.restyle(slot);
                }
            }
            Op::Reset(id, property) => {
                if let (Some(slot), Some(property)) = (self.slot(id), property) {
                    self.get_mut(slot).own.retain(|(other, _)| *other != property);
                    self.restyle(slot);
                }
            }
            Op::Style(id, style) => {
                if let Some(slot) = self.slot(id) {
                    self.get_mut(slot).style = self.styles.get(&style).cloned();
                    self.restyle(slot);
                }
            }
            Op::FocusStyle(id, style) => {
                if let Some(slot) = self.slot(id) {
                    self.get_mut(slot).focus_style = self.styles.get(&style).cloned();
                    self.restyle(slot);
                }
            }
            Op::Define(style, words) => {
                let mut shared = Shared::default();
                for entry in entries(words, strings) {
                    match entry {
                        Op::Set(_, Some(property), value) => {
                            if let Some(value) = value.of(property) {
                                put(&mut shared.values, property, value);
                            }
                        }
                        Op::Transition(_, Some(property), timing) => put(&mut shared.transitions, property, timing),
                        _ => {}
                    }
                }
                self.styles.insert(style, Rc::new(shared));
            }
            Op::Focus(id) => {
                let before = std::mem::replace(&mut self.focus, id);
                for id in [before, id] {
                    if let Some(slot) = self.slot(id).filter(|&slot| slot != ROOT) {
                        self.restyle(slot);
                    }
                }
            }
            Op::Transition(id, property, timing) => {
                if let (Some(slot), Some(property)) = (self.slot(id), property) {
                    put(&mut self.get_mut(slot).transitions, property, timing);
                }
            }
            Op::Animate(id, property, animate) => self.animate(id, property, &animate),
            Op::Stop(id, property) => {
                if let (Some(slot), Some(index)) = (self.slot(id), property.and_then(animated)) {
                    let widget = self.get_mut(slot);
                    let before = widget.motions.len();
                    widget.motions.retain(|motion| motion.index != index || !motion.stays);
                    if widget.motions.len() < before {
                        widget.stopped |= 1 << index;
                    }
                    self.restyle(slot);
                }
            }
        }
    }

    fn animate(&mut self, id: i32, property: Option<Property>, animate: &Animate) {
        let (Some(slot), Some(property)) = (self.slot(id), property) else { return };
        let Some(index) = animated(property) else { return };
        let Some(mut animation) = Motion::animation(index, property.is_color(), animate) else { return };
        let widget = self.get_mut(slot);
        if animation.from.is_none() && widget.motions.iter().any(|other| other.index == index && other.start.is_some())
        {
            animation.from = Some(widget.shown.0[index]);
        }
        widget.motions.retain(|motion| motion.index != index);
        widget.motions.push(animation);
        self.set_moving(slot);
    }

    fn set_moving(&mut self, slot: Slot) {
        if !std::mem::replace(&mut self.get_mut(slot).moving, true) {
            self.moving.push(slot);
        }
    }

    fn place(&mut self, parent: Slot, slot: Slot, before: Option<Slot>) {
        self.detach(slot);
        self.link(parent, slot, before);
        if self.get(slot).look.z != 0 {
            self.get_mut(parent).ordered = true;
        }
        self.invalidate_layout(parent);
        self.mark(slot, |changes| changes.moved = true);
    }

    /// Takes a widget out of its parent; what it covered is uncovered.
    fn detach(&mut self, slot: Slot) {
        let Some(parent) = self.unlink(slot) else { return };
        self.uncover(slot);
        self.invalidate_layout(parent);
    }

    fn uncover(&mut self, slot: Slot) {
        let whole = std::mem::take(&mut self.get_mut(slot).area.whole);
        if !whole.is_empty() {
            self.uncovered.push(whole);
        }
    }

    fn remove(&mut self, slot: Slot) {
        let mut slots = vec![slot];
        while let Some(slot) = slots.pop() {
            self.collect_children(slot, &mut slots);
            if let Some(widget) = self.slots[slot].take() {
                self.ids.remove(&widget.id);
                self.free.push(slot);
                if self.focus == widget.id {
                    self.focus = 0;
                }
            }
        }
    }

    fn restyle(&mut self, slot: Slot) {
        if !std::mem::replace(&mut self.get_mut(slot).changes.style, true) {
            self.restyle.push(slot);
        }
    }

    /// Marks a change, and its way from the root.
    pub fn mark(&mut self, slot: Slot, change: impl FnOnce(&mut Changes)) {
        change(&mut self.get_mut(slot).changes);
        let mut above = self.get(slot).parent;
        while let Some(slot) = above {
            let widget = self.get_mut(slot);
            if std::mem::replace(&mut widget.changes.below, true) {
                break;
            }
            above = widget.parent;
        }
    }

    /// Forgets results of layout of a widget and all above it.
    pub fn invalidate_layout(&mut self, slot: Slot) {
        self.relayout = true;
        let mut next = Some(slot);
        while let Some(slot) = next {
            let widget = self.get_mut(slot);
            if matches!(widget.cache.clear(), ClearState::AlreadyEmpty) {
                break;
            }
            next = widget.parent;
        }
    }

    /// Brings values up to date with styles, focus and time, milliseconds of the clock. Returns what has ended.
    pub fn advance(&mut self, now: f64) -> Vec<Ended> {
        // Slots in the lists may be empty by now, or have another widget.
        for slot in std::mem::take(&mut self.restyle) {
            if self.slots[slot].as_ref().is_some_and(|widget| widget.changes.style) {
                self.resolve(slot, now);
            }
        }
        let mut ended = Vec::new();
        let mut further = Vec::new();
        for slot in std::mem::take(&mut self.moving) {
            let is_moving = self.slots[slot].as_mut().is_some_and(|widget| std::mem::take(&mut widget.moving));
            if is_moving && self.move_on(slot, now, &mut ended) {
                further.push(slot);
            }
        }
        for slot in &further {
            self.get_mut(*slot).moving = true;
        }
        self.moving = further;
        ended
    }

    /// Whether the next frame may be another one. Animations without end count if `with_endless`.
    pub fn is_changing(&self, with_endless: bool) -> bool {
        let Changes { paint, moved, below, .. } = self.get(ROOT).changes;
        self.relayout || paint || moved || below || !self.uncovered.is_empty() || self.is_moving(with_endless)
    }

    /// Whether values will change by time alone.
    fn is_moving(&self, with_endless: bool) -> bool {
        let counts = |motion: &Motion| !motion.ended && (with_endless || !motion.is_endless());
        let widgets = self.moving.iter().filter_map(|slot| self.slots[*slot].as_ref());
        !self.restyle.is_empty() || widgets.flat_map(|widget| &widget.motions).any(counts)
    }

    fn resolve(&mut self, slot: Slot, now: f64) {
        let is_focused = slot != ROOT && self.get(slot).id == self.focus;
        let widget = self.get(slot);
        let focus_style = widget.focus_style.clone().filter(|_| is_focused);
        let style = widget.style.clone();
        let mut resolver = Resolver::new();
        let shared = |style: &'_ Option<Rc<Shared>>| style.clone().unwrap_or_default();
        let (below, above) = (shared(&style), shared(&focus_style));
        for (property, value) in below.values.iter().chain(&widget.own).chain(&above.values) {
            resolver.set(*property, value);
        }
        let (flex, look) = resolver.finish(&widget.look);
        let mut transitions = Vec::new();
        if widget.seen && look.steps != widget.look.steps {
            for (index, property) in ANIMATED.iter().enumerate() {
                if look.steps.0[index] == widget.look.steps.0[index] || widget.stopped & 1 << index != 0 {
                    continue;
                }
                let sources = [&above.transitions, &widget.transitions, &below.transitions];
                let timing = sources.into_iter().find_map(|source| find(source, *property));
                transitions.push((index, property.is_color(), timing.copied()));
            }
        }
        self.take_look(slot, flex, look, &transitions, now);
    }

    fn take_look(
        &mut self,
        slot: Slot,
        flex: taffy::Style,
        look: Look,
        transitions: &[(usize, bool, Option<Transition>)],
        now: f64,
    ) {
        let widget = self.get_mut(slot);
        widget.changes.style = false;
        widget.stopped = 0;
        for &(index, is_color, timing) in transitions {
            if widget.motions.iter().any(|motion| motion.index == index && motion.stays) {
                continue;
            }
            // A new aim on the way begins where the value is by now.
            let before = widget.motions.iter_mut().find(|motion| motion.index == index);
            let from = before.map_or(widget.shown.0[index], |motion| motion.at(now));
            widget.motions.retain(|motion| motion.index != index);
            if let Some(timing) = timing.filter(|timing| timing.duration + timing.delay > 0.0) {
                let values = [from, look.steps.0[index]];
                widget.motions.push(Motion::transition(index, is_color, values, timing, now));
            }
        }
        let before = std::mem::replace(&mut widget.look, look);
        let look = &widget.look;
        let relayout = widget.flex != flex || before.text != look.text;
        if before.text != look.text {
            widget.shaped = None;
        }
        let moved = before.hidden != look.hidden
            || before.clip != look.clip
            || before.z != look.z
            || before.reports != look.reports;
        let paint = before.border_width.to_bits() != look.border_width.to_bits()
            || before.image != look.image
            || before.fit != look.fit
            || before.text != look.text
            || !same_gradient(&before, look);
        let (reorder, parent) = (before.z != look.z, widget.parent);
        if before.image != look.image {
            widget.told_image = 0;
        }
        widget.flex = flex;
        if let (true, Some(parent)) = (reorder, parent) {
            self.get_mut(parent).ordered = true;
        }
        if relayout {
            self.invalidate_layout(slot);
        }
        if moved || paint {
            self.mark(slot, |changes| {
                changes.moved |= moved;
                changes.paint |= paint;
            });
        }
        // Values that are shown follow from motions, or are those of the look.
        self.set_moving(slot);
    }

    /// Whether it goes on.
    fn move_on(&mut self, slot: Slot, now: f64, ended: &mut Vec<Ended>) -> bool {
        let widget = self.get_mut(slot);
        let mut shown = widget.look.steps;
        let (reports, id) = (widget.look.reports, widget.id);
        let mut goes_on = false;
        for motion in &mut widget.motions {
            if motion.start.is_none() {
                motion.start = Some(now);
                motion.from.get_or_insert(widget.look.steps.0[motion.index]);
            }
            let was_ended = motion.ended;
            shown.0[motion.index] = motion.at(now);
            goes_on |= !motion.ended;
            if motion.ended && !was_ended && reports {
                ended.push(Ended { id, property: ANIMATED[motion.index] as u8 });
            }
        }
        widget.motions.retain(|motion| motion.stays || !motion.ended);
        let before = std::mem::replace(&mut widget.shown, shown);
        if before != shown {
            // Opacity, place, scale and rotation count for all below; a radius does where it clips.
            let moved = before.0[..5] != shown.0[..5] || (before.0[6] != shown.0[6] && widget.look.clip);
            self.mark(slot, |changes| {
                changes.moved |= moved;
                changes.paint = true;
            });
        }
        goes_on
    }

    /// Addresses of images that widgets show.
    pub fn images(&self) -> FxHashSet<&str> {
        self.slots.iter().flatten().filter_map(|widget| widget.look.image.as_deref()).collect()
    }

    /// Slots of widgets that show one of these images.
    pub fn with_images(&self, addresses: &FxHashSet<Rc<str>>) -> Vec<Slot> {
        let shows = |widget: &Widget| widget.look.image.as_ref().is_some_and(|image| addresses.contains(image));
        let widgets = self.slots.iter().enumerate();
        widgets.filter(|(_, widget)| widget.as_ref().is_some_and(shows)).map(|(slot, _)| slot).collect()
    }
}

fn same_gradient(before: &Look, now: &Look) -> bool {
    match (&before.gradient, &now.gradient) {
        (Some(before), Some(now)) => Rc::ptr_eq(before, now),
        (None, None) => true,
        _ => false,
    }
}

fn put<T>(list: &mut Vec<(Property, T)>, property: Property, value: T) {
    match list.iter_mut().find(|(other, _)| *other == property) {
        Some((_, before)) => *before = value,
        None => list.push((property, value)),
    }
}

fn find<T>(list: &[(Property, T)], property: Property) -> Option<&T> {
    list.iter().find(|(other, _)| *other == property).map(|(_, value)| value)
}
