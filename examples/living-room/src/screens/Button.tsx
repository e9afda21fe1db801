/** @jsxRuntime automatic @jsxImportSource react */
import { type Style, Widget } from '@sluice/screens';
import type { ReactNode } from 'react';
import { BUTTON_FOCUS, COLOURS, SIZES, TIMES } from './look.js';

interface ButtonProps {
  readonly text: string;
  readonly onPress: () => void;
  /** Whether it has the focus when it appears. */
  readonly focused?: boolean;
  /** Pixels; by its text if there is none. */
  readonly width?: number;
}

const STYLE: Style = {
  height: 76,
  paddingHorizontal: 36,
  justifyContent: 'center',
  borderRadius: 14,
  borderWidth: 4,
  borderColor: '#ffffff00',
  background: COLOURS.raised,
  transition: { scale: TIMES.focus, background: TIMES.focus },
};
const LABEL: Style = {
  fontSize: SIZES.body,
  fontWeight: 600,
  color: COLOURS.text,
  textAlign: 'center',
  maxLines: 1,
};

export function Button({ text, onPress, focused, width }: ButtonProps): ReactNode {
  return (
    <Widget
      staticStyle={STYLE}
      focusStyle={BUTTON_FOCUS}
      style={width === undefined ? undefined : { width, paddingHorizontal: 0 }}
      focusable
      focused={focused}
      onKey={({ key }) => {
        if (key !== 'Enter') return false;
        onPress();
        return true;
      }}
    >
      <Widget staticStyle={LABEL} text={text} />
    </Widget>
  );
}
