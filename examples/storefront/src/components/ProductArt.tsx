import type { ReactNode } from 'react';
import type { Colour } from '../catalogue/types.js';
import { drawingOf } from './drawings.js';
import type { Tone } from './drawings.js';

/** The part of a product that its picture shows. */
export interface Drawn {
  id: number;
  name: string;
  colours: readonly Colour[];
  category: { hue: number };
  kind: { art: string };
}

/** A picture drawn in the page itself: a tinted ground, a soft shadow and the kind's drawing in one of its colours. */
export function ProductArt({ product, colour }: { product: Drawn; colour?: Colour }): ReactNode {
  const main = (colour ?? product.colours[0])?.hex ?? '#888888';
  const accent = product.colours[1]?.hex ?? main;
  const ground = `ground-${product.id}`;
  const { hue } = product.category;
  return (
    <svg
      className="art"
      viewBox="0 0 100 100"
      preserveAspectRatio="xMidYMid slice"
      role="img"
      aria-label={`Drawing of the ${product.name}`}
    >
      <defs>
        <linearGradient id={ground} x1="0" y1="0" x2="1" y2="1">
          <stop offset="0" stopColor={`hsl(${hue} 46% 94%)`} />
          <stop offset="1" stopColor={`hsl(${(hue + 24) % 360} 38% 82%)`} />
        </linearGradient>
      </defs>
      <rect width="100" height="100" fill={`url(#${ground})`} />
      <circle
        cx={14 + (product.id % 5) * 18}
        cy={16 + (product.id % 3) * 10}
        r="22"
        fill={accent}
        opacity="0.14"
      />
      <ellipse cx="50" cy="86" rx="32" ry="4" fill="#000" opacity="0.12" />
      {drawingOf(product.kind.art).map(([tone, path]) => (
        <Stroke key={path} tone={tone} path={path} main={main} />
      ))}
    </svg>
  );
}

function Stroke({ tone, path, main }: { tone: Tone; path: string; main: string }): ReactNode {
  switch (tone) {
    case 'm':
      return <path d={path} fill={main} />;
    case 's':
      return (
        <>
          <path d={path} fill={main} />
          <path d={path} fill="#000" fillOpacity="0.28" />
        </>
      );
    case 'l':
      return <path d={path} fill="#fff" fillOpacity="0.42" />;
    case 'k':
      return <path d={path} fill="none" stroke={main} strokeWidth="4" strokeLinecap="round" />;
  }
}
