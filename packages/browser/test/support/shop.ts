// An app of 60 components, as shops have them: 50 of React, half with a CSS Module, with helpers that several share.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Below it, apps find the packages of this repository. */
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache', import.meta.url));

export const REACT = Array.from({ length: 50 }, (_, index) => `Part${String(index).padStart(2, '0')}`);
export const VUE = Array.from({ length: 5 }, (_, index) => `vue/Item${index}`);
export const PLAIN = Array.from({ length: 5 }, (_, index) => `plain/Text${index}`);

const HELPERS: Readonly<Record<string, string>> = {
  '_lib/format.js':
    'const number = new Intl.NumberFormat("en", { style: "currency", currency: "EUR" });\nexport const format = (value) => number.format(value);\n',
  '_lib/toggle.js':
    'import { useState } from "react";\nexport function useToggle() {\n  const [on, set] = useState(false);\n  return [on, () => set(!on)];\n}\n',
  '_lib/words.js': 'export const words = (text) => text.split(" ").filter((word) => word !== "");\n',
  '_ui/icon.css': '.icon { color: rgb(7, 8, 9); }\n',
  '_ui/Icon.jsx':
    'import "./icon.css";\nexport const Icon = ({ name }) => <i className="icon" data-name={name} aria-hidden="true" />;\n',
  // A list of all, of which each component takes one.
  '_ui/index.js': 'export { Badge } from "./Badge.jsx";\nexport { Chip } from "./Chip.jsx";\n',
  '_ui/badge.module.css': '.badge { color: rgb(1, 1, 1); }\n',
  '_ui/Badge.jsx':
    'import styles from "./badge.module.css";\nexport const Badge = () => <sup className={styles.badge}>new</sup>;\n',
  '_ui/chip.module.css': '.chip { color: rgb(2, 2, 2); }\n',
  '_ui/Chip.jsx':
    'import styles from "./chip.module.css";\nexport const Chip = () => <sub className={styles.chip}>chip</sub>;\n',
  '_ui/Button.jsx':
    'import { Icon } from "./Icon.jsx";\nexport const Button = ({ label, onClick }) => (\n  <button type="button" onClick={onClick}>\n    <Icon name="more" />\n    {label}\n  </button>\n);\n',
};

const IMPORTS = [
  'import { format } from "./_lib/format.js";',
  'import { useToggle } from "./_lib/toggle.js";',
  'import { words } from "./_lib/words.js";',
  'import { Icon } from "./_ui/Icon.jsx";',
  'import { Badge } from "./_ui/index.js";',
  'import { Chip } from "./_ui/index.js";',
] as const;

/** A component with about 1 KB of texts of its own. Each imports another set of the helpers, and all the button. */
function part(name: string, index: number): string {
  const has = (bit: number): boolean => ((index >> bit) & 1) === 1;
  const imports = IMPORTS.filter((_, bit) => has(bit));
  const isStyled = index % 2 === 0;
  const texts = Array.from(
    { length: 12 },
    (_, line) => `${name}: text ${index * line} of line ${line}, for who reads it.`,
  );
  return `import { useState } from 'react';
import { Button } from './_ui/Button.jsx';
${imports.join('\n')}
${isStyled ? `import styles from './${name}.module.css';` : 'const styles = {};'}
const texts = ${JSON.stringify(texts)};
export default function ${name}({ start }) {
  const [count, setCount] = useState(start);
  ${has(1) ? 'const [isOpen, toggle] = useToggle();' : 'const isOpen = count > 3;'}
  return (
    <section className={styles.part} data-part="${name}">
      <Button label={\`${name} \${count}\`} onClick={() => ${has(1) ? '(toggle(), setCount(count + 1))' : 'setCount(count + 1)'}} />
      ${has(0) ? '<b>{format(count)}</b>' : ''}
      ${has(2) ? '<em>{words(texts[0]).length}</em>' : ''}
      ${has(3) ? '<Icon name="own" />' : ''}
      ${has(4) ? '<Badge />' : ''}
      ${has(5) ? '<Chip />' : ''}
      {isOpen && texts.map((text) => <p key={text}>{text}</p>)}
    </section>
  );
}
`;
}

const item = (index: number): string => `import { h, ref } from 'vue';
export default {
  props: ['start'],
  setup(props) {
    const count = ref(props.start);
    return () => h('button', { type: 'button', onClick: () => (count.value += 1) }, \`item${index} \${count.value}\`);
  },
};
`;

const text = (index: number): string => `export const settings = { adapter: 'plain' };
export default ({ start }) => \`<button type="button" class="text${index}">text${index} \${start}</button>\`;
export function hydrate(box, { start }) {
  let count = start;
  const button = box.querySelector('button');
  button.addEventListener('click', () => {
    count += 1;
    button.textContent = \`text${index} \${count}\`;
  });
}
`;

/** Files of the app, by their paths below its folder. */
export function shopFiles(): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [file, code] of Object.entries(HELPERS)) files[`components/${file}`] = code;
  for (const [index, name] of REACT.entries()) {
    files[`components/${name}.jsx`] = part(name, index);
    if (index % 2 === 0) files[`components/${name}.module.css`] = `.part { margin: ${index}px; }\n`;
  }
  for (const [index, name] of VUE.entries()) files[`components/${name}.js`] = item(index);
  for (const [index, name] of PLAIN.entries()) files[`components/${name}.js`] = text(index);
  return files;
}

/** Writes an app into a new folder, from which its packages are found. The caller removes it. */
export function appOf(files: Readonly<Record<string, string>>): string {
  fs.mkdirSync(CACHE, { recursive: true });
  const root = fs.mkdtempSync(path.join(CACHE, 'sluice-app-'));
  for (const [file, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), content);
  }
  return root;
}
