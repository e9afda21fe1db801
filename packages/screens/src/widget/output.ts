/* oxlint-disable typescript/no-non-null-assertion -- indexes and fields that the code around has made sure of */
/** Output: a root's widgets, and the batch of commands that brings the surface to their state. */
import { OFFSCREEN, WIDGET, type Kids, type Node } from '../tree/node.js';
import { FocusManager } from '../focus/manager.js';
import type { Surface } from '../surfaces/surface.js';
import { COMMAND } from '../stream/codes.js';
import { renumber, type Adoptable } from './adoption.js';
import { Commands } from './commands.js';
import { entries, wrong } from './facts.js';
import { Handle, WidgetNode } from './node.js';
import { stays } from './places.js';
import {
  ALL,
  BLOCK,
  FOCUS,
  FOCUS_STYLE,
  OWN,
  REPORTS,
  STATIC,
  type Block,
  type WidgetProps,
} from './props.js';
import { Styles, isStyle, mergedStyle, writeAnimations, writeDifference, writeStyle } from './styles.js';

const DISPLAY = 1;
const NONE = 1;
const REPORTS_CODE = 80;
const TEXT_ENTRY = entries['text']!;
const IMAGE_ENTRY = entries['image']!;
const FOREIGN = 'A widget is not of this root';

function hasFocusProps(props: WidgetProps): boolean {
  return props.focused !== undefined || props.focusable !== undefined || props.focusArea !== undefined;
}

function wantsReports(props: WidgetProps): boolean {
  return props.onLayout !== undefined || props.onAnimationEnd !== undefined || props.onImage !== undefined;
}

export class Output {
  readonly root = new WidgetNode(0, {}, null);
  readonly manager: FocusManager;
  /** Widgets by number. */
  readonly widgets: (WidgetNode | undefined)[] = [this.root];
  /** Key that the next batch answers; 0 for none. */
  cause = 0;
  private readonly surface: Surface;
  /** Numbers to use again, those that can be after the events that are being told, and those that can be from the next batch on. */
  private readonly free: number[] = [];
  readonly commands = new Commands(this.widgets, this.free);
  private readonly resting: number[] = [];
  private readonly freed: number[] = [];
  /** Deliveries of events that run, one in another. */
  private deliveries = 0;
  private readonly created: WidgetNode[] = [];
  /** Children of the root at the surface. */
  private shown: readonly WidgetNode[] = [];
  private stamp = 0;
  /** Whether a commit or an event sends the batch at its end. */
  busy = false;

  /** Screen that the surface shows, until the first batch takes it over. */
  private adopted: Adoptable | null;

  private readonly onAdopted: () => void;

  /**
   * @param onAdopted Called when the widgets of `adopted` are the root's.
   * @param onEventError Called with an error of an `onFocus` or `onBlur`.
   */
  constructor(
    surface: Surface,
    adopted: Adoptable | null,
    onAdopted: () => void,
    onEventError: (error: unknown) => void,
  ) {
    this.onAdopted = onAdopted;
    this.surface = surface;
    this.adopted = adopted;
    this.commands.styles = new Styles();
    this.manager = new FocusManager(this.root, {
      focus: (id) => this.commands.focus(id),
      reports: (node, on) => this.track(node as WidgetNode, on),
      failed: onEventError,
    });
  }

  /** Handle that a ref of a widget gets. */
  handleOf(widget: WidgetNode): Handle {
    return (widget.handle ??= new Handle(widget, this));
  }

  focus(widget: WidgetNode): void {
    if (this.widgets[widget.id] !== widget) return;
    if (this.manager.focus(widget) && !this.busy) this.send();
  }

  /** Begins a delivery of events: some of them may be about widgets that a handler removes. */
  hear(): void {
    this.deliveries++;
  }

  /** Ends a delivery of events. */
  heard(): void {
    if (--this.deliveries > 0) return;
    const { resting, free } = this;
    for (let i = 0; i < resting.length; i++) free.push(resting[i]!);
    resting.length = 0;
  }

  private track(widget: WidgetNode, on: boolean): void {
    if (widget.tracked === on) return;
    widget.tracked = on;
    if (!widget.reports) this.reports(widget.id, on);
  }

  private reports(id: number, on: boolean): void {
    this.commands.integer(id, REPORTS_CODE, on ? 1 : 0);
  }

  /** Creates the widget of a node with all below it. A first screen is made of these, so little is called from here. */
  private create(node: Node, parent: WidgetNode): WidgetNode {
    const props = node.props as WidgetProps;
    const { free, commands: out } = this;
    const id = free.length > 0 ? free.pop()! : this.widgets.length;
    const widget = new WidgetNode(id, props, parent);
    this.widgets[id] = widget;
    node.instance = widget;
    out.two(COMMAND.CREATE, id);
    const { $k: groups = ALL } = props;
    let merged = false;
    if ((groups & STATIC) !== 0) {
      const { staticStyle } = props;
      if (isStyle(staticStyle)) {
        const number = out.styles!.find(staticStyle, out);
        if (number !== 0) out.three(COMMAND.STYLE, id, number);
        else widget.merged = merged = true;
      }
    }
    if ((groups & FOCUS_STYLE) !== 0 && props.focusStyle !== undefined) out.focusStyle(id, props.focusStyle);
    if ((groups & OWN) !== 0 || merged) this.writeOwn(widget, props, merged);
    if ((groups & REPORTS) !== 0 && wantsReports(props)) {
      widget.reports = true;
      this.reports(id, true);
    }
    if ((groups & FOCUS) !== 0 && hasFocusProps(props)) {
      widget.managed = true;
      this.created.push(widget);
    }
    if ((groups & BLOCK) !== 0) widget.inner = props.$b!.mount(id, props, out);
    const { kids } = node;
    if (kids.length > 0) {
      const children: WidgetNode[] = [];
      this.collect(kids, widget, children);
      widget.children = children;
      for (let i = 0; i < children.length; i++) out.place(id, children[i]!.id, 0);
    }
    return widget;
  }

  private writeOwn(widget: WidgetNode, props: WidgetProps, merged: boolean): void {
    const { id } = widget;
    const out = this.commands;
    const { $m: write } = props;
    if (write !== undefined && !merged) {
      write(widget, props, out);
      return;
    }
    const style = merged ? mergedStyle(props) : props.style;
    if (style !== undefined && style !== null) writeStyle(id, style, out);
    const { text, image, animate } = props;
    if (text !== undefined && text !== null && !out.set(id, TEXT_ENTRY, text)) wrong('text', text);
    if (image !== undefined && image !== null && !out.set(id, IMAGE_ENTRY, image)) wrong('image', image);
    if (animate !== undefined) writeAnimations(id, undefined, animate, out);
  }

  /** Brings a widget to the props of its node. */
  update(node: Node): void {
    const widget = node.instance as WidgetNode;
    const now = node.props as WidgetProps;
    const before = widget.props;
    if (before === now) return;
    // A widget of another root would be written here with its data.
    if (this.widgets[widget.id] !== widget) throw new Error(FOREIGN);
    widget.props = now;
    const { $k: given } = now;
    const isKnown = given === before.$k;
    const groups = given !== undefined && isKnown ? given : ALL;
    if ((groups & STATIC) !== 0 && (widget.merged || before.staticStyle !== now.staticStyle))
      this.updateStatic(widget, before, now);
    if ((groups & FOCUS_STYLE) !== 0 && before.focusStyle !== now.focusStyle)
      this.commands.focusStyle(widget.id, now.focusStyle);
    if ((groups & OWN) !== 0) this.updateOwn(widget, before, now);
    if ((groups & BLOCK) !== 0 || !isKnown) this.updateBlock(widget, before.$b, before, now);
    if (widget.hidden) this.commands.integer(widget.id, DISPLAY, NONE);
    if ((groups & REPORTS) !== 0) {
      const reports = wantsReports(now);
      if (reports !== widget.reports) {
        widget.reports = reports;
        if (!widget.tracked) this.reports(widget.id, reports);
      }
    }
    if ((groups & FOCUS) === 0) return;
    const managed = hasFocusProps(now);
    if (managed) {
      if (widget.managed) this.manager.changed(widget, before);
      else this.manager.attach(widget);
    } else if (widget.managed) this.manager.detach(widget);
    widget.managed = managed;
  }

  private updateOwn(widget: WidgetNode, before: WidgetProps, now: WidgetProps): void {
    const { id } = widget;
    const out = this.commands;
    const { $u: write } = now;
    if (write !== undefined && write === before.$u && !widget.merged) {
      write(widget, before, now, out);
      return;
    }
    if (before.style !== now.style && !widget.merged) writeDifference(id, before.style, now.style, out);
    if (before.text !== now.text) out.property(id, 'text', now.text);
    if (before.image !== now.image) out.property(id, 'image', now.image);
    if (before.animate !== now.animate) writeAnimations(id, before.animate, now.animate, out);
  }

  private updateBlock(
    widget: WidgetNode,
    was: Block | undefined,
    before: WidgetProps,
    now: WidgetProps,
  ): void {
    const { $b: block } = now;
    const out = this.commands;
    if (block === was) {
      if (block !== undefined) block.update(widget.inner!, before, now, out);
      return;
    }
    const { inner } = widget;
    // Those below others come behind them.
    if (inner !== null) for (let i = inner.length - 1; i >= 0; i--) out.remove(inner[i]!);
    this.forgetInner(widget);
    if (block !== undefined) widget.inner = block.mount(widget.id, now, out);
  }

  private forgetInner(widget: WidgetNode): void {
    const { inner } = widget;
    if (inner === null) return;
    for (let i = 0; i < inner.length; i++) {
      this.widgets[inner[i]!] = undefined;
      this.freed.push(inner[i]!);
    }
    widget.inner = null;
  }

  private updateStatic(widget: WidgetNode, before: WidgetProps, now: WidgetProps): void {
    const { id } = widget;
    const out = this.commands;
    const old = widget.merged ? mergedStyle(before) : before.style;
    const merged = isStyle(now.staticStyle) && !out.styles!.takes(now.staticStyle);
    if (!merged) out.style(id, now.staticStyle);
    else if (!widget.merged) out.style(id, undefined);
    if (merged || widget.merged) writeDifference(id, old, merged ? mergedStyle(now) : now.style, out);
    widget.merged = merged;
  }

  /** Adds the widgets of nodes, in their order, and creates those that are new. */
  private collect(kids: Kids, parent: WidgetNode, into: WidgetNode[]): void {
    for (let i = 0; i < kids.length; i++) {
      const node = kids[i]!;
      if (node === null) continue;
      if (node.kind === WIDGET) into.push((node.instance as WidgetNode | null) ?? this.create(node, parent));
      else this.collect(node.kids, parent, into);
    }
  }

  /** Brings the children of a widget or root into the order of its node. */
  placeChildren(host: Node): void {
    const parent =
      host.kind === WIDGET
        ? (host.instance as WidgetNode | null)
        : (host.instance as { readonly output: Output }).output.root;
    // A new widget's children come with it.
    if (parent === null) return;
    if (this.widgets[parent.id] !== parent) throw new Error(FOREIGN);
    const before = parent.children;
    const stamp = ++this.stamp;
    for (let i = 0; i < before.length; i++) before[i]!.index = i;
    const now: WidgetNode[] = [];
    this.collect(host.kids, parent, now);
    let grows = true;
    let kept = 0;
    let last = -1;
    for (let i = 0; i < now.length; i++) {
      const child = now[i]!;
      const isOld = before[child.index] === child;
      child.stamp = stamp;
      if (!isOld) child.index = -1;
      else {
        kept++;
        if (child.index < last) grows = false;
        last = child.index;
      }
    }
    parent.children = now;
    if (kept < before.length)
      for (let i = 0; i < before.length; i++) {
        const child = before[i]!;
        if (child.stamp !== stamp) this.remove(child);
      }
    if (grows && kept === now.length) return;
    const out = this.commands;
    if (kept === 0) {
      for (let i = 0; i < now.length; i++) out.place(parent.id, now[i]!.id, 0);
      return;
    }
    const stay = grows ? null : stays(now);
    for (let i = now.length - 1; i >= 0; i--) {
      const child = now[i]!;
      if (stay === null ? child.index >= 0 : stay[i] === 1) continue;
      out.place(parent.id, child.id, i + 1 < now.length ? now[i + 1]!.id : 0);
    }
  }

  private remove(widget: WidgetNode): void {
    this.commands.remove(widget.id);
    this.forget(widget);
    widget.parent = null;
  }

  private forget(widget: WidgetNode): void {
    const { children } = widget;
    for (let i = 0; i < children.length; i++) this.forget(children[i]!);
    if (widget.managed) this.manager.detach(widget);
    this.forgetInner(widget);
    this.widgets[widget.id] = undefined;
    this.freed.push(widget.id);
  }

  /** Hides the widgets of a Suspense's children, or shows them again. */
  setHidden(node: Node, hidden: boolean): void {
    const { kids } = node;
    for (let i = 0; i < kids.length; i++) {
      const kid = kids[i]!;
      if (kid === null || (kid.kind === OFFSCREEN && kid.state === true)) continue;
      if (kid.kind !== WIDGET) this.setHidden(kid, hidden);
      else if (kid.instance !== null) this.hide(kid.instance as WidgetNode, hidden);
    }
  }

  private hide(widget: WidgetNode, hidden: boolean): void {
    if (widget.hidden === hidden) return;
    widget.hidden = hidden;
    if (hidden) this.commands.integer(widget.id, DISPLAY, NONE);
    else {
      const style = widget.merged ? mergedStyle(widget.props) : widget.props.style;
      this.commands.property(widget.id, 'display', style?.display);
    }
  }

  /** All changes of a commit are written. */
  changed(): void {
    const { created } = this;
    for (let i = 0; i < created.length; i++) this.manager.attach(created[i]!);
    created.length = 0;
  }

  /** Sends what is written as one batch, if there is anything. */
  send(): void {
    this.manager.settle();
    const { commands, freed } = this;
    if (commands.length === 0) return;
    const free = this.deliveries > 0 ? this.resting : this.free;
    try {
      if (this.adopted === null)
        this.surface.commit(commands.words, commands.length, commands.strings, this.cause);
      else this.adopt(this.adopted, commands);
    } finally {
      commands.clear();
    }
    this.shown = this.root.children;
    commands.styles!.sent();
    if (this.cause !== 0) this.manager.sent();
    for (let i = 0; i < freed.length; i++) free.push(freed[i]!);
    freed.length = 0;
  }

  /** Drops the batch of a commit that failed. All widgets are gone; the next batch removes what the surface shows of them. */
  abandon(): void {
    const { commands, created, freed, widgets, root, shown } = this;
    created.length = 0;
    for (let id = 1; id < widgets.length; id++) {
      const widget = widgets[id];
      if (widget === undefined) continue;
      if (widget.managed) this.manager.detach(widget);
      widget.parent = null;
      widgets[id] = undefined;
      freed.push(id);
    }
    root.children = [];
    commands.clear();
    commands.styles!.unsent();
    if (shown.length > 0) commands.focus(0);
    for (const widget of shown) commands.remove(widget.id);
  }

  private adopt(adopted: Adoptable, commands: Commands): void {
    this.adopted = null;
    const taken = adopted.take(commands.words, commands.length, commands.strings);
    if (taken.length > 0) this.surface.commit(taken.words, taken.length, taken.strings, this.cause);
    this.free.push(...renumber(this.widgets, commands.styles!, taken));
    // Events find the widgets when the commit is done.
    queueMicrotask(this.onAdopted);
  }
}
