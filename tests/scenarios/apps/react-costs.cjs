// A page of components of known cost: Heavy does six times the work of Light, in its own function; Wide writes many elements.
'use strict';

const { createServer } = require('node:http');
const React = require('react');
const { renderToString } = require('react-dom/server');

const { createElement: h } = React;

/** So that nothing of it can be left out. */
let sum = 0;

function work(units) {
  for (let at = 0; at < units * 20_000; at += 1) sum = (sum + Math.sqrt(at ^ sum)) % 1_000_003;
  return sum;
}

function Light() {
  return h('i', { 'data-sum': work(1) });
}

const Heavy = React.memo(function Heavy() {
  return h('b', { 'data-sum': work(6) }, h(Light));
});

const Wide = React.forwardRef((_props, _ref) =>
  h(
    'ul',
    null,
    ...Array.from({ length: 1500 }, (_, at) => h('li', { key: at, title: `<${at}>` }, 'item ', at)),
  ),
);
Wide.displayName = 'List.Wide';

class Old extends React.Component {
  render() {
    return h('u', { 'data-sum': work(2) }, this.props.children);
  }
}

function Page() {
  return h('main', null, h(Old, null, h(Heavy)), h(Wide));
}

createServer((request, response) => response.end(renderToString(h(Page)))).listen(process.env.PORT ?? 3000);
