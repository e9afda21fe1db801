// A table that scrolls sideways where it must. On a narrow screen each row is a block, whose cells have the names of their columns.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Width up to which rows are blocks, as in the style sheet. */
const NARROW = '(max-width: 760px)';

interface Props {
  label: string;
  /** Whether it scrolls downwards too. */
  tall?: boolean;
  children: ComponentChildren;
}

export function Table({ label, tall = false, children }: Props) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (table.current === null) return;
    const narrow = matchMedia(NARROW);
    const look = () => {
      if (narrow.matches && table.current !== null) nameCells(table.current);
    };
    look();
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  });
  return (
    <div class={tall ? 'scroll tall' : 'scroll'} role="region" aria-label={label} tabIndex={0}>
      <table ref={table}>{children}</table>
    </div>
  );
}

function nameCells(table: HTMLTableElement): void {
  // The first node is the name, and what follows helps with it.
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.firstChild?.textContent ?? '');
  for (const body of table.tBodies)
    for (const row of body.rows)
      for (const cell of row.cells) cell.dataset['column'] = names[cell.cellIndex] ?? '';
}
