// The same screen as one writes it with @sluice/screens: focus is declared, and no component renders for it.
import { Widget } from 'widget';
import { MENU, ROWS } from './data.js';

function Poster({ film, focused }) {
  return (
    <Widget
      focusable
      focused={focused}
      staticStyle={{
        width: 240,
        height: 360,
        borderRadius: 8,
        borderWidth: 4,
        borderColor: '#00000000',
        scale: 1,
      }}
      focusStyle={{ borderColor: '#ffffff', scale: 1.1 }}
    >
      <Widget image={film.image} staticStyle={{ width: 232, height: 280, fit: 'cover' }} />
      <Widget text={film.title} staticStyle={{ fontSize: 24, color: '#b0b0b0', maxLines: 1 }} />
      <Widget text={film.year} staticStyle={{ fontSize: 18, color: '#808080' }} />
    </Widget>
  );
}

function Row({ row, isCurrent }) {
  return (
    <Widget staticStyle={{ marginBottom: 40 }} focusArea={{ direction: 'row' }}>
      <Widget text={row.title} staticStyle={{ fontSize: 32, color: '#ffffff' }} />
      <Widget staticStyle={{ flexDirection: 'row', columnGap: 24 }}>
        {row.posters.map((film, at) => (
          <Poster key={film.id} film={film} focused={isCurrent && at === 0} />
        ))}
      </Widget>
    </Widget>
  );
}

function Menu() {
  return (
    <Widget staticStyle={{ width: 300, paddingLeft: 40, paddingTop: 60 }}>
      {MENU.map((entry) => (
        <Widget key={entry} staticStyle={{ height: 64 }}>
          <Widget image={`icons/${entry}.png`} staticStyle={{ width: 48, height: 48 }} />
          <Widget text={entry} staticStyle={{ fontSize: 28, color: '#d0d0d0' }} />
        </Widget>
      ))}
    </Widget>
  );
}

/** The screen. */
export function Home() {
  return (
    <Widget staticStyle={{ width: 1920, height: 1080, flexDirection: 'row', background: '#101018' }}>
      <Menu />
      <Widget staticStyle={{ flexGrow: 1 }} focusArea={{ direction: 'column' }}>
        <Widget staticStyle={{ height: 200, justifyContent: 'center' }}>
          <Widget text="Good evening" staticStyle={{ fontSize: 48, color: '#ffffff' }} />
          <Widget text="What would you like to watch?" staticStyle={{ fontSize: 28, color: '#a0a0a0' }} />
        </Widget>
        {ROWS.map((row, at) => (
          <Row key={row.title} row={row} isCurrent={at === 1} />
        ))}
      </Widget>
    </Widget>
  );
}
