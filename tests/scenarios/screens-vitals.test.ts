// Measures of a screen go to the gateway's vitals as beacons of its pages do: the root measures, posts, and status, metrics and the dashboard's JSON have it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRoot, measures, reportMeasures, Widget } from '@sluice/screens';
import { HeadlessSurface } from '@sluice/screens/headless';
import { createElement } from 'react';
import { eventually } from '../support/eventually.ts';
import type { Sluice } from '../support/sluice.ts';
import type { Snapshot } from '../support/snapshot.ts';
import { ask, ownApp, running } from './scenario.ts';
import { metric } from './stuck.ts';

const CONFIG = '[render.server]\n"*" = "50%"\n';
const ms = (value: number): number => value / 1000;

/** A surface that counts frames, as a device's does: 12 ms of them were over their time. */
class Counting extends HeadlessSurface {
  frameCounts(): { moving_ms: number; moving_frames: number; long_ms: number } {
    return { moving_ms: 100, moving_frames: 6, long_ms: 12 };
  }
}

type Effects = NonNullable<Snapshot['effects']>;

/** What the gateway knows of pages and beacons, from the JSON that the dashboard reads, once it says so. */
async function told(sluice: Sluice, what: string, isTold: (effects: Effects) => boolean): Promise<Effects> {
  return eventually(
    async () => {
      const answer = await fetch(`${sluice.admin}/status.json`);
      const { effects } = (await answer.json()) as Snapshot;
      return effects !== null && isTold(effects) ? effects : undefined;
    },
    { deadlineMs: 15_000, what },
  );
}

void test('the four measures of a screen are posted to a gateway, which tells them by setting, page and variant', async (t) => {
  const sluice = await running(t, { entry: ownApp('renders.cjs'), workers: 1, config: CONFIG });
  await ask(sluice, '/page?setting=s50&variant=hero:a');
  // Beacons of settings and variants that no page had count as others.
  await told(sluice, 'the page', ({ settings: known }) => known.some(({ name }) => name === 's50'));
  const surface = new Counting({ width: 640, height: 360 });
  const root = createRoot(surface);
  const answers: number[] = [];
  const stop = reportMeasures(root, {
    url: `${sluice.url}/.sluice/vitals`,
    page: '/page?setting=s50&variant=hero:a',
    device: 'mobile',
    setting: 's50',
    variant: 'hero:a',
    send: async (url, body) => answers.push((await fetch(url, { method: 'POST', body })).status),
  });
  const onKey = (): boolean => {
    root.render(createElement(Widget, { text: 'pressed', focused: true, onKey }));
    return true;
  };
  root.render(createElement(Widget, { text: 'start', focused: true, onKey }));
  root.flush();
  // Interactive after 40 ms, and a key whose frame comes 20 ms later.
  surface.advance(40);
  surface.advance(0);
  surface.press('Enter');
  surface.advance(20);
  const { key_to_frame: key, interactive_ms: interactive, heap_bytes: heap = 0 } = measures(root);
  assert.equal(key.count, 1);
  assert.ok(interactive !== undefined && interactive > 0 && key.max > 0 && heap > 0);
  stop();
  root.unmount();
  await eventually(() => answers.length === 1, { deadlineMs: 5_000, what: 'an answer to the beacon' });
  assert.deepEqual(answers, [204]);

  const { settings, variants, pages } = await told(
    sluice,
    'the beacon',
    ({ settings: known }) => known[0]?.devices[0]?.reports_total === 1,
  );
  const [mobile] = settings[0]?.devices ?? [];
  assert.equal(settings[0]?.name, 's50');
  // Quantiles are within the step of a bucket.
  const isAbout = (found: number | null | undefined, wanted: number): void => {
    assert.ok(Math.abs((found ?? 0) - wanted) <= wanted * 0.08, `${found} for ${wanted}`);
  };
  isAbout(mobile?.tti_ms, interactive);
  isAbout(mobile?.key_ms, key.max);
  isAbout(mobile?.memory_bytes, heap);
  assert.deepEqual(
    variants.map(({ name, reports_total: reports }) => [name, reports]),
    [['hero:a', 1]],
  );
  assert.deepEqual(
    pages.map(({ name }) => name),
    ['GET /page'],
  );
  const labels = 'setting="s50",device="mobile"';
  assert.equal(await metric(sluice, `sluice_vitals_reports_total{${labels}}`), 1);
  assert.equal(await metric(sluice, `sluice_vitals_seconds_sum{vital="long",${labels}}`), ms(12));
  assert.equal(await metric(sluice, `sluice_vitals_seconds_sum{vital="key",${labels}}`), ms(key.max));
  assert.equal(await metric(sluice, `sluice_vitals_seconds_sum{vital="tti",${labels}}`), ms(interactive));
});
