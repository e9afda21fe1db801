/**
 * Values that users gave to fields before their component was there. Fields are put back to what the server wrote, which is
 * what the component expects, and get the values again with the events that a user would have caused.
 */
import { isOwn } from './box.js';

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** A field that a user has changed. */
interface Changed {
  reset: () => void;
  restore: () => void;
}

/** Puts the fields of a box back; the function that it returns gives them their values again. */
export function keepValues(box: Element): () => void {
  const fields = [...box.querySelectorAll<Field>('input,textarea,select')].filter((field) =>
    isOwn(box, field),
  );
  // All are read before the first is put back, which unchecks other radio buttons.
  const changed = fields.flatMap((field) => changeOf(field) ?? []);
  for (const { reset } of changed) reset();
  return () => {
    for (const { restore } of changed) restore();
  };
}

function changeOf(field: Field): Changed | undefined {
  if (field instanceof HTMLSelectElement) return changedChoice(field);
  return /^(checkbox|radio)$/.test(field.type) ? changedCheck(field as HTMLInputElement) : changedText(field);
}

function changedCheck(field: HTMLInputElement): Changed | undefined {
  const { checked, defaultChecked, type } = field;
  if (checked === defaultChecked) return undefined;
  return {
    reset: () => (field.checked = defaultChecked),
    // A radio button is unchecked by the click on another one.
    restore: () => {
      if (field.checked !== checked && (checked || type !== 'radio')) field.click();
    },
  };
}

function changedChoice(field: HTMLSelectElement): Changed | undefined {
  const options = [...field.options];
  const chosen = options.map((option) => option.selected);
  // Where the server marks none, a list for one choice has its first.
  const hasNone = !field.multiple && !options.some((option) => option.defaultSelected);
  const written = options.map((option, index) => (hasNone ? index === 0 : option.defaultSelected));
  if (chosen.every((selected, index) => selected === written[index])) return undefined;
  const choose = (which: readonly boolean[]): void =>
    options.forEach((each, at) => (each.selected = which[at] ?? false));
  return {
    reset: () => choose(written),
    restore: () => {
      choose(chosen);
      announce(field, 'input', 'change');
    },
  };
}

function changedText(field: HTMLInputElement | HTMLTextAreaElement): Changed | undefined {
  const { value, defaultValue, type } = field;
  // Scripts cannot choose a file; the choice is still there.
  if (type === 'file')
    return value ? { reset: () => undefined, restore: () => announce(field, 'input', 'change') } : undefined;
  if (value === defaultValue || /^(hidden|submit|button|image|reset)$/.test(type)) return undefined;
  const { selectionStart, selectionEnd } = field;
  return {
    reset: () => (field.value = defaultValue),
    restore: () => {
      // The prototype's setter, because React puts one of its own on the field to know of changes.
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
      const isFocused = document.activeElement === field;
      if (isFocused && selectionStart !== null) field.setSelectionRange(selectionStart, selectionEnd);
      if (isFocused) announce(field, 'input');
      else announce(field, 'input', 'change');
    },
  };
}

function announce(field: Field, ...types: readonly string[]): void {
  for (const type of types) field.dispatchEvent(new Event(type, { bubbles: true }));
}
