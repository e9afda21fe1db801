// LightningJS by @lightningtv/solid. Its drawing library is replaced by nodes that write commands.
import { Config, createRenderer } from '@lightningtv/solid';
import { createSelector, createSignal, For } from 'solid-js';
import { MENU, POSTERS, ROWS } from './data.js';

Config.animationsEnabled = false;
let keyed;

function Poster(props) {
  return (
    <view
      width={240}
      height={360}
      color={props.focused ? 0xffffffff : 0x00000000}
      scale={props.focused ? 1.1 : 1}
    >
      <view src={props.film.image} width={232} height={280} />
      <text fontSize={24} y={284} color={props.focused ? 0xffffffff : 0xb0b0b0ff} maxLines={1}>
        {props.film.title}
      </text>
      <text fontSize={18} y={320} color={0x808080ff}>
        {props.film.year}
      </text>
    </view>
  );
}

function Row(props) {
  const [focus, setFocus] = createSignal(0);
  const isFocused = createSelector(focus);
  if (props.isCurrent)
    keyed = (event) => {
      if (event.key === 'ArrowRight') setFocus(Math.min(POSTERS - 1, focus() + 1));
      else if (event.key === 'ArrowLeft') setFocus(Math.max(0, focus() - 1));
    };
  return (
    <view height={420}>
      <text fontSize={32} color={0xffffffff}>
        {props.row.title}
      </text>
      <view display="flex" gap={24} height={360}>
        <For each={props.row.posters}>
          {(film, at) => <Poster film={film} focused={props.isCurrent && isFocused(at())} />}
        </For>
      </view>
    </view>
  );
}

function Menu() {
  return (
    <view width={300} x={40} y={60}>
      <For each={MENU}>
        {(entry) => (
          <view height={64}>
            <view src={`icons/${entry}.png`} width={48} height={48} />
            <text fontSize={28} color={0xd0d0d0ff}>
              {entry}
            </text>
          </view>
        )}
      </For>
    </view>
  );
}

function Home() {
  const [current] = createSignal(1);
  return (
    <view width={1920} height={1080} color={0x101018ff}>
      <Menu />
      <view x={300}>
        <view height={200}>
          <text fontSize={48} color={0xffffffff}>
            Good evening
          </text>
          <text fontSize={28} color={0xa0a0a0ff}>
            What would you like to watch?
          </text>
        </view>
        <For each={ROWS}>{(row, at) => <Row row={row} isCurrent={at() === current()} />}</For>
      </view>
    </view>
  );
}

/** Mounts the screen. */
export function mount() {
  const { render } = createRenderer({});
  const unmount = render(() => <Home />);
  return {
    key(name) {
      keyed({ key: name });
    },
    unmount,
  };
}
