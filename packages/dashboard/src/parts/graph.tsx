// Graph of data: what its routes do, what pages ask for, and what of that is never read or sent twice.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { count, percent, time } from '../format.js';
import type { GraphPathSnapshot, GraphRouteSnapshot, GraphSnapshot } from '../snapshot.js';
import { Help } from './help.js';
import { Table } from './table.js';

/** Rows that are shown before more are asked for. */
const ROWS_FIRST = 15;

/** Nothing where no worker uses `@sluice/graph`. */
export function Graph({ graph }: { graph: GraphSnapshot | null }) {
  if (graph === null) return null;
  return (
    <>
      {graph.routes.length > 0 && (
        <Card
          id="graph-routes"
          name="Graph routes"
          total={graph.routes_count}
          help="Routes of @sluice/graph since the start: first routes with failures, then the slowest in total. Metrics contain all routes."
          columns={[
            ['Calls', 'Calls of the handler, each for all keys that a request needs.'],
            ['Paths each', 'Mean number of single paths per call.'],
            ['Time each', 'Mean time from a call to its result. Calls of one request overlap.'],
            ['Longest', 'Longest call.'],
            ['Failed', 'Calls that threw, took too long, or returned no valid JSON Graph.'],
            ['Denied', 'Calls with paths that authorize denied.'],
            ['No value', 'Single paths that got no value.'],
          ]}
          rows={graph.routes.map((row) => (
            <RouteRow key={`${row.method} ${row.route}`} row={row} />
          ))}
        />
      )}
      {graph.paths.length > 0 && (
        <Card
          id="graph-paths"
          name="Graph paths"
          total={graph.paths_count}
          help="Patterns of paths, the most used first, with {integers} and {keys} in place of values that no route names."
          about={<Uses graph={graph} />}
          columns={[
            ['By pages', 'Single paths requested by pages on the server.'],
            ['By clients', 'Single paths requested by clients over the network.'],
            ['Values', 'Values sent to pages, including references and errors.'],
            ['Never read', 'Values that no component had requested when the state was written.'],
            [
              'Sent twice',
              'Values sent to the same page again, or requested by a browser although its page had them.',
            ],
          ]}
          rows={graph.paths.map((row) => (
            <PathRow key={row.path} row={row} />
          ))}
        />
      )}
    </>
  );
}

function Uses({ graph }: { graph: GraphSnapshot }) {
  const { pages_total, page_requests_total, asked_total, fetches_total } = graph;
  return (
    <p>
      {count(pages_total)} pages with {mean(page_requests_total, pages_total)} requests each,{' '}
      {mean(asked_total, page_requests_total)} paths a request; {count(fetches_total)} requests of clients.
    </p>
  );
}

interface CardProps {
  id: string;
  name: string;
  total: number;
  help: string;
  about?: ComponentChildren;
  columns: readonly (readonly [name: string, help: string])[];
  rows: readonly ComponentChildren[];
}

function Card({ id, name, total, help, about, columns, rows }: CardProps) {
  const [all, setAll] = useState(false);
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>
        {name} <small>{total}</small> <Help of={name.toLowerCase()} text={help} />
      </h2>
      {about}
      <Table label={`Table of ${name.toLowerCase()}`}>
        <thead>
          <tr>
            <th scope="col">{name === 'Graph routes' ? 'Route' : 'Path'}</th>
            {columns.map(([column, text]) => (
              <th key={column} scope="col" class="number">
                {column} <Help of={column.toLowerCase()} text={text} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{all ? rows : rows.slice(0, ROWS_FIRST)}</tbody>
      </Table>
      {rows.length > ROWS_FIRST && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? `show the first ${ROWS_FIRST}` : `show all ${rows.length}`}
        </button>
      )}
    </section>
  );
}

function RouteRow({ row }: { row: GraphRouteSnapshot }) {
  const { calls_total, paths_total, time_ms_total, time_ms_max, failures_total, unanswered_total } = row;
  return (
    <tr>
      <th scope="row" class="name">
        <code>{row.route}</code> {row.method}
        {row.error !== null && (
          <>
            <br />
            <small class="warn">{row.error}</small>
          </>
        )}
      </th>
      <td class="number">{count(calls_total)}</td>
      <td class="number">{mean(paths_total, calls_total)}</td>
      <td class="number">{calls_total === 0 ? '–' : time(time_ms_total / calls_total)}</td>
      <td class="number">{calls_total === 0 ? '–' : time(time_ms_max)}</td>
      <td class={`number ${failures_total > 0 ? 'warn' : ''}`}>{count(failures_total)}</td>
      <td class="number">{count(row.denied_total)}</td>
      <td class="number">{count(unanswered_total)}</td>
    </tr>
  );
}

function PathRow({ row }: { row: GraphPathSnapshot }) {
  const { values_total, unread_total, again_total } = row;
  return (
    <tr>
      <th scope="row" class="name">
        <code>{row.path}</code>
      </th>
      <td class="number">{count(row.asked_total)}</td>
      <td class="number">{count(row.fetched_total)}</td>
      <td class="number">{count(values_total)}</td>
      <td class={`number ${unread_total > 0 ? 'warn' : ''}`}>
        {unread_total === 0 ? '0' : `${count(unread_total)} (${percent(unread_total / values_total)})`}
      </td>
      <td class={`number ${again_total > 0 ? 'warn' : ''}`}>{count(again_total)}</td>
    </tr>
  );
}

function mean(sum: number, of: number): string {
  return of === 0 ? '–' : (sum / of).toFixed(1);
}
