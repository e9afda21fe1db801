//! Flexbox by taffy, on the widgets themselves. Results are cached in each widget, and forgotten from a change up to the root: a
//! layout visits what changed and its siblings alone.

use taffy::{
    AvailableSpace, Layout, LayoutContainingBlock, LayoutFlexboxContainer, LayoutInput, LayoutOutput,
    LayoutPartialTree, NodeId, RunMode, Size, Style, TraversePartialTree, compute_cached_layout,
    compute_flexbox_layout, compute_hidden_layout, compute_leaf_layout, compute_oof_layout, compute_root_layout,
};

use crate::geometry::Place;
use crate::text::Fonts;
use crate::tree::{DEPTH_MAX, ROOT, Slot, Tree};

/// Lays out what has changed since the last time.
pub fn layout(tree: &mut Tree, fonts: &mut Fonts, width: f32, height: f32) {
    if !std::mem::take(&mut tree.relayout) {
        return;
    }
    let root = tree.get_mut(ROOT);
    let size = Size { width: taffy::Dimension::length(width), height: taffy::Dimension::length(height) };
    if root.flex.size != size {
        root.flex.size = size;
        root.cache.clear();
    }
    let space = Size { width: AvailableSpace::Definite(width), height: AvailableSpace::Definite(height) };
    compute_root_layout(&mut Run { tree, fonts, depth: 0 }, NodeId::from(ROOT), space);
    for slot in std::mem::take(&mut tree.measured) {
        break_lines(tree, slot, fonts);
    }
}

/// Breaks the text of a widget, if it has one, into lines of the widget's width.
pub fn break_lines(tree: &mut Tree, slot: Slot, fonts: &mut Fonts) {
    let widget = tree.get_mut(slot);
    let shaped = widget.shaped.take();
    let shown = widget.text().map(|style| {
        let mut shaped = shaped.unwrap_or_else(|| Box::new(fonts.shape(style)));
        shaped.measure(fonts, Some(widget.content.width));
        shaped
    });
    widget.shaped = shown;
}

struct Run<'a> {
    tree: &'a mut Tree,
    fonts: &'a mut Fonts,
    depth: usize,
}

/// Children of a widget, as taffy's numbers.
pub struct Children<'a>(std::slice::Iter<'a, Slot>);

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        self.0.next().map(|slot| NodeId::from(*slot))
    }
}

impl Run<'_> {
    fn style(&self, node: NodeId) -> &Style {
        &self.tree.get(usize::from(node)).flex
    }

    fn children(&self, node: NodeId) -> &[Slot] {
        &self.tree.get(usize::from(node)).children
    }
}

impl TraversePartialTree for Run<'_> {
    type ChildIter<'a>
        = Children<'a>
    where
        Self: 'a;

    fn child_ids(&self, node: NodeId) -> Self::ChildIter<'_> {
        Children(self.children(node).iter())
    }

    fn child_count(&self, node: NodeId) -> usize {
        self.children(node).len()
    }

    fn get_child_id(&self, node: NodeId, index: usize) -> NodeId {
        NodeId::from(self.children(node)[index])
    }
}

/// Largest place and size, up to which whole numbers of pixels are exact.
const SIZE_MAX: f32 = 16_777_216.0;

impl LayoutPartialTree for Run<'_> {
    type CoreContainerStyle<'a>
        = &'a Style
    where
        Self: 'a;
    type CustomIdent = String;

    fn get_core_container_style(&self, node: NodeId) -> Self::CoreContainerStyle<'_> {
        self.style(node)
    }

    fn set_unrounded_layout(&mut self, node: NodeId, layout: &Layout) {
        let slot = usize::from(node);
        // Percents multiply down the tree.
        let number = |value: f32| if value.is_finite() { value.clamp(-SIZE_MAX, SIZE_MAX) } else { 0.0 };
        let local = Place {
            x: number(layout.location.x),
            y: number(layout.location.y),
            width: number(layout.size.width).max(0.0),
            height: number(layout.size.height).max(0.0),
        };
        let [left, top] = [layout.padding.left + layout.border.left, layout.padding.top + layout.border.top];
        let content = Place {
            x: left,
            y: top,
            width: (local.width - left - layout.padding.right - layout.border.right).max(0.0),
            height: (local.height - top - layout.padding.bottom - layout.border.bottom).max(0.0),
        };
        let widget = self.tree.get_mut(slot);
        if widget.local == local && widget.content == content {
            return;
        }
        widget.local = local;
        widget.content = content;
        self.tree.mark(slot, |changes| changes.moved = true);
    }

    fn compute_child_layout(&mut self, node: NodeId, inputs: LayoutInput) -> LayoutOutput {
        if self.depth >= DEPTH_MAX {
            return LayoutOutput::HIDDEN;
        }
        self.depth += 1;
        let output = if inputs.run_mode == RunMode::PerformHiddenLayout {
            compute_hidden_layout(self, node)
        } else {
            compute_cached_layout(self, node, inputs, Self::compute)
        };
        self.depth -= 1;
        output
    }
}

impl Run<'_> {
    fn compute(&mut self, node: NodeId, inputs: LayoutInput) -> LayoutOutput {
        let slot = usize::from(node);
        if self.tree.get(slot).flex.display == taffy::Display::None {
            return compute_hidden_layout(self, node);
        }
        let mut output = if self.tree.get(slot).text().is_some() {
            self.text(slot, inputs)
        } else {
            compute_flexbox_layout(self, node, inputs)
        };
        if inputs.run_mode == RunMode::PerformLayout {
            compute_oof_layout(self, node, &mut output);
        }
        output
    }

    fn text(&mut self, slot: Slot, inputs: LayoutInput) -> LayoutOutput {
        let widget = self.tree.get_mut(slot);
        let mut shaped = widget.shaped.take();
        let fonts = &mut *self.fonts;
        let output = compute_leaf_layout(
            inputs,
            &widget.flex,
            |_, _| 0.0,
            |known, space| {
                let Some(style) = &widget.look.text else { return Size::ZERO };
                let shaped = shaped.get_or_insert_with(|| Box::new(fonts.shape(style)));
                let width = known.width.or(match space.width {
                    AvailableSpace::Definite(width) => Some(width),
                    AvailableSpace::MinContent => Some(0.0),
                    AvailableSpace::MaxContent => None,
                });
                let (width, height) = shaped.measure(fonts, width);
                Size { width: known.width.unwrap_or(width), height: known.height.unwrap_or(height) }
            },
        );
        widget.shaped = shaped;
        self.tree.measured.push(slot);
        output
    }
}

impl LayoutContainingBlock for Run<'_> {
    type OofItemStyle<'a>
        = &'a Style
    where
        Self: 'a;

    fn get_oof_item_style(&self, node: NodeId) -> Self::OofItemStyle<'_> {
        self.style(node)
    }

    // Every widget is the containing block of its children: none is hoisted further than its parent.
    fn clear_hoisted_children(&mut self, _: NodeId) {}

    fn add_hoisted_children(&mut self, _: NodeId, _: &[NodeId]) {}
}

impl taffy::CacheTree for Run<'_> {
    fn cache_get(&mut self, node: NodeId, input: &LayoutInput) -> Option<LayoutOutput> {
        self.tree.get_mut(usize::from(node)).cache.get(input)
    }

    fn cache_store(&mut self, node: NodeId, input: &LayoutInput, output: LayoutOutput) {
        self.tree.get_mut(usize::from(node)).cache.store(input, output);
    }

    fn cache_clear(&mut self, node: NodeId) {
        self.tree.get_mut(usize::from(node)).cache.clear();
    }
}

impl LayoutFlexboxContainer for Run<'_> {
    type FlexboxContainerStyle<'a>
        = &'a Style
    where
        Self: 'a;
    type FlexboxItemStyle<'a>
        = &'a Style
    where
        Self: 'a;

    fn get_flexbox_container_style(&self, node: NodeId) -> Self::FlexboxContainerStyle<'_> {
        self.style(node)
    }

    fn get_flexbox_child_style(&self, node: NodeId) -> Self::FlexboxItemStyle<'_> {
        self.style(node)
    }
}
