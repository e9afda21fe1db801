// The page of a flame graph: one file that needs nothing else. `sluice profile` and `sluice heap` put the data into it.
import type { FlameData } from './data.js';
import { showFlame } from './view.js';

const main = document.getElementById('flame');
const text = document.getElementById('profile')?.textContent;
if (main !== null && text) {
  const data = JSON.parse(text) as FlameData;
  document.title = `${data.title} · Flame graph · Sluice`;
  const [title, view] = [document.createElement('h1'), document.createElement('div')];
  title.textContent = data.title;
  main.replaceChildren(title, view);
  showFlame(view, data);
} else if (main !== null) {
  main.textContent = 'No profile was given to this page.';
}
