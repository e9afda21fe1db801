// The two boxes that hold others. `top`, `aside` and `children` are whatever the server puts there: elements of React, or slots of Sluice.
import type { ReactNode } from 'react';

export function Layout({
  top,
  aside,
  children,
}: {
  top?: ReactNode;
  aside?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="page">
      <div className="top">{top}</div>
      <div className="columns">
        <aside className="side">{aside}</aside>
        <main className="main">{children}</main>
      </div>
    </div>
  );
}

export function Grid({ label, children }: { label: string; children?: ReactNode }) {
  return (
    <section className="grid" aria-label={label}>
      {children}
    </section>
  );
}
