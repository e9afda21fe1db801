/** @jsxRuntime automatic @jsxImportSource react */
import { type Style, Widget } from '@sluice/screens';
import type { ReactNode } from 'react';
import { useGraph } from '../graph/hooks.js';
import { Button } from './Button.js';
import { Guard } from './Guard.js';
import { COLOURS, FILL, SAFE, SIZES } from './look.js';
import { useGo, usePosterAddress } from './places.js';
import { EmptyRow, SimilarRow } from './Row.js';

const COLUMN = { direction: 'column' } as const;
const ROW = { direction: 'row' } as const;
const SHADE: Style = { ...FILL, gradient: `180 ${COLOURS.ground}00 0, ${COLOURS.ground}ff 0.72` };
const TOP: Style = {
  height: 548,
  paddingTop: SAFE.y,
  paddingLeft: SAFE.x,
  paddingRight: SAFE.x,
  flexDirection: 'row',
};
const PICTURE: Style = { width: 320, height: 480, borderRadius: 16, marginRight: 72 };
const TEXTS: Style = { flexGrow: 1, flexShrink: 1, width: 0 };
const CATEGORY: Style = { fontSize: SIZES.small, fontWeight: 600, color: COLOURS.accent };
const NAME: Style = {
  fontSize: SIZES.huge,
  fontWeight: 700,
  lineHeight: 1.1,
  color: COLOURS.text,
  maxLines: 2,
};
const META: Style = { marginTop: 14, fontSize: SIZES.body, color: COLOURS.dim, maxLines: 1 };
const SUMMARY: Style = {
  marginTop: 22,
  fontSize: SIZES.body,
  lineHeight: 1.4,
  color: COLOURS.text,
  maxLines: 4,
};
const BUTTONS: Style = { marginTop: 32, flexDirection: 'row', columnGap: 28 };

/** A product: what it is, its film, and others like it. */
export function Product({ id }: { id: number }): ReactNode {
  return (
    <Widget staticStyle={FILL} focusArea={COLUMN}>
      <Guard key={`about ${id}`} what="This product" fallback={<Widget staticStyle={TOP} />}>
        <About id={id} />
      </Guard>
      <Guard key={`similar ${id}`} what="Others like this" fallback={<EmptyRow />}>
        <SimilarRow id={id} />
      </Guard>
    </Widget>
  );
}

function About({ id }: { id: number }): ReactNode {
  const go = useGo();
  const addressOf = usePosterAddress();
  const product = useGraph(`products[${id}]["card", "facts"]`)?.products?.[id];
  const { card, facts } = product ?? {};
  if (card === undefined || facts === undefined) return <Missing />;
  return (
    <>
      <Widget staticStyle={SHADE} />
      <Widget staticStyle={TOP}>
        <Widget staticStyle={PICTURE} image={addressOf(id, true)} />
        <Widget staticStyle={TEXTS}>
          <Widget staticStyle={CATEGORY} text={card.category} />
          <Widget staticStyle={NAME} text={card.name} />
          <Widget
            staticStyle={META}
            text={`${card.price}  ·  ${card.rating.toFixed(1)} of 5  ·  ${facts.maker}, ${facts.town}  ·  ${facts.material}`}
          />
          <Widget staticStyle={SUMMARY} text={`${facts.summary} ${facts.description}`} />
          <Widget staticStyle={BUTTONS} focusArea={ROW}>
            <Button
              text="Watch the film"
              focused
              onPress={() => go({ move: 'open', place: { screen: 'film', id } })}
            />
            <Button text="Back" onPress={() => go({ move: 'back' })} />
          </Widget>
        </Widget>
      </Widget>
    </>
  );
}

function Missing(): ReactNode {
  const go = useGo();
  return (
    <Widget staticStyle={TOP}>
      <Widget staticStyle={TEXTS}>
        <Widget staticStyle={NAME} text="There is no such product." />
        <Widget staticStyle={BUTTONS}>
          <Button text="Back" focused onPress={() => go({ move: 'back' })} />
        </Widget>
      </Widget>
    </Widget>
  );
}
