// HTTP calls of the app to other hosts: which of them is slow, fails, or does not answer.
import { count, percent, time } from '../format.js';
import type { CalledHostSnapshot } from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

const HELP: Record<string, string> = {
  Calls: 'Calls that have begun in about the last minute.',
  p50: 'Median time until the headers of an answer, in about the last minute.',
  p95: '95th percentile of the same time.',
  'Share of time': 'Share of the total time of all calls. Calls overlap.',
  'No answer':
    'Calls of about the last minute that ended without an answer: refused, reset, timed out or aborted.',
  '5xx': 'Answers with a status of 500 or above, since the start.',
  Waiting: 'Calls without an answer now, and the wait of the oldest.',
};

/** Nothing while the app has called nobody. */
export function Calls({ called }: { called: readonly CalledHostSnapshot[] }) {
  if (called.length === 0) return null;
  return (
    <section class="card" aria-labelledby="calls">
      <h2 id="calls">
        Calls to other hosts <small>{called.length}</small>{' '}
        <Help
          of="calls to other hosts"
          text="HTTP calls of the app by http, https, fetch and undici. Calls of database drivers are not included."
        />
      </h2>
      <Table label="Table of calls to other hosts">
        <thead>
          <tr>
            <th scope="col">Host</th>
            {Object.entries(HELP).map(([name, text]) => (
              <th scope="col" key={name} class="number">
                {name} <Help of={name} text={text} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {called.map((host) => (
            <tr key={host.host}>
              <th scope="row" class="name">
                <code>{host.host}</code>
              </th>
              <td class="number">{count(host.calls)}</td>
              <td class="number">{time(host.p50_ms)}</td>
              <td class="number">{time(host.p95_ms)}</td>
              <td class="number share">
                <i style={{ width: `${host.share * 100}%` }} />
                {percent(host.share)}
              </td>
              <td class={`number ${host.errors > 0 ? 'bad' : ''}`}>{count(host.errors)}</td>
              <td class={`number ${host.failures_total > 0 ? 'warn' : ''}`}>{count(host.failures_total)}</td>
              <td class="number">
                {count(host.waiting)}
                {host.oldest_ms !== null && <small> for {time(host.oldest_ms)}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  );
}
