/**
 * Values that users gave to fields before their component was there. Fields are put back to what the server wrote, which is
 * what the component expects, and get the values again with the events that a user would have caused.
 */
import { isOwn } from './box.js';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Puts the fields of a box back; the function that it returns gives them their values again. */
export function keepValues(box: Element): () => void {
  const fields = [...box.querySelectorAll<Field>('input,textarea,select')].filter((field) =>
    isOwn(box, field),
  );
  const restore = fields.map((field) => {
    if (field instanceof HTMLSelectElement) return keepChoice(field);
    return /^(checkbox|radio)$/.test(field.type) ? keepCheck(field as HTMLInputElement) : keepText(field);
  });
  return () => {
    for (const each of restore) each?.();
  };
}

function keepCheck(field: HTMLInputElement): (() => void) | undefined {
  const { checked } = field;
  if (checked === field.defaultChecked) return undefined;
  field.checked = field.defaultChecked;
  return () => {
    // A radio button that another one has replaced is unchecked by that one's click.
    if (field.isConnected && field.checked !== checked && (checked || field.type !== 'radio')) field.click();
  };
}

function keepChoice(field: HTMLSelectElement): (() => void) | undefined {
  const options = [...field.options];
  const chosen = options.map((option) => option.selected);
  // Where the server marks none, a list for one choice has its first.
  const wasNone = !field.multiple && !options.some((option) => option.defaultSelected);
  const written = options.map((option, index) => (wasNone ? index === 0 : option.defaultSelected));
  if (chosen.every((selected, index) => selected === written[index])) return undefined;
  const choose = (which: readonly boolean[]): void =>
    options.forEach((each, at) => (each.selected = which[at] ?? false));
  choose(written);
  return () => {
    choose(chosen);
    announce(field, ['input', 'change']);
  };
}

function keepText(field: HTMLInputElement | HTMLTextAreaElement): (() => void) | undefined {
  const { value, defaultValue, selectionStart, selectionEnd } = field;
  // Scripts cannot choose a file; the choice is still there.
  if (field.type === 'file') return value === '' ? undefined : () => announce(field, ['input', 'change']);
  if (value === defaultValue || /^(hidden|submit|button|image|reset)$/.test(field.type)) return undefined;
  field.value = defaultValue;
  return () => {
    // The prototype's setter, because React puts one of its own on the field to know of changes.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
    const isFocused = document.activeElement === field;
    if (isFocused && selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd);
    announce(field, isFocused ? ['input'] : ['input', 'change']);
  };
}

function announce(field: Field, types: readonly string[]): void {
  for (const type of types) field.dispatchEvent(new Event(type, { bubbles: true }));
}
