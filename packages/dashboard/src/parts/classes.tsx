// Classes: what requests cost. Sorts by each column, and filters by name.
import { useState } from 'preact/hooks';
import { count, percent, time } from '../format.js';
import type { ClassSnapshot, ClassesSnapshot } from '../snapshot.js';
import { Help } from './help.js';
import { COLUMNS, type Column, type Order, next, rows } from './order.js';
import { Table } from './table.js';

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
        <p class="legend">
          <span>
            <i style={{ background: 'var(--warn)' }} />
            in the queue
          </span>
          <span>
            <i style={{ background: 'var(--p1)' }} />
            computing
          </span>
          <span>
            <i style={{ background: 'var(--p3)' }} />
            waiting
          </span>
        </p>
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter classes by name"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      <Table label="Table of classes">
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
            <th scope="col">
              Time{' '}
              <Help
                of="time"
                text="Mean times of a request: queue wait, CPU time in the worker, and waits in the worker, such as for another host, a database, or the main thread."
              />
            </th>
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
              <td class="number">{time(one.handler_ms)}</td>
              <td>
                <Time of={one} />
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
      {chosen.length === 0 && (
        <p class="empty">
          {classes.classes.length === 0 ? 'No request has arrived yet.' : 'No class name contains this text.'}
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

/** Parts of the mean time of a request, as a bar and in words. */
export function partsOf({ queue_wait_ms, cost_mean_ms, service_time_ms }: ClassSnapshot) {
  // Both are means of their own requests, so that one may be above the other.
  const computing = Math.min(cost_mean_ms ?? 0, service_time_ms);
  return { queue: queue_wait_ms, computing, waiting: service_time_ms - computing };
}

function Time({ of }: { of: ClassSnapshot }) {
  const { queue, computing, waiting } = partsOf(of);
  const all = queue + computing + waiting;
  if (all === 0) return <>–</>;
  const width = (part: number) => ({ width: `${(part / all) * 100}%` });
  return (
    <span class="parts">
      <i class="queue" style={width(queue)} />
      <i class="computing" style={width(computing)} />
      <i class="waiting" style={width(waiting)} />
      <small class="unseen">
        {percent(queue / all)} in the queue, {percent(computing / all)} computing, {percent(waiting / all)}{' '}
        waiting
      </small>
    </span>
  );
}
