/** @jsxRuntime automatic @jsxImportSource react */
// What runs in Chromium for a long scroll: 100,000 posters in rows of a list.
import type { ReactNode } from 'react';
import { List, Widget, createRoot, measures } from '../../../src/index.ts';
import { browserSurface } from '../../../src/surfaces/browser.ts';

const POSTER = { width: 180, height: 100, marginLeft: 20, borderRadius: 8 } as const;
const FOCUSED = { borderWidth: 4, borderColor: '#ffffff', transition: { borderColor: 150 } } as const;
const ROW = { flexDirection: 'row', height: 130, paddingTop: 10 } as const;
const AREA = { direction: 'row' } as const;

const items = Array.from({ length: 100_000 }, (_, index) => index);

function Row({ item }: { readonly item: number }): ReactNode {
  return (
    <Widget staticStyle={ROW} focusArea={AREA}>
      {[0, 1, 2, 3, 4, 5].map((column) => (
        <Widget
          key={column}
          staticStyle={POSTER}
          focusStyle={FOCUSED}
          focusable
          style={{ background: `#${((item * 37 + column * 4099) % 0xffffff).toString(16).padStart(6, '0')}` }}
        >
          <Widget text={`${item}/${column}`} />
        </Widget>
      ))}
    </Widget>
  );
}

const renderItem = (item: number): ReactNode => <Row item={item} />;

const surface = await browserSurface({ width: 1280, height: 720 });
const root = createRoot(surface);
root.render(
  <List items={items} renderItem={renderItem} itemSize={130} style={{ width: 1280, height: 720 }} />,
);

Object.assign(globalThis, {
  posters: { measures: () => measures(root), widgets: () => surface.widgets, isBusy: () => surface.isBusy },
});
