// The page of a flame graph: one file that needs nothing else. `sluice profile` and `sluice heap` put the data into it.
import { colorOf } from './colors.js';
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

function legend(data: FlameData): HTMLElement {
  const whole = data.selves.reduce((sum, own) => sum + own, 0);
  const list = element('ul');
  list.className = 'legend';
  list.setAttribute('aria-label', 'Colours by package');
  for (const { owner, own } of byOwner(data).slice(0, 16)) {
    const color = element('span');
    color.className = 'color';
    color.style.background = colorOf(owner, matchMedia('(prefers-color-scheme: dark)').matches);
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

function show(main: HTMLElement, data: FlameData): void {
  document.title = `${data.title} · Flame graph · Sluice`;
  const about = element('p', 'Point to a box, or use the arrow keys.');
  about.className = 'about';
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
  main.replaceChildren(
    element('h1', data.title),
    facts(data),
    controls,
    legend(data),
    about,
    place,
    ...tables(data),
  );
  const graph = flameGraph(place, data, (text) => (about.textContent = text));
  input.addEventListener('input', () => {
    const part = graph.search(input.value);
    found.textContent = input.value.trim() === '' ? '' : percent(part, 1);
  });
  reset.addEventListener('click', () => graph.reset());
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });
  graph.draw();
}

const main = document.getElementById('flame');
const text = document.getElementById('profile')?.textContent;
if (main !== null && text) show(main, JSON.parse(text) as FlameData);
else if (main !== null) main.textContent = 'No profile was given to this page.';
