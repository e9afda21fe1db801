// Widgets made by hand for the focus manager, as the renderer keeps them: attached, changed and detached in commits.
import type { FocusNode, FocusProps } from '../../src/focus/node.ts';
import type { KeyEvent } from '../../src/focus/key.ts';
import { FocusManager } from '../../src/focus/manager.ts';

export class Node implements FocusNode {
  readonly id: number;
  parent: Node | null = null;
  readonly children: Node[] = [];
  props: FocusProps;
  x = Number.NaN;
  y = Number.NaN;
  width = 100;
  height = 100;
  focus: unknown = undefined;
  hidden = false;

  constructor(id: number, props: FocusProps) {
    this.id = id;
    this.props = props;
  }
}

const counts = ({ focused, focusable, focusArea }: FocusProps): boolean =>
  focused !== undefined || focusable !== undefined || focusArea !== undefined;

export class World {
  readonly root = new Node(0, {});
  readonly sent: number[] = [];
  readonly reports = new Map<number, boolean>();
  readonly manager: FocusManager;
  /** Work of long presses. */
  readonly later: (() => unknown)[] = [];
  readonly #names = new Map<string, Node>();
  #ids = 0;
  #keys = 0;
  time = 0;

  constructor() {
    const send = {
      focus: (id: number) => this.sent.push(id),
      reports: (node: FocusNode, on: boolean) => this.reports.set(node.id, on),
      failed(error: unknown) {
        throw error;
      },
    };
    this.manager = new FocusManager(this.root, send, (run) => {
      this.later.push(run);
      return () => this.later.splice(this.later.indexOf(run), 1);
    });
  }

  /** A widget below another one, without the end of the commit. */
  add(name: string, props: FocusProps, parent: Node = this.root, at = parent.children.length): Node {
    this.#ids += 1;
    const node = new Node(this.#ids, props);
    this.#names.set(name, node);
    node.parent = parent;
    parent.children.splice(at, 0, node);
    if (counts(props)) this.manager.attach(node);
    return node;
  }

  /** Widgets that can have the focus, `[name, x, y]` or a name. */
  stops(parent: Node, ...names: (string | readonly [string, number, number])[]): void {
    for (const each of names) {
      const [name, x, y] = typeof each === 'string' ? [each, Number.NaN, Number.NaN] : each;
      Object.assign(this.add(name, { focusable: true }, parent), { x, y });
    }
  }

  set(node: Node, props: FocusProps): void {
    const before = node.props;
    node.props = props;
    if (counts(before) && counts(props)) this.manager.changed(node, before);
    else if (counts(props)) this.manager.attach(node);
    else if (counts(before)) this.manager.detach(node);
  }

  remove(node: Node): void {
    const { parent } = node;
    parent?.children.splice(parent.children.indexOf(node), 1);
    node.parent = null;
    this.#detach(node);
  }

  get(name: string): Node {
    const node = this.#names.get(name);
    if (node === undefined) throw new Error(`no widget ${name}`);
    return node;
  }

  settle(): void {
    this.manager.settle();
  }

  /** Name of the widget with the focus. */
  get focused(): string {
    return [...this.#names].find(([, node]) => node === this.manager.focused)?.[0] ?? 'none';
  }

  key(key: string, phase = 0): KeyEvent {
    this.#keys += 1;
    const event = {
      key,
      phase,
      sequence: this.#keys,
      time: this.time,
      defaultPrevented: false,
      preventDefault() {
        event.defaultPrevented = true;
      },
    };
    const count = this.sent.length;
    this.manager.key(event);
    if (this.sent.length > count) this.manager.sent();
    return event;
  }

  /** Presses arrows: `r`, `l`, `u` and `d`; returns who has the focus then. */
  go(ways: string): string {
    for (const way of ways)
      this.key({ r: 'ArrowRight', l: 'ArrowLeft', u: 'ArrowUp', d: 'ArrowDown' }[way] ?? way);
    return this.focused;
  }

  #detach(node: Node): void {
    for (const child of node.children) this.#detach(child);
    if (counts(node.props)) this.manager.detach(node);
  }
}
