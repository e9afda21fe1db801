/** What all screens share of their look: made for 1920 × 1080 pixels at three metres. */
import type { Style } from '@sluice/screens';

export const SCREEN = { width: 1920, height: 1080 } as const;

/** Televisions may cut up to 5 % off each edge. */
export const SAFE = { x: 96, y: 54 } as const;

/** Text has a contrast of 7 : 1 or more to what it stands on. */
export const COLOURS = {
  ground: '#0c0f17',
  raised: '#1b2130',
  lifted: '#2b3448',
  text: '#f5f7fc',
  dim: '#b9c2d6',
  accent: '#ffd166',
  onAccent: '#1a1405',
  bad: '#ffb4a8',
} as const;

/** Sizes of text in pixels. The smallest one is readable at three metres. */
export const SIZES = { small: 28, body: 32, row: 36, title: 48, huge: 76 } as const;

/** Milliseconds. */
export const TIMES = { focus: 130, screen: 240 } as const;

export const FILL: Style = { position: 'absolute', left: 0, top: 0, width: '100%', height: '100%' };

/** Button of any kind: what it stands on turns light with the focus, and its text dark. */
export const BUTTON: Style = {
  flexDirection: 'row',
  alignItems: 'center',
  justifyContent: 'center',
  borderRadius: 14,
  background: COLOURS.raised,
  transition: { scale: TIMES.focus, background: TIMES.focus },
};
export const BUTTON_FOCUS: Style = { background: COLOURS.lifted, scale: 1.06, borderColor: COLOURS.text };
