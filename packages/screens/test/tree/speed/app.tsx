/** @jsxRuntime automatic @jsxImportSource react */
/** The app that is measured: rows of posters, each of four widgets. */
import * as React from 'react';

const Widget = 'sluice-widget' as unknown as React.FunctionComponent<Record<string, unknown>>;
const POSTERS = 20;
const ROWS = 15;

const poster = { width: 200, height: 300, borderRadius: 8 };
const picture = { width: 200, height: 250 };
const title = { fontSize: 20, color: '#ffffff' };
const subtitle = { fontSize: 16, color: '#aaaaaa' };
const rowStyle = { flexDirection: 'row', gap: 16 };

function Poster({ name, focused }: { name: string; focused: boolean }): React.ReactElement {
  return (
    <Widget staticStyle={poster} focusable focused={focused} style={{ scale: focused ? 1.1 : 1 }}>
      <Widget staticStyle={picture} image={`https://img/${name}.jpg`} />
      <Widget staticStyle={title} text={name} />
      <Widget staticStyle={subtitle} text="2026" />
    </Widget>
  );
}

const names = Array.from({ length: POSTERS }, (_, index) => `Poster ${index}`);
export let move: (to: number) => void;

/** A row whose state says which poster has the focus. */
export function Row(): React.ReactElement {
  const [focused, set] = React.useState(0);
  move = set;
  return (
    <Widget style={rowStyle}>
      {names.map((name, index) => (
        <Poster key={name} name={name} focused={index === focused} />
      ))}
    </Widget>
  );
}

/** 300 widgets: 15 rows of 5 posters. */
export function Screen(): React.ReactElement {
  return (
    <>
      {Array.from({ length: ROWS }, (_, row) => (
        <React.Fragment key={row}>
          {names.slice(0, 5).map((name) => (
            <Poster key={name} name={name} focused={false} />
          ))}
        </React.Fragment>
      ))}
    </>
  );
}
