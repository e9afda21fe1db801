import { createElement as h, memo } from 'react';
import { Provider, connect, shallowEqual, useDispatch, useSelector } from 'react-redux';
import { combineReducers, legacy_createStore as createStore } from 'redux';

const reducer = combineReducers({
  items: (items = ['a', 'b & c']) => items,
  count: (count = 2, { type }) => (type === 'more' ? count + 1 : count),
});
const Items = memo(() =>
  h(
    'ul',
    null,
    useSelector(({ items }) => items, shallowEqual).map((item) => h('li', { key: item }, item)),
  ),
);
const Count = connect(({ count }, { step }) => ({ count: count * step }), { more: () => ({ type: 'more' }) })(
  ({ count, more }) => h('button', { onClick: more }, count),
);

function Both() {
  const dispatch = useDispatch();
  return h('div', { 'data-dispatch': typeof dispatch }, h(Items), h(Count, { step: 3 }));
}

export default function make() {
  const store = createStore(reducer);
  store.dispatch({ type: 'more' });
  return h(Provider, { store, serverState: store.getState() }, h(Both));
}
