// Solid by its universal renderer, with the same plain host.
import { createSelector, createSignal, For } from 'solid-js';
import { render } from './solid-host.js';
import { MENU, POSTERS, ROWS } from './data.js';
import { withKey } from './solid-host.js';

function Poster(props) {
  return (
    <widget
      style={{
        width: 240,
        height: 360,
        borderRadius: 8,
        borderWidth: 4,
        borderColor: props.focused ? '#ffffff' : '#00000000',
        scale: props.focused ? 1.1 : 1,
      }}
    >
      <widget image={props.film.image} style={{ width: 232, height: 280, fit: 'cover' }} />
      <widget
        text={props.film.title}
        style={{ fontSize: 24, color: props.focused ? '#ffffff' : '#b0b0b0', maxLines: 1 }}
      />
      <widget text={props.film.year} style={{ fontSize: 18, color: '#808080' }} />
    </widget>
  );
}

function Row(props) {
  const [focus, setFocus] = createSignal(0);
  const isFocused = createSelector(focus);
  const onKey = (event) => {
    if (event.key === 'ArrowRight') setFocus(Math.min(POSTERS - 1, focus() + 1));
    else if (event.key === 'ArrowLeft') setFocus(Math.max(0, focus() - 1));
  };
  return (
    <widget style={{ marginBottom: 40 }} onKey={props.isCurrent ? onKey : undefined}>
      <widget text={props.row.title} style={{ fontSize: 32, color: '#ffffff' }} />
      <widget style={{ flexDirection: 'row', columnGap: 24 }}>
        <For each={props.row.posters}>
          {(film, at) => <Poster film={film} focused={props.isCurrent && isFocused(at())} />}
        </For>
      </widget>
    </widget>
  );
}

function Menu() {
  return (
    <widget style={{ width: 300, paddingLeft: 40, paddingTop: 60 }}>
      <For each={MENU}>
        {(entry) => (
          <widget style={{ height: 64 }}>
            <widget image={`icons/${entry}.png`} style={{ width: 48, height: 48 }} />
            <widget text={entry} style={{ fontSize: 28, color: '#d0d0d0' }} />
          </widget>
        )}
      </For>
    </widget>
  );
}

function Home() {
  const [current] = createSignal(1);
  return (
    <widget style={{ width: 1920, height: 1080, flexDirection: 'row', background: '#101018' }}>
      <Menu />
      <widget style={{ flexGrow: 1 }}>
        <widget style={{ height: 200, justifyContent: 'center' }}>
          <widget text="Good evening" style={{ fontSize: 48, color: '#ffffff' }} />
          <widget text="What would you like to watch?" style={{ fontSize: 28, color: '#a0a0a0' }} />
        </widget>
        <For each={ROWS}>{(row, at) => <Row row={row} isCurrent={at() === current()} />}</For>
      </widget>
    </widget>
  );
}

/** Mounts the screen. */
export function mount() {
  const unmount = render(() => <Home />);
  return {
    key(name) {
      withKey().handler({ key: name });
    },
    unmount,
  };
}
