// A flame graph with all that belongs to it: facts, search, colours, and tables that say the same. The page and the dashboard show it.
import { colorOf, isDark } from './colors.js';
import { amount, byOwner, type FlameData, percent } from './data.js';
import { flameGraph } from './graph.js';

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = '',
  ...children: Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text !== '') made.textContent = text;
  made.append(...children);
  return made;
}

function table(caption: string, heads: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = element('tr', '', ...heads.map((text) => element('th', text)));
  for (const cell of head.children) cell.setAttribute('scope', 'col');
  const body = rows.map((cells) => element('tr', '', ...cells.map((text) => element('td', text))));
  const made = element(
    'table',
    '',
    element('caption', caption),
    element('thead', '', head),
    element('tbody', '', ...body),
  );
  const around = element('div', '', made);
  around.className = 'table';
  around.tabIndex = 0;
  return around;
}

function facts(data: FlameData): HTMLElement {
  const list = element('dl');
  for (const [name, value] of data.facts)
    list.append(element('div', '', element('dt', name), element('dd', value)));
  return list;
}

function legend(parent: HTMLElement, data: FlameData): HTMLElement {
  const whole = data.selves.reduce((sum, own) => sum + own, 0);
  const list = element('ul');
  list.className = 'legend';
  list.setAttribute('aria-label', 'Colours by package');
  for (const { owner, own } of byOwner(data).slice(0, 16)) {
    const color = element('span');
    color.className = 'color';
    color.style.background = colorOf(owner, isDark(parent));
    list.append(element('li', '', color, document.createTextNode(`${owner} ${percent(own, whole)}`)));
  }
  return list;
}

function tables(data: FlameData): HTMLElement[] {
  const made: HTMLElement[] = [];
  const whole = data.selves.reduce((sum, own) => sum + own, 0);
  if (data.places.length > 0) {
    const rows = data.places.map(({ function: name, file, line, package: of, own, collected }) => [
      name,
      amount(own, data.unit),
      percent(own, whole),
      amount(collected, data.unit),
      of,
      `${file}:${line}`,
    ]);
    made.push(
      table(
        'Functions, with native code that they call',
        ['Function', 'Self', 'Share', 'GC after', 'Package', 'Place'],
        rows,
      ),
    );
  }
  if (data.components.length > 0) {
    const rows = data.components.map(({ component, self_ms, total_ms }) => [
      component,
      amount(self_ms * 1000, 'us'),
      amount(total_ms * 1000, 'us'),
    ]);
    made.push(table('React components', ['Component', 'Self', 'Total'], rows));
  }
  return made;
}

/** Puts it into `parent`, in place of all that is there, without its title. Returns what ends it. */
export function showFlame(parent: HTMLElement, data: FlameData): () => void {
  const about = element('p', 'Point to a box, or use the arrow keys.');
  about.className = 'pointed';
  about.setAttribute('aria-live', 'polite');
  const input = element('input');
  input.type = 'search';
  input.placeholder = 'function, file or package';
  const found = element('output');
  const label = element('label', 'Search ', input);
  const reset = element('button', 'Show all');
  reset.type = 'button';
  const controls = element('div', '', label, found, reset);
  controls.className = 'controls';
  const place = element('div');
  place.className = 'graph';
  parent.classList.add('flame');
  parent.replaceChildren(facts(data), controls, legend(parent, data), about, place, ...tables(data));
  const graph = flameGraph(place, data, (text) => (about.textContent = text));
  input.addEventListener('input', () => {
    const part = graph.search(input.value);
    found.textContent = input.value.trim() === '' ? '' : percent(part, 1);
  });
  reset.addEventListener('click', () => graph.reset());
  const focusSearch = (event: KeyboardEvent): void => {
    if (event.key !== '/' || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  };
  document.addEventListener('keydown', focusSearch);
  graph.draw();
  return () => {
    document.removeEventListener('keydown', focusSearch);
    graph.end();
  };
}
