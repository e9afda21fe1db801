//! Order of children. While a batch is applied they are linked to each other, so that no command costs more where a widget has many; after it,
//! each widget whose children are others has them in a list again.

use super::{Slot, Tree};

/// Neighbours of a widget, and the ends of its children.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links {
    first: Option<Slot>,
    last: Option<Slot>,
    previous: Option<Slot>,
    next: Option<Slot>,
    /// Whether the widget's list of children is not what is linked.
    unlisted: bool,
}

impl Tree {
    /// Makes a widget that has no parent a child, before another one or at the end.
    pub(super) fn link(&mut self, parent: Slot, slot: Slot, before: Option<Slot>) {
        let next = before.filter(|&before| self.get(before).parent == Some(parent));
        let previous = next.map_or(self.get(parent).links.last, |next| self.get(next).links.previous);
        let widget = self.get_mut(slot);
        widget.parent = Some(parent);
        (widget.links.previous, widget.links.next) = (previous, next);
        match previous {
            Some(previous) => self.get_mut(previous).links.next = Some(slot),
            None => self.get_mut(parent).links.first = Some(slot),
        }
        match next {
            Some(next) => self.get_mut(next).links.previous = Some(slot),
            None => self.get_mut(parent).links.last = Some(slot),
        }
        self.unlist(parent);
    }

    /// Takes a widget out of its parent, and returns the parent.
    pub(super) fn unlink(&mut self, slot: Slot) -> Option<Slot> {
        let widget = self.get_mut(slot);
        let parent = widget.parent.take()?;
        let (previous, next) = (widget.links.previous.take(), widget.links.next.take());
        match previous {
            Some(previous) => self.get_mut(previous).links.next = next,
            None => self.get_mut(parent).links.first = next,
        }
        match next {
            Some(next) => self.get_mut(next).links.previous = previous,
            None => self.get_mut(parent).links.last = previous,
        }
        self.unlist(parent);
        Some(parent)
    }

    /// Children as they are linked, into a list.
    pub(super) fn collect_children(&self, slot: Slot, into: &mut Vec<Slot>) {
        let mut next = self.get(slot).links.first;
        while let Some(slot) = next {
            into.push(slot);
            next = self.get(slot).links.next;
        }
    }

    fn unlist(&mut self, parent: Slot) {
        if !std::mem::replace(&mut self.get_mut(parent).links.unlisted, true) {
            self.unlisted.push(parent);
        }
    }

    /// Lists children of widgets whose links have changed.
    pub(super) fn list_children(&mut self) {
        for parent in std::mem::take(&mut self.unlisted) {
            // The slot may be empty by now, or have another widget.
            let Some(widget) = self.slots[parent].as_mut().filter(|widget| widget.links.unlisted) else { continue };
            widget.links.unlisted = false;
            let mut children = std::mem::take(&mut widget.children);
            let was_empty = children.is_empty();
            children.clear();
            self.collect_children(parent, &mut children);
            let is_other = was_empty != children.is_empty();
            let widget = self.get_mut(parent);
            widget.children = children;
            // A text is shown by widgets without children.
            if is_other && widget.look.text.is_some() {
                self.mark(parent, |changes| changes.moved = true);
            }
        }
    }
}
