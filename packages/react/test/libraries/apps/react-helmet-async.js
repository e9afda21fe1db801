import { createElement as h } from 'react';
import helmet from 'react-helmet-async';

const { Helmet, HelmetProvider } = helmet;

export default function make() {
  const context = {};
  const element = h(
    HelmetProvider,
    { context },
    h(
      Helmet,
      { titleTemplate: '%s · Shop', htmlAttributes: { lang: 'en' } },
      h('title', null, 'A & B'),
      h('meta', { name: 'description', content: 'first' }),
    ),
    h(
      'main',
      null,
      h(
        Helmet,
        null,
        h('title', null, 'Inner <one>'),
        h('link', { rel: 'canonical', href: '/x?a&b' }),
        h('script', { type: 'application/ld+json' }, '{"a":1}'),
      ),
      'Text',
    ),
  );
  const shown = (each) => (each === undefined ? '' : Object.values(each).map(String).join('\n'));
  return { element, after: () => shown(context.helmet) };
}
