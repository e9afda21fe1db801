// The first screen as a React app: for React, Preact and @sluice/screens alike.
import { memo, useState } from 'react';
import { Widget } from 'widget';
import { MENU, POSTERS, ROWS } from './data.js';

const Poster = memo(function Poster({ film, focused }) {
  return (
    <Widget
      style={{
        width: 240,
        height: 360,
        borderRadius: 8,
        borderWidth: 4,
        borderColor: focused ? '#ffffff' : '#00000000',
        scale: focused ? 1.1 : 1,
      }}
    >
      <Widget image={film.image} style={{ width: 232, height: 280, fit: 'cover' }} />
      <Widget
        text={film.title}
        style={{ fontSize: 24, color: focused ? '#ffffff' : '#b0b0b0', maxLines: 1 }}
      />
      <Widget text={film.year} style={{ fontSize: 18, color: '#808080' }} />
    </Widget>
  );
});

function Row({ row, isCurrent }) {
  const [focus, setFocus] = useState(0);
  const onKey = (event) => {
    if (event.key === 'ArrowRight') setFocus(Math.min(POSTERS - 1, focus + 1));
    else if (event.key === 'ArrowLeft') setFocus(Math.max(0, focus - 1));
  };
  return (
    <Widget style={{ marginBottom: 40 }} focused={isCurrent} onKey={isCurrent ? onKey : undefined}>
      <Widget text={row.title} style={{ fontSize: 32, color: '#ffffff' }} />
      <Widget style={{ flexDirection: 'row', columnGap: 24 }}>
        {row.posters.map((film, at) => (
          <Poster key={film.id} film={film} focused={isCurrent && at === focus} />
        ))}
      </Widget>
    </Widget>
  );
}

function Menu() {
  return (
    <Widget style={{ width: 300, paddingLeft: 40, paddingTop: 60 }}>
      {MENU.map((entry) => (
        <Widget key={entry} style={{ height: 64 }}>
          <Widget image={`icons/${entry}.png`} style={{ width: 48, height: 48 }} />
          <Widget text={entry} style={{ fontSize: 28, color: '#d0d0d0' }} />
        </Widget>
      ))}
    </Widget>
  );
}

/** The screen. */
export function Home() {
  const [current] = useState(1);
  return (
    <Widget style={{ width: 1920, height: 1080, flexDirection: 'row', background: '#101018' }}>
      <Menu />
      <Widget style={{ flexGrow: 1 }}>
        <Widget style={{ height: 200, justifyContent: 'center' }}>
          <Widget text="Good evening" style={{ fontSize: 48, color: '#ffffff' }} />
          <Widget text="What would you like to watch?" style={{ fontSize: 28, color: '#a0a0a0' }} />
        </Widget>
        {ROWS.map((row, at) => (
          <Row key={row.title} row={row} isCurrent={at === current} />
        ))}
      </Widget>
    </Widget>
  );
}
