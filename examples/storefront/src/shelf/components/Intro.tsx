import type { ReactNode } from 'react';

export const settings = { rendering: 'static' };

export default function Intro({ title, text }: { title: string; text: string }): ReactNode {
  return (
    <>
      <h1>{title}</h1>
      <p>{text}</p>
    </>
  );
}
