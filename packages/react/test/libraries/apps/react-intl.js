import { createElement as h } from 'react';
import {
  FormattedDate,
  FormattedDisplayName,
  FormattedList,
  FormattedMessage,
  FormattedNumber,
  FormattedPlural,
  FormattedRelativeTime,
  IntlProvider,
  injectIntl,
  useIntl,
} from 'react-intl';

const messages = {
  hello:
    'Hello <b>{name}</b>, {count, plural, one {# letter} other {# letters}} & {kind, select, a {A} other {other}}',
  plain: 'Plain',
};
const Injected = injectIntl(({ intl }) => h('i', null, intl.formatMessage({ id: 'plain' })));

function Own() {
  const intl = useIntl();
  return h(
    'p',
    { title: intl.formatMessage({ id: 'plain' }) },
    intl.formatNumber(1234.5, { style: 'currency', currency: 'EUR' }),
  );
}

export default () =>
  h(
    IntlProvider,
    { locale: 'en', messages, timeZone: 'UTC', onError: () => undefined },
    h(FormattedMessage, {
      id: 'hello',
      values: { name: 'Ada', count: 3, kind: 'a', b: (parts) => h('b', { key: 'b' }, parts) },
    }),
    h(FormattedMessage, { id: 'missing', defaultMessage: 'Default {x}', values: { x: '<y>' } }),
    h(FormattedDate, { value: 0, year: 'numeric', month: 'long' }),
    h(FormattedNumber, { value: 0.25, style: 'percent' }),
    h(FormattedPlural, { value: 1, one: 'one', other: 'more' }),
    h(FormattedRelativeTime, { value: -3, unit: 'day' }),
    h(FormattedList, { value: ['a', 'b', 'c'], type: 'conjunction' }),
    h(FormattedDisplayName, { type: 'region', value: 'DE' }),
    h(Own),
    h(Injected),
  );
