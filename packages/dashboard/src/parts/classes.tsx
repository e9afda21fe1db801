// Classes: what requests cost. Sorts by each column, and filters by name.
import { useState } from 'preact/hooks';
import { count, percent, time } from '../format.js';
import type { ClassesSnapshot } from '../snapshot.js';
import { Help } from './help.js';
import { COLUMNS, type Column, type Order, next, rows } from './order.js';

const ROWS_FIRST = 25;

export function Classes({ classes }: { classes: ClassesSnapshot }) {
  const [order, setOrder] = useState<Order>({ by: 'cpu_share', descending: true });
  const [filter, setFilter] = useState('');
  const [all, setAll] = useState(false);
  const chosen = rows(classes.classes, filter, order);
  const shown = all ? chosen : chosen.slice(0, ROWS_FIRST);
  return (
    <section class="card" aria-labelledby="classes">
      <div class="head">
        <h2 id="classes">
          Classes <small>{classes.classes.length}</small>
        </h2>
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter classes by name"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      <div class="scroll" role="region" aria-label="Table of classes" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {(Object.keys(COLUMNS) as Column[]).map((column) => (
                <th
                  scope="col"
                  key={column}
                  class={column === 'class' ? '' : 'number'}
                  aria-sort={order.by !== column ? 'none' : order.descending ? 'descending' : 'ascending'}
                >
                  <button type="button" class="sort" onClick={() => setOrder(next(order, column))}>
                    {COLUMNS[column].name}
                  </button>{' '}
                  <Help of={COLUMNS[column].name} text={COLUMNS[column].help} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.class}>
                <th scope="row" class="name">
                  <code>{one.class}</code>
                  {one.long && <small class="tag"> long</small>}
                  {one.drift !== null && one.drift > 1.5 && (
                    <small class="tag warn"> {one.drift.toFixed(1)}× of usual</small>
                  )}
                </th>
                <td class="number">{count(one.requests)}</td>
                <td class="number share">
                  <i style={{ width: `${one.cpu_share * 100}%` }} />
                  {percent(one.cpu_share)}
                </td>
                <td class="number">{time(one.cost_mean_ms)}</td>
                <td class="number">{time(one.cost_p50_ms)}</td>
                <td class="number">{time(one.cost_p95_ms)}</td>
                <td class="number">{time(one.cost_p99_ms)}</td>
                <td class="number">{time(one.queue_wait_ms)}</td>
                <td class="number">{time(one.service_time_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen.length === 0 && (
        <p class="empty">
          {classes.classes.length === 0 ? 'No request has come yet.' : 'No class has this in its name.'}
        </p>
      )}
      {chosen.length > ROWS_FIRST && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? `show the first ${ROWS_FIRST}` : `show all ${chosen.length}`}
        </button>
      )}
    </section>
  );
}
