/** @jsxRuntime automatic @jsxImportSource react */
/** A story for React 18.3: prints what it sees as JSON. */
import * as React from 'react';
import { createRoot, Widget, type WidgetHandle } from '../../../src/index.ts';
import { Board } from './board.ts';

type Later = Promise<void> & { resolve?: () => void };
const log: string[] = [];
const effects: string[] = [];
const Theme = React.createContext('dark');
let theme: (value: string) => void;
let count: (value: number) => void;
let start: (run: () => void) => void;
let wait: (value: boolean) => void;
let arrived = false;
let resolve: () => void;
const data: Later = new Promise<void>((done) => {
  resolve = () => {
    arrived = true;
    done();
  };
});

const Forward = React.forwardRef<WidgetHandle, { text: string }>(function Inner({ text }, ref) {
  return <Widget text={text} ref={ref} />;
});

class Shown extends React.Component<{ text: string; children?: React.ReactNode }> {
  static readonly defaultProps = { text: 'default' };
  override render(): React.ReactNode {
    return <Widget text={this.props.text}>{this.props.children}</Widget>;
  }
}

function Waiting(): React.ReactElement {
  if (!arrived) throw data;
  return <Widget text="here" />;
}

function App(): React.ReactElement {
  const [n, set] = React.useState(0);
  const [waits, setWaits] = React.useState(false);
  const [pending, begin] = React.useTransition();
  count = set;
  wait = setWaits;
  start = begin;
  React.useEffect(() => {
    effects.push('mount');
    return () => void effects.push('cleanup');
  }, []);
  const name = React.useContext(Theme);
  return (
    <>
      <Shown
        text={`${n} ${name}${pending ? ' pending' : ''}`}
        ref={(value) => {
          if (log.length < 2) log.push(value === null ? 'class -' : 'class +');
        }}
      >
        <Forward
          text="forward"
          ref={(value) => void (log.length < 2 && log.push(value === null ? 'ref -' : 'ref +'))}
        />
      </Shown>
      {waits ? <Waiting /> : null}
    </>
  );
}

function Themed({ children }: { children: React.ReactNode }): React.ReactElement {
  const [value, set] = React.useState('dark');
  theme = set;
  return <Theme.Provider value={value}>{children}</Theme.Provider>;
}

class Boundary extends React.Component<{ children?: React.ReactNode }, { message: string }> {
  override state = { message: '' };
  static getDerivedStateFromError(error: Error): { message: string } {
    return { message: error.message };
  }
  override render(): React.ReactNode {
    return this.state.message === '' ? this.props.children : <Widget text={`caught ${this.state.message}`} />;
  }
}

function Throws(): React.ReactElement {
  throw new Error('render');
}

async function main(): Promise<void> {
  const board = new Board();
  const root = createRoot(board, { onCaughtError: () => {} });
  const flush = (): string => {
    root.flush();
    return board.show();
  };
  root.render(
    <Themed>
      <React.Suspense fallback={<Widget text="wait" />}>
        <App />
      </React.Suspense>
    </Themed>,
  );
  const first = flush();
  const refs = [...log];
  count(1);
  theme('light');
  const second = flush();
  wait(true);
  const waiting = flush();
  resolve();
  await new Promise((done) => setImmediate(done));
  const shown = flush();
  start(() => count(2));
  await Promise.resolve();
  const pending = board.show();
  const done = flush();
  root.render(
    <Boundary>
      <Throws />
    </Boundary>,
  );
  const caught = flush().replace('()', '');
  root.unmount();
  console.log(
    JSON.stringify({
      version: React.version.slice(0, 4),
      first,
      refs,
      second,
      waiting,
      shown,
      pending,
      done,
      caught,
      end: board.show(),
      effects,
    }),
  );
}

void main();
