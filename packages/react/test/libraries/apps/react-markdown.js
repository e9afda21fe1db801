import { createElement as h } from 'react';
import Markdown from 'react-markdown';

const text = `# A & B <c>

Text with *emphasis*, **strong**, \`code\`, [a link](/x?a=1&b=2 "title"), and a [bad one](javascript:alert(1)).

1. first
2. second
   - nested

> quoted

![picture](/p.png)

\`\`\`js
const a = 1 < 2 && "x";
\`\`\`

---

Hard  
break, <b>raw</b> &amp; entity
`;

export default () =>
  h(
    'article',
    null,
    h(Markdown, null, text),
    h(
      Markdown,
      {
        components: { h1: 'h2', em: ({ children }) => h('i', { className: 'em' }, children) },
        skipHtml: true,
      },
      text,
    ),
  );
