// A line of help for a figure: shown on hover, on focus, and read to those who do not see it.
import { useId } from 'preact/hooks';

export function Help({ of, text }: { of: string; text: string }) {
  const id = useId();
  return (
    <span class="help">
      <button type="button" aria-label={`Help: ${of}`} aria-describedby={id}>
        ?
      </button>
      <span role="tooltip" id={id}>
        {text}
      </span>
    </span>
  );
}
