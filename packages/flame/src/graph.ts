// A flame graph on a canvas: zoom, search, keys. Callers stand above those whom they call. The page and the dashboard show it.
import { colorOf, isDark } from './colors.js';
import { amount, type FlameData, matched, percent, treeOf } from './data.js';

const ROW_PX = 19;
/** Narrower boxes are not drawn. */
const BOX_PX_MIN = 0.35;
/** Narrower boxes have no name. */
const NAMED_PX_MIN = 28;

export interface FlameGraph {
  /** Marks functions, places and packages with this in their names. Returns how much of the whole they are, from 0 to 1. */
  search(text: string): number;
  reset(): void;
  /** Draws again, in the colours of now. */
  draw(): void;
  /** Looks at nothing any more; the canvas is its parent's to remove. */
  end(): void;
}

/** `tell` gets a sentence about the box that is pointed to. */
export function flameGraph(parent: HTMLElement, data: FlameData, tell: (text: string) => void): FlameGraph {
  const tree = treeOf(data);
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'application');
  canvas.setAttribute(
    'aria-label',
    'Flame graph. Arrow keys move between calls, Enter zooms, Escape shows all. The tables below say the same.',
  );
  parent.append(canvas);
  const context = canvas.getContext('2d');
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  let dark = false;
  let isMeant: boolean[] | undefined;
  let zoomed = 0;
  let chosen = 0;

  const whole = (): number => tree.totals[0] || 1;
  const frameOf = (at: number): FlameData['frames'][number] =>
    data.frames[data.stack_frames[at] ?? -1] ?? ['', '', -1];
  const scale = (): { from: number; perPx: number } => ({
    from: tree.starts[zoomed] ?? 0,
    perPx: (tree.totals[zoomed] || 1) / Math.max(canvas.clientWidth, 1),
  });

  function describe(at: number): string {
    const [name, place, owner] = frameOf(at);
    const total = tree.totals[at] ?? 0;
    const own = data.selves[at] ?? 0;
    const of = `${amount(total, data.unit)} (${percent(total, whole())}), itself ${amount(own, data.unit)}`;
    return [name, data.owners[owner] ?? '', place, of].filter((part) => part !== '').join(' · ');
  }

  function draw(): void {
    if (context === null) return;
    dark = isDark(parent);
    const width = canvas.clientWidth;
    const height = (tree.depth_max + 1) * ROW_PX;
    const ratio = devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const { from, perPx } = scale();
    const open = [0];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const x = ((tree.starts[at] ?? 0) - from) / perPx;
      const boxWidth = (tree.totals[at] ?? 0) / perPx;
      if (boxWidth < BOX_PX_MIN || x + boxWidth < 0 || x > width) continue;
      drawBox(at, Math.max(x, 0), Math.min(x + boxWidth, width) - Math.max(x, 0));
      for (const child of tree.children[at] ?? []) open.push(child);
    }
  }

  function drawBox(at: number, x: number, width: number): void {
    if (context === null) return;
    const y = (tree.depths[at] ?? 0) * ROW_PX;
    const [name, , owner] = frameOf(at);
    const isMarked = isMeant === undefined || isMeant[data.stack_frames[at] ?? -1] === true;
    context.globalAlpha = isMarked ? 1 : 0.25;
    context.fillStyle = colorOf(data.owners[owner] ?? '', dark);
    context.fillRect(x, y, Math.max(width - 0.5, 0.35), ROW_PX - 1);
    if (at === chosen) {
      context.strokeStyle = dark ? '#fff' : '#000';
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 1), ROW_PX - 3);
    }
    context.globalAlpha = isMarked ? 1 : 0.6;
    if (width < NAMED_PX_MIN) return;
    context.save();
    context.beginPath();
    context.rect(x, y, width - 3, ROW_PX);
    context.clip();
    context.fillStyle = dark ? '#fff' : '#111';
    context.fillText(name, x + 4, y + ROW_PX / 2);
    context.restore();
  }

  function at(event: MouseEvent): number | undefined {
    const { from, perPx } = scale();
    const value = from + event.offsetX * perPx;
    const depth = Math.floor(event.offsetY / ROW_PX);
    let here = 0;
    for (let level = 0; level < depth; level += 1) {
      const inside = (child: number): boolean =>
        value >= (tree.starts[child] ?? 0) && value < (tree.starts[child] ?? 0) + (tree.totals[child] ?? 0);
      const next: number | undefined = tree.children[here]?.find(inside);
      if (next === undefined) return undefined;
      here = next;
    }
    return here;
  }

  function choose(stack: number | undefined): void {
    if (stack === undefined) return;
    chosen = stack;
    tell(describe(stack));
    draw();
  }

  function zoom(stack: number): void {
    zoomed = stack;
    choose(stack);
  }

  /** Returns the index of a box beside it, of the same caller. */
  function sibling(step: number): number | undefined {
    const all = tree.children[data.parents[chosen] ?? 0] ?? [];
    return all[all.indexOf(chosen) + step];
  }

  const KEYS: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => choose(sibling(-1)),
    ArrowRight: () => choose(sibling(1)),
    ArrowUp: () => choose(data.parents[chosen]),
    ArrowDown: () => choose(tree.children[chosen]?.[0]),
    Enter: () => zoom(chosen),
    Home: () => choose(0),
    Escape: () => zoom(0),
  };

  canvas.addEventListener('click', (event) => {
    const stack = at(event);
    if (stack !== undefined) zoom(stack);
  });
  canvas.addEventListener('mousemove', (event) => {
    const stack = at(event);
    canvas.title = stack === undefined ? '' : describe(stack);
  });
  canvas.addEventListener('keydown', (event) => {
    const act = KEYS[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    // Where all is shown already, Escape is for whatever the graph stands in.
    if (event.key === 'Escape' && zoomed === 0) return;
    event.preventDefault();
    act();
  });
  scheme.addEventListener('change', draw);
  const resized = new ResizeObserver(draw);
  resized.observe(parent);

  return {
    search(text) {
      const sought = text.trim().toLowerCase();
      isMeant =
        sought === ''
          ? undefined
          : data.frames.map(([name, place, owner]) =>
              `${name} ${place} ${data.owners[owner] ?? ''}`.toLowerCase().includes(sought),
            );
      draw();
      return isMeant === undefined ? 0 : matched(data, tree, isMeant) / whole();
    },
    reset: () => zoom(0),
    draw,
    end() {
      scheme.removeEventListener('change', draw);
      resized.disconnect();
    },
  };
}
