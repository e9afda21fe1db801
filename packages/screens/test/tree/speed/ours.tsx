/** @jsxRuntime automatic @jsxImportSource react */
import { createRoot } from '../../../src/index.ts';
import { Row, Screen, move } from './app.tsx';
import { measure } from './measure.ts';

let batches = 0;
const surface = {
  width: 1920,
  height: 1080,
  now: () => 0,
  commit: () => {
    batches++;
  },
  listen: () => {},
  requestIdle: () => {},
};
const row = createRoot(surface);
row.render(<Row />);
row.flush();
measure(
  'ours',
  (to) => {
    move(to);
    row.flush();
  },
  () => {
    const root = createRoot(surface);
    root.render(<Screen />);
    root.flush();
    return () => root.unmount();
  },
);
if (batches === 0) throw new Error('nothing was drawn');
